"""Findings, the input of the gate: scores of instances, with the unit that each belongs to."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from agent.results.summarize import MANY_UNSCORED
from agent.store import RETRIED, UnitScore
from agent.vocabulary import AccessLevel, Reason

ENOUGH_INSTANCES: Final = 1000
"""Number of instances that represents a whole benchmark: the maximum per benchmark in MedHELM's published runs."""

UNFINISHED: Final = RETRIED | {Reason.NOT_JUDGED, Reason.NOT_MEASURED}
"""Reasons that disappear once the run is finished. An unfinished run would let the site choose which answers count."""

_TRAVELS: Final = {"sample": "of a sample", "invented": "of invented data"}


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent to which a run covers a benchmark's data.

    Attributes:
        known: the kind of data, see `agent.datasets.load.Dataset`.
        asked: number of instances in the run.
        available: number of instances in the data.
    """

    known: str
    asked: int
    available: int

    @property
    def everything(self) -> bool:
        """Whether all instances were asked and the data is neither a sample nor invented."""
        return self.known not in _TRAVELS and self.asked >= self.available

    def enough(self, access: AccessLevel) -> bool:
        """Return whether the run represents the whole data.

        For a public or gated benchmark, it must cover all of the official data or ENOUGH_INSTANCES of it. For a private
        benchmark, it must cover all data that the site has.
        """
        if access == "private":
            return self.everything
        return self.known == "official" and self.asked >= min(self.available, ENOUGH_INSTANCES)

    def __str__(self) -> str:
        words = f"{self.asked} of {self.available} instances"
        return f"{words}, {_TRAVELS[self.known]}" if self.known in _TRAVELS else words


@dataclass(frozen=True, slots=True)
class Finding:
    """The scores of one model for one cell: a benchmark, a metric and, if the scorecard has one, a subgroup.

    Properties of the benchmark and the metric come from the site's own definitions, so that a scorecard made elsewhere
    cannot declare a private benchmark public or a binary metric continuous.

    Attributes:
        benchmark: id of the benchmark.
        metric: name of the metric.
        definition: digest of the benchmark's definition that was run.
        access: access level of the benchmark, which fits the data that was used.
        binary: whether the metric only has the values 0 and 1.
        low: lower end of the metric's range.
        high: upper end of the metric's range.
        scores: one entry per instance, scored or unscored.
        dataset: commitment of the registered dataset that was run; "" without one.
        known: the kind of data, see `Extent`.
        available: number of instances in the data.
        frozen_digest: digest of the registered dataset's files when the run read them; "" without a registered dataset.
        plan: digest of the plan whose challenge selected the instances; "" without a plan.
        sample_seed: seed that selected the instances.
        weights: SHA-256 over the weights' files, if this agent served them; "" otherwise.
        language_model: False if its server reported that the model is not a language model.
        subgroup: `variable.value`, or None for all units.
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
    weights: str = ""
    language_model: bool = True
    subgroup: str | None = None

    @property
    def asked(self) -> bool:
        """Whether any instance was asked."""
        return any(score.reason != Reason.NOT_ASKED for score in self.scores)

    @property
    def whole(self) -> bool:
        """Whether the mean represents the benchmark's data.

        Enough of the data must have been asked (`Extent.enough`). No instance may lack a score for a reason unrelated
        to the model, such as a server failure. At most one instance in twenty may be unscored, so that a model cannot
        gain by answering only easy questions.
        """
        applicable = [score for score in self.scores if score.reason != Reason.NOT_APPLICABLE]
        unscored = [score.reason for score in applicable if score.value is None]
        return (
            self.extent.enough(self.access)
            and not any(reason in UNFINISHED for reason in unscored)
            and len(unscored) <= MANY_UNSCORED * len(applicable)
        )

    @property
    def extent(self) -> Extent:
        """The extent to which the run covers the data."""
        return Extent(self.known, len(self.scores), self.available)

    def instance_values(self) -> list[float]:
        """Return the score of every scored instance."""
        return [score.value for score in self.scores if score.value is not None]


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean, with a single rounding independent of order. `values` must not be empty."""
    values = list(values)
    return math.fsum(values) / len(values)
