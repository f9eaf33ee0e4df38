"""What a run found out, as the gate takes it: scores of instances, with the unit each belongs to."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from agent.results.summarize import MANY_UNSCORED
from agent.store import RETRIED, UnitScore
from agent.vocabulary import AccessLevel, Reason

ENOUGH_INSTANCES: Final = 1000
"""MedHELM's published runs take at most so many instances of a benchmark; as many stand for its whole data."""

UNFINISHED: Final = RETRIED | {Reason.NOT_JUDGED, Reason.NOT_MEASURED}
"""Reasons that end when somebody finishes the run. Whoever leaves it unfinished chooses which answers count."""

_TRAVELS: Final = {"sample": "of a sample", "invented": "of invented data"}


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a benchmark's data was asked.

    Attributes:
        known: what data it is; see `agent.datasets.load.Dataset`.
        asked: instances of the run.
        available: instances that the data gives.
    """

    known: str
    asked: int
    available: int

    @property
    def everything(self) -> bool:
        """Whether every instance there is was asked, of something else than a sample."""
        return self.known not in _TRAVELS and self.asked >= self.available

    def enough(self, access: AccessLevel) -> bool:
        """Whether the run counts as one on the whole data.

        Of a public or gated benchmark that is its official data, all of it or ENOUGH_INSTANCES; of a private one, all
        that the site has.
        """
        if access == "private":
            return self.everything
        return self.known == "official" and self.asked >= min(self.available, ENOUGH_INSTANCES)

    def __str__(self) -> str:
        words = f"{self.asked} of {self.available} instances"
        return f"{words}, {_TRAVELS[self.known]}" if self.known in _TRAVELS else words


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
        dataset: commitment of the registered dataset that was run; "" if it was none.
        frozen_digest: of all files of that dataset, as the run found them; "" if it was none.
        plan: digest of the plan whose challenge chose the instances; "" if none did.
        sample_seed: seed by which they were chosen.
        known: what data it was, see `Extent`.
        available: instances that the data gives.
        language_model: False where its server said that the model is none.
    """

    benchmark: str
    metric: str
    definition: str
    access: AccessLevel
    binary: bool
    low: float
    high: float
    scores: Sequence[UnitScore]
    dataset: str
    known: str
    available: int
    frozen_digest: str = ""
    plan: str = ""
    sample_seed: int = 0
    language_model: bool = True
    subgroup: str | None = None

    @property
    def asked(self) -> bool:
        """Whether any instance was asked at all."""
        return any(score.reason != Reason.NOT_ASKED for score in self.scores)

    @property
    def whole(self) -> bool:
        """Whether the mean stands for the benchmark's data.

        Enough of the data was asked (`Extent.enough`). No instance is missing for a reason that says nothing about
        the model (a dead server, say), and at most one in twenty has no score at all: a model must not rise by
        answering easy questions only.
        """
        asks_nothing = sum(score.reason == Reason.NOT_APPLICABLE for score in self.scores)
        unscored = [
            one.reason
            for one in self.scores
            if one.value is None and one.reason != Reason.NOT_APPLICABLE
        ]
        return (
            self.extent.enough(self.access)
            and not any(reason in UNFINISHED for reason in unscored)
            and len(unscored) <= MANY_UNSCORED * (len(self.scores) - asks_nothing)
        )

    @property
    def extent(self) -> Extent:
        """How much of the data was asked."""
        return Extent(self.known, len(self.scores), self.available)

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
