"""Compute the smallest difference that a comparison can detect, and the units needed to detect a difference. Pure."""

import math
from statistics import NormalDist

from agent.statistics.resampling import compute_student_quantile

POWER = 0.8  # probability of detecting a true difference of the detectable size
MAX_UNITS = 10_000_000
ALPHA = 0.05  # significance level


def find_detectable_difference(
    error: float, units: int, tests: int = 1, most: float = math.inf
) -> float | None:
    """Return the smallest true difference that is detected (two-sided, 5 %) in four of five such comparisons.

    It is (t_0.975 + t_0.8) standard errors, by Student's t with units - 1 degrees of freedom, which approximates the
    noncentral t closely (Julious 2004). With ten units or more, exact tables and simulations differ little from it. For
    several tests, the 5 % is divided among them as in the first step of Holm's correction, so a difference detected
    here is also detected by Holm's method.

    Args:
        error: standard error of the difference, on the same scale as the difference.
        units: number of independent units.
        tests: number of comparisons made together.
        most: largest possible difference.

    Returns:
        The difference, or None if none can be detected: it would be larger than `most`, or p cannot be small enough
        even if all units agree (see `paired.compute_least_p`).
    """
    alpha = ALPHA / tests
    if units < 2 or math.ldexp(2.0, -units) > alpha:
        return None
    errors_to_reject = compute_student_quantile(1 - alpha / 2, units - 1)
    errors_for_power = compute_student_quantile(POWER, units - 1)
    detectable = (errors_to_reject + errors_for_power) * error
    return detectable if detectable <= most else None


def count_units_needed(spread: float, difference: float, tests: int = 1) -> int | None:
    """Return the number of units needed to detect a true difference with the power of `find_detectable_difference`.

    Args:
        spread: standard deviation of the units' differences.
        difference: the difference, above 0 and on the same scale.
        tests: number of comparisons made together.

    Returns:
        The number of units, or None if more than MAX_UNITS are needed or there is no difference.
    """
    if spread <= 0 or difference <= 0:
        return None
    # The normal distribution underestimates the number by a few units, because Student's t has heavier tails.
    # Start from its result and count up.
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
    """Return the smallest difference that can be detected with this number of units; infinite if none can."""
    error = spread / math.sqrt(units)
    return find_detectable_difference(error, units, tests) or math.inf
