"""Pooling one cell's figures from several sites into the one figure the board shows. Pure.

Whose figures may be pooled follows the disclosure rules: a site that chose pooled publication is never shown,
nor computable by subtraction, unless as many such sites as the policy demands stand behind the figure and none holds
more of their units than it allows. Cells of public benchmarks are free of this: their data is published.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from protocol.codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.disclosure import CERTAINTY, SPREAD_STEPS
from protocol.figures import normal_interval, wilson
from protocol.policy import DisclosurePolicy, bucket_range, grid_step
from protocol.scorecard import Cell

SPREAD_STEP = 0.5 / SPREAD_STEPS  # of the metric's range: no standard deviation exceeds half of it


class State(StrEnum):
    """What a board's cell shows."""

    VALUE = "value"
    NOT_RUN = "not run"
    SUPPRESSED = "suppressed"  # see Why
    LOW_CODED = "low-coded"  # surely too few successes to name the figure
    HIGH_CODED = "high-coded"  # surely too few failures to name the figure
    WITHHELD = "withheld"  # too few sites to hide each among the others


class Why(StrEnum):
    """Why a figure is suppressed, as far as what is published tells it."""

    SMALL_GROUP = "small group"  # too few units, or so that a group with too few cannot be computed
    ANOTHER_METRIC = "another metric"  # of this group another metric's figure leaves, and no more do
    FEW_EVENTS = "few events"  # perhaps too few successes or failures, or so that another figure cannot be computed
    SEVERAL = "several"  # the sites had different reasons


CODES = {
    SUPPRESSED: State.SUPPRESSED,
    NOT_RUN: State.NOT_RUN,
    LOW_CODED: State.LOW_CODED,
    HIGH_CODED: State.HIGH_CODED,
}


@dataclass(frozen=True)
class SiteCell:
    """What one site published for one cell."""

    named: bool  # the site chose to be shown by name
    value: int  # thousandths of the metric's range, or a code below 0
    bucket: int  # of the number of units
    spread: int | None = None  # standard deviation in steps of SPREAD_STEP; None for binary cells, -1 suppressed
    policy: DisclosurePolicy | None = None  # what the site obeyed; None: the federation's floor
    is_surplus: bool = False  # its policy lets other metrics of the group out, and not this one

    @property
    def state(self) -> State:
        """Value or code of this one site."""
        return CODES.get(self.value, State.VALUE)

    @property
    def why(self) -> Why:
        """The reason for a figure that is suppressed."""
        if self.is_surplus:
            return Why.ANOTHER_METRIC
        return Why.FEW_EVENTS if self.bucket else Why.SMALL_GROUP

    @property
    def units(self) -> int:
        """The middle of the bucket, by which sites are weighted."""
        low, high = bucket_range(self.bucket)
        return (low + high) // 2

    @property
    def least_units(self) -> int:
        """The lower edge of the bucket, by which intervals are made."""
        return bucket_range(self.bucket)[0]


@dataclass(frozen=True)
class PooledCell:
    """What the board shows for one model and one cell."""

    state: State
    value: int | None = None  # thousandths of the metric's range
    low: int | None = None  # 95 % interval, thousandths
    high: int | None = None
    units: int = 0  # approximate
    sites: int = 0  # behind the value
    left_out: int = 0  # sites that ran this but whose figure is coded, suppressed or withheld
    why: Why | None = None  # of a suppressed figure


def pool(published: Sequence[SiteCell], cell: Cell, policy: DisclosurePolicy) -> PooledCell:
    """Pool the figures of distinct sites for one cell of one model.

    Values are weighted by units. Units add up only for private benchmarks; sites that run a public or gated one
    ask the same questions of the same data, so there the largest site alone counts for the interval.

    Args:
        published: one for every site, in any order.
        cell: what they are figures of.
        policy: the federation's floor, which says when figures may be pooled and how coarse they are.
    """
    ran = [figure for figure in published if figure.state is not State.NOT_RUN]
    if not ran:
        return PooledCell(State.NOT_RUN)
    shown = _publishable(ran, policy) if cell.protected else ran
    behind = [figure for figure in shown if figure.state is State.VALUE]
    left_out = len(ran) - len(behind)
    if not behind:
        state = _common_state(shown)
        return PooledCell(state, left_out=left_out, why=_common_reason(shown) if state is State.SUPPRESSED else None)

    weight = sum(figure.units for figure in behind)
    # Whole numbers until the one rounding, so that the order of sites changes nothing.
    value = (2 * sum(figure.units * figure.value for figure in behind) + weight) // (2 * weight)
    over_sites = sum if cell.access == "private" else max
    least = over_sites(figure.least_units for figure in behind)
    slack = _slack(behind, policy) if cell.protected else 0.0005
    low, high = _interval(behind, value / 1000, slack, least, binary=cell.binary)
    units = over_sites(figure.units for figure in behind)
    return PooledCell(State.VALUE, value, low, high, units, sites=len(behind), left_out=left_out)


def _publishable(ran: Sequence[SiteCell], policy: DisclosurePolicy) -> list[SiteCell]:
    """Drop the sites that chose pooled publication unless they hide each other."""
    named = [figure for figure in ran if figure.named]
    hidden = [figure for figure in ran if not figure.named]
    units = [figure.units for figure in hidden if figure.state is State.VALUE]
    if len(units) < policy.pooled_sites or 100 * max(units) > policy.pooled_share_percent * sum(units):
        return named
    return named + hidden


def _common_state(shown: Sequence[SiteCell]) -> State:
    """Say why there is no figure, when no site gave one."""
    states = {figure.state for figure in shown}
    if not states:
        return State.WITHHELD
    return states.pop() if len(states) == 1 else State.SUPPRESSED


def _common_reason(shown: Sequence[SiteCell]) -> Why:
    """Say why a figure is suppressed."""
    reasons = {figure.why if figure.state is State.SUPPRESSED else Why.SEVERAL for figure in shown}
    return reasons.pop() if len(reasons) == 1 else Why.SEVERAL


def _slack(behind: Sequence[SiteCell], floor: DisclosurePolicy) -> float:
    """Return by how much, as a share of the range, a pooled protected value may be off: the mean of its sites'.

    Of each site: half a step of its grid, and the noise on its sum, which is CERTAINTY scales or less with 95 %.
    """
    off_by = []
    for figure in behind:
        policy = figure.policy or floor
        rounding = grid_step(figure.least_units, policy) / 2000
        noise = CERTAINTY * policy.perturbation_units / figure.least_units
        off_by.append(figure.units * (rounding + noise))
    return math.fsum(off_by) / sum(figure.units for figure in behind)


def _interval(behind: Sequence[SiteCell], mean: float, slack: float, least: int, *, binary: bool) -> tuple[int, int]:
    """Make the 95 % interval from what is published, widened by `slack`, the most the value may be off.

    Where a site published no spread of a figure that is not a share of right answers, the interval is that of a share:
    no variable between 0 and 1 with mean p varies more than p(1 - p) (Bhatia and Davis 2000).
    """
    lowest, highest = max(0.0, mean - slack), min(1.0, mean + slack)
    spreads = [(figure.units, figure.spread) for figure in behind if figure.spread is not None and figure.spread >= 0]
    if binary or len(spreads) < len(behind):
        low, high = wilson(lowest * least, least)[0], wilson(highest * least, least)[1]
    else:
        # A spread is rounded to whole steps; half a step more is the most it can have been.
        squares = math.fsum(units * ((spread + 0.5) * SPREAD_STEP) ** 2 for units, spread in spreads)
        spread = math.sqrt(squares / sum(units for units, _ in spreads))
        low = normal_interval(lowest, spread, least, 0.0, 1.0)[0]
        high = normal_interval(highest, spread, least, 0.0, 1.0)[1]
    return math.floor(1000 * low), math.ceil(1000 * high)
