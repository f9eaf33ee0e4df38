"""Merging several sites' figures for a cell into the figure that the board shows. Pure.

The disclosure rules determine which figures may be merged. A pooled site's figure is never shown,
nor can it be computed by subtraction, unless the number of pooled sites that the policy requires
contribute to the merged figure and none has more of their weight than the policy allows. Cells of
public benchmarks are exempt, since their data is public.

Pooled sites are merged as one block. Its mean and weight depend on pooled sites only and change in
steps (`aggregator.merge.steps`), so that a change by a named site never moves a pooled site's
share.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy

from aggregator.merge.board_model import MergedCell, State, Why
from aggregator.merge.coarse import SPREAD_SITES, TENTH, coarsen_cell
from aggregator.merge.random_effects import (
    MIN_SITES,
    RandomEffects,
    combine_sites,
    student_quantile,
    sum_in_order,
)
from aggregator.merge.site_cell import (
    MIDDLE,
    MIN_DAMPED_UNITS,
    MIN_UNITS_IN_BUCKET,
    RANGE,
    SURE_NOISE,
    WEIGHT,
    Figures,
    Floats,
    Integers,
    SiteCell,
    figures_of,
    noise_by_bucket,
    rounding_by_bucket,
)
from aggregator.merge.weights import MIN_FOR_MEDIAN, limit_by_median, limit_share, lower_median
from protocol.disclosure import SPREAD_STEPS
from protocol.figures import Z95, normal_interval, wilson
from protocol.policy import DisclosurePolicy
from protocol.scorecard import Cell

# As a share of the metric's range: no standard deviation exceeds half of it.
SPREAD_STEP = 0.5 / SPREAD_STEPS


def pool(published: Sequence[SiteCell], cell: Cell, policy: DisclosurePolicy) -> MergedCell:
    """Merge the figures of distinct sites without steps.

    Args:
        published: One figure per site, in any order.
        cell: The cell of these figures.
        policy: The federation's policy floor, which determines when figures may be merged and how
            coarse they are.
    """
    ran = [figure for figure in published if figure.state is not State.NOT_RUN]
    shown = _publishable(ran, policy) if cell.protected else ran
    figures = figures_of(shown, policy, protected=cell.protected)
    merged = merge_figures(figures, weigh(figures, policy), cell)
    waiting = len(ran) - len(shown)
    left_out = sum(figure.state is State.SUPPRESSED for figure in shown)
    has_hidden = any(not figure.named for figure in ran)
    if merged is None:
        return describe_absence(
            {figure.state for figure in shown}, _reasons(shown), left_out, waiting, has_hidden
        )
    return replace(merged, left_out=left_out, waiting=waiting, rests_on_audit=has_hidden)


def _publishable(ran: Sequence[SiteCell], policy: DisclosurePolicy) -> list[SiteCell]:
    """Return all figures if the pooled sites hide each other, otherwise only those of named sites."""
    hidden = [figure for figure in ran if not figure.named]
    weights = numpy.array(
        [WEIGHT[figure.bucket] for figure in hidden if figure.state is State.VALUE], numpy.int64
    )
    if hide_each_other(weights, policy):
        return list(ran)
    return [figure for figure in ran if figure.named]


def hide_each_other(weights: Integers, policy: DisclosurePolicy) -> bool:
    """Return whether pooled sites with figures of these weights may be merged."""
    if len(weights) < policy.pooled_sites:
        return False
    return bool(
        100 * int(weights.max(initial=0)) <= policy.pooled_share_percent * int(weights.sum())
    )


def _reasons(shown: Sequence[SiteCell]) -> set[Why]:
    return {figure.why for figure in shown if figure.state is State.SUPPRESSED}


def describe_absence(
    states: set[State], reasons: set[Why], left_out: int, waiting: int, has_hidden: bool
) -> MergedCell:
    """Return an empty cell with the reason why there is no figure.

    Args:
        states: States of the sites that may be shown.
        reasons: Reasons of the sites that suppressed their figure.
        left_out: Number of the sites that suppressed their figure.
        waiting: Number of pooled sites that are not shown yet.
        has_hidden: Whether a pooled site ran the cell.
    """
    ran = states - {State.NOT_RUN}
    why = None
    if not ran:
        state = State.WITHHELD if waiting or has_hidden else State.NOT_RUN
    elif len(ran) == 1:
        state = next(iter(ran))
    else:
        state = State.SUPPRESSED
    if state is State.SUPPRESSED:
        why = next(iter(reasons)) if len(reasons) == 1 and len(ran) == 1 else Why.SEVERAL
    return MergedCell(state, why, left_out=left_out, waiting=waiting, rests_on_audit=has_hidden)


def merge_figures(figures: Figures, weights: Integers, cell: Cell) -> MergedCell | None:
    """Merge figures that may be shown together. Return None if none of them is a value.

    Args:
        figures: Figures of distinct sites. The pooled sites among them must hide each other.
        weights: Weights of the sites, as returned by `weigh`.
        cell: The cell of these figures.
    """
    if not len(figures) or figures.is_coded.all():
        return None
    hidden_values = int((figures.is_hidden & ~figures.is_coded).sum())
    is_few = cell.protected and bool(figures.is_hidden.any()) and hidden_values < SPREAD_SITES
    told, apart = _tell_block(figures, weights) if is_few else (figures, 0.0)
    low, high = _merge_end(told.low_end, told, weights, cell, apart), None
    if figures.is_coded.any():
        high = _merge_end(told.high_end, told, weights, cell, apart)
    merged = _hull(low, high or low)
    counted = replace(
        merged,
        value=round_half_up(weights, figures.low_end + figures.high_end),
        units=_over_sites(MIDDLE[figures.bucket], cell),
        sites=len(figures),
        named_sites=int((~figures.is_hidden).sum()),
        coded_sites=int(figures.is_coded.sum()),
    )
    if len(figures) >= MIN_SITES:
        counted = _leave_one_out(counted, told, weights, apart)
    if not figures.is_hidden.any():
        return counted
    return coarsen_cell(counted, is_few=is_few)


def _tell_block(figures: Figures, weights: Integers) -> tuple[Figures, float]:
    """Replace each figure of a few pooled sites with their mean. Also return the bound on their distance from it.

    Interval widths are computed from these means and this bound. A named site that submits one figure after another can
    observe at which point a rounded width changes, and so learn the width before rounding. Widths therefore depend on
    pooled figures only through their mean, which is public, and through this distance, a share of the range in whole
    tenths that is constant between steps.
    """
    hidden = figures.is_hidden
    ends, distance = [], 1
    for thousandths in (figures.low_end, figures.high_end):
        mean = round_half_up(weights[hidden], 2 * thousandths[hidden])
        distance = max(distance, int(abs(thousandths[hidden] - mean).max()))
        ends.append(numpy.where(hidden, mean, thousandths))
    return replace(figures, low_end=ends[0], high_end=ends[1]), -(
        -distance // TENTH
    ) * TENTH / RANGE


def weigh(figures: Figures, policy: DisclosurePolicy) -> Integers:
    """Return each site's weight (rule 8.6).

    Weights depend on size. With three or more sites, none exceeds four times the median; none
    exceeds the policy's share. The limits of pooled sites depend on pooled sites only.
    """
    by_size = WEIGHT[figures.bucket]
    weights = by_size.copy()
    hidden, named = by_size[figures.is_hidden], by_size[~figures.is_hidden]
    if len(hidden) >= MIN_FOR_MEDIAN:
        hidden = limit_by_median(hidden, lower_median(hidden))
    if len(by_size) >= MIN_FOR_MEDIAN:
        named = limit_by_median(named, lower_median(by_size))
    weights[figures.is_hidden] = limit_share(hidden, policy.pooled_share_percent)
    weights[~figures.is_hidden] = limit_share(
        named, policy.pooled_share_percent, others=int(weights[figures.is_hidden].sum())
    )
    return weights


def round_half_up(weights: Integers, doubled: Integers) -> int:
    """Return the weighted mean of `doubled` / 2, rounded half up, using integer arithmetic only."""
    total = int(weights.sum())
    return (int((weights * doubled).sum()) + total) // (2 * total)


def interval_of_site(figure: SiteCell, cell: Cell, policy: DisclosurePolicy) -> tuple[int, int]:
    """Return the interval of a named site's value. It equals that of `pool` for this site alone,
    but is a hundred times faster.

    Args:
        figure: A value.
        cell: The cell that the figure is for.
        policy: The policy that the site followed.
    """
    mean, least = figure.value / RANGE, int(MIN_UNITS_IN_BUCKET[figure.bucket])
    rounding, noise = 0.5 / RANGE, 0.0
    if cell.protected:
        rounding = float(rounding_by_bucket(policy)[figure.bucket])
        noise = float(noise_by_bucket(policy)[figure.bucket])
    slack = rounding + SURE_NOISE * noise
    lowest, highest = max(0.0, mean - slack), min(1.0, mean + slack)
    units = float(max(1, least))
    if cell.access == "private":
        weight = int(WEIGHT[figure.bucket])
        units = weight * weight / (weight * weight / max(1, least))
    if cell.binary or figure.spread is None or figure.spread < 0:
        low, high = wilson(lowest * units, units)[0], wilson(highest * units, units)[1]
    else:
        deviation = (figure.spread + 0.5) * SPREAD_STEP
        spread = math.sqrt(deviation * deviation)
        low = normal_interval(lowest, spread, units, 0.0, 1.0, Z95)[0]
        high = normal_interval(highest, spread, units, 0.0, 1.0, Z95)[1]
    return math.floor(RANGE * max(0.0, low)), math.ceil(RANGE * min(1.0, high))


def _over_sites(units: Integers, cell: Cell) -> int:
    """Return the total number of units for a private benchmark, otherwise the largest.

    Sites that run a public or gated benchmark ask the same questions about the same data, so only
    the largest counts.
    """
    return int(units.sum() if cell.access == "private" else units.max())


@dataclass(frozen=True, slots=True)
class _End:
    """A merge with every coded figure at one end of its possible interval, in shares of the range."""

    low: float
    high: float
    between: RandomEffects | None


def _merge_end(
    thousandths: Integers, figures: Figures, weights: Integers, cell: Cell, apart: float
) -> _End:
    """Compute interval and random effects. Pooled figures may deviate by up to `apart` from the
    mean that replaces them.
    """
    values = thousandths / RANGE
    total = int(weights.sum())
    mean = int((weights * thousandths).sum()) / (RANGE * total)
    shares = weights / total
    variance = _variance_within(figures, shares, cell)
    low, high = _sampling_interval(figures, weights, shares, mean, variance, cell)
    between = None
    if len(figures) >= MIN_SITES:
        within = apart * apart * sum_in_order(shares[figures.is_hidden]) if apart else 0.0
        half = _half_width_between(values, shares, mean, within)
        low, high = min(low, mean - half), max(high, mean + half)
        between = combine_sites(values, site_variances(figures, mean, variance))
    return _End(max(0.0, low), min(1.0, high), between)


def _half_width_between(values: Floats, shares: Floats, mean: float, within: float) -> float:
    """Return half the width of a weighted mean's interval from the spread over sites alone (Hartung and Knapp)."""
    squares = shares * (values - mean) * (values - mean)
    degrees = len(values) - 1
    return student_quantile(degrees) * math.sqrt((sum_in_order(squares) + within) / degrees)


def _variance_within(figures: Figures, shares: Floats, cell: Cell) -> float | None:
    """Return the variance of a unit's score, pooled over sites; None if the variance of a proportion applies.

    Spreads are rounded to whole steps, so half a step is added as the largest possible rounding
    error.
    """
    if cell.binary or (figures.spread < 0).any():
        return None
    deviations = (figures.spread + 0.5) * SPREAD_STEP
    return sum_in_order(shares * deviations * deviations)


def site_variances(figures: Figures, mean: float, variance: float | None) -> Floats:
    """Return the within-site variance of each site's figure.

    The variance has three parts: sampling of units, rounding to the grid (uniform), and noise
    (Laplace). Without spreads it uses the upper bound p(1 - p) for a variable between 0 and 1
    with mean p (Bhatia and Davis 2000), where p is the merged mean, moved away from the ends of
    the range as by Agresti and Coull (1998).
    """
    units = MIN_DAMPED_UNITS[figures.bucket]
    if variance is None:
        count = int(units.sum())
        moved = (mean * count + 2) / (count + 4)
        variance = moved * (1 - moved)
    rounding = figures.rounding * figures.rounding / 3
    noise = 2 * figures.noise * figures.noise
    sampling: Floats = variance / units
    return sampling + rounding + noise


def _sampling_interval(
    figures: Figures,
    weights: Integers,
    shares: Floats,
    mean: float,
    variance: float | None,
    cell: Cell,
) -> tuple[float, float]:
    """Return the 95 % interval for exactly these sites, widened by the largest error from rounding and noise."""
    slack = sum_in_order(shares * (figures.rounding + SURE_NOISE * figures.noise))
    lowest, highest = max(0.0, mean - slack), min(1.0, mean + slack)
    units = _effective_units(MIN_UNITS_IN_BUCKET[figures.bucket], weights, cell)
    if variance is None:
        return wilson(lowest * units, units)[0], wilson(highest * units, units)[1]
    spread = math.sqrt(variance)
    low = normal_interval(lowest, spread, units, 0.0, 1.0, Z95)[0]
    high = normal_interval(highest, spread, units, 0.0, 1.0, Z95)[1]
    return low, high


def _effective_units(least: Integers, weights: Integers, cell: Cell) -> float:
    """Return the number of units of an unweighted mean with the same variance (Kish 1965)."""
    units = numpy.maximum(1, least)
    if cell.access != "private":
        return float(units.max())
    total = int(weights.sum())
    return total * total / sum_in_order(weights * weights / units)


def _hull(low: _End, high: _End) -> MergedCell:
    """Combine the merges at both ends of the coded figures: the middle of the means, and intervals that cover both."""
    merged = MergedCell(
        State.VALUE,
        low=math.floor(RANGE * min(low.low, high.low)),
        high=math.ceil(RANGE * max(low.high, high.high)),
    )
    if low.between is None or high.between is None:
        return merged
    return replace(
        merged,
        average=_thousandths((low.between.mean + high.between.mean) / 2),
        average_low=_floor(min(low.between.low, high.between.low)),
        average_high=_ceil(max(low.between.high, high.between.high)),
        tau=_thousandths(math.sqrt(max(low.between.tau2, high.between.tau2))),
        i2_percent=_round(100 * max(low.between.i2, high.between.i2)),
        prediction_low=_floor(min(low.between.prediction_low, high.between.prediction_low)),
        prediction_high=_ceil(max(low.between.prediction_high, high.between.prediction_high)),
    )


def _leave_one_out(
    merged: MergedCell, figures: Figures, weights: Integers, apart: float
) -> MergedCell:
    """Add the range of the value when any one site is left out and the others keep their weights."""
    rest = int(weights.sum()) - weights
    lowest = (int((weights * figures.low_end).sum()) - weights * figures.low_end) / rest
    highest = (int((weights * figures.high_end).sum()) - weights * figures.high_end) / rest
    middle = (lowest + highest) / 2
    further = numpy.where(figures.is_hidden, RANGE * apart * weights / rest, 0)
    return replace(
        merged,
        leave_one_out_low=math.floor((middle - further).min()),
        leave_one_out_high=math.ceil((middle + further).max()),
    )


def _floor(share: float) -> int:
    return max(0, math.floor(RANGE * share))


def _ceil(share: float) -> int:
    return min(RANGE, math.ceil(RANGE * share))


def _thousandths(share: float) -> int:
    return _round(RANGE * share)


def _round(number: float) -> int:
    return math.floor(number + 0.5)
