"""Estimate Krippendorff's alpha with an interval, from resampled units. Pure."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.statistics.agreement import Level, Ratings, compute_krippendorff_alpha, replace_missing
from agent.statistics.resampling import (
    BLOCK,
    MIN_UNITS,
    compute_figure_interval,
    resample_weighted_figures,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Alpha:
    """An alpha with its 95 % interval; None where the ratings do not say."""

    value: float | None
    low: float | None
    high: float | None


def estimate_alpha(
    ratings: Ratings, level: Level, units: Sequence[Hashable] | None = None
) -> Alpha:
    """Return alpha with the percentile bootstrap over units, seeded; ranks are taken again in each resample.

    Fewer than MIN_UNITS have no interval.

    Args:
        ratings: a row for each item, a column for each rater, None where there is no rating.
        level: the scale of the numbers.
        units: of each row: the unit that it belongs to; None: each row is its own.
    """
    value = compute_krippendorff_alpha(ratings, level)
    keys = range(len(ratings)) if units is None else units
    counted = [
        _RatedItem(key, row)
        for key, row in zip(keys, ratings, strict=True)
        if _count_ratings(row) > 1
    ]
    columns: dict[Hashable, int] = {}
    for item in counted:
        columns.setdefault(item.unit, len(columns))
    if value is None or len(columns) < MIN_UNITS:
        return Alpha(value, None, None)
    import numpy as np

    table = np.array(
        [[replace_missing(rating) for rating in item.ratings] for item in counted], dtype=float
    )
    is_rated = ~np.isnan(table)
    unit_of_row = np.array([columns[item.unit] for item in counted])
    figure = _Ordinal(table, is_rated) if level == "ordinal" else _Interval(table, is_rated)
    drawn = resample_weighted_figures(
        len(columns),
        RESAMPLES,
        lambda times: figure.compute_alphas(times[:, unit_of_row]),
        at_once=BLOCK * len(columns) // table.size,  # ratings, not units
    )
    interval = compute_figure_interval(value, drawn, len(columns))
    if interval is None:
        return Alpha(value, None, None)
    low, high = interval
    return Alpha(value, low, high)


@dataclass(frozen=True, slots=True)
class _RatedItem:
    """One item's ratings, and the unit that it belongs to."""

    unit: Hashable
    ratings: Sequence[float | None]


def _count_ratings(row: Sequence[float | None]) -> int:
    return sum(rating is not None for rating in row)


class _Interval:
    """Alpha of numbers, from sums over rows."""

    def __init__(self, table: "NDArray[Any]", is_rated: "NDArray[Any]") -> None:
        import numpy as np

        values = np.where(is_rated, table - table[is_rated].mean(), 0.0)
        self._rated = is_rated.sum(axis=1)
        self._sums = values.sum(axis=1)
        self._squares = np.square(values).sum(axis=1)
        self._within = 2 * (self._rated * self._squares - np.square(self._sums)) / (self._rated - 1)
        self._least = 1e-12 * max(1.0, float(self._squares.max()))

    def compute_alphas(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """Return alpha of every resample; `weights` says how often each row is in it. Not a number: nothing varies."""
        import numpy as np

        total = weights @ self._rated
        expected = 2 * (total * (weights @ self._squares) - np.square(weights @ self._sums))
        with np.errstate(divide="ignore", invalid="ignore"):
            alphas: NDArray[Any] = 1 - (total - 1) * (weights @ self._within) / expected
        return np.where(expected > self._least, alphas, np.nan)


class _Ordinal:
    """Alpha of mid-ranks, which are others in every resample."""

    def __init__(self, table: "NDArray[Any]", is_rated: "NDArray[Any]") -> None:
        import numpy as np

        values, flat = np.unique(table[is_rated], return_inverse=True)
        self._is_rated, self._codes = is_rated, np.zeros(table.shape, dtype=int)
        self._codes[is_rated] = flat
        order = np.argsort(flat, kind="stable")
        self._row_of = np.nonzero(is_rated)[0][order]  # of each rating, by its value
        self._begins = np.searchsorted(flat[order], np.arange(len(values)))
        self._rated = is_rated.sum(axis=1)

    def compute_alphas(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """Return alpha of every resample, as `_Interval.compute_alphas` does."""
        import numpy as np

        counts = np.add.reduceat(weights[:, self._row_of], self._begins, axis=1)
        ranks = np.cumsum(counts, axis=1) - counts / 2
        rated_ranks = np.where(self._is_rated, ranks[:, self._codes], 0.0)  # resample, row, rater
        sums, squares = rated_ranks.sum(axis=2), np.square(rated_ranks).sum(axis=2)
        within = 2 * (self._rated * squares - np.square(sums)) / (self._rated - 1)
        observed = (weights * within).sum(axis=1)
        total = counts.sum(axis=1)
        sum_of_squares = (counts * np.square(ranks)).sum(axis=1)
        square_of_sum = np.square((counts * ranks).sum(axis=1))
        expected = 2 * (total * sum_of_squares - square_of_sum)
        with np.errstate(divide="ignore", invalid="ignore"):
            alphas: NDArray[Any] = 1 - (total - 1) * observed / expected
        return np.where((counts > 0).sum(axis=1) > 1, alphas, np.nan)
