"""A site's published figure for one cell, and numeric columns of many such figures. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

from aggregator.merge.board_model import State, Why
from aggregator.merge.weights import size_weight
from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.disclosure import CERTAINTY, NO_SPREAD
from protocol.policy import BUCKETS, DisclosurePolicy, bucket_range, grid_step

Integers = NDArray[numpy.int64]
Floats = NDArray[numpy.float64]
Flags = NDArray[numpy.bool_]
RANGE = 1000  # thousandths of the metric's range

CODES = {
    SUPPRESSED: State.SUPPRESSED,
    NOT_RUN: State.NOT_RUN,
    LOW_CODED: State.LOW_CODED,
    HIGH_CODED: State.HIGH_CODED,
}


@dataclass(frozen=True, slots=True)
class SiteCell:
    """A site's published figure for one cell.

    Attributes:
        named: Whether the site chose to be shown by name.
        value: Thousandths of the metric's range, or a code below 0.
        bucket: Bucket of the number of units.
        spread: Standard deviation in steps of 0.02 of the range; None for binary cells, -1 if
            suppressed.
        policy: The policy that the site followed; None means the minimum policy, which applies to all sites.
        is_surplus: Whether the cell is beyond the number of figures per group, or of variables per benchmark, that the
            site's policy releases.
    """

    named: bool
    value: int
    bucket: int
    spread: int | None = None
    policy: DisclosurePolicy | None = None
    is_surplus: bool = False

    @property
    def state(self) -> State:
        """The state of this site's figure."""
        return CODES.get(self.value, State.VALUE)

    @property
    def why(self) -> Why:
        """The reason why the figure is suppressed."""
        if self.is_surplus:
            return Why.ANOTHER_METRIC
        return Why.FEW_EVENTS if self.bucket else Why.SMALL_GROUP

    @property
    def units(self) -> int:
        """The middle of the bucket, which determines the site's weight."""
        return middle_of(self.bucket)

    def ends(self, floor: DisclosurePolicy) -> tuple[int, int]:
        """Return the bounds of a coded figure, in thousandths."""
        few = int(few_events_by_bucket(self.policy or floor)[self.bucket])
        return (0, few) if self.state is State.LOW_CODED else (RANGE - few, RANGE)


def middle_of(bucket: int) -> int:
    """Return the middle of a bucket, rounded down."""
    low, high = bucket_range(bucket)
    return (low + high) // 2


MIDDLE = numpy.array([middle_of(bucket) for bucket in range(len(BUCKETS))], dtype=numpy.int64)
MIN_UNITS_IN_BUCKET = numpy.array([low for low, _ in BUCKETS], dtype=numpy.int64)
WEIGHT = numpy.array([max(1, size_weight(int(units))) for units in MIDDLE], dtype=numpy.int64)
MIN_DAMPED_UNITS = numpy.array(
    [max(1, size_weight(int(units))) for units in MIN_UNITS_IN_BUCKET], dtype=numpy.int64
)
"""Tables by bucket: middle, lower edge, weight, and the number of units used for the within-site variance."""


@lru_cache(maxsize=64)
def rounding_by_bucket(policy: DisclosurePolicy) -> Floats:
    """Return half a step of a protected value's grid, as a share of the range, by bucket."""
    return numpy.array([grid_step(max(1, low), policy) / (2 * RANGE) for low, _ in BUCKETS])


@lru_cache(maxsize=64)
def noise_by_bucket(policy: DisclosurePolicy) -> Floats:
    """Return the scale of the noise on a protected value, as a share of the range, by bucket."""
    return numpy.array([policy.perturbation_units / max(1, low) for low, _ in BUCKETS])


@lru_cache(maxsize=64)
def few_events_by_bucket(policy: DisclosurePolicy) -> Integers:
    """Return the maximum distance of a coded figure from its end of the range, in thousandths, by bucket."""
    return numpy.array(
        [min(RANGE, -(-RANGE * policy.min_events // max(1, low))) for low, _ in BUCKETS],
        dtype=numpy.int64,
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of distinct sites for one cell as columns, in a canonical order.

    Each figure is a value or a coded figure.

    Attributes:
        place: Index of each site in the input columns.
        low_end, high_end: Bounds of each figure in thousandths. They differ only for coded figures.
        is_coded: Whether each figure is a coded figure.
        is_hidden: Whether each site is not shown by name.
        bucket: Bucket of the number of units, from 1.
        spread: Standard deviation in steps; -1 if there is none.
        rounding, noise: Half a step of the grid and the scale of the noise, as shares of the range.
    """

    place: Integers
    low_end: Integers
    high_end: Integers
    is_coded: Flags
    is_hidden: Flags
    bucket: Integers
    spread: Integers
    rounding: Floats
    noise: Floats

    def __len__(self) -> int:
        """Return the number of sites."""
        return len(self.bucket)


def make_figures(
    value: Integers,
    bucket: Integers,
    spread: Integers,
    policy: Integers,
    is_hidden: Flags,
    policies: Sequence[DisclosurePolicy],
    *,
    protected: bool,
) -> Figures:
    """Create the columns, sorted by content. Each figure must be a value or a coded figure.

    Args:
        value: Thousandths, or LOW_CODED or HIGH_CODED.
        bucket: Bucket of the number of units.
        spread: Standard deviation in steps; NO_SPREAD if there is none.
        policy: Index into `policies` of the policy that the site followed.
        is_hidden: Whether each site is not shown by name.
        policies: The policies that are referred to.
        protected: Whether the values of the cell are on a grid and perturbed.
    """
    order = numpy.lexsort((is_hidden, policy, spread, bucket, value))
    value, bucket, spread = value[order], bucket[order], spread[order]
    policy, is_hidden = policy[order], is_hidden[order]
    rounding = numpy.full(len(value), 0.5 / RANGE)
    noise = numpy.zeros(len(value))
    few = numpy.full(len(value), RANGE, dtype=numpy.int64)
    for index in numpy.unique(policy):
        same = policy == index
        few[same] = few_events_by_bucket(policies[index])[bucket[same]]
        if protected:
            rounding[same] = rounding_by_bucket(policies[index])[bucket[same]]
            noise[same] = noise_by_bucket(policies[index])[bucket[same]]
    is_low, is_high = value == LOW_CODED, value == HIGH_CODED
    low_end = numpy.where(is_low, 0, numpy.where(is_high, RANGE - few, value))
    high_end = numpy.where(is_low, few, numpy.where(is_high, RANGE, value))
    return Figures(
        order, low_end, high_end, is_low | is_high, is_hidden, bucket, spread, rounding, noise
    )


def figures_of(cells: Sequence[SiteCell], floor: DisclosurePolicy, *, protected: bool) -> Figures:
    """Return columns of the figures that are values or coded figures. Omit all others."""
    shown = [
        cell for cell in cells if cell.state in {State.VALUE, State.LOW_CODED, State.HIGH_CODED}
    ]
    policies = list(dict.fromkeys(cell.policy or floor for cell in shown))
    places = {policy: index for index, policy in enumerate(policies)}
    return make_figures(
        value=_column([cell.value for cell in shown]),
        bucket=_column([cell.bucket for cell in shown]),
        spread=_column([NO_SPREAD if cell.spread is None else cell.spread for cell in shown]),
        policy=_column([places[cell.policy or floor] for cell in shown]),
        is_hidden=numpy.array([not cell.named for cell in shown], dtype=numpy.bool_),
        policies=policies,
        protected=protected,
    )


def _column(numbers: Sequence[int]) -> Integers:
    return numpy.array(numbers, dtype=numpy.int64)


# 95 % of the noise lies within this many times its scale.
SURE_NOISE = float(CERTAINTY)
