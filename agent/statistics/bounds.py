"""What instances without a score could change: a figure between all of them wrong and all of them right. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

MATTERS = 0.01  # of the metric's range: a difference that a table shows


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a mean would be if every unscored instance had the metric's lowest, or its highest, score.

    Attributes:
        matters: whether the two lie more than MATTERS of the metric's range apart.
    """

    low: float
    high: float
    matters: bool


def bounds(value: float | None, n: int, unscored: int, low: float = 0.0, high: float = 1.0) -> Bounds | None:
    """Return the bounds of a mean; None where nothing was asked at all.

    No assumption is made about what is missing (Manski 1989), so that they hold whatever the reason is.

    Args:
        value: the mean over the scored instances; None when n is 0.
        n: instances scored.
        unscored: instances asked that have no score.
        low, high: the metric's range.
    """
    total = n + unscored
    if total == 0 or high <= low:
        return None
    known = 0.0 if value is None else value * n
    least, most = (known + low * unscored) / total, (known + high * unscored) / total
    return Bounds(least, most, (most - least) / (high - low) > MATTERS)


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
    known = list(pairs)
    if not known or high <= low:
        return None
    least = sum((low if a is None else a) - (high if b is None else b) for a, b in known) / len(known)
    most = sum((high if a is None else a) - (low if b is None else b) for a, b in known) / len(known)
    return Bounds(least, most, (most - least) / (high - low) > MATTERS)
