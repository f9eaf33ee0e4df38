"""What a run measures: each metric of its benchmark by the right rules, by HELM's, or by both side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from agent import __version__
from agent.metrics import METRICS, AnswerParser, MetricUse
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
            "low": spec.low,
            "high": spec.high,
            "binary": spec.binary,
            "scoring": self.rules,
            "whole_run": self.of_whole_run,
            "options": dict(self.use.options),
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
        uses = [MetricUse(kept["name"], kept.get("options", {}), helm_name=kept.get("helm_name", "")) for kept in twins]
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
        parser = self.parser
        read = [] if parser.kind in ("option_letter", "text") else [parser.kind, parser.field, parser.pattern]
        return [__version__, self.scoring, self.lineage, *uses, *read]


def _measures(uses: Sequence[MetricUse], scoring: ScoringChoice) -> tuple[Measure, ...]:
    if scoring != "both":
        return tuple(Measure(use.name, use, scoring) for use in uses)
    twins = ((Measure(use.name, use, "intramural"), Measure(use.name + HELM_TWIN, use, "helm")) for use in uses)
    return tuple(measure for pair in twins for measure in pair)
