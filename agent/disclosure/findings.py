"""What a run found out, as the gate takes it: scores of instances, with the unit each belongs to."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.store import RETRIED, UnitScore
from agent.vocabulary import AccessLevel, Reason

MOST_UNSCORED = 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """The scores of one model for one cell: a benchmark, a metric and, where the scorecard asks for it, a subgroup.

    What the site itself knows of benchmark and metric is stated here, so that a scorecard made elsewhere cannot
    declare a private benchmark public or a binary metric continuous.

    Attributes:
        definition: digest of the benchmark's definition that was run.
        access: the benchmark's; it fits the data that was used.
        binary, low, high: of the metric.
        scores: one entry an instance, scored or not.
        subgroup: `variable.value`, None for all units.
        lineage: the dataset that the units come from. Releases of one lineage are compared with each other, also
            across benchmarks: a unit has one key in all of them.
        sampled: whether only a part of the dataset was asked.
    """

    benchmark: str
    metric: str
    definition: str
    access: AccessLevel
    binary: bool
    low: float
    high: float
    scores: Sequence[UnitScore]
    lineage: str
    subgroup: str | None = None
    sampled: bool = False

    @property
    def asked(self) -> bool:
        """Whether any instance was asked at all."""
        return any(score.reason != Reason.NOT_ASKED for score in self.scores)

    @property
    def whole(self) -> bool:
        """Whether the mean stands for what was asked.

        No instance is missing for a reason that says nothing about the model (a dead server, say), and at most
        one in twenty has no score at all: a model must not rise by answering easy questions only.
        """
        unscored = [score.reason for score in self.scores if score.value is None]
        return not any(reason in RETRIED for reason in unscored) and len(unscored) <= MOST_UNSCORED * len(self.scores)

    def unit_means(self) -> dict[bytes, float]:
        """Return the mean score of every unit over its scored instances; units without a score are absent."""
        found: dict[bytes, list[float]] = {}
        for score in self.scores:
            if score.value is not None:
                found.setdefault(score.unit_key, []).append(score.value)
        return {unit: mean(values) for unit, values in sorted(found.items())}

    def instance_values(self) -> list[float]:
        """Return the score of every scored instance."""
        return [score.value for score in self.scores if score.value is not None]


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean, rounded once, whatever the order. `values` must not be empty."""
    values = list(values)
    return math.fsum(values) / len(values)
