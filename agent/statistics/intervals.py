"""Estimate means with intervals: Wilson's for proportions and a bootstrap for everything else, both over units. Pure.

Instances of one unit (a patient or document) are not independent. Proportions therefore use an effective number of
instances, estimated from the variance between units, and the bootstrap draws whole units.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from agent.statistics.resampling import (
    ANYWHERE,
    compute_bca_interval,
    compute_figure_interval,
    compute_student_quantile,
    limit_interval,
    resample_figures,
    resample_means,
    sum_by_unit,
)
from protocol.figures import wilson

RESAMPLES = 2_000
MIN_RESAMPLES = 200
MAX_WORK = 2_000_000  # maximum items over all resamples of a whole-run metric

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over instances with its 95 % interval.

    Attributes:
        n: number of scored instances; if 0, there is no mean.
        units: number of distinct units behind them.
        value: the mean, in the metric's range; None if there is none.
        low, high: the interval; None if there is none (no score, or scores that do not vary).
        method: method of the interval. `bca` and `percentile` are bootstraps over units; `none` means no interval.
    """

    n: int
    units: int
    value: float | None
    low: float | None
    high: float | None
    method: Literal["wilson", "bca", "percentile", "none"]


def estimate_mean(
    scores: Sequence[tuple[bytes, float]], *, binary: bool, within: tuple[float, float] = ANYWHERE
) -> Mean:
    """Return the mean of (unit, score) pairs and its 95 % interval.

    Binary scores get Wilson's interval, with the effective number of instances if units have several (Korn and Graubard
    1998; Franco et al. 2019 compare such intervals). Other scores get the BCa bootstrap over units (see
    `compute_bca_interval`), or no interval if all units agree, because the sample then contains no information about
    how much units differ.

    Args:
        scores: one pair per instance; binary scores are 0 or 1.
        binary: whether 0 and 1 are the only possible scores.
        within: lowest and highest possible mean, which limit the interval.
    """
    n = len(scores)
    if n == 0:
        return Mean(0, 0, None, None, None, "none")
    value = math.fsum(score for _, score in scores) / n
    clusters: dict[bytes, list[float]] = {}
    for unit, score in scores:
        clusters.setdefault(unit, []).append(score)
    if binary:
        effective = _effective_n(list(clusters.values()), value, n)
        low, high = wilson(value * effective, effective)
        return Mean(n, len(clusters), value, low, high, "wilson")
    sums, sizes = sum_by_unit(scores)
    if len({math.fsum(group) / len(group) for group in clusters.values()}) < 2:
        return Mean(n, len(clusters), value, None, None, "none")
    interval = compute_bca_interval(value, resample_means(sums, sizes, RESAMPLES), sums, sizes)
    return Mean(n, len(clusters), value, *limit_interval(interval, value, within), "bca")


def _effective_n(clusters: Sequence[Sequence[float]], p: float, n: int) -> float:
    """Return the effective number of independent instances of a proportion of clustered instances, at most n.

    It is n divided by the design effect, the ratio of the (linearised) variance between units to the binomial variance.
    It is reduced further by a ratio of Student's quantiles (Korn and Graubard 1998) to account for estimating that
    variance from few units, but never below one. If the variance cannot be estimated, because all answers are the same,
    each unit counts once.
    """
    m = len(clusters)
    if m == n:
        return n
    binomial = p * (1 - p) / n
    if m < 2 or binomial == 0:
        return m
    between = m / (m - 1) * math.fsum((math.fsum(c) - p * len(c)) ** 2 for c in clusters) / n**2
    known = min(n, n * binomial / between) if between > 0 else n
    return max(
        1.0,
        known
        * (compute_student_quantile(0.975, n - 1) / compute_student_quantile(0.975, m - 1)) ** 2,
    )


def estimate_figure(
    items: Sequence[tuple[Hashable, Item]],
    figure: Callable[[Sequence[Item]], float | None],
    *,
    within: tuple[float, float] = ANYWHERE,
) -> Mean:
    """Return a statistic of all items together, with its interval by a seeded percentile bootstrap over units.

    The number of resamples decreases from RESAMPLES, for up to 1,000 items, to MIN_RESAMPLES for many items.

    Args:
        items: one (unit, item) pair per instance.
        figure: computes the statistic; returns None if it has no value.
        within: lowest and highest possible value, which limit the interval.
    """
    value = figure([item for _, item in items]) if items else None
    clusters: dict[Hashable, list[Item]] = {}
    for unit, item in items:
        clusters.setdefault(unit, []).append(item)
    nothing = Mean(len(items), len(clusters), value, None, None, "none")
    if value is None or len(clusters) < 2:
        return nothing
    resamples = max(MIN_RESAMPLES, min(RESAMPLES, MAX_WORK // len(items)))
    drawn = resample_figures(list(clusters.values()), figure, resamples)
    interval = compute_figure_interval(value, drawn, len(clusters), within)
    return (
        nothing
        if interval is None
        else replace(nothing, low=interval[0], high=interval[1], method="percentile")
    )
