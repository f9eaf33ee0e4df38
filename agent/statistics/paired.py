"""Estimate the difference between two models on the same instances, with its interval and p value. Pure.

Pairing removes the effect of an instance's difficulty, which both models share. Instances of one unit (a patient or
document) are kept together.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from agent.statistics.power import ALPHA, count_units_needed, find_detectable_difference
from agent.statistics.resampling import (
    MIN_UNITS,
    ROUNDING_ERROR,
    compute_bca_interval,
    compute_percentile_interval,
    compute_percentiles,
    compute_reach,
    compute_student_p,
    compute_student_quantile,
    resample_figures,
    resample_means,
    sum_by_unit,
)
from protocol.figures import Z95, wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

RESAMPLES = 10_000  # enough for p values that stay significant after correction for 37 benchmarks
MIN_RESAMPLES = 2_000
MAX_DRAWN = 5_000_000  # maximum units drawn over all resamples
MIN_FIGURES = 200  # minimum resamples of a whole-run metric
MAX_WORK = 1_000_000  # maximum pairs of items over all resamples of a whole-run metric

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Pair:
    """One instance's scores by both models, on the metric's scale; a score is None if that model has none."""

    unit: Hashable
    a: float | None
    b: float | None


@dataclass(frozen=True, slots=True)
class ItemPair(Generic[Item]):
    """One instance's items by both models: existing scores, or labels from which a whole-run metric is computed."""

    unit: Hashable
    a: Item
    b: Item


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The first model's mean minus the second's, over the instances for which both have scores.

    Attributes:
        n, units: number of instances, and of units behind them.
        mean_a, mean_b, value: the two means and mean_a - mean_b; None if n is 0.
        low, high: 95 % interval of the difference; None if nothing varies.
        method: method of the interval. `bca` and `percentile` are bootstraps over units; `none` means no interval.
        better_a, better_b: number of instances on which that model has the higher score.
        p: two-sided p value for the hypothesis of no difference; None if n is 0.
        test: the test behind `p`.
        exact_p: p value of McNemar's exact test, if that test applies.
        detectable: smallest true difference that four of five such comparisons would detect, with p corrected for all
            comparisons made together; None if none can be detected or it is not known.
        needed: number of units needed to detect a difference as large as the observed one; None if there is none or
            the number is not known.
    """

    n: int
    units: int
    mean_a: float | None
    mean_b: float | None
    value: float | None
    low: float | None
    high: float | None
    method: Literal["newcombe", "bca", "percentile", "none"]
    better_a: int
    better_b: int
    p: float | None
    test: Literal["mcnemar mid-p", "bootstrap", "none"]
    exact_p: float | None
    detectable: float | None
    needed: int | None


NOTHING = MeanDifference(
    n=0,
    units=0,
    mean_a=None,
    mean_b=None,
    value=None,
    low=None,
    high=None,
    method="none",
    better_a=0,
    better_b=0,
    p=None,
    test="none",
    exact_p=None,
    detectable=None,
    needed=None,
)


def estimate_paired_difference(
    pairs: Iterable[Pair], *, binary: bool, reach: float = math.inf, tests: int = 1
) -> MeanDifference:
    """Compare two models on the same instances.

    Binary scores of independent instances get Newcombe's interval (1998, paired data, method 10) and McNemar's mid-p
    (Fagerland, Lydersen and Laake 2013). Other scores, including binary scores if units have several instances, get the
    BCa bootstrap over units and the p value of `compute_bootstrap_p`. If p is above 0.05, the interval is widened to
    contain 0, so that interval and p never contradict each other in that direction.

    Args:
        pairs: pairs of scores; those that lack a score by either model are ignored.
        binary: whether 0 and 1 are the only possible scores.
        reach: width of the range of scores, which no difference can exceed.
        tests: number of such comparisons made together.
    """
    complete = _select_complete(pairs)
    if not complete:
        return NOTHING
    n = len(complete)
    units = len({pair.unit for pair in complete})
    difference = replace(
        NOTHING,
        n=n,
        units=units,
        mean_a=math.fsum(pair.a for pair in complete) / n,
        mean_b=math.fsum(pair.b for pair in complete) / n,
        value=math.fsum(pair.a - pair.b for pair in complete) / n,
        better_a=sum(pair.a > pair.b for pair in complete),
        better_b=sum(pair.b > pair.a for pair in complete),
    )
    if binary and units == n:
        return _test_proportions(difference, complete, reach, tests)
    return _test_means(difference, complete, reach, tests)


def _select_complete(pairs: Iterable[Pair]) -> list[ItemPair[float]]:
    """Return the pairs with scores by both models."""
    complete = []
    for pair in pairs:
        if pair.a is not None and pair.b is not None:
            complete.append(ItemPair(pair.unit, pair.a, pair.b))
    return complete


def _test_proportions(
    difference: MeanDifference, pairs: Sequence[ItemPair[float]], reach: float, tests: int
) -> MeanDifference:
    """Add Newcombe's interval and McNemar's p value to a difference of binary scores."""
    better_a, better_b = difference.better_a, difference.better_b
    table = Counter((pair.a, pair.b) for pair in pairs)
    interval = compute_newcombe_interval(
        both=table[1, 1],
        only_a=table[1, 0],
        only_b=table[0, 1],
        neither=table[0, 0],
    )
    p = compute_mcnemar_mid_p(better_a, better_b)
    low, high = _agree_with_p(interval, p, reach)
    tested = replace(
        difference,
        low=low,
        high=high,
        method="newcombe",
        p=p,
        test="mcnemar mid-p",
        exact_p=compute_mcnemar_exact_p(better_a, better_b),
    )
    return _add_power(
        tested, estimate_smoothed_error(better_a, better_b, difference.n), reach, tests
    )


def _test_means(
    difference: MeanDifference, pairs: Sequence[ItemPair[float]], reach: float, tests: int
) -> MeanDifference:
    """Add the BCa interval and the bootstrap p value to a difference of means."""
    value = difference.value
    assert value is not None
    sums, sizes = sum_by_unit((pair.unit, pair.a - pair.b) for pair in pairs)
    error = _estimate_standard_error(sums, sizes)
    if error <= ROUNDING_ERROR:
        return replace(difference, p=compute_least_p(sums), test="bootstrap")
    drawn = resample_means(sums, sizes, choose_resamples(difference.units))
    p = compute_bootstrap_p(value, drawn, sums)
    low, high = _agree_with_p(compute_bca_interval(value, drawn, sums, sizes), p, reach)
    tested = replace(difference, low=low, high=high, method="bca", p=p, test="bootstrap")
    return _add_power(tested, error, reach, tests)


def _add_power(
    difference: MeanDifference, error: float, reach: float, tests: int
) -> MeanDifference:
    """Add the smallest detectable difference, and the number of units needed to detect the observed one."""
    units = difference.units
    spread = error * math.sqrt(units)
    return replace(
        difference,
        detectable=find_detectable_difference(error, units, tests, reach),
        needed=count_units_needed(spread, abs(difference.value or 0.0), tests),
    )


def _agree_with_p(interval: tuple[float, float], p: float, reach: float) -> tuple[float, float]:
    """Widen the interval to contain 0 if p does not exclude 0, and limit it to possible values."""
    low, high = interval
    if p > ALPHA:
        low, high = min(low, 0.0), max(high, 0.0)
    return max(low, -reach), min(high, reach)


def estimate_figure_difference(
    items: Sequence[ItemPair[Item]],
    figure: Callable[[Sequence[Item]], float | None],
    *,
    reach: float = math.inf,
    tests: int = 1,
) -> MeanDifference:
    """Compare two models by a whole-run metric such as macro F1.

    The percentile bootstrap over units draws both models' items together, with fewer resamples if there are many
    items. If no resample is as far from the difference as 0 is, p is computed by Student's t, because there are too few
    resamples to estimate how small it is.

    Args:
        items: both models' items of each instance.
        figure: computes the metric from one model's items; returns None if it has no value.
        reach, tests: as in `estimate_paired_difference`.
    """
    import numpy as np

    groups = _group_by_unit(items)
    units = len(groups)
    untested = replace(NOTHING, n=len(items), units=units)
    mean_a = figure([pair.a for pair in items])
    mean_b = figure([pair.b for pair in items])
    if mean_a is None or mean_b is None:
        return untested
    value = mean_a - mean_b
    drawn = _resample_figure_differences(groups, figure, len(items))
    differing = np.array([float(any(pair.a != pair.b for pair in group)) for group in groups])
    difference = replace(untested, mean_a=mean_a, mean_b=mean_b, value=value, test="bootstrap")
    error = _estimate_bootstrap_error(drawn, units)
    if error <= ROUNDING_ERROR:
        return replace(difference, p=compute_least_p(differing))
    p = _compute_figure_p(value, drawn, differing, error)
    interval = compute_percentile_interval(value, drawn, units, apart=int(differing.sum()))
    low, high = _agree_with_p(interval, p, reach)
    tested = replace(difference, low=low, high=high, method="percentile", p=p)
    return _add_power(tested, error, reach, tests)


def _estimate_bootstrap_error(drawn: "Numbers", units: int) -> float:
    """Return the standard error estimated from resamples of this number of units; 0 with too few resamples or units."""
    import numpy as np

    if len(drawn) < 2 or units < 2:
        return 0.0
    return math.sqrt(units / (units - 1)) * float(np.std(drawn))


def _compute_figure_p(value: float, drawn: "Numbers", differing: "Numbers", error: float) -> float:
    """Return the bootstrap p value or, if no resample is as far from the value as 0 is, the one by Student's t."""
    p = compute_bootstrap_p(value, drawn, differing)
    smallest_by_counting = 1 / (1 + len(drawn))
    if p > smallest_by_counting:
        return p
    student_p = compute_student_p(value / error, len(differing) - 1)
    return max(compute_least_p(differing), min(p, student_p))


def _group_by_unit(items: Sequence[ItemPair[Item]]) -> list[list[ItemPair[Item]]]:
    groups: dict[Hashable, list[ItemPair[Item]]] = {}
    for pair in items:
        groups.setdefault(pair.unit, []).append(pair)
    return list(groups.values())


def _resample_figure_differences(
    groups: Sequence[Sequence[ItemPair[Item]]],
    figure: Callable[[Sequence[Item]], float | None],
    items: int,
) -> "Numbers":
    """Return the difference of the metric in each resample in which it has a value."""
    import numpy as np

    def subtract(pairs: Sequence[ItemPair[Item]]) -> float | None:
        figure_a = figure([pair.a for pair in pairs])
        figure_b = figure([pair.b for pair in pairs])
        return None if figure_a is None or figure_b is None else figure_a - figure_b

    resamples = max(MIN_FIGURES, min(MIN_RESAMPLES, MAX_WORK // items))
    drawn = resample_figures(groups, subtract, resamples)
    finite: Numbers = drawn[np.isfinite(drawn)]
    return finite


@dataclass(frozen=True, slots=True)
class Overall:
    """The unweighted mean of the differences in several benchmarks.

    Attributes:
        counted: numbers, from 0, of the benchmarks included.
        value: the mean.
        low, high: 95 % interval of the mean; None if nothing varies.
        p: two-sided p value for the hypothesis of no difference.
    """

    counted: tuple[int, ...]
    value: float
    low: float | None
    high: float | None
    p: float


def estimate_overall_difference(tables: Sequence[Sequence[Pair]]) -> Overall | None:
    """Compare two models over several benchmarks, whose scores must all be on a scale from 0 to 1.

    The interval is a percentile bootstrap over units, with benchmarks resampled independently. Its levels are those of
    Student's t with the degrees of freedom of Welch and Satterthwaite, so that a benchmark with few noisy units, which
    causes most of the uncertainty, determines them. Benchmarks with fewer than MIN_UNITS units are excluded, because
    resampling a handful of units understates their uncertainty.

    Returns:
        The overall difference, or None if no benchmark has enough units.
    """
    import numpy as np

    counted: list[int] = []
    benchmarks: list[_UnitDifferences] = []
    for number, table in enumerate(tables):
        pairs = _select_complete(table)
        if len({pair.unit for pair in pairs}) >= MIN_UNITS:
            counted.append(number)
            benchmarks.append(
                _UnitDifferences(*sum_by_unit((pair.unit, pair.a - pair.b) for pair in pairs))
            )
    if not benchmarks:
        return None
    value = math.fsum(benchmark.mean for benchmark in benchmarks) / len(benchmarks)
    drawn = np.full(MIN_RESAMPLES, value)
    for number, benchmark in enumerate(benchmarks):
        means = resample_means(benchmark.sums, benchmark.sizes, MIN_RESAMPLES, stream=number)
        # The variance of resamples is smaller than that of new samples by the factor (units - 1) / units.
        widening = math.sqrt(benchmark.units / (benchmark.units - 1))
        drawn += (means - benchmark.mean) * widening / len(benchmarks)
    all_sums = np.concatenate([benchmark.sums for benchmark in benchmarks])
    if float(drawn.std()) <= ROUNDING_ERROR:
        return Overall(tuple(counted), value, low=None, high=None, p=compute_least_p(all_sums))
    errors = compute_student_quantile(0.975, _combine_freedom(benchmarks))
    p = compute_bootstrap_p(value, drawn, all_sums, errors)
    low, high = _agree_with_p(compute_percentiles(value, drawn, errors), p, 1.0)
    return Overall(tuple(counted), value, low, high, p)


@dataclass(frozen=True, slots=True)
class _UnitDifferences:
    """One benchmark's differences, summed by unit, and the number of instances per unit."""

    sums: "Numbers"
    sizes: "Numbers"

    @property
    def units(self) -> int:
        return len(self.sums)

    @property
    def mean(self) -> float:
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def variance(self) -> float:
        """The variance of the mean."""
        return _estimate_standard_error(self.sums, self.sizes) ** 2


def _combine_freedom(benchmarks: Sequence[_UnitDifferences]) -> float:
    """Return the Welch-Satterthwaite degrees of freedom of a mean over benchmarks."""
    variances = [benchmark.variance for benchmark in benchmarks]
    weights = (
        variance**2 / (benchmark.units - 1)
        for variance, benchmark in zip(variances, benchmarks, strict=True)
    )
    return sum(variances) ** 2 / sum(weights)


def compute_mcnemar_exact_p(b: int, c: int) -> float:
    """Return the exact two-sided p of McNemar's test: `b` of b + c discordant pairs under a fair binomial."""
    return min(1.0, 2 * _sum_tail(b, c))


def compute_mcnemar_mid_p(b: int, c: int) -> float:
    """Return the mid-p of McNemar's test, in which the observed table counts half. It is less conservative."""
    if b == c == 0:
        return 1.0
    p_of_table: float = math.comb(b + c, b) / 2 ** (b + c)
    if b == c:
        return 1 - p_of_table / 2
    return 2 * _sum_tail(b, c) - p_of_table


def _sum_tail(b: int, c: int) -> float:
    """Return the probability of at most min(b, c) heads in b + c tosses of a fair coin, using exact integers."""
    term = total = 1
    for k in range(1, min(b, c) + 1):
        term = term * (b + c - k + 1) // k
        total += term
    probability: float = total / 2 ** (b + c)
    return probability


def compute_newcombe_interval(
    both: int, only_a: int, only_b: int, neither: int
) -> tuple[float, float]:
    """Return the 95 % interval of a difference of paired proportions (Newcombe 1998, paired data, method 10).

    It combines Wilson's intervals of the two proportions with a continuity-corrected estimate of their correlation.

    Args:
        both, only_a, only_b, neither: number of pairs in which both, only the first, only the second, or neither model
            is right.
    """
    n = both + only_a + only_b + neither
    right_a, right_b = both + only_a, both + only_b
    a, b = right_a / n, right_b / n
    low_a, high_a = wilson(right_a, n)
    low_b, high_b = wilson(right_b, n)
    product = right_a * (n - right_a) * right_b * (n - right_b)
    association: float = both * neither - only_a * only_b
    if association > 0:
        association = max(0.0, association - n / 2)
    phi = association / math.sqrt(product) if product else 0.0
    low = a - b - _combine_reaches(a - low_a, high_b - b, phi)
    high = a - b + _combine_reaches(high_a - a, b - low_b, phi)
    return low, high


def _combine_reaches(reach_a: float, reach_b: float, phi: float) -> float:
    return math.sqrt(max(0.0, reach_a**2 - 2 * phi * reach_a * reach_b + reach_b**2))


def compute_bootstrap_p(
    value: float, drawn: "Numbers", sums: "Numbers", errors: float | None = None
) -> float:
    """Return the two-sided p value of a difference: the share of resamples as far from it as it is from 0.

    One extra resample that far is counted (Davison and Hinkley 1997, section 4.4), and resamples are spread in the same
    way as intervals are widened for few units (see `compute_reach`). The result is never less than `compute_least_p`,
    because few units cannot give a smaller p value.

    Args:
        value: the difference.
        drawn: the difference in each resample.
        sums: sum of the differences of each unit.
        errors: half-width of an interval in standard errors; None for `compute_reach`.
    """
    import numpy as np

    widened = (errors or compute_reach(len(sums))) / Z95
    as_far = int((np.abs(drawn - value) * widened >= abs(value) - ROUNDING_ERROR).sum())
    return max(compute_least_p(sums), (1 + as_far) / (1 + len(drawn)))


def compute_least_p(sums: "Numbers") -> float:
    """Return the smallest p value that a sign test could give, which needs all differing units to agree."""
    import numpy as np

    differing = int((np.abs(sums) > ROUNDING_ERROR).sum())
    return min(1.0, math.ldexp(2.0, -differing))


def choose_resamples(units: int) -> int:
    """Return the number of resamples to draw from this number of units."""
    return max(MIN_RESAMPLES, min(RESAMPLES, MAX_DRAWN // units))


def estimate_smoothed_error(only_a: int, only_b: int, n: int) -> float:
    """Return the standard error of a difference of paired proportions, with half an instance added to each cell.

    This avoids a standard error near 0 if there are few or no discordant pairs (Agresti and Min 2005).
    """
    b, c, total = only_a + 0.5, only_b + 0.5, n + 2
    return math.sqrt(b + c - (b - c) ** 2 / total) / total


def _estimate_standard_error(sums: "Numbers", sizes: "Numbers") -> float:
    """Return the standard error of a mean over instances, linearised over units; 0 for a single unit."""
    units, n = len(sums), float(sizes.sum())
    if units < 2:
        return 0.0
    residuals = sums - float(sums.sum()) / n * sizes
    return math.sqrt(units / (units - 1) * float((residuals**2).sum())) / n
