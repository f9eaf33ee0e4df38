"""Bounds of a figure between all unscored instances wrong and all of them right. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

MATTERS = 0.01  # of the metric's range: a difference that a table shows


@dataclass(frozen=True, slots=True)
class Bounds:
    """The values of a mean if every unscored instance had the metric's lowest, or its highest, score.

    Attributes:
        matters: whether the two lie more than MATTERS of the metric's range apart.
    """

    low: float
    high: float
    matters: bool


def bound_mean(
    value: float | None, n: int, unscored: int, low: float = 0.0, high: float = 1.0
) -> Bounds | None:
    """Return the bounds of a mean; None where nothing was asked at all.

    No assumption is made about what is missing (Manski 1989), so that they hold for any reason.

    Args:
        value: the mean over the scored instances; None when n is 0.
        n: instances scored.
        unscored: instances asked that have no score.
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
    """Return the bounds of a difference of two means over the same instances; None without any instance.

    The lower one counts what the first model lacks as lowest and what the second lacks as highest, the upper one the
    other way round.

    Args:
        pairs: both models' scores of every instance that both were asked, None where there is none.
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
