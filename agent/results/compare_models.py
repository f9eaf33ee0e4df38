"""Compare two paired models: the difference in each benchmark and overall, and the conclusion in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.results.paired_instances import PairedBenchmark
from agent.results.paired_models import Pairing
from agent.statistics.bounds import Bounds, bound_difference
from agent.statistics.multiple import correct_by_holm
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
    """The comparison of two models in one benchmark.

    Attributes:
        paired: the paired instances.
        difference: difference over the instances for which both models have a score.
        at_floor: the difference if answers that a model itself left without a score count as the lowest score; None
            if there are no such answers.
        without_family: the difference according to the judges of neither model's family; None if no judge belongs to
            either family, or all do.
        bounds: the lowest and highest difference possible if all unscored instances were scored.
        holm_p: p value of `difference`, corrected by Holm's method for the number of benchmarks compared.
        floor_p, family_p: p values corrected in the same way, but computed from `at_floor` or `without_family` in
            the benchmarks that have it.
    """

    paired: PairedBenchmark
    difference: MeanDifference
    at_floor: MeanDifference | None
    without_family: MeanDifference | None
    bounds: Bounds | None
    holm_p: float
    floor_p: float
    family_p: float

    @property
    def sure(self) -> bool:
        """Whether one model is better even after correction for the other benchmarks."""
        return shows_difference(self.difference, self.holm_p)

    @property
    def scale_width(self) -> float:
        """The distance from the metric's lowest score to its highest."""
        return _measure_scale(self.paired)

    def describe(self) -> str:
        """Describe the conclusion in words, with A and B for the models."""
        difference = self.difference
        better = "A" if (difference.value or 0.0) > 0 else "B"
        if self.sure:
            return "; ".join([f"{better} better", *self._list_doubts(better)])
        if shows_difference(difference, difference.p):
            return f"{better} better here, but not after correction for several benchmarks"
        no_instance_differs = difference.better_a == difference.better_b == 0
        if difference.value == 0 and no_instance_differs and self.paired.figure is None:
            return "all scores equal"
        return "no difference seen"

    def _list_doubts(self, better: str) -> list[str]:
        doubts = []
        if self.at_floor is not None and not _finds_better(self.at_floor, self.floor_p, better):
            doubts.append("not if unanswered questions count as wrong")
        if self.without_family is not None and not _finds_better(
            self.without_family, self.family_p, better
        ):
            doubts.append("not without judges of a model's own family")
        if (
            self.bounds is not None
            and self.bounds.matters
            and self._could_reverse(self.bounds, better)
        ):
            doubts.append("unscored answers could reverse it")
        return doubts

    def _could_reverse(self, bounds: Bounds, better: str) -> bool:
        """Return whether the interval, moved to the worst possible difference, contains 0."""
        value = self.difference.value or 0.0
        if better == "A":
            low = value if self.difference.low is None else self.difference.low
            return bounds.low - (value - low) <= 0
        high = value if self.difference.high is None else self.difference.high
        return bounds.high + (high - value) >= 0


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """The differences between two models in each benchmark and overall.

    Attributes:
        benchmarks: the comparison in each benchmark.
        overall: the difference over benchmarks with enough units and a score for each instance. An answer that a model
            itself left without a score counts as the lowest score, so that no model wins by leaving questions out.
        in_overall: names of the benchmarks in `overall`.
    """

    benchmarks: tuple[BenchmarkComparison, ...]
    overall: Overall | None
    in_overall: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Estimates:
    """The differences in one benchmark, before p values are corrected."""

    paired: PairedBenchmark
    difference: MeanDifference
    at_floor: MeanDifference | None
    without_family: MeanDifference | None


def compare_models(pairing: Pairing) -> ModelComparison:
    """Compare the two models of a pairing."""
    tests = len(pairing.benchmarks)
    estimates = [_estimate_differences(paired, tests) for paired in pairing.benchmarks]
    holm_p = _correct_p_values([estimate.difference for estimate in estimates])
    floor_p = _correct_p_values(
        [estimate.at_floor or estimate.difference for estimate in estimates]
    )
    family_p = _correct_p_values(
        [estimate.without_family or estimate.difference for estimate in estimates]
    )
    comparisons = []
    for number, estimate in enumerate(estimates):
        comparison = BenchmarkComparison(
            paired=estimate.paired,
            difference=estimate.difference,
            at_floor=estimate.at_floor,
            without_family=estimate.without_family,
            bounds=_bound_benchmark(estimate.paired),
            holm_p=holm_p[number],
            floor_p=floor_p[number],
            family_p=family_p[number],
        )
        comparisons.append(comparison)
    overall = estimate_overall_difference(
        [_normalise_pairs(paired) for paired in pairing.benchmarks]
    )
    counted = overall.counted if overall else ()
    in_overall = tuple(pairing.benchmarks[number].benchmark for number in counted)
    return ModelComparison(tuple(comparisons), overall, in_overall)


def _correct_p_values(differences: Sequence[MeanDifference]) -> list[float]:
    """Return the p value of each benchmark after Holm's correction; 1 for a benchmark without one."""
    p_values = {}
    for number, difference in enumerate(differences):
        if difference.p is not None:
            p_values[number] = difference.p
    corrected = correct_by_holm(p_values)
    return [corrected.get(number, 1.0) for number in range(len(differences))]


def _estimate_differences(paired: PairedBenchmark, tests: int) -> _Estimates:
    if paired.figure is not None:
        return _estimate_figure_differences(paired, tests)
    at_floor = without_family = None
    if paired.pairs != paired.at_floor:
        at_floor = _estimate_pairs(paired, paired.at_floor, tests)
    if paired.without_family:
        without_family = _estimate_pairs(paired, paired.without_family, tests)
    return _Estimates(
        paired, _estimate_pairs(paired, paired.pairs, tests), at_floor, without_family
    )


def _estimate_pairs(paired: PairedBenchmark, pairs: Sequence[Pair], tests: int) -> MeanDifference:
    return estimate_paired_difference(
        pairs, binary=paired.metric.binary, reach=_measure_scale(paired), tests=tests
    )


def _estimate_figure_differences(paired: PairedBenchmark, tests: int) -> _Estimates:
    figure, reach = paired.figure, _measure_scale(paired)
    assert figure is not None
    difference = estimate_figure_difference(figure.items, figure.compute, reach=reach, tests=tests)
    at_floor = None
    if len(figure.items) < len(figure.at_floor):
        at_floor = estimate_figure_difference(
            figure.at_floor, figure.compute, reach=reach, tests=tests
        )
    return _Estimates(paired, difference, at_floor, without_family=None)


def _measure_scale(paired: PairedBenchmark) -> float:
    return float(paired.metric.high - paired.metric.low)


def _bound_benchmark(paired: PairedBenchmark) -> Bounds | None:
    scores = [(pair.a, pair.b) for pair in paired.pairs]
    return bound_difference(scores, paired.metric.low, paired.metric.high)


def _normalise_pairs(paired: PairedBenchmark) -> list[Pair]:
    """Return the pairs at the floor, rescaled to the range from 0 to 1 so that metrics can be averaged."""
    low, width = paired.metric.low, _measure_scale(paired)
    normalised = []
    for pair in paired.at_floor:
        a = None if pair.a is None else (pair.a - low) / width
        b = None if pair.b is None else (pair.b - low) / width
        normalised.append(Pair(pair.unit, a, b))
    return normalised


def _finds_better(difference: MeanDifference, p: float, better: str) -> bool:
    a_is_better = (difference.value or 0.0) > 0
    return shows_difference(difference, p) and a_is_better == (better == "A")


def shows_difference(difference: MeanDifference | Overall, p: float | None) -> bool:
    """Return whether the p value and the interval both show a difference. They may disagree close to their limits."""
    if p is None or p > ALPHA:
        return False
    if difference.low is None or difference.high is None:
        return True
    return not difference.low <= 0 <= difference.high
