"""How two rankings go together, and how sure that is. Pure."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.statistics.intervals import Mean
from agent.statistics.resampling import BLOCK, FEWEST_UNITS, compute_figure_interval, resample_weighted_figures

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 1_000

Pair = tuple[float, float]


def compute_stratified_spearman(pairs: Sequence[tuple[Hashable, Pair]]) -> float | None:
    """Return the rank correlation within strata: ranks are taken, and centred, in each by itself.

    What differs between strata (a model that is better and also writes more) is no part of it. With one stratum it is
    Spearman's (1904).

    Args:
        pairs: the stratum and the two values of each item.

    Returns:
        -1 to 1; None where one side does not vary within any stratum.
    """
    import numpy as np

    strata: dict[Hashable, list[Pair]] = {}
    for stratum, pair in pairs:
        strata.setdefault(stratum, []).append(pair)
    if not strata:
        return None
    ranks = [
        np.stack([_centred_ranks(np.array(side)) for side in zip(*found, strict=True)]) for found in strata.values()
    ]
    first, second = np.concatenate(ranks, axis=1)
    spread = float(np.sqrt((first @ first) * (second @ second)))
    return None if spread == 0 else max(-1.0, min(1.0, float(first @ second) / spread))


def estimate_rank_correlation(items: Sequence[tuple[Hashable, Hashable, Pair]]) -> Mean:
    """Return `compute_stratified_spearman` with the percentile bootstrap over units, seeded.

    Units are drawn as wholes, over all strata; ranks are taken again in each resample. Fewer than
    FEWEST_UNITS have no interval.

    Args:
        items: unit, stratum and the two values of each item.
    """
    units = {unit: place for place, unit in enumerate(dict.fromkeys(unit for unit, _, _ in items))}
    value = compute_stratified_spearman([(stratum, pair) for _, stratum, pair in items])
    none = Mean(len(items), len(units), value, None, None, "none")
    if value is None or len(units) < FEWEST_UNITS:
        return none
    import numpy as np

    strata: dict[Hashable, list[tuple[int, Pair]]] = {}
    for unit, stratum, pair in items:
        strata.setdefault(stratum, []).append((units[unit], pair))
    coded = [
        (
            np.array([unit for unit, _ in found]),
            _Ranks([pair[0] for _, pair in found]),
            _Ranks([pair[1] for _, pair in found]),
        )
        for found in strata.values()
    ]

    def figures(times: "NDArray[Any]") -> "NDArray[Any]":
        xx, yy, xy = np.zeros((3, len(times)))
        for unit_of, first, second in coded:
            weights = times[:, unit_of]
            x, y = first.weighted(weights), second.weighted(weights)
            xx += (weights * x * x).sum(axis=1)
            yy += (weights * y * y).sum(axis=1)
            xy += (weights * x * y).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: NDArray[Any] = np.where((xx > 0) & (yy > 0), xy / np.sqrt(xx * yy), np.nan)
        return found

    drawn = resample_weighted_figures(len(units), RESAMPLES, figures, at_once=BLOCK * len(units) // len(items))
    interval = compute_figure_interval(value, drawn, len(units), (-1.0, 1.0))
    return none if interval is None else replace(none, low=interval[0], high=interval[1], method="percentile")


class _Ranks:
    """The ranks of some values in resamples of them."""

    def __init__(self, values: Sequence[float]) -> None:
        import numpy as np

        distinct, self._codes = np.unique(values, return_inverse=True)
        self._order = np.argsort(self._codes, kind="stable")
        self._begins = np.searchsorted(self._codes[self._order], np.arange(len(distinct)))

    def weighted(self, weights: "NDArray[Any]") -> "NDArray[Any]":
        """Return `_centred_ranks` of the values in each resample, where they are there so many times each."""
        import numpy as np

        counts = np.add.reduceat(weights[:, self._order], self._begins, axis=1)
        total = counts.sum(axis=1, keepdims=True)
        ranks = (np.cumsum(counts, axis=1) - counts / 2 - total / 2) / np.maximum(total, 1)
        found: NDArray[Any] = ranks[:, self._codes]
        return found


def _centred_ranks(values: "NDArray[Any]") -> "NDArray[Any]":
    """Return the mean ranks of the values, as a share of their number, less their mean."""
    import numpy as np

    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    centred: NDArray[Any] = (ranks - (len(values) + 1) / 2) / len(values)
    return centred
