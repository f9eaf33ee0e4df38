"""Statistics derived from published figures: intervals and mean win rates. Pure.

The site's own leaderboard and the public board share these definitions.
"""

import math
from collections.abc import Mapping, Sequence

Z95 = 1.959963984540054  # two-sided 95 % quantile of the standard normal distribution
DECIMALS = 12  # values that agree to this precision are tied; the order of summation affects only later digits


def wilson(successes: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927), which is reliable for small n and near 0 or 1.

    Args:
        successes: number of successes, 0..n; may be fractional if recomputed from a rounded proportion.
        n: number of independent trials.

    Raises:
        ValueError: n is not positive, or successes lies outside 0..n.
    """
    if n <= 0 or not 0 <= successes <= n:
        raise ValueError("need 0 <= successes <= n and n > 0")
    p, d = successes / n, 1 + z * z / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
    mid = (p + z * z / (2 * n)) / d
    # The interval contains p in spite of rounding errors.
    return max(0.0, min(p, mid - half)), min(1.0, max(p, mid + half))


def normal_interval(
    mean: float, spread: float, n: float, low: float, high: float, z: float = Z95
) -> tuple[float, float]:
    """Return the normal interval of a mean from its standard deviation, clipped to the metric's range [low, high]."""
    if n <= 0:
        raise ValueError("need n > 0")
    half = z * spread / math.sqrt(n)
    return max(low, mean - half), min(high, mean + half)


def mean_win_rates(table: Mapping[str, Mapping[str, float]]) -> dict[str, float | None]:
    """Return the mean win rate of every model, as HELM's leaderboard computes it.

    In each column with at least two models, a model's win rate is (models strictly worse + other models tied / 2) /
    (models in the column - 1). Its mean win rate is the mean over the columns in which it has a value, or None if
    there is no such column. Values that agree to DECIMALS digits after the point are tied.

    Args:
        table: model -> benchmark -> main score; higher is better.
    """
    columns: dict[str, dict[str, float]] = {}
    for model, row in table.items():
        for benchmark, value in row.items():
            columns.setdefault(benchmark, {})[model] = round(value, DECIMALS)
    rates: dict[str, list[float]] = {model: [] for model in table}
    for column in columns.values():
        if len(column) < 2:
            continue
        values: Sequence[float] = list(column.values())
        for model, value in column.items():
            worse = sum(other < value for other in values)
            tied = sum(other == value for other in values) - 1
            rates[model].append((worse + tied / 2) / (len(values) - 1))
    return {model: math.fsum(wins) / len(wins) if wins else None for model, wins in rates.items()}
