"""How two rankings go together, and how sure that is. Pure."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from agent.statistics.intervals import Mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 1_000
SEED = 20_250_523  # any constant: the same values always give the same interval
FEWEST_UNITS = 10  # resamples of fewer say nothing

Pair = tuple[float, float]


def spearman(pairs: Sequence[Pair]) -> float | None:
    """Return Spearman's rank correlation, ties given their mean rank; None where one side does not vary."""
    return stratified_spearman([("", pair) for pair in pairs])


def stratified_spearman(pairs: Sequence[tuple[Hashable, Pair]]) -> float | None:
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


def rank_correlation(items: Sequence[tuple[Hashable, Hashable, Pair]]) -> Mean:
    """Return `stratified_spearman` with the percentile bootstrap over units, seeded.

    Units are drawn as wholes, over all strata; ranks are taken again in each resample. Fewer than
    FEWEST_UNITS have no interval.

    Args:
        items: unit, stratum and the two values of each item.
    """
    units = {unit: place for place, unit in enumerate(dict.fromkeys(unit for unit, _, _ in items))}
    value = stratified_spearman([(stratum, pair) for _, stratum, pair in items])
    none = Mean(len(items), len(units), value, None, None, "none")
    if value is None or len(units) < FEWEST_UNITS:
        return none
    import numpy as np

    strata: dict[Hashable, list[tuple[int, Pair]]] = {}
    for unit, stratum, pair in items:
        strata.setdefault(stratum, []).append((units[unit], pair))
    coded = [
        (np.array([unit for unit, _ in found]), *(_codes([pair[side] for _, pair in found]) for side in (0, 1)))
        for found in strata.values()
    ]
    generator = np.random.default_rng(SEED)
    drawn: list[float] = []
    for _ in range(RESAMPLES):
        times = np.bincount(generator.integers(0, len(units), len(units)), minlength=len(units))
        sums = np.zeros(3)
        for unit_of, first, second in coded:
            weights = times[unit_of].astype(float)
            x, y = _weighted_ranks(first, weights), _weighted_ranks(second, weights)
            sums += (weights @ (x * x), weights @ (y * y), weights @ (x * y))
        if sums[0] > 0 < sums[1]:
            drawn.append(float(sums[2] / np.sqrt(sums[0] * sums[1])))
    if len(drawn) < RESAMPLES / 2 or len(set(drawn)) < 2:
        return none
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Mean(len(items), len(units), value, max(-1.0, float(low)), min(1.0, float(high)), "bootstrap")


def _codes(values: Sequence[float]) -> "NDArray[Any]":
    """Return each value's place among the distinct ones, from 0."""
    import numpy as np

    codes: NDArray[Any] = np.unique(values, return_inverse=True)[1]
    return codes


def _weighted_ranks(codes: "NDArray[Any]", weights: "NDArray[Any]") -> "NDArray[Any]":
    """Return `_centred_ranks` of values that are there so many times each."""
    import numpy as np

    counts = np.bincount(codes, weights)
    total = counts.sum()
    ranks = (np.cumsum(counts) - counts / 2 - total / 2) / (total or 1)
    found: NDArray[Any] = ranks[codes]
    return found


def _centred_ranks(values: "NDArray[Any]") -> "NDArray[Any]":
    """Return the mean ranks of the values, as a share of their number, less their mean."""
    import numpy as np

    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    centred: NDArray[Any] = (ranks - (len(values) + 1) / 2) / len(values)
    return centred
