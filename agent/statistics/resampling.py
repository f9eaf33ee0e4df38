"""The bootstrap over units (patients, documents) that all intervals here share. Pure, seeded.

A unit is drawn with all its instances (Field and Welsh 2007): those of one patient are not independent of each other.
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

SEED = 20_250_523  # any constant: the same scores always give the same interval
BLOCK = 250_000  # drawn units in memory at a time: what a processor keeps close
FEW_UNITS = 8  # below it resamples alone promise too much
MIN_UNITS = 10  # of which raters' agreement, ranks and sums over benchmarks are told: fewer look surer than they are
ROUNDING_ERROR = 1e-12  # figures are computed with rounding errors below this
ANYWHERE = (-math.inf, math.inf)
_NORMAL = NormalDist()

Item = TypeVar("Item")


def draw_units(
    units: int, resamples: int, generator: Any = None, at_once: int = BLOCK
) -> "Iterator[NDArray[np.int64]]":
    """Yield the numbers of the units that are drawn, one row for each resample, in blocks of about `at_once` numbers.

    Args:
        units: how many there are to draw from, and are drawn.
        resamples: how many rows in all.
        generator: to draw with; None: a seeded one. The size of the blocks changes nothing.
    """
    import numpy as np

    generator = np.random.default_rng(SEED) if generator is None else generator
    step = max(1, at_once // units)
    for start in range(0, resamples, step):
        yield generator.integers(0, units, (min(step, resamples - start), units))


def count_draws(
    units: int, resamples: int, generator: Any = None, at_once: int = BLOCK
) -> "Iterator[Numbers]":
    """Yield how often each unit is drawn, one row for each resample: `draw_units`, counted."""
    import numpy as np

    for drawn in draw_units(units, resamples, generator, at_once):
        cells = (
            drawn + np.arange(len(drawn))[:, None] * units
        )  # a number of its own for each row and unit
        yield np.bincount(cells.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(float)


def resample_weighted_figures(
    units: int, resamples: int, figures: "Callable[[Numbers], Numbers]", at_once: int = BLOCK
) -> "Numbers":
    """Return a figure of every resample; `figures` computes those of a block from how often each unit is in them."""
    import numpy as np

    return np.concatenate(
        [figures(times) for times in count_draws(units, resamples, at_once=at_once)]
    )


def resample_figures(
    groups: Sequence[Sequence[Item]],
    figure: Callable[[Sequence[Item]], float | None],
    resamples: int,
) -> "Numbers":
    """Return a figure of all items together for every resample; NaN where it has no value.

    Args:
        groups: each unit's items.
        figure: computes it from the items of the units that are drawn.
        resamples: how many.
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
    """Return the mean over instances in each resample of units, which have these sums of so many instances.

    Args:
        sums, sizes: of each unit.
        resamples: how many.
        stream: a number for draws that are independent of those with another number.
    """
    import numpy as np

    generator = np.random.default_rng(SEED if stream is None else (SEED, stream))
    units = len(sums)
    have_equal_size = bool((sizes == sizes[0]).all())  # then every resample has as many instances
    means = []
    for drawn in draw_units(units, resamples, generator, BLOCK):
        instances = units * float(sizes[0]) if have_equal_size else sizes.take(drawn).sum(axis=1)
        means.append(sums.take(drawn).sum(axis=1) / instances)
    return np.concatenate(means)


def compute_bca_interval(
    value: float, drawn: "Numbers", sums: "Numbers", sizes: "Numbers"
) -> tuple[float, float]:
    """Return the 95 % interval of a mean by the BCa bootstrap, at the levels of `compute_reach`.

    Bias-corrected and accelerated (Efron 1987; Efron and Tibshirani 1993, chapter 14), the acceleration by leaving
    out one unit at a time. It always holds the value itself.

    Args:
        value: the mean.
        drawn: from `resample_means`.
        sums, sizes: of the units, at least two of them.
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
    """Return the skewness of the mean by the jackknife; 0 where no unit makes a difference."""
    means_without_unit = (sums.sum() - sums) / (sizes.sum() - sizes)
    deviations = means_without_unit.mean() - means_without_unit
    cubed_spread = math.pow(float((deviations**2).sum()), 1.5)
    if cubed_spread <= 0:
        return 0.0
    return float((deviations**3).sum()) / (6 * cubed_spread)


def _compute_bias(value: float, drawn: "Numbers") -> float:
    """Return the normal quantile of the share of resamples below the value; ties count half."""
    share = (float((drawn < value).sum()) + float((drawn == value).sum()) / 2) / len(drawn)
    least = 1 / len(drawn)  # keeps the quantile finite
    return _NORMAL.inv_cdf(min(max(share, least), 1 - least))


def compute_percentile_interval(
    value: float, drawn: "Numbers | Sequence[float]", units: int, apart: int | None = None
) -> tuple[float, float]:
    """Return the 95 % interval by the percentiles of resamples, at the levels of `compute_reach`. It holds the value.

    Args:
        value: the figure.
        drawn: it in each resample.
        units: at least two.
        apart: how many of them are not like most others; None: all.
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
    """Return `compute_percentile_interval` of a figure that not every resample has.

    None where most resamples have none, or nothing varies: then they do not say how sure it is.

    Args:
        value: the figure.
        drawn: it in each resample, not a number where that has none.
        units: at least two.
        within: the lowest and the highest that it can be; the interval ends there.
    """
    import numpy as np

    finite = drawn[np.isfinite(drawn)]
    if len(finite) < max(2, len(drawn) / 2) or float(np.ptp(finite)) <= ROUNDING_ERROR:
        return None
    return limit_interval(compute_percentile_interval(value, finite, units), value, within)


def limit_interval(
    interval: tuple[float, float], value: float, within: tuple[float, float]
) -> tuple[float, float]:
    """End an interval where the range ends; a value beside a range that was guessed stays in it."""
    low, high = interval
    return min(value, max(low, within[0])), max(value, min(high, within[1]))


def compute_percentiles(
    value: float, drawn: "Numbers | Sequence[float]", errors: float
) -> tuple[float, float]:
    """Return the percentiles of resamples at these standard errors to both sides. They enclose the value."""
    import numpy as np

    level = _NORMAL.cdf(-errors)
    low, high = np.percentile(drawn, [100 * level, 100 * (1 - level)])
    return min(value, float(low)), max(value, float(high))


def _compute_reach_of_few(spread: float, units: int, apart: int) -> float:
    """Return how far an interval reaches at least where few units tell how much units vary; 0 where enough do.

    No resample lies outside the units that are there: of two units the resampled interval holds the truth in one case
    of two. Student's t does not stop there. Where most units are alike (no difference in 95 of 100 answers, a jury's
    best grade for nearly all) it has as many degrees of freedom as there are units apart from them.

    Args:
        spread: standard deviation of the resamples.
        units: at least two.
        apart: those that are not like most others.
    """
    informative = max(
        2, min(units, apart + 1)
    )  # two at least, where units differ by rounding alone
    if informative >= FEW_UNITS or spread == 0:
        return 0.0
    return (
        math.sqrt(units / (units - 1)) * spread * compute_student_quantile(0.975, informative - 1)
    )


def _count_most_alike(values: "Numbers") -> int:
    """Return how many units have the most common value."""
    import numpy as np

    _, counts = np.unique(np.round(values, 12), return_counts=True)
    return int(counts.max())


@lru_cache(maxsize=4096)
def compute_reach(units: int) -> float:
    """Return how many standard deviations an interval reaches to hold 95 % with so many units.

    Resamples of few units vary less than new samples would, by the factor (units - 1) / units, and what is known of
    their spread is itself a sample's: Student's t instead of the normal distribution (Hesterberg 2015, "What teachers
    should know about the bootstrap", expanded percentiles).

    Raises:
        ValueError: there are fewer than two units.
    """
    if units < 2:
        raise ValueError("need at least two units")
    return math.sqrt(units / (units - 1)) * compute_student_quantile(0.975, units - 1)


@lru_cache(maxsize=4096)
def compute_student_quantile(p: float, freedom: float) -> float:
    """Return the `p` quantile, 0.5 or more, of Student's t: its square has an F distribution."""
    return math.sqrt(compute_f_quantile(2 * p - 1, 1, freedom)) if p > 0.5 else 0.0


def compute_student_p(ratio: float, freedom: float) -> float:
    """Return the two-sided p of so many standard errors, by Student's t."""
    return 1 - compute_f_cdf(ratio**2, 1, freedom)


def _compute_level(reach: float, bias: float, acceleration: float) -> float:
    divisor = 1 - acceleration * (bias + reach)
    if divisor <= 0:  # the correction has no meaning that far out: the end of all resamples
        return float(reach > 0)
    return _NORMAL.cdf(bias + (bias + reach) / divisor)


def sum_by_unit(scores: Iterable[tuple[Hashable, float]]) -> "tuple[Numbers, Numbers]":
    """Return the sum and the number of scores of each unit, from (unit, score) pairs."""
    import numpy as np

    groups: dict[Hashable, list[float]] = {}
    for unit, score in scores:
        groups.setdefault(unit, []).append(score)
    sums = np.array([math.fsum(group) for group in groups.values()])
    sizes = np.array([float(len(group)) for group in groups.values()])
    return sums, sizes
