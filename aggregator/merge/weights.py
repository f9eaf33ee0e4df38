"""How much each site counts in a merged figure (rule 8.6). Pure.

Whole numbers only, so that the order of sums changes nothing.
"""

from math import isqrt

import numpy
from numpy.typing import NDArray

Integers = NDArray[numpy.int64]

LINEAR_UP_TO = 10_000  # units; from here on a weight grows with the square root
MAX_TIMES_MEDIAN = 4  # so that one site that claims any size cannot outvote the others
MIN_FOR_MEDIAN = 3  # of fewer sites none is in the middle


def size_weight(units: int) -> int:
    """Return the weight of a site with so many units: `units` up to 10,000, then 100 times their square root."""
    if units <= LINEAR_UP_TO:
        return units
    return isqrt(LINEAR_UP_TO * units)


def lower_median(weights: Integers) -> int:
    """Return the median; of an even number of weights the smaller of the two in the middle."""
    return int(numpy.sort(weights)[(len(weights) - 1) // 2])


def limit_by_median(weights: Integers, median: int) -> Integers:
    """Return the weights, none more than MAX_TIMES_MEDIAN times `median`."""
    limited: Integers = numpy.minimum(weights, MAX_TIMES_MEDIAN * median)
    return limited


def limit_share(weights: Integers, share_percent: int, others: int = 0) -> Integers:
    """Return the weights, none more than a share of their sum; what is cut off falls to the others in proportion.

    A site that stands alone keeps its weight. Where so few sites stand that the share cannot be kept, all count alike.

    Args:
        weights: in any order.
        share_percent: largest share of the sum of all weights, `others` in it.
        others: weight of sites that are below the share in any case.
    """
    if len(weights) == 0 or (len(weights) == 1 and not others):
        return weights
    rest = int(weights.sum()) + others
    for limited, weight in enumerate(numpy.sort(weights)[::-1].tolist()):
        free_percent = 100 - limited * share_percent
        if free_percent <= 0:
            break
        limit = share_percent * rest // free_percent  # if the `limited` larger ones are cut to it
        if weight <= limit:
            return numpy.minimum(weights, limit)
        rest -= weight
    free_percent = 100 - len(weights) * share_percent
    if others and free_percent > 0:
        return numpy.minimum(weights, max(1, share_percent * others // free_percent))
    return numpy.full_like(weights, weights.min())
