"""The bootstrap over units (patients or documents) that is the basis of all intervals here. Pure and seeded.

A unit is drawn with all its instances (Field and Welsh 2007), because the instances of one patient are not independent.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

from agent.statistics.f_distribution import compute_f_cdf, compute_f_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

SEED = 20_250_523  # an arbitrary constant, so that the same scores always give the same interval
BLOCK = 250_000  # drawn units in memory at a time, which fit in a processor's cache
FEW_UNITS = 8  # with fewer units, intervals from resamples alone are too narrow
MIN_UNITS = 10  # for agreement, ranks and results over benchmarks; fewer units would understate the uncertainty
ROUNDING_ERROR = 1e-12  # upper bound of rounding errors in computed statistics
ANYWHERE = (-math.inf, math.inf)
_NORMAL = NormalDist()

Item = TypeVar("Item")


def draw_units(
    units: int, resamples: int, generator: Any = None, at_once: int = BLOCK
) -> "Iterator[NDArray[np.int64]]":
    """Yield the indices of the drawn units, one row per resample, in blocks of about `at_once` indices.

    Args:
        units: number of units to draw from, and to draw in each resample.
        resamples: total number of rows.
        generator: random generator; None for a seeded one.
        at_once: size of a block, which does not affect the result.
    """
    import numpy as np

    generator = np.random.default_rng(SEED) if generator is None else generator
    step = max(1, at_once // units)
    for start in range(0, resamples, step):
        yield generator.integers(0, units, (min(step, resamples - start), units))


def count_draws(
    units: int, resamples: int, generator: Any = None, at_once: int = BLOCK
) -> "Iterator[Numbers]":
    """Yield the number of times that each unit is drawn by `draw_units`, one row per resample."""
    import numpy as np

    for drawn in draw_units(units, resamples, generator, at_once):
        # A different number for each pair of a row and a unit.
        cells = drawn + np.arange(len(drawn))[:, None] * units
        yield np.bincount(cells.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(float)


def resample_weighted_figures(
    units: int, resamples: int, figures: "Callable[[Numbers], Numbers]", at_once: int = BLOCK
) -> "Numbers":
    """Return a statistic for every resample. `figures` computes it for a block from the draws of each unit."""
    import numpy as np

    return np.concatenate(
        [figures(times) for times in count_draws(units, resamples, at_once=at_once)]
    )


def resample_figures(
    groups: Sequence[Sequence[Item]],
    figure: Callable[[Sequence[Item]], float | None],
    resamples: int,
) -> "Numbers":
    """Return a statistic of all items together for every resample; NaN if it has no value.

    Args:
        groups: items of each unit.
        figure: computes the statistic from the items of the drawn units.
        resamples: number of resamples.
    """
    import numpy as np

    values: list[float] = []
    for block in draw_units(len(groups), resamples):
        for units in block.tolist():
            items: list[Item] = []
            for unit in units:
                items += groups[unit]
            value = figure(items)
            values.append(math.nan if value is None else value)
    return np.array(values)


def resample_means(
    sums: "Numbers", sizes: "Numbers", resamples: int, stream: int | None = None
) -> "Numbers":
    """Return the mean over instances in each resample of units.

    Args:
        sums, sizes: sum of the scores and number of instances of each unit.
        resamples: number of resamples.
        stream: number of a random stream; draws of different streams are independent.
    """
    import numpy as np

    generator = np.random.default_rng(SEED if stream is None else (SEED, stream))
    units = len(sums)
    # If all units have the same size, all resamples have the same number of instances.
    have_equal_size = bool((sizes == sizes[0]).all())
    means = []
    for drawn in draw_units(units, resamples, generator, BLOCK):
        instances = units * float(sizes[0]) if have_equal_size else sizes.take(drawn).sum(axis=1)
        means.append(sums.take(drawn).sum(axis=1) / instances)
    return np.concatenate(means)


def compute_bca_interval(
    value: float, drawn: "Numbers", sums: "Numbers", sizes: "Numbers"
) -> tuple[float, float]:
    """Return the 95 % interval of a mean by the BCa bootstrap, at the levels of `compute_reach`.

    The interval is bias-corrected and accelerated (Efron 1987; Efron and Tibshirani 1993, chapter 14), with the
    acceleration estimated by leaving out one unit at a time. It always contains the value itself.

    Args:
        value: the mean.
        drawn: the means returned by `resample_means`.
        sums, sizes: sum of the scores and number of instances of each unit; at least two units.
    """
    import numpy as np

    units = len(sums)
    acceleration = _compute_acceleration(sums, sizes)
    bias = _compute_bias(value, drawn)
    reach = compute_reach(units)
    levels = [_compute_level(end, bias, acceleration) for end in (-reach, reach)]
    low, high = np.percentile(drawn, [100 * level for level in levels])
    least_reach = _compute_reach_of_few(
        float(drawn.std()), units, units - _count_most_alike(sums / sizes)
    )
    return min(value - least_reach, float(low)), max(value + least_reach, float(high))


def _compute_acceleration(sums: "Numbers", sizes: "Numbers") -> float:
    """Return the jackknife estimate of the acceleration; 0 if leaving out a unit never changes the mean."""
    means_without_unit = (sums.sum() - sums) / (sizes.sum() - sizes)
    deviations = means_without_unit.mean() - means_without_unit
    cubed_spread = math.pow(float((deviations**2).sum()), 1.5)
    if cubed_spread <= 0:
        return 0.0
    return float((deviations**3).sum()) / (6 * cubed_spread)


def _compute_bias(value: float, drawn: "Numbers") -> float:
    """Return the normal quantile of the share of resamples below the value. Ties count half."""
    share = (float((drawn < value).sum()) + float((drawn == value).sum()) / 2) / len(drawn)
    least = 1 / len(drawn)  # keeps the quantile finite
    return _NORMAL.inv_cdf(min(max(share, least), 1 - least))


def compute_percentile_interval(
    value: float, drawn: "Numbers | Sequence[float]", units: int, apart: int | None = None
) -> tuple[float, float]:
    """Return the 95 % percentile interval at the levels of `compute_reach`. It always contains the value.

    Args:
        value: the statistic.
        drawn: the statistic in each resample.
        units: number of units, at least two.
        apart: number of units that differ from the most common value; None for all.
    """
    import numpy as np

    low, high = compute_percentiles(value, drawn, compute_reach(units))
    least_reach = _compute_reach_of_few(
        float(np.std(drawn)), units, units if apart is None else apart
    )
    return min(value - least_reach, low), max(value + least_reach, high)


def compute_figure_interval(
    value: float, drawn: "Numbers", units: int, within: tuple[float, float] = ANYWHERE
) -> tuple[float, float] | None:
    """Return the percentile interval of a statistic that may be undefined in some resamples.

    None if it is undefined in most resamples or does not vary, because its uncertainty is then unknown.

    Args:
        value: the statistic.
        drawn: the statistic in each resample; NaN if undefined.
        units: number of units, at least two.
        within: lowest and highest possible value, which limit the interval.
    """
    import numpy as np

    finite = drawn[np.isfinite(drawn)]
    if len(finite) < max(2, len(drawn) / 2) or float(np.ptp(finite)) <= ROUNDING_ERROR:
        return None
    return limit_interval(compute_percentile_interval(value, finite, units), value, within)


def limit_interval(
    interval: tuple[float, float], value: float, within: tuple[float, float]
) -> tuple[float, float]:
    """Limit an interval to a range.

    The interval always includes the value, even if it lies outside `within`, because `within` may be a guess.
    """
    low, high = interval
    return min(value, max(low, within[0])), max(value, min(high, within[1]))


def compute_percentiles(
    value: float, drawn: "Numbers | Sequence[float]", errors: float
) -> tuple[float, float]:
    """Return the percentiles of resamples at plus and minus this many standard errors. They enclose the value."""
    import numpy as np

    level = _NORMAL.cdf(-errors)
    low, high = np.percentile(drawn, [100 * level, 100 * (1 - level)])
    return min(value, float(low)), max(value, float(high))


def _compute_reach_of_few(spread: float, units: int, apart: int) -> float:
    """Return the minimum half-width of an interval if few units are informative; 0 if enough are.

    Resamples cannot go beyond the observed units. With two units, for example, a resampled interval contains the true
    value in only half of all cases, so Student's t is used. If most units have the same value (no difference in 95 of
    100 answers, or a jury's best grade for nearly all), its degrees of freedom are the number of units with other
    values.

    Args:
        spread: standard deviation of the resamples.
        units: number of units, at least two.
        apart: number of units that differ from the most common value.
    """
    # At least two, even if units differ only by rounding.
    informative = max(2, min(units, apart + 1))
    if informative >= FEW_UNITS or spread == 0:
        return 0.0
    return (
        math.sqrt(units / (units - 1)) * spread * compute_student_quantile(0.975, informative - 1)
    )


def _count_most_alike(values: "Numbers") -> int:
    """Return the number of units with the most common value."""
    import numpy as np

    _, counts = np.unique(np.round(values, 12), return_counts=True)
    return int(counts.max())


@lru_cache(maxsize=4096)
def compute_reach(units: int) -> float:
    """Return the half-width of a 95 % interval, in standard deviations of the resamples, for this number of units.

    The variance of resamples is smaller than that of new samples by the factor (units - 1) / units. Because the spread
    is itself estimated, Student's t replaces the normal distribution (Hesterberg 2015, "What teachers should know about
    the bootstrap", expanded percentiles).

    Raises:
        ValueError: there are fewer than two units.
    """
    if units < 2:
        raise ValueError("need at least two units")
    return math.sqrt(units / (units - 1)) * compute_student_quantile(0.975, units - 1)


@lru_cache(maxsize=4096)
def compute_student_quantile(p: float, freedom: float) -> float:
    """Return the `p` quantile (p of at least 0.5) of Student's t, whose square has an F distribution."""
    return math.sqrt(compute_f_quantile(2 * p - 1, 1, freedom)) if p > 0.5 else 0.0


def compute_student_p(ratio: float, freedom: float) -> float:
    """Return the two-sided p value by Student's t for a ratio of value to standard error."""
    return 1 - compute_f_cdf(ratio**2, 1, freedom)


def _compute_level(reach: float, bias: float, acceleration: float) -> float:
    divisor = 1 - acceleration * (bias + reach)
    if divisor <= 0:  # the correction is undefined this far out, so use the extreme resample
        return float(reach > 0)
    return _NORMAL.cdf(bias + (bias + reach) / divisor)


def sum_by_unit(scores: Iterable[tuple[Hashable, float]]) -> "tuple[Numbers, Numbers]":
    """Return the sum and the number of scores for each unit, from (unit, score) pairs."""
    import numpy as np

    groups: dict[Hashable, list[float]] = {}
    for unit, score in scores:
        groups.setdefault(unit, []).append(score)
    sums = np.array([math.fsum(group) for group in groups.values()])
    sizes = np.array([float(len(group)) for group in groups.values()])
    return sums, sizes
