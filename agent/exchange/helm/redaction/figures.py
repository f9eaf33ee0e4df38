"""Check whether the values of a HELM statistic (count, sum, mean and so on) are consistent with each other.

If a value were replaced with a number from a record, they would hardly be consistent: the mean, for example, would no
longer be the sum divided by the count.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from agent.exchange.helm.redaction.steps import HIGHEST_FIGURE, is_number

FIGURES: Final = ("count", "sum", "sum_squared", "min", "max", "mean", "variance", "stddev")
HIGHEST_SUM: Final = (
    HIGHEST_FIGURE**3
)  # the largest possible sum of squares: the highest count, with every value as large as possible
_CLOSE = 1e-6  # relative tolerance between values computed from each other


def are_consistent(figures: Mapping[str, Any]) -> bool:
    """Return whether all stated values could come from one list of numbers."""
    if not all(figure is None or is_number(figure) for figure in figures.values()):
        return False
    # Checked first: arithmetic on a whole number beyond the range of floats raises OverflowError.
    if any(figure is not None and abs(figure) > HIGHEST_SUM for figure in figures.values()):
        return False
    count = figures.get("count") or 0
    total = figures.get("sum") or 0
    squares = figures.get("sum_squared") or 0
    if not isinstance(count, int) or not 0 <= count <= HIGHEST_FIGURE:
        return False
    if count == 0:
        return not any(figures.values())
    mean = total / count
    variance = squares / count - mean**2
    least = _get(figures, "min", mean)
    most = _get(figures, "max", mean)
    if max(abs(mean), abs(least), abs(most)) > HIGHEST_FIGURE:
        return False
    slack = _CLOSE * max(1.0, abs(mean))
    square_slack = slack * max(1.0, abs(mean), abs(least), abs(most))
    if not least - slack <= mean <= most + slack:
        return False
    if abs(_get(figures, "mean", mean) - mean) > slack:
        return False
    # Popoviciu's inequality: values between least and most vary by no more than (most - least)^2 / 4.
    if not -square_slack <= variance <= (most - least) ** 2 / 4 + square_slack:
        return False
    return _is_spread(figures, max(variance, 0.0), square_slack)


def _is_spread(figures: Mapping[str, Any], variance: float, slack: float) -> bool:
    """Return whether the stated variance and standard deviation agree with the computed `variance`."""
    stated_variance = _get(figures, "variance", variance)
    if not abs(stated_variance - variance) <= slack:
        return False
    deviation = _get(figures, "stddev", math.sqrt(max(stated_variance, 0.0)))
    if not abs(deviation) <= HIGHEST_FIGURE:
        return False
    return bool(abs(deviation**2 - stated_variance) <= slack)


def _get(figures: Mapping[str, Any], key: str, computed: float) -> Any:
    stated = figures.get(key)
    return computed if stated is None else stated
