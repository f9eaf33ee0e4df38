"""The rules of statistical disclosure control for one cell: threshold, dominance (NK) and p percent.

Contributions are what single units add to a sum; none is negative. The rules are those of ACRO, whose results the tests
compare, and agree with it at the limits themselves too, up to its floating point: here sums are exact.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction


def is_below_threshold(units: int, minimum: int) -> bool:
    """Whether fewer than `minimum` units stand behind a cell."""
    return units < minimum


def is_dominated(contributions: Sequence[float], n: int, percent: int) -> bool:
    """Whether the `n` largest contributions make up `percent` of the sum, or more (the NK rule).

    A sum of 0 has no shares and is not dominated; it violates the p percent rule.

    Raises:
        ValueError: a negative contribution.
    """
    largest = _sort_largest_first(contributions)
    total = sum(largest)
    return total > 0 and 100 * sum(largest[:n]) >= percent * total


def violates_p_percent(contributions: Sequence[float], percent: int) -> bool:
    """Whether all but the two largest contributions make up less than `percent` of the largest.

    Then the second largest contributor, who subtracts their own, knows the largest within so many percent. A sum of 0
    tells every contribution, so it violates the rule, unless `percent` is 0 and the rule is off.

    Raises:
        ValueError: a negative contribution.
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
