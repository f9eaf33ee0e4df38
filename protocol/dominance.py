"""The rules of statistical disclosure control for one cell: threshold, dominance (NK) and p percent.

A contribution is the amount that a single unit adds to a sum; it is never negative. The rules are those of ACRO, and
the tests compare results with it. They agree even at the limits, apart from ACRO's floating-point errors: sums are
exact here.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction


def is_below_threshold(units: int, minimum: int) -> bool:
    """Return whether a cell is based on fewer than `minimum` units."""
    return units < minimum


def is_dominated(contributions: Sequence[float], n: int, percent: int) -> bool:
    """Return whether the `n` largest contributions make up `percent` of the sum, or more (the NK rule).

    A sum of 0 has no shares and is not dominated; it violates the p percent rule.

    Raises:
        ValueError: a contribution is negative.
    """
    largest = _sort_largest_first(contributions)
    total = sum(largest)
    return total > 0 and 100 * sum(largest[:n]) >= percent * total


def violates_p_percent(contributions: Sequence[float], percent: int) -> bool:
    """Return whether all but the two largest contributions make up less than `percent` of the largest.

    If so, the second-largest contributor can subtract their own contribution and know the largest to within that
    percentage. A sum of 0 reveals every contribution, so it violates the rule, unless `percent` is 0 and the rule is
    off.

    Raises:
        ValueError: a contribution is negative.
    """
    largest = _sort_largest_first(contributions)
    if not largest:
        return False
    if not any(largest):
        return percent > 0
    return 100 * sum(largest[2:]) < percent * largest[0]


def _sort_largest_first(contributions: Iterable[float]) -> list[Fraction]:
    exact = sorted(map(Fraction, contributions), reverse=True)
    if exact and exact[-1] < 0:
        raise ValueError("dominance is not defined for negative contributions")
    return exact
