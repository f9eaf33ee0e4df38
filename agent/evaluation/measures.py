"""What a run measures: each metric of its benchmark by the right rules, by HELM's, or by both side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from agent import __version__
from agent.metrics import JUDGED, METRICS, AnswerParser, Judge, MetricUse, Scale
from agent.vocabulary import Scoring

ScoringChoice = Literal["intramural", "helm", "both"]
HELM_TWIN = "@helm"  # after a metric's name: its score by HELM's rules, beside the one by ours


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric by one set of rules. `name` is what the store keeps its scores under."""

    name: str
    use: MetricUse
    rules: Scoring

    @property
    def of_jury(self) -> bool:
        """Whether a jury gives it: what it is rests on stored judgements, not on the answer alone."""
        return self.use.name in JUDGED

    @property
    def later(self) -> bool:
        """Whether it is computed from stored answers, after the asking."""
        return METRICS[self.use.name].later

    @property
    def of_whole_run(self) -> bool:
        """Whether only the whole run has it: no single answer has a score."""
        return METRICS[self.use.name].fn is None

    def facts(self) -> dict[str, Any]:
        """Return what is kept of it with the run."""
        spec = METRICS[self.use.name]
        return {
            "name": self.name,
            "metric": self.use.name,
            "display_name": spec.display_name + (" by HELM's rules" if self.name.endswith(HELM_TWIN) else ""),
            "helm_name": self.use.helm_name or self.use.name,
            "low": self.use.scale.low if self.of_jury else spec.low,
            "high": self.use.scale.high if self.of_jury else spec.high,
            "binary": spec.binary,
            "scoring": self.rules,
            "whole_run": self.of_whole_run,
            "options": dict(self.use.options),
            **({"jury": _jury_facts(self.use)} if self.of_jury else {}),
        }


@dataclass(frozen=True, slots=True)
class Rules:
    """How the answers of a run become scores. The first measure is the benchmark's main metric.

    Attributes:
        scoring: the choice.
        measures: in the benchmark's order; with "both" each is followed by its twin.
        parser: takes the part of an answer that is scored by our rules; HELM scores the whole answer.
        lineage: the dataset that the units come from.
    """

    scoring: ScoringChoice
    measures: tuple[Measure, ...]
    parser: AnswerParser = field(default_factory=lambda: AnswerParser("text"))
    lineage: str = ""

    @classmethod
    def of(cls, uses: Sequence[MetricUse], scoring: ScoringChoice, parser: AnswerParser, lineage: str) -> Self:
        """Say how the metrics `uses` are scored."""
        return cls(scoring, _measures(uses, scoring), parser, lineage)

    @classmethod
    def of_run(cls, details: Mapping[str, Any], scoring: ScoringChoice | None = None) -> Self:
        """Say how a stored run was scored, or would be by another choice."""
        twins = [kept for kept in details["metrics"] if not kept["name"].endswith(HELM_TWIN)]
        uses = [_use(kept) for kept in twins]
        parser = AnswerParser(**details["parser"]) if "parser" in details else AnswerParser("text")
        return cls.of(uses, scoring or details["scoring"], parser, details.get("lineage", ""))

    def facts(self) -> dict[str, Any]:
        """Return what is kept of it with the run."""
        parser = self.parser
        return {
            "metrics": [measure.facts() for measure in self.measures],
            "scoring": self.scoring,
            "parser": {"kind": parser.kind, "field": parser.field, "pattern": parser.pattern},
            "agent_version": __version__,
        }

    def identity(self) -> list[str]:
        """Return what decides the scores besides the answers, as part of the plan's identity."""
        uses = [f"{one.name} {json.dumps(dict(one.use.options), sort_keys=True)}" for one in self.measures]
        juries = [json.dumps(_jury_facts(one.use)) for one in self.measures if one.of_jury and one.use.judges]
        parser = self.parser
        read = [] if parser.kind in ("option_letter", "text") else [parser.kind, parser.field, parser.pattern]
        return [__version__, self.scoring, self.lineage, *uses, *juries, *read]


def _jury_facts(use: MetricUse) -> dict[str, Any]:
    return {
        "judges": [[judge.model_deployment, judge.model_name, judge.name] for judge in use.judges],
        "quorum": use.quorum,
        "scale": [use.scale.low, use.scale.high],
        "criteria": dict(use.criteria),
        "fields": {criterion: list(fields) for criterion, fields in use.fields.items()},
        "prompt": use.prompt,
        "gold_shown": use.gold_shown,
    }


def _use(kept: Mapping[str, Any]) -> MetricUse:
    """Return the metric as a run's details keep it."""
    jury = kept.get("jury", {})
    return MetricUse(
        kept["name"],
        kept.get("options", {}),
        prompt=jury.get("prompt", ""),
        judges=tuple(Judge(*judge) for judge in jury.get("judges", ())),
        quorum=jury.get("quorum"),
        scale=Scale(*jury.get("scale", (1, 5))),
        helm_name=kept.get("helm_name", ""),
        criteria=jury.get("criteria", {}),
        fields={criterion: tuple(fields) for criterion, fields in jury.get("fields", {}).items()},
        gold_shown=jury.get("gold_shown", True),
    )


def _measures(uses: Sequence[MetricUse], scoring: ScoringChoice) -> tuple[Measure, ...]:
    if scoring != "both":
        return tuple(Measure(use.name, use, scoring) for use in uses)
    twins = ((Measure(use.name, use, "intramural"), Measure(use.name + HELM_TWIN, use, "helm")) for use in uses)
    return tuple(measure for pair in twins for measure in pair)
