"""Weights of sites in merged figures (rule 8.6). Pure.

Only integers are used, so that the order of summation does not matter.
"""

from math import isqrt

import numpy
from numpy.typing import NDArray

Integers = NDArray[numpy.int64]

LINEAR_UP_TO = 10_000  # units; above this a weight grows with the square root
MAX_TIMES_MEDIAN = 4  # keeps a site that claims to be very large from dominating
MIN_FOR_MEDIAN = 3  # a median needs at least three sites


def size_weight(units: int) -> int:
    """Return the weight of a site: `units` up to 10,000, above that 100 times their square root."""
    if units <= LINEAR_UP_TO:
        return units
    return isqrt(LINEAR_UP_TO * units)


def lower_median(weights: Integers) -> int:
    """Return the median; for an even number of weights, the lower of the two middle ones."""
    return int(numpy.sort(weights)[(len(weights) - 1) // 2])


def limit_by_median(weights: Integers, median: int) -> Integers:
    """Return the weights, limited to MAX_TIMES_MEDIAN times `median`."""
    limited: Integers = numpy.minimum(weights, MAX_TIMES_MEDIAN * median)
    return limited


def limit_share(weights: Integers, share_percent: int, others: int = 0) -> Integers:
    """Return the weights, limited to a share of their sum. The excess is distributed to the others in proportion.

    A single site keeps its weight. If there are too few sites to satisfy the limit, all get equal
    weights.

    Args:
        weights: Weights in any order.
        share_percent: Largest allowed share of the sum of all weights, including `others`.
        others: Total weight of sites that are below the limit in any case.
    """
    if len(weights) == 0 or (len(weights) == 1 and not others):
        return weights
    rest = int(weights.sum()) + others
    for limited, weight in enumerate(numpy.sort(weights)[::-1].tolist()):
        free_percent = 100 - limited * share_percent
        if free_percent <= 0:
            break
        # This is the limit if exactly the `limited` largest weights exceed it.
        limit = share_percent * rest // free_percent
        if weight <= limit:
            return numpy.minimum(weights, limit)
        rest -= weight
    free_percent = 100 - len(weights) * share_percent
    if others and free_percent > 0:
        return numpy.minimum(weights, max(1, share_percent * others // free_percent))
    return numpy.full_like(weights, weights.min())
