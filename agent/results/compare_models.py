"""What comes out when two models meet: the difference in each benchmark and over all, and what it means in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from agent.results.paired_models import Paired, Pairing
from agent.statistics.bounds import Bounds, bound_difference
from agent.statistics.multiple import holm
from agent.statistics.paired import (
    MeanDifference,
    Overall,
    Pair,
    estimate_figure_difference,
    estimate_overall_difference,
    estimate_paired_difference,
)
from agent.statistics.power import ALPHA


@dataclass(frozen=True, slots=True)
class BenchmarkComparison:
    """One benchmark's comparison.

    Attributes:
        difference: over the instances that both models have a score for.
        at_floor: the same with what each left without a score by itself as the lowest; None where there is none such.
        without_family: the same by judges of neither model's family; None where no judge is of one, or all are.
        bounds: of the difference, were everything unscored as bad, or as good, as can be for the first model.
        holm_p: p corrected for all benchmarks of the table.
        floor_p, family_p: the same of a table that has `at_floor`, or `without_family`, where there is such.
    """

    paired: Paired
    difference: MeanDifference
    at_floor: MeanDifference | None
    without_family: MeanDifference | None
    bounds: Bounds | None
    holm_p: float
    floor_p: float
    family_p: float

    @property
    def sure(self) -> bool:
        """Whether one model is better, also beside the other benchmarks."""
        return shows_difference(self.difference, self.holm_p)

    def words(self) -> str:
        """Say what was found, with A and B for the models."""
        found = self.difference
        better = "A" if (found.value or 0.0) > 0 else "B"
        if self.sure:
            said = f"{better} better"
        elif shows_difference(found, found.p):
            said = f"{better} better here, but not sure among several benchmarks"
        elif found.value == 0 and found.better_a == found.better_b == 0 and self.paired.figure is None:
            said = "all scores equal"
        else:
            said = "no difference seen"
        return "; ".join([said, *self._doubts(better)])

    def _doubts(self, better: str) -> list[str]:
        if not self.sure:
            return []
        doubts = []
        if self.at_floor is not None and not _same_finding(self.at_floor, self.floor_p, better):
            doubts.append("not if what a model left unanswered counts as wrong")
        if self.without_family is not None and not _same_finding(self.without_family, self.family_p, better):
            doubts.append("not without judges of a model's own family")
        if self.bounds is not None and self.bounds.matters and self._could_turn(self.bounds, better):
            doubts.append("what is unscored could turn it")
        return doubts

    def _could_turn(self, bounds: Bounds, better: str) -> bool:
        """Whether the interval, moved to where the difference lies at worst, holds none."""
        value = self.difference.value or 0.0
        low, high = (value if end is None else end for end in (self.difference.low, self.difference.high))
        return bounds.low - (value - low) <= 0 if better == "A" else bounds.high + (high - value) >= 0


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Everything that two models differ in.

    `overall` is over benchmarks with enough units and a score for each instance, what a model left without a score
    by itself as the lowest: nobody wins by leaving questions out. `in_overall` names them.
    """

    duels: tuple[BenchmarkComparison, ...]
    overall: Overall | None
    in_overall: tuple[str, ...]


def compare_models(pairing: Pairing) -> ModelComparison:
    """Compare the two models of a pairing."""
    tests = len(pairing.benchmarks)
    differences = [_difference(paired, tests) for paired in pairing.benchmarks]
    at_floor = [_at_floor(paired, tests) for paired in pairing.benchmarks]
    without_family = [_without_family(paired, tests) for paired in pairing.benchmarks]
    corrected, floors, others = (_corrected(differences, instead) for instead in ((), at_floor, without_family))
    duels = tuple(
        BenchmarkComparison(
            *(paired, differences[n], at_floor[n], without_family[n], _bounds(paired)),
            *(table.get(n, 1.0) for table in (corrected, floors, others)),
        )
        for n, paired in enumerate(pairing.benchmarks)
    )
    overall = estimate_overall_difference([_shares(paired) for paired in pairing.benchmarks])
    counted = overall.counted if overall else ()
    return ModelComparison(duels, overall, tuple(pairing.benchmarks[place].benchmark for place in counted))


def _corrected(differences: Sequence[MeanDifference], instead: Sequence[MeanDifference | None]) -> dict[int, float]:
    """Return Holm's p of a table in which other differences stand where there are such, by place."""
    table = [other or one for one, other in zip_longest(differences, instead)]
    return holm({place: one.p for place, one in enumerate(table) if one is not None and one.p is not None})


def _difference(paired: Paired, tests: int) -> MeanDifference:
    if paired.figure is not None:
        return estimate_figure_difference(paired.figure.items, paired.figure.compute, reach=_reach(paired), tests=tests)
    return _of_pairs(paired, paired.pairs, tests)


def _at_floor(paired: Paired, tests: int) -> MeanDifference | None:
    figure = paired.figure
    if figure is not None and len(figure.items) < len(figure.at_floor):
        return estimate_figure_difference(figure.at_floor, figure.compute, reach=_reach(paired), tests=tests)
    return None if paired.pairs == paired.at_floor else _of_pairs(paired, paired.at_floor, tests)


def _without_family(paired: Paired, tests: int) -> MeanDifference | None:
    return _of_pairs(paired, paired.without_family, tests) if paired.without_family else None


def _of_pairs(paired: Paired, pairs: Sequence[Pair], tests: int) -> MeanDifference:
    return estimate_paired_difference(pairs, binary=paired.metric.binary, reach=_reach(paired), tests=tests)


def _reach(paired: Paired) -> float:
    return float(paired.metric.high - paired.metric.low)


def _bounds(paired: Paired) -> Bounds | None:
    return bound_difference(((pair.a, pair.b) for pair in paired.pairs), paired.metric.low, paired.metric.high)


def _shares(paired: Paired) -> Sequence[Pair]:
    """Return the pairs at the floor, on a scale from 0 to 1, the same for all metrics."""
    low, reach = paired.metric.low, _reach(paired)
    return [
        Pair(pair.unit, *(None if value is None else (value - low) / reach for value in (pair.a, pair.b)))
        for pair in paired.at_floor
    ]


def _same_finding(found: MeanDifference, p: float, better: str) -> bool:
    return shows_difference(found, p) and ((found.value or 0.0) > 0) == (better == "A")


def shows_difference(found: MeanDifference | Overall, p: float | None) -> bool:
    """Whether p and interval both say that there is a difference; close to their limits they may disagree."""
    holds_none = found.low is not None and found.high is not None and found.low <= 0 <= found.high
    return p is not None and p <= ALPHA and not holds_none
