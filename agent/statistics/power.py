"""How small a difference a comparison can be expected to see, and how many units it takes to see one. Pure."""

import math

from agent.statistics.resampling import student_quantile

POWER = 0.8  # how often a true difference of the detectable size is seen
MOST_UNITS = 10_000_000


def detectable_difference(error: float, units: int) -> float | None:
    """Return the smallest true difference that is seen (two-sided, 5 %) in four of five such comparisons.

    (t_0.975 + t_0.8) standard errors, by Student's t with units - 1 degrees of freedom, which follows the noncentral t
    closely (Julious 2004). Exact tables and simulations differ from it by little from ten units on.

    Args:
        error: standard error of the difference, in the difference's unit.
        units: independent units behind it; with fewer than two nothing is known, and None returned.
    """
    if units < 2:
        return None
    return (student_quantile(0.975, units - 1) + student_quantile(POWER, units - 1)) * error


def units_needed(spread: float, difference: float) -> int | None:
    """Return how many units it takes to see a true difference, with the power of `detectable_difference`.

    Args:
        spread: standard deviation of the differences between units.
        difference: above 0, in the same unit.

    Returns:
        None where it takes more than MOST_UNITS, or nothing differs.
    """
    if spread <= 0 or difference <= 0:
        return None
    low, high = 2, MOST_UNITS
    if _seen(spread, high) > difference:
        return None
    while low < high:
        middle = (low + high) // 2
        if _seen(spread, middle) <= difference:
            high = middle
        else:
            low = middle + 1
    return low


def _seen(spread: float, units: int) -> float:
    return detectable_difference(spread / math.sqrt(units), units) or math.inf
