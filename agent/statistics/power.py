"""The smallest difference that a comparison can be expected to see, and the units it takes to see one. Pure."""

import math
from statistics import NormalDist

from agent.statistics.resampling import compute_student_quantile

POWER = 0.8  # how often a true difference of the detectable size is seen
MAX_UNITS = 10_000_000
ALPHA = 0.05  # p up to here says that there is a difference


def find_detectable_difference(
    error: float, units: int, tests: int = 1, most: float = math.inf
) -> float | None:
    """Return the smallest true difference that is seen (two-sided, 5 %) in four of five such comparisons.

    (t_0.975 + t_0.8) standard errors, by Student's t with units - 1 degrees of freedom, which follows the noncentral t
    closely (Julious 2004). Exact tables and simulations differ from it by little from ten units on. Among several
    tests the 5 % are shared out, as the first step of Holm's correction does: what is seen so is seen by Holm's too.

    Args:
        error: standard error of the difference, in the difference's unit.
        units: independent units behind it.
        tests: how many comparisons are made together.
        most: the largest difference that there can be.

    Returns:
        None where no difference could be seen: it would be larger than `most`, or p is not small enough even where all
        units agree, see `paired.compute_least_p`.
    """
    alpha = ALPHA / tests
    if units < 2 or math.ldexp(2.0, -units) > alpha:
        return None
    errors_to_reject = compute_student_quantile(1 - alpha / 2, units - 1)
    errors_for_power = compute_student_quantile(POWER, units - 1)
    detectable = (errors_to_reject + errors_for_power) * error
    return detectable if detectable <= most else None


def count_units_needed(spread: float, difference: float, tests: int = 1) -> int | None:
    """Return how many units it takes to see a true difference, with the power of `find_detectable_difference`.

    Args:
        spread: standard deviation of the differences between units.
        difference: above 0, in the same unit.
        tests: how many comparisons are made together.

    Returns:
        None where it takes more than MAX_UNITS, or nothing differs.
    """
    if spread <= 0 or difference <= 0:
        return None
    # The normal distribution gives a few units too few, since Student's t reaches further: count on from there.
    normal = NormalDist()
    errors = normal.inv_cdf(1 - ALPHA / tests / 2) + normal.inv_cdf(POWER)
    by_normal = (errors * spread / difference) ** 2
    if by_normal > MAX_UNITS:
        return None
    units = max(2, math.ceil(by_normal))
    while _detect(spread, units, tests) > difference:
        units += 1
    return units


def _detect(spread: float, units: int, tests: int) -> float:
    """Return the smallest difference that so many units show; infinite where they show none."""
    error = spread / math.sqrt(units)
    return find_detectable_difference(error, units, tests) or math.inf
