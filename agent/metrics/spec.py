"""What a metric is: its range, and a pure function of (answer, instance)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.vocabulary import Instance, Unscored

Options = Mapping[str, bool]
"""A benchmark's own settings of a metric, for example {"stemmer": False}."""

ScoreFunction = Callable[[str, Instance, Options], float | Unscored]
"""Scores one answer. Never empty: an empty answer is unscored before a metric sees it."""


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric.

    Attributes:
        name: HELM's name where HELM has the metric.
        display_name: for tables and pages.
        low: the worst possible score.
        high: the best possible score.
        binary: whether a score is always `low` or `high`, so that a mean is a proportion.
        doc: one sentence for people.
        fn: the right rule.
        helm_fn: upstream's rule with its faults (`scoring: helm`); None where both are the same.
        options: the settings a benchmark may give it, with their defaults.
    """

    name: str
    display_name: str
    low: int
    high: int
    binary: bool
    doc: str
    fn: ScoreFunction
    helm_fn: ScoreFunction | None = None
    options: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judge:
    """One seat of a jury: a model and where it is served."""

    model_deployment: str
    model_name: str


@dataclass(frozen=True, slots=True)
class MetricUse:
    """A metric as a benchmark uses it: with its own options and, for a jury, the judge prompt and the judges."""

    name: str
    options: Options = field(default_factory=dict)
    prompt_file: Path | None = None
    judges: tuple[Judge, ...] = ()
