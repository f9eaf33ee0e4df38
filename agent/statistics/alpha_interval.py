"""How sure an alpha is: Krippendorff's alpha of resampled units. Pure."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agent.statistics.agreement import Ratings, krippendorff_alpha

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 1_000
SEED = 20_250_523  # any constant: the same ratings always give the same interval
_AT_ONCE = 2_000_000  # ratings in memory at a time, over the resamples


@dataclass(frozen=True, slots=True)
class Alpha:
    """An alpha with its 95 % interval; None where the ratings do not say."""

    value: float | None
    low: float | None
    high: float | None


def alpha_with_interval(
    ratings: Ratings, level: Literal["ordinal", "interval"], units: Sequence[Hashable] | None = None
) -> Alpha:
    """Return alpha with the percentile bootstrap over units, seeded; ranks are taken again in each resample.

    Args:
        ratings: a row an item, a column a rater, None where there is none.
        level: what the numbers are.
        units: of each row: what it is of; None: each row is its own.
    """
    value = krippendorff_alpha(ratings, level)
    keys = list(range(len(ratings))) if units is None else list(units)
    counted = [(key, row) for key, row in zip(keys, ratings, strict=True) if sum(one is not None for one in row) > 1]
    places = {key: place for place, key in enumerate(dict.fromkeys(key for key, _ in counted))}
    if value is None or len(places) < 2:
        return Alpha(value, None, None)
    import numpy as np

    table = np.array([[np.nan if one is None else one for one in row] for _, row in counted], dtype=float)
    there = ~np.isnan(table)
    values, flat = np.unique(table[there], return_inverse=True)
    codes = np.zeros(table.shape, dtype=int)
    codes[there] = flat
    unit_of = np.array([places[key] for key, _ in counted])
    generator = np.random.default_rng(SEED)
    drawn: list[float] = []
    at_once = max(1, min(RESAMPLES, _AT_ONCE // table.size))
    for start in range(0, RESAMPLES, at_once):
        count = min(at_once, RESAMPLES - start)
        weights = generator.multinomial(len(places), np.full(len(places), 1 / len(places)), count)[:, unit_of]
        found = _alphas(codes, there, weights.astype(float), values, level == "ordinal")
        drawn += found[np.isfinite(found)].tolist()
    if len(drawn) < RESAMPLES / 2 or len(set(drawn)) < 2:
        return Alpha(value, None, None)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Alpha(value, float(low), float(high))


def _alphas(
    codes: "NDArray[Any]", there: "NDArray[Any]", weights: "NDArray[Any]", values: "NDArray[Any]", ordinal: bool
) -> "NDArray[Any]":
    """Return alpha of every resample; `weights` says how often each row is in it."""
    import numpy as np

    rated = there.sum(axis=1)
    per_row = np.zeros((len(codes), len(values)))  # how often each row has each value
    for column in range(codes.shape[1]):
        rows = np.nonzero(there[:, column])[0]
        per_row[rows, codes[rows, column]] += 1
    counts = weights @ per_row
    scale = np.cumsum(counts, axis=1) - counts / 2 if ordinal else np.tile(values - values.mean(), (len(counts), 1))
    placed = np.where(there, scale[:, codes], 0.0)  # resample, row, rater
    sums, squares = placed.sum(axis=2), np.square(placed).sum(axis=2)
    within = 2 * (rated * squares - np.square(sums)) / (rated - 1)
    observed = (weights * within).sum(axis=1)
    total = counts.sum(axis=1)
    expected = 2 * (total * (counts * np.square(scale)).sum(axis=1) - np.square((counts * scale).sum(axis=1)))
    varied = (counts > 0).sum(axis=1) > 1
    with np.errstate(divide="ignore", invalid="ignore"):
        found: NDArray[Any] = np.where(varied, 1 - (total - 1) * observed / expected, np.nan)
    return found
