"""Bounds of a mean or difference: its values if all unscored instances were wrong, or all were right. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

MATTERS = 0.01  # as a share of the metric's range; smaller differences are not visible in a table


@dataclass(frozen=True, slots=True)
class Bounds:
    """The values of a mean if every unscored instance had the metric's lowest, or its highest, score.

    Attributes:
        low, high: the two values.
        matters: whether they differ by more than MATTERS of the metric's range.
    """

    low: float
    high: float
    matters: bool


def bound_mean(
    value: float | None, n: int, unscored: int, low: float = 0.0, high: float = 1.0
) -> Bounds | None:
    """Return the bounds of a mean, or None if no question was asked.

    The bounds hold whatever the reasons for missing scores, because nothing is assumed about them (Manski 1989).

    Args:
        value: the mean over the scored instances; None if n is 0.
        n: number of scored instances.
        unscored: number of instances that were asked but have no score.
        low, high: the metric's range.
    """
    total = n + unscored
    if total == 0 or high <= low:
        return None
    scored_sum = 0.0 if value is None else value * n
    least = (scored_sum + low * unscored) / total
    most = (scored_sum + high * unscored) / total
    return _compare_to_range(least, most, high - low)


def bound_difference(
    pairs: Iterable[tuple[float | None, float | None]], low: float = 0.0, high: float = 1.0
) -> Bounds | None:
    """Return the bounds of the difference between two means over the same instances, or None if there are no instances.

    The lower bound counts missing scores as the lowest for the first model and as the highest for the second. The upper
    bound does the opposite.

    Args:
        pairs: both models' scores for every instance that both were asked; a missing score is None.
        low, high: the metric's range.
    """
    scores = list(pairs)
    if not scores or high <= low:
        return None
    least = sum(_fill(a, low) - _fill(b, high) for a, b in scores) / len(scores)
    most = sum(_fill(a, high) - _fill(b, low) for a, b in scores) / len(scores)
    return _compare_to_range(least, most, high - low)


def _fill(score: float | None, value: float) -> float:
    return value if score is None else score


def _compare_to_range(least: float, most: float, width: float) -> Bounds:
    return Bounds(least, most, matters=(most - least) / width > MATTERS)
