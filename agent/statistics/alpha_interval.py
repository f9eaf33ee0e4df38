"""How sure an alpha is: Krippendorff's alpha of resampled units. Pure."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.statistics.agreement import Level, Ratings, compute_krippendorff_alpha
from agent.statistics.resampling import BLOCK, FEWEST_UNITS, compute_figure_interval, resample_weighted_figures

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Alpha:
    """An alpha with its 95 % interval; None where the ratings do not say."""

    value: float | None
    low: float | None
    high: float | None


def estimate_alpha(ratings: Ratings, level: Level, units: Sequence[Hashable] | None = None) -> Alpha:
    """Return alpha with the percentile bootstrap over units, seeded; ranks are taken again in each resample.

    Fewer than FEWEST_UNITS have no interval.

    Args:
        ratings: a row an item, a column a rater, None where there is none.
        level: what the numbers are.
        units: of each row: what it is of; None: each row is its own.
    """
    value = compute_krippendorff_alpha(ratings, level)
    keys = list(range(len(ratings))) if units is None else list(units)
    counted = [(key, row) for key, row in zip(keys, ratings, strict=True) if sum(one is not None for one in row) > 1]
    places = {key: place for place, key in enumerate(dict.fromkeys(key for key, _ in counted))}
    if value is None or len(places) < FEWEST_UNITS:
        return Alpha(value, None, None)
    import numpy as np

    table = np.array([[np.nan if one is None else one for one in row] for _, row in counted], dtype=float)
    there = ~np.isnan(table)
    unit_of = np.array([places[key] for key, _ in counted])
    figure = _Ordinal(table, there) if level == "ordinal" else _Interval(table, there)
    drawn = resample_weighted_figures(
        len(places),
        RESAMPLES,
        lambda times: figure.alphas(times[:, unit_of]),
        at_once=BLOCK * len(places) // table.size,  # ratings, not units
    )
    return Alpha(value, *(compute_figure_interval(value, drawn, len(places)) or (None, None)))


class _Interval:
    """Alpha of numbers: sums over rows are all it needs."""

    def __init__(self, table: "NDArray[Any]", there: "NDArray[Any]") -> None:
        import numpy as np

        values = np.where(there, table - table[there].mean(), 0.0)
        self._rated, self._sums = there.sum(axis=1), values.sum(axis=1)
        self._squares = np.square(values).sum(axis=1)
        self._within = 2 * (self._rated * self._squares - np.square(self._sums)) / (self._rated - 1)
        self._least = 1e-12 * max(1.0, float(self._squares.max()))

    def alphas(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """Return alpha of every resample; `weights` says how often each row is in it. Not a number: nothing varies."""
        import numpy as np

        total = weights @ self._rated
        expected = 2 * (total * (weights @ self._squares) - np.square(weights @ self._sums))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: NDArray[Any] = 1 - (total - 1) * (weights @ self._within) / expected
        return np.where(expected > self._least, found, np.nan)


class _Ordinal:
    """Alpha of mid-ranks, which are others in every resample."""

    def __init__(self, table: "NDArray[Any]", there: "NDArray[Any]") -> None:
        import numpy as np

        values, flat = np.unique(table[there], return_inverse=True)
        self._there, self._codes = there, np.zeros(table.shape, dtype=int)
        self._codes[there] = flat
        order = np.argsort(flat, kind="stable")
        self._row_of = np.nonzero(there)[0][order]  # of each rating, by its value
        self._begins = np.searchsorted(flat[order], np.arange(len(values)))
        self._rated = there.sum(axis=1)

    def alphas(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """As `_Interval.alphas`."""
        import numpy as np

        counts = np.add.reduceat(weights[:, self._row_of], self._begins, axis=1)
        ranks = np.cumsum(counts, axis=1) - counts / 2
        placed = np.where(self._there, ranks[:, self._codes], 0.0)  # resample, row, rater
        sums, squares = placed.sum(axis=2), np.square(placed).sum(axis=2)
        within = 2 * (self._rated * squares - np.square(sums)) / (self._rated - 1)
        observed = (weights * within).sum(axis=1)
        total = counts.sum(axis=1)
        expected = 2 * (total * (counts * np.square(ranks)).sum(axis=1) - np.square((counts * ranks).sum(axis=1)))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: NDArray[Any] = 1 - (total - 1) * observed / expected
        return np.where((counts > 0).sum(axis=1) > 1, found, np.nan)
