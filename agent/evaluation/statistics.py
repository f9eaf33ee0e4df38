"""How sure a mean is: Wilson for proportions, a clustered bootstrap for everything else. Pure.

Instances of one unit (a patient, a document) are not independent, so where units have several instances the
bootstrap draws whole units.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from protocol.figures import wilson

RESAMPLES = 2_000
SEED = 20_250_523  # any constant: the same scores always give the same interval


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over instances with its 95 % interval.

    Attributes:
        n: instances scored; 0 means there is no mean.
        units: distinct units behind them.
        value: in the metric's range, or None.
        low, high: the interval, or None where there is none (no score, or a single unit).
        method: how the interval was made.
    """

    n: int
    units: int
    value: float | None
    low: float | None
    high: float | None
    method: Literal["wilson", "bootstrap", "none"]


def mean_with_interval(scores: Sequence[tuple[bytes, float]], *, binary: bool) -> Mean:
    """Return the mean of (unit, score) pairs and its 95 % interval.

    Binary scores of independent instances get Wilson's interval; all others the percentile bootstrap over units
    (Efron and Tibshirani 1993, chapter 13; Field and Welsh 2007 for clusters), seeded.
    """
    n = len(scores)
    if n == 0:
        return Mean(0, 0, None, None, None, "none")
    value = math.fsum(score for _, score in scores) / n
    clusters: dict[bytes, list[float]] = {}
    for unit, score in scores:
        clusters.setdefault(unit, []).append(score)
    if len(clusters) == n and binary:
        low, high = wilson(sum(score for _, score in scores), n)
        return Mean(n, n, value, low, high, "wilson")
    if len(clusters) < 2:
        return Mean(n, len(clusters), value, None, None, "none")
    low, high = _bootstrap(list(clusters.values()))
    return Mean(n, len(clusters), value, low, high, "bootstrap")


def _bootstrap(clusters: Sequence[Sequence[float]]) -> tuple[float, float]:
    import numpy as np

    sums = np.array([math.fsum(cluster) for cluster in clusters])
    sizes = np.array([len(cluster) for cluster in clusters])
    generator = np.random.default_rng(SEED)
    means = np.empty(RESAMPLES)
    for i in range(RESAMPLES):  # one draw at a time keeps memory at one index array
        drawn = generator.integers(0, len(clusters), len(clusters))
        means[i] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
