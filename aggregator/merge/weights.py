"""How much each site counts in a merged figure (rule 8.6). Pure.

Whole numbers only, so that the order of sums changes nothing.
"""

from collections.abc import Sequence
from math import isqrt

LINEAR_UP_TO = 10_000  # units; from here on a weight grows with the square root
MOST_TIMES_MEDIAN = 4  # so that one site that claims any size cannot outvote the others
FEWEST_FOR_MEDIAN = 3  # of fewer sites none is in the middle


def size_weight(units: int) -> int:
    """Return the weight of a site with so many units: `units` up to 10,000, then 100 times their square root."""
    if units <= LINEAR_UP_TO:
        return units
    return isqrt(LINEAR_UP_TO * units)


def lower_median(weights: Sequence[int]) -> int:
    """Return the median; of an even number of weights the smaller of the two in the middle."""
    return sorted(weights)[(len(weights) - 1) // 2]


def limit_by_median(weights: Sequence[int], median: int) -> list[int]:
    """Return the weights, none more than MOST_TIMES_MEDIAN times `median`."""
    most = MOST_TIMES_MEDIAN * median
    return [min(weight, most) for weight in weights]


def limit_share(weights: Sequence[int], share_percent: int, others: int = 0) -> list[int]:
    """Return the weights, none more than a share of their sum; what is cut off falls to the others in proportion.

    A site that stands alone keeps its weight. Where so few sites stand that the share cannot be kept, all count alike.

    Args:
        weights: in any order.
        share_percent: largest share of the sum of all weights, `others` in it.
        others: weight of sites that are below the share in any case.
    """
    if len(weights) < 2 and not others:
        return list(weights)
    rest = sum(weights) + others
    for limited, weight in enumerate(sorted(weights, reverse=True)):
        free_percent = 100 - limited * share_percent
        if free_percent <= 0:
            break
        limit = share_percent * rest // free_percent  # if the `limited` larger ones are cut to it
        if weight <= limit:
            return [min(weight, limit) for weight in weights]
        rest -= weight
    free_percent = 100 - len(weights) * share_percent
    if others and free_percent > 0:
        limit = max(1, share_percent * others // free_percent)
        return [min(weight, limit) for weight in weights]
    return [min(weights)] * len(weights)
