"""What comes out when two models meet: the difference in each benchmark and over all, and what it means in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.evaluation.pairing import Paired, Pairing
from agent.statistics.bounds import Bounds, difference_bounds
from agent.statistics.multiple import holm
from agent.statistics.paired import Difference, Overall, Pair, figure_difference, overall_difference, paired_difference

SURE = 0.05  # p up to here says that two models differ


@dataclass(frozen=True, slots=True)
class Duel:
    """One benchmark's comparison.

    Attributes:
        difference: over the instances that both models have a score for.
        at_floor: the same with what each left without a score by itself as the lowest; None where there is none such.
        bounds: of the difference, were everything unscored as bad, or as good, as can be for the first model.
        holm_p: p corrected for all benchmarks of the table.
    """

    paired: Paired
    difference: Difference
    at_floor: Difference | None
    bounds: Bounds | None
    holm_p: float

    @property
    def sure(self) -> bool:
        """Whether one model is better, also beside the other benchmarks."""
        return found_in(self.difference, self.holm_p)

    def words(self) -> str:
        """Say what was found, with A and B for the models."""
        found = self.difference
        better = "A" if (found.value or 0.0) > 0 else "B"
        if self.sure:
            said = f"{better} better"
        elif found_in(found, found.p):
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
        if self.at_floor is not None and not _same_finding(self.at_floor, better):
            doubts.append("not if what a model left unanswered counts as wrong")
        if self.bounds is not None and self.bounds.matters and self.bounds.low <= 0 <= self.bounds.high:
            doubts.append("what is unscored could turn it")
        return doubts


@dataclass(frozen=True, slots=True)
class Versus:
    """Everything that two models differ in.

    `overall` is over benchmarks with enough units and a score for each instance, what a model left without a score
    by itself as the lowest: nobody wins by leaving questions out. `in_overall` names them.
    """

    duels: tuple[Duel, ...]
    overall: Overall | None
    in_overall: tuple[str, ...]


def meet(pairing: Pairing) -> Versus:
    """Compare the two models of a pairing."""
    differences = [_difference(paired) for paired in pairing.benchmarks]
    corrected = holm({number: found.p for number, found in enumerate(differences) if found.p is not None})
    duels = tuple(
        Duel(paired, found, _at_floor(paired), _bounds(paired), corrected.get(number, 1.0))
        for number, (paired, found) in enumerate(zip(pairing.benchmarks, differences, strict=True))
    )
    overall = overall_difference([_shares(paired) for paired in pairing.benchmarks])
    counted = overall.counted if overall else ()
    return Versus(duels, overall, tuple(pairing.benchmarks[place].benchmark for place in counted))


def _difference(paired: Paired) -> Difference:
    if paired.figure is not None:
        return figure_difference(paired.figure.items, paired.figure.compute)
    return paired_difference(paired.pairs, binary=paired.kept["binary"])


def _at_floor(paired: Paired) -> Difference | None:
    if paired.pairs == paired.at_floor:
        return None
    return paired_difference(paired.at_floor, binary=paired.kept["binary"])


def _bounds(paired: Paired) -> Bounds | None:
    return difference_bounds(((pair.a, pair.b) for pair in paired.pairs), paired.kept["low"], paired.kept["high"])


def _shares(paired: Paired) -> Sequence[Pair]:
    """Return the pairs at the floor, on a scale from 0 to 1, the same for all metrics."""
    low, reach = paired.kept["low"], paired.kept["high"] - paired.kept["low"]
    return [
        Pair(pair.unit, *(None if value is None else (value - low) / reach for value in (pair.a, pair.b)))
        for pair in paired.at_floor
    ]


def _same_finding(found: Difference, better: str) -> bool:
    return found_in(found, found.p) and ((found.value or 0.0) > 0) == (better == "A")


def found_in(found: Difference | Overall, p: float | None) -> bool:
    """Whether p and interval both say that there is a difference; close to their limits they may disagree."""
    holds_none = found.low is not None and found.high is not None and found.low <= 0 <= found.high
    return p is not None and p <= SURE and not holds_none
