"""How sure a mean is: Wilson for proportions, a bootstrap for everything else, both over units. Pure.

Instances of one unit (a patient, a document) are not independent. A proportion then counts for as many independent
instances as its variance between units says; the bootstrap draws whole units.
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
MAX_WORK = 2_000_000  # items that a figure of a whole run is computed from, over all resamples

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over instances with its 95 % interval.

    Attributes:
        n: instances scored; 0 means there is no mean.
        units: distinct units behind them.
        value: in the metric's range, or None.
        low, high: the interval, or None where there is none (no score, or nothing that varies).
        method: how the interval was made: `bca` and `percentile` are bootstraps over units, `none` where there is none.
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

    Binary scores get Wilson's interval, with the effective number of instances where units have several (Korn and
    Graubard 1998; Franco et al. 2019 compare such intervals). Others get the BCa bootstrap over units, see
    `compute_bca_interval`; none where all units agree, because then the sample says nothing about how much they differ.

    Args:
        scores: one pair an instance; binary scores are 0 or 1.
        binary: whether a score can be nothing else.
        within: the lowest and the highest mean that there can be; the interval ends there.
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
    """Return how many independent instances a proportion of clustered ones is worth, at most n.

    n over the design effect, the ratio of the variance between units (linearised) to the binomial one; less the fewer
    units that variance is seen in, by the ratio of Student's quantiles (Korn and Graubard 1998), but not below one.
    Where it cannot be seen, because all answers are the same, each unit counts once.
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
    """Return a figure that only all items together have, with the percentile bootstrap over units, seeded.

    Fewer resamples where there are many items: RESAMPLES up to 1,000 items, never under MIN_RESAMPLES.

    Args:
        items: one pair of unit and item an instance.
        figure: computes it; None where it has no value.
        within: the lowest and the highest that it can be; the interval ends there.
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
