"""Estimate Krippendorff's alpha with an interval, by resampling units. Pure."""

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
    """Krippendorff's alpha with its 95 % interval; the fields are None if undefined."""

    value: float | None
    low: float | None
    high: float | None


def estimate_alpha(
    ratings: Ratings, level: Level, units: Sequence[Hashable] | None = None
) -> Alpha:
    """Return alpha with its interval by a seeded percentile bootstrap over units.

    Ordinal ranks are recomputed in each resample. With fewer than MIN_UNITS units there is no interval.

    Args:
        ratings: a table with one row per item and one column per rater; a missing rating is None.
        level: level of measurement of the ratings.
        units: unit of each row; None if each row is a separate unit.
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
        at_once=BLOCK
        * len(columns)
        // table.size,  # so that the number of ratings is limited, not of units
    )
    interval = compute_figure_interval(value, drawn, len(columns))
    if interval is None:
        return Alpha(value, None, None)
    low, high = interval
    return Alpha(value, low, high)


@dataclass(frozen=True, slots=True)
class _RatedItem:
    """The ratings of one item, and the unit to which it belongs."""

    unit: Hashable
    ratings: Sequence[float | None]


def _count_ratings(row: Sequence[float | None]) -> int:
    return sum(rating is not None for rating in row)


class _Interval:
    """Computes alpha at the interval level, from sums over rows."""

    def __init__(self, table: "NDArray[Any]", is_rated: "NDArray[Any]") -> None:
        import numpy as np

        values = np.where(is_rated, table - table[is_rated].mean(), 0.0)
        self._rated = is_rated.sum(axis=1)
        self._sums = values.sum(axis=1)
        self._squares = np.square(values).sum(axis=1)
        self._within = 2 * (self._rated * self._squares - np.square(self._sums)) / (self._rated - 1)
        self._least = 1e-12 * max(1.0, float(self._squares.max()))

    def compute_alphas(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """Return alpha for every resample, or NaN if nothing varies; `weights` has the number of draws of each row."""
        import numpy as np

        total = weights @ self._rated
        expected = 2 * (total * (weights @ self._squares) - np.square(weights @ self._sums))
        with np.errstate(divide="ignore", invalid="ignore"):
            alphas: NDArray[Any] = 1 - (total - 1) * (weights @ self._within) / expected
        return np.where(expected > self._least, alphas, np.nan)


class _Ordinal:
    """Computes alpha at the ordinal level, from mid-ranks that differ between resamples."""

    def __init__(self, table: "NDArray[Any]", is_rated: "NDArray[Any]") -> None:
        import numpy as np

        values, flat = np.unique(table[is_rated], return_inverse=True)
        self._is_rated, self._codes = is_rated, np.zeros(table.shape, dtype=int)
        self._codes[is_rated] = flat
        order = np.argsort(flat, kind="stable")
        # Row of each rating, with ratings sorted by value.
        self._row_of = np.nonzero(is_rated)[0][order]
        self._begins = np.searchsorted(flat[order], np.arange(len(values)))
        self._rated = is_rated.sum(axis=1)

    def compute_alphas(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """Return alpha for every resample, in the same way as `_Interval.compute_alphas`."""
        import numpy as np

        counts = np.add.reduceat(weights[:, self._row_of], self._begins, axis=1)
        ranks = np.cumsum(counts, axis=1) - counts / 2
        # Axes: resample, row, rater.
        rated_ranks = np.where(self._is_rated, ranks[:, self._codes], 0.0)
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
