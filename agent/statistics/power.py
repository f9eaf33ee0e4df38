"""How small a difference a comparison can be expected to see, and how many units it takes to see one. Pure."""

import math
from statistics import NormalDist

from agent.statistics.resampling import student_quantile

POWER = 0.8  # how often a true difference of the detectable size is seen
MOST_UNITS = 10_000_000
_LARGE = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(POWER)  # standard errors, of very many units


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
    by_normal = (_LARGE * spread / difference) ** 2  # a few too few, since Student's t reaches further
    if by_normal > MOST_UNITS:
        return None
    units = max(2, math.ceil(by_normal))
    while _seen(spread, units) > difference:
        units += 1
    return units


def _seen(spread: float, units: int) -> float:
    return detectable_difference(spread / math.sqrt(units), units) or math.inf
