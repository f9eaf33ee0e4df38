"""Compute probabilities and quantiles of the F distribution, for intervals of variance ratios. Pure."""

import math
from functools import lru_cache

_WIDEST = 690.0  # |log F|; beyond it exp overflows
_STEPS = 200  # maximum for the bisection; the continued fraction, which may converge slowly, has ten times as many


@lru_cache(1_000)
def compute_f_quantile(p: float, d1: float, d2: float) -> float:
    """Return the `p` quantile of F with `d1` and `d2` degrees of freedom, which may be fractional.

    The quantile is found by bisection on log F, to 12 digits.

    Raises:
        ValueError: p is not between 0 and 1 (exclusive), or a number of degrees of freedom is not positive.
    """
    if not 0 < p < 1 or d1 <= 0 or d2 <= 0:
        raise ValueError("need 0 < p < 1 and positive degrees of freedom")
    low, high = -_WIDEST, _WIDEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if compute_f_cdf(math.exp(middle), d1, d2) < p:
            low = middle
        else:
            high = middle
        if high - low < 1e-13:
            break
    return math.exp((low + high) / 2)


def compute_f_cdf(value: float, d1: float, d2: float) -> float:
    """Return the probability that an F variable with `d1` and `d2` degrees of freedom is at most `value`."""
    if value <= 0:
        return 0.0
    ratio = d1 / d2 * value
    return _incomplete_beta(d1 / 2, d2 / 2, ratio / (1 + ratio), 1 / (1 + ratio))


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b). `rest` is 1 - x, passed separately for precision."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the continued fraction converges fast only below the mean
        return 1 - _incomplete_beta_below(b, a, rest, x)
    return _incomplete_beta_below(a, b, x, rest)


def _incomplete_beta_below(a: float, b: float, x: float, rest: float) -> float:
    """Evaluate I_x(a, b) by the continued fraction DLMF 8.17.22 with the method of Lentz (1976)."""
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log(rest)
        - math.log(a)
    )
    tiny = 1e-300
    numerator, denominator = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    fraction = denominator
    for m in range(1, 10 * _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1 / ((1 + term * denominator) or tiny)
            numerator = (1 + term / numerator) or tiny
            factor = numerator * denominator
            fraction *= factor
        if abs(factor - 1) < 1e-15:
            break
    return front * fraction
