"""The measures of a run: each metric of its benchmark by the rules of Intramural, by HELM's, or by both."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from agent import __version__
from agent.metrics import JUDGED, AnswerParser, MetricUse, find_spec, is_own
from agent.metrics.own import OwnMetric, read_digest
from agent.reading.version import READING_VERSION
from agent.store.run_details import KeptJury, KeptMetric, RunDetails
from agent.vocabulary import Scoring, ScoringChoice

# Suffix of a metric's name for its score by HELM's rules when a run is scored by both.
HELM_TWIN = "@helm"


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric under one set of rules. `name` identifies its scores in the store."""

    name: str
    use: MetricUse
    rules: Scoring

    @property
    def of_jury(self) -> bool:
        """Whether a jury grades the measure, so that its scores depend on stored judgements as well as on answers."""
        return self.use.name in JUDGED

    @property
    def later(self) -> bool:
        """Whether the measure is computed from stored answers, after all questions have been asked."""
        return self.is_own or find_spec(self.use).later

    @property
    def is_own(self) -> bool:
        """Whether the metric is the site's own code."""
        return is_own(self.use.name)

    @property
    def of_whole_run(self) -> bool:
        """Whether only the whole run has a score and single answers have none."""
        return not self.is_own and find_spec(self.use).fn is None

    def to_keep(self) -> KeptMetric:
        """Return the measure's record in the details of a run."""
        spec = find_spec(self.use)
        is_twin = self.name.endswith(HELM_TWIN)
        return KeptMetric(
            name=self.name,
            metric=self.use.name,
            display_name=f"{spec.display_name} by HELM's rules" if is_twin else spec.display_name,
            helm_name=self.use.helm_name or self.use.name,
            low=self.use.scale.low if self.of_jury else spec.low,
            high=self.use.scale.high if self.of_jury else spec.high,
            binary=spec.binary,
            scoring=self.rules,
            whole_run=self.of_whole_run,
            options=dict(self.use.options),
            jury=_build_jury_record(self.use) if self.of_jury else None,
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for scoring the answers of a run. The first measure is the benchmark's main metric.

    Attributes:
        scoring: the choice between Intramural's rules, HELM's or both.
        measures: measures in the benchmark's order; for "both", each is followed by its counterpart by HELM's rules.
        parser: extracts the part of an answer that Intramural's rules score; HELM scores the whole answer.
        lineage: the dataset that the units come from.
    """

    scoring: ScoringChoice
    measures: tuple[Measure, ...]
    parser: AnswerParser = field(default_factory=lambda: AnswerParser("text"))
    lineage: str = ""

    @classmethod
    def of(
        cls, uses: Sequence[MetricUse], scoring: ScoringChoice, parser: AnswerParser, lineage: str
    ) -> Self:
        """Build the rules for the metrics `uses`."""
        return cls(scoring, _build_measures(uses, scoring), parser, lineage)

    @classmethod
    def of_run(cls, details: RunDetails, scoring: ScoringChoice | None = None) -> Self:
        """Rebuild the rules of a stored run, optionally with a different choice of scoring."""
        uses = [
            _read_use(metric) for metric in details.metrics if not metric.name.endswith(HELM_TWIN)
        ]
        parser = details.parser or AnswerParser("text")
        return cls.of(uses, scoring or details.scoring, parser, details.lineage)

    def list_stored_metrics(self) -> tuple[KeptMetric, ...]:
        """Return the records of the measures for the details of a run."""
        return tuple(measure.to_keep() for measure in self.measures)

    def put_into(self, details: RunDetails) -> RunDetails:
        """Return the details of a run, updated to record these rules and this version of the agent."""
        return replace(
            details,
            metrics=self.list_stored_metrics(),
            scoring=self.scoring,
            parser=self.parser,
            agent_version=__version__,
            reading_version=READING_VERSION,
        )

    def identity(self) -> list[str]:
        """Return the texts that, for given answers, determine the scores. They are part of a planned run's identity."""
        identity = [__version__, str(READING_VERSION), self.scoring, self.lineage]
        for measure in self.measures:
            options = json.dumps(dict(measure.use.options), sort_keys=True)
            identity.append(f"{measure.name} {options}")
        for measure in self.measures:
            if measure.of_jury and measure.use.judges:
                identity.append(json.dumps(_build_jury_record(measure.use).to_json()))
        # The identities of stored runs do not mention these two parsers. Adding them would rescore every such run.
        if self.parser.kind not in ("option_letter", "text"):
            identity += [self.parser.kind, self.parser.field, self.parser.pattern]
            identity += [json.dumps(words) for words in self.parser.labels]
        return identity


def _build_jury_record(use: MetricUse) -> KeptJury:
    return KeptJury(
        judges=use.judges,
        quorum=use.quorum,
        scale=use.scale,
        criteria=dict(use.criteria),
        fields=dict(use.fields),
        prompt=use.prompt,
        gold_shown=use.gold_shown,
    )


def _read_use(metric: KeptMetric) -> MetricUse:
    jury = metric.jury or KeptJury()
    return MetricUse(
        metric.name,
        metric.options,
        prompt=jury.prompt,
        judges=jury.judges,
        quorum=jury.quorum,
        scale=jury.scale,
        helm_name=metric.helm_name,
        criteria=jury.criteria,
        fields=jury.fields,
        gold_shown=jury.gold_shown,
        own=_read_own_metric(metric),
    )


def _read_own_metric(metric: KeptMetric) -> OwnMetric | None:
    if not is_own(metric.name):
        return None
    low, high = int(metric.low), int(metric.high)
    digest = read_digest(metric.options)
    return OwnMetric(metric.display_name, low, high, metric.binary, digest)


def _build_measures(uses: Sequence[MetricUse], scoring: ScoringChoice) -> tuple[Measure, ...]:
    measures = []
    for use in uses:
        if is_own(use.name):
            # HELM has no such metric, and so no rules for it.
            measures.append(Measure(use.name, use, "intramural"))
        elif scoring == "both":
            measures.append(Measure(use.name, use, "intramural"))
            measures.append(Measure(use.name + HELM_TWIN, use, "helm"))
        else:
            measures.append(Measure(use.name, use, scoring))
    return tuple(measures)
