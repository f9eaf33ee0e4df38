"""Random-effects meta-analysis of sites: Paule-Mandel, Hartung-Knapp, prediction interval, I2. Pure.

Sums follow the order of the given arrays, and only additions, products, quotients and square roots
are used, so that every computer gets identical bits. See docs/merging.md for the formulas and their
sources.
"""

import math
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

Floats = NDArray[numpy.float64]
MIN_SITES = 3
_MAX_ROUNDS = 100
_CLOSE_ENOUGH = 1e-12  # relative difference between Q and its expectation


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """The distribution of sites' true figures, estimated from k sites.

    Attributes:
        mean: The mean over sites.
        standard_error: Standard error by Hartung and Knapp, never below that of inverse-variance
            weighting.
        tau2: Variance between sites, by Paule and Mandel.
        i2: Share of the variation that is between sites, 0 to 1 (Higgins and Thompson).
        low, high: The 95 % interval of the mean, by Student's t with k - 1 degrees of freedom.
        prediction_low, prediction_high: The 95 % prediction interval for the true figure of one
            more site.
    """

    mean: float
    standard_error: float
    tau2: float
    i2: float
    low: float
    high: float
    prediction_low: float
    prediction_high: float


def sum_in_order(numbers: Floats) -> float:
    """Return the sum, adding one number at a time. The result of pairwise summation depends on the processor."""
    return float(numpy.cumsum(numbers)[-1])


def estimate_tau2(values: Floats, variances: Floats) -> float:
    """Return the variance between sites by Paule and Mandel (1982), at which Q(tau2) equals its expectation k - 1.

    Uses Newton's method, starting from 0. Q is decreasing and convex in tau2, so the iteration
    approaches the root from below and never passes it (DerSimonian and Kacker 2007).

    Args:
        values: One value per site, at least two.
        variances: Within-site variance of each value, above 0.
    """
    expected = len(values) - 1
    tau2 = 0.0
    for _ in range(_MAX_ROUNDS):
        weights = 1 / (variances + tau2)
        mean = sum_in_order(weights * values) / sum_in_order(weights)
        squares = (values - mean) * (values - mean)
        excess = sum_in_order(weights * squares) - expected
        if excess <= _CLOSE_ENOUGH * expected:
            break
        tau2 += excess / sum_in_order(weights * weights * squares)
    return tau2


def combine_sites(
    values: Floats, variances: Floats, *, floor_at_inverse_variance: bool = True
) -> RandomEffects:
    """Combine the figures of at least two sites.

    Args:
        values: One value per site.
        variances: Within-site variance of each value, above 0.
        floor_at_inverse_variance: Whether to keep the Hartung-Knapp factor from narrowing the
            interval (Knapp and Hartung 2003). False gives the unmodified method.
    """
    count = len(values)
    tau2 = estimate_tau2(values, variances)
    weights = 1 / (variances + tau2)
    total = sum_in_order(weights)
    mean = sum_in_order(weights * values) / total
    factor = sum_in_order(weights * (values - mean) * (values - mean)) / (count - 1)
    if floor_at_inverse_variance:
        factor = max(1.0, factor)
    standard_error = math.sqrt(factor / total)
    quantile = student_quantile(count - 1)
    half = quantile * standard_error
    prediction = quantile * math.sqrt(tau2 + standard_error * standard_error)
    return RandomEffects(
        mean=mean,
        standard_error=standard_error,
        tau2=tau2,
        i2=tau2 / (tau2 + _typical_variance(variances)),
        low=mean - half,
        high=mean + half,
        prediction_low=mean - prediction,
        prediction_high=mean + prediction,
    )


def _typical_variance(variances: Floats) -> float:
    """Return the typical variance within sites of Higgins and Thompson (2002), equation 9."""
    weights = 1 / variances
    total = sum_in_order(weights)
    return (len(variances) - 1) * total / (total * total - sum_in_order(weights * weights))


# Two-sided 95 % quantiles of Student's t with 1 to 30 degrees of freedom, rounded to 10 digits.
_QUANTILES = (
    12.7062047362, 4.3026527297, 3.1824463053, 2.7764451052, 2.5705818356, 2.4469118511,
    2.3646242516, 2.3060041352, 2.2621571628, 2.2281388520, 2.2009851601, 2.1788128297,
    2.1603686565, 2.1447866879, 2.1314495456, 2.1199052992, 2.1098155778, 2.1009220402,
    2.0930240544, 2.0859634473, 2.0796138447, 2.0738730679, 2.0686576104, 2.0638985616,
    2.0595385528, 2.0555294386, 2.0518305165, 2.0484071418, 2.0452296421, 2.0422724563,
)  # fmt: skip
_Z = 1.959963984540054


def student_quantile(degrees: int) -> float:
    """Return the two-sided 95 % quantile of Student's t, from a table up to 30, above by an expansion accurate to 1e-7.

    The expansion is Abramowitz and Stegun 26.7.5. It uses no function whose last digit depends on
    the computer.
    """
    if degrees < 1:
        raise ValueError("need at least one degree of freedom")
    if degrees <= len(_QUANTILES):
        return _QUANTILES[degrees - 1]
    z2 = _Z * _Z
    first = (z2 + 1) / 4
    second = ((5 * z2 + 16) * z2 + 3) / 96
    third = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384
    fourth = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160
    v = float(degrees)
    return _Z * (1 + first / v + second / (v * v) + third / (v * v * v) + fourth / (v * v * v * v))
