"""How two rankings go together. Pure."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def _centred_ranks(values: "NDArray[Any]") -> "NDArray[Any]":
    """Return the mean ranks of the values, as a share of their number, less their mean."""
    import numpy as np

    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    centred: NDArray[Any] = (ranks - (len(values) + 1) / 2) / len(values)
    return centred
