"""Estimate rank correlations with intervals. Pure."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.statistics.intervals import Mean
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
class RankedItem:
    """Two values to correlate, from one unit (a patient or document) and one stratum."""

    unit: Hashable
    stratum: Hashable
    x: float
    y: float


def compute_stratified_spearman(items: Sequence[RankedItem]) -> float | None:
    """Return the rank correlation within strata. Ranks are computed and centred in each stratum separately.

    Differences between strata (such as a model that is better and also writes more) have no influence. For a single
    stratum, the result is Spearman's correlation (1904).

    Returns:
        The correlation, from -1 to 1, or None if one of the values does not vary within any stratum.
    """
    import numpy as np

    if not items:
        return None
    ranks_x, ranks_y = [], []
    for stratum in _group_by_stratum(items):
        ranks_x.append(_centre_ranks(np.array([item.x for item in stratum])))
        ranks_y.append(_centre_ranks(np.array([item.y for item in stratum])))
    x, y = np.concatenate(ranks_x), np.concatenate(ranks_y)
    spread = float(np.sqrt((x @ x) * (y @ y)))
    if spread == 0:
        return None
    return max(-1.0, min(1.0, float(x @ y) / spread))


def estimate_rank_correlation(items: Sequence[RankedItem]) -> Mean:
    """Return the stratified Spearman correlation with its interval by a seeded percentile bootstrap over units.

    Units are drawn with all their items, across strata, and ranks are recomputed in each resample. With fewer than
    MIN_UNITS units there is no interval.
    """
    rows: dict[Hashable, int] = {}
    for item in items:
        rows.setdefault(item.unit, len(rows))
    units = len(rows)
    value = compute_stratified_spearman(items)
    without_interval = Mean(len(items), units, value, None, None, "none")
    if value is None or units < MIN_UNITS:
        return without_interval
    strata = [_Stratum(group, rows) for group in _group_by_stratum(items)]
    drawn = resample_weighted_figures(
        units,
        RESAMPLES,
        lambda times: _correlate_resamples(strata, times),
        at_once=BLOCK * units // len(items),  # so that the number of items is limited, not of units
    )
    interval = compute_figure_interval(value, drawn, units, (-1.0, 1.0))
    if interval is None:
        return without_interval
    low, high = interval
    return replace(without_interval, low=low, high=high, method="percentile")


def _group_by_stratum(items: Sequence[RankedItem]) -> list[list[RankedItem]]:
    strata: dict[Hashable, list[RankedItem]] = {}
    for item in items:
        strata.setdefault(item.stratum, []).append(item)
    return list(strata.values())


class _Stratum:
    """The items of one stratum, as arrays for computing resamples."""

    def __init__(self, items: Sequence[RankedItem], rows: Mapping[Hashable, int]) -> None:
        import numpy as np

        self.rows = np.array([rows[item.unit] for item in items])
        self.x = _Ranks([item.x for item in items])
        self.y = _Ranks([item.y for item in items])


def _correlate_resamples(strata: Sequence[_Stratum], times: "NDArray[Any]") -> "NDArray[Any]":
    """Return the correlation for every resample. `times` has the number of times that each unit was drawn."""
    import numpy as np

    xx, yy, xy = np.zeros((3, len(times)))
    for stratum in strata:
        weights = times[:, stratum.rows]
        x, y = stratum.x.weigh(weights), stratum.y.weigh(weights)
        xx += (weights * x * x).sum(axis=1)
        yy += (weights * y * y).sum(axis=1)
        xy += (weights * x * y).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations: NDArray[Any] = np.where((xx > 0) & (yy > 0), xy / np.sqrt(xx * yy), np.nan)
    return correlations


class _Ranks:
    """Computes the ranks of values in weighted resamples."""

    def __init__(self, values: Sequence[float]) -> None:
        import numpy as np

        distinct, self._codes = np.unique(values, return_inverse=True)
        self._order = np.argsort(self._codes, kind="stable")
        self._begins = np.searchsorted(self._codes[self._order], np.arange(len(distinct)))

    def weigh(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """Return `_centre_ranks` for each resample, in which each value occurs as often as `weights` says."""
        import numpy as np

        counts = np.add.reduceat(weights[:, self._order], self._begins, axis=1)
        total = counts.sum(axis=1, keepdims=True)
        ranks = (np.cumsum(counts, axis=1) - counts / 2 - total / 2) / np.maximum(total, 1)
        ranks_of_values: NDArray[Any] = ranks[:, self._codes]
        return ranks_of_values


def _centre_ranks(values: "NDArray[Any]") -> "NDArray[Any]":
    """Return the mid-ranks of the values, centred on 0 and divided by the number of values."""
    import numpy as np

    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[codes]
    centred: NDArray[Any] = (ranks - (len(values) + 1) / 2) / len(values)
    return centred
