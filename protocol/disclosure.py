"""The pure decisions of disclosure control: which figures may be published, and which rules a result must obey.

The `release*` functions run inside the hospital; `check_result` runs at the hospital and at the aggregator, and
accepts what `release` returns. Benchmarks are protected if they are gated or private. For public benchmarks only one
rule applies: their figures must be consistent.

This module never sees the score of a unit in a protected group. It sees only sizes of groups, and sums that the site
has perturbed. So the values, codes and suppressions decided here reveal no more than the perturbed sums. A rule that
looked at the exact sum would, at its limit, reveal one unit's outcome to an attacker who knows all others.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.dominance import is_below_threshold, is_dominated, violates_p_percent
from protocol.errors import Code, ProtocolError
from protocol.margins import (
    Figure,
    MarginTable,
    admit_counts,
    build_table,
    check_margins,
    close_margins,
)
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range, grid_step
from protocol.predicates import ResultPredicate
from protocol.scorecard import Cell, Scorecard

NO_SPREAD = -1
SPREAD_STEPS = 25  # steps of 0.02 of the range; a standard deviation is at most half the range
CERTAINTY = 3  # in scales of the Laplace noise, which is smaller than this with probability 1 - exp(-3), about 95 %
# Further contributions do not change whether a sum is dominated, as no policy uses a share below one percent.
_MAX_CONTRIBUTIONS = 200
# Minimum possible sums that the figures of one group must leave, if they are computed from the same scores.
MIN_SUMS = 5


@dataclass(frozen=True, slots=True)
class CellSums:
    """The sums of the unit scores behind one cell, scaled to 0..1 of the metric's range.

    Attributes:
        n: number of units that have a score; exact.
        total: sum of the scores. For a protected cell it is perturbed, so it may lie outside 0..n.
        squares: sum of the squared scores, perturbed separately.
    """

    n: int
    total: float
    squares: float


@dataclass(frozen=True, slots=True)
class Release:
    """The publishable part of one result: the maps `groups`, `cells` and `spreads` of a statement."""

    groups: dict[str, int]
    cells: dict[str, int]
    spreads: dict[str, int]


def release(
    scorecard: Scorecard,
    units: Mapping[str, int],
    sums: Mapping[str, CellSums | None],
    policy: DisclosurePolicy,
    earlier: Mapping[str, Sequence[MarginTable]] | None = None,
) -> Release:
    """Decide everything that a result publishes. `check_result` accepts the outcome, unless nothing is published.

    Args:
        scorecard: its groups are the keys of `units`, its cells are the keys of `sums`.
        units: see `release_groups`.
        sums: see `release_cell`.
        policy: the stricter of the site's and the federation's policies.
        earlier: tables of earlier releases for the same units and scores, by the key of the cell about all units.
    """
    groups = release_groups(scorecard, units, policy)
    surplus = {cell.key for cell in surplus_cells(scorecard, policy)}
    cells: dict[str, int] = {}
    for cell in scorecard.cells:
        cell_sums = sums[cell.key]
        has_other_units = cell_sums is not None and cell_sums.n != units[cell.group]
        if cell.key in surplus or (cell.protected and has_other_units):
            cells[cell.key] = NOT_RUN if cell_sums is None else SUPPRESSED
        else:
            cells[cell.key] = release_cell(cell, cell_sums, groups[cell.group], policy)
    for group in scorecard.group_keys:
        _suppress_narrow(scorecard.cells_of(group), cells, groups[group], policy)
    for whole, margins in _protected_margins(scorecard):
        table = _audit_table(whole, margins, cells, units, policy)
        hidden = close_margins(table, policy, (earlier or {}).get(whole.key, ()))
        for margin in margins.values():
            for part in margin:
                if part.group in hidden:
                    cells[part.key] = SUPPRESSED
    spreads = {
        cell.key: release_spread(cell, sums[cell.key], cells[cell.key])
        for cell in scorecard.cells
        if not cell.binary
    }
    return Release(groups, cells, spreads)


def _audit_table(
    whole: Cell,
    margins: Mapping[str, Sequence[Cell]],
    cells: Mapping[str, int],
    units: Mapping[str, int],
    policy: DisclosurePolicy,
) -> MarginTable:
    """Return the counts that one metric's figures admit, given exact group sizes, which an attacker may know."""
    admitted = {
        variable: {
            part.group: admit_counts(cells[part.key], units[part.group], policy) for part in margin
        }
        for variable, margin in margins.items()
    }
    return build_table(admit_counts(cells[whole.key], units[whole.group], policy), admitted)


def surplus_cells(scorecard: Scorecard, policy: DisclosurePolicy) -> list[Cell]:
    """Return the protected cells beyond `metrics_per_group` and `variables_per_benchmark`, which never leave.

    Several figures of the same units together reveal more than each alone. The order of the scorecard decides which
    ones leave, never the scores.
    """
    surplus = []
    for group in scorecard.group_keys:
        protected = [cell for cell in scorecard.cells_of(group) if cell.protected]
        first = 0 if _is_of_surplus_variable(group, scorecard, policy) else policy.metrics_per_group
        surplus += protected[first:]
    return surplus


def _is_of_surplus_variable(group: str, scorecard: Scorecard, policy: DisclosurePolicy) -> bool:
    """Return whether a group's variable comes after the first `variables_per_benchmark` of its benchmark."""
    surplus = scorecard.margins(group.partition("/")[0])[policy.variables_per_benchmark :]
    return any(group in margin for margin in surplus)


def _suppress_narrow(
    group: Sequence[Cell], cells: dict[str, int], bucket: int, policy: DisclosurePolicy
) -> None:
    """Suppress figures of one group, the last one first, as long as together they narrow down their sum too far."""
    shown = [cell.key for cell in group if cell.protected and cells[cell.key] >= 0]
    while _is_narrow([cells[key] for key in shown], bucket, policy):
        cells[shown.pop()] = SUPPRESSED


def _is_narrow(values: Sequence[int], bucket: int, policy: DisclosurePolicy) -> bool:
    """Return whether figures of one group, taken as several prints of one figure, leave fewer than MIN_SUMS sums.

    Each figure admits an interval of sums, as wide as its grid step plus the noise to be assumed. The width of their
    intersection is linear in the number of units, so checking both ends of the bucket covers every number in it.
    Figures whose intervals do not intersect cannot come from the same scores.
    """
    if len(values) < 2:
        return False
    step = grid_step(bucket_range(bucket)[0], policy)
    common = step - (max(values) - min(values))
    noise = 2 * CERTAINTY * policy.perturbation_units
    return any(0 < common * units / 1000 + noise < MIN_SUMS for units in bucket_range(bucket))


def release_groups(
    scorecard: Scorecard, units: Mapping[str, int], policy: DisclosurePolicy
) -> dict[str, int]:
    """Decide the published bucket of every group of the scorecard.

    Args:
        scorecard: its groups must be exactly the keys of `units`.
        units: the exact number of distinct units behind each group; 0 for a benchmark that was not run. For a
            protected group, these are the units that its first metric scored; figures about other units do not leave.
            For a public group, these are the units of the metric that scored the fewest, but at least one.
        policy: the stricter of the site's and the federation's policies.

    Protected groups below the threshold get 0. If a group of a margin (the subgroups of one variable) is withheld, the
    next smallest groups are withheld too, until enough groups and units are hidden. Public groups get their bucket.
    """
    buckets = {group: bucket_of(units[group]) for group in scorecard.group_keys}
    for benchmark in scorecard.benchmarks:
        if not _protected(scorecard, benchmark.id):
            continue
        for group in _list_groups(scorecard, benchmark.id):
            fewest = bucket_range(buckets[group])[0]
            if not buckets[benchmark.id] or is_below_threshold(fewest, policy.min_units):
                buckets[group] = 0
        for margin in scorecard.margins(benchmark.id):
            _close_margin(margin, units[benchmark.id], units, buckets, policy)
    return buckets


def _list_groups(scorecard: Scorecard, benchmark: str) -> list[str]:
    """Return the keys of a benchmark's groups: all units first, then the groups of each variable."""
    groups = [benchmark]
    for margin in scorecard.margins(benchmark):
        groups += margin
    return groups


def _close_margin(
    margin: Sequence[str],
    total: int,
    units: Mapping[str, int],
    buckets: dict[str, int],
    policy: DisclosurePolicy,
) -> None:
    """Withhold further groups, smallest first, until hidden groups no longer follow from the total and the others."""
    while shown := [group for group in margin if buckets[group]]:
        withheld = len(margin) - len(shown)
        # Units that are in no listed group count as hidden.
        hidden_units = total - sum(units[group] for group in shown)
        few = withheld > 0 and (withheld < policy.margin_hidden or hidden_units < policy.min_units)
        if not few and not 0 < hidden_units < policy.min_units:
            return
        buckets[min(shown, key=lambda group: units[group])] = 0


def release_cell(cell: Cell, sums: CellSums | None, bucket: int, policy: DisclosurePolicy) -> int:
    """Decide the published value of one cell, regardless of its neighbours (see `release`).

    Args:
        cell: the cell to decide.
        sums: None if the cell was not run; sums with n = 0 if it was run, but no unit has a score.
        bucket: the bucket that `release_groups` returned for the cell's group.
        policy: the stricter of the site's and the federation's policies.

    Returns:
        Thousandths of the range on the allowed grid, or one of SUPPRESSED, NOT_RUN, LOW_CODED and HIGH_CODED.

    Raises:
        ValueError: there are fewer units than the bucket says.
    """
    if sums is None or (not sums.n and not cell.protected):
        return NOT_RUN
    if cell.protected and not (sums.n and bucket):
        return SUPPRESSED
    fewest = bucket_range(bucket)[0]
    if not bucket or sums.n < fewest:
        raise ValueError(f"{cell.key}: {sums.n} units do not fit bucket {bucket}")
    step = grid_step(fewest, policy) if cell.protected else 1
    value = min(1000, max(0, step * math.floor(1000 * sums.total / sums.n / step + 0.5)))
    if not cell.protected:
        return value
    if code := _code_for(sums, policy):
        return code
    successes, failures = sums.total, sums.n - sums.total
    is_few = min(successes, failures) < policy.min_events
    if is_few or _may_be_dominated(successes, policy) or _may_be_dominated(failures, policy):
        return SUPPRESSED
    return SUPPRESSED if _find_fault(cell, bucket, value, policy) else value


def _may_be_dominated(total: float, policy: DisclosurePolicy) -> bool:
    """Return whether a (perturbed) sum would be dominated if as few units as possible contributed all of it.

    A unit contributes at most 1. Applied to the scores themselves, the rule would reveal one of them at its limit.
    """
    full = min(int(max(0.0, total)), _MAX_CONTRIBUTIONS)
    contributions = [1.0] * full + [max(0.0, total) - int(max(0.0, total))]
    return is_dominated(
        contributions, policy.dominance_n, policy.dominance_percent
    ) or violates_p_percent(contributions, policy.p_percent)


def _code_for(sums: CellSums, policy: DisclosurePolicy) -> int | None:
    """Return the code of a cell with certainly too few successes or failures; None if neither or both are too few."""
    surely_few = policy.min_events - CERTAINTY * policy.perturbation_units
    is_low, is_high = sums.total < surely_few, sums.n - sums.total < surely_few
    if is_low == is_high:
        return None
    return LOW_CODED if is_low else HIGH_CODED


def _may_be_few(value: int, step: int, units: int, policy: DisclosurePolicy) -> bool:
    """Return whether a rate printed as `value` may, before rounding, stand for fewer than min_events of `units`."""
    return (2 * value - step) * units < 2000 * policy.min_events


def release_spread(cell: Cell, sums: CellSums | None, value: int) -> int:
    """Decide the published standard deviation (population form, between units) of a non-binary cell.

    `value` is the value decided for the cell. Returns 0 to 25, in steps of 0.02 of the range. Returns NO_SPREAD if the
    value is a code, or if the (perturbed) sums of a protected cell give no valid deviation.
    """
    if value < 0 or sums is None or not sums.n:
        return NO_SPREAD
    variance = max(0.0, sums.squares / sums.n - (sums.total / sums.n) ** 2)
    steps = min(SPREAD_STEPS, math.floor(math.sqrt(variance) * 2 * SPREAD_STEPS + 0.5))
    return steps if steps in allowed_spreads(cell, value) else NO_SPREAD


def check_result(result: ResultPredicate, scorecard: Scorecard, policy: DisclosurePolicy) -> None:
    """Check that groups, cells and spreads obey the scorecard and the policy.

    Raises:
        ProtocolError: WRONG_CELLS, WRONG_OUTCOME, BELOW_THRESHOLD, OFF_GRID, EXTREME_VALUE, SMALL_COUNT, WRONG_VALUE,
            WRONG_GROUPS, TOO_MANY_METRICS, OPEN_MARGIN or NOTHING_PUBLISHED; the detail names the key.
    """
    _check_keys(result, scorecard)
    _check_groups(result.groups, scorecard, policy)
    for cell in scorecard.cells:
        value = result.cells[cell.key]
        if code := _find_fault(cell, result.groups[cell.group], value, policy):
            raise ProtocolError(
                code,
                f"{cell.key}: the value {value} is not allowed in a group of {_name_size(result.groups[cell.group])}",
            )
        if not cell.binary and result.spreads[cell.key] not in allowed_spreads(cell, value):
            raise ProtocolError(
                Code.WRONG_VALUE,
                f"{cell.key}: the spread {result.spreads[cell.key]} is not allowed with the value {value}",
            )
    for group in scorecard.group_keys:
        if result.groups[group] and all(
            result.cells[cell.key] == NOT_RUN for cell in scorecard.cells_of(group)
        ):
            raise ProtocolError(
                Code.WRONG_GROUPS, f"{group}: the group has units, but no figure of it was run"
            )
    for cell in surplus_cells(scorecard, policy):
        if result.cells[cell.key] not in {SUPPRESSED, NOT_RUN}:
            raise ProtocolError(
                Code.TOO_MANY_METRICS,
                f"{cell.key} is not among the figures of its group that may leave",
            )
    for group in scorecard.group_keys:
        protected = [result.cells[cell.key] for cell in scorecard.cells_of(group) if cell.protected]
        if _is_narrow([value for value in protected if value >= 0], result.groups[group], policy):
            raise ProtocolError(
                Code.TOO_MANY_METRICS,
                f"{group}: the figures of this group together leave too few possible sums",
            )
    for whole, margins in _protected_margins(scorecard):
        figures = {
            variable: {
                part.group: Figure(result.groups[part.group], result.cells[part.key])
                for part in margin
            }
            for variable, margin in margins.items()
        }
        check_margins(Figure(result.groups[whole.group], result.cells[whole.key]), figures, policy)
    if result.outcome == "complete" and any(
        result.cells[cell.key] == NOT_RUN for cell in scorecard.cells if cell.subgroup is None
    ):
        raise ProtocolError(Code.WRONG_OUTCOME, "the outcome is complete, but a cell was not run")
    if all(value in {SUPPRESSED, NOT_RUN} for value in result.cells.values()):
        raise ProtocolError(Code.NOTHING_PUBLISHED, "every cell is suppressed or was not run")


def _check_keys(result: ResultPredicate, scorecard: Scorecard) -> None:
    for name, reported, expected in (
        ("data", result.data, [benchmark.id for benchmark in scorecard.benchmarks]),
        ("groups", result.groups, scorecard.group_keys),
        ("cells", result.cells, [cell.key for cell in scorecard.cells]),
        ("spreads", result.spreads, [cell.key for cell in scorecard.cells if not cell.binary]),
    ):
        if reported.keys() != set(expected):
            missing = sorted(set(expected) - reported.keys())
            extra = len(reported.keys() - set(expected))
            raise ProtocolError(
                Code.WRONG_CELLS, f"{name} lacks {missing} and has {extra} that the scorecard lacks"
            )


def _name_size(bucket: int) -> str:
    low, high = bucket_range(bucket)
    return f"{low} to {high} units" if bucket else "withheld size"


def _check_groups(
    groups: Mapping[str, int], scorecard: Scorecard, policy: DisclosurePolicy
) -> None:
    for benchmark in scorecard.benchmarks:
        protected = _protected(scorecard, benchmark.id)
        most = bucket_range(groups[benchmark.id])[1]
        for group in _list_groups(scorecard, benchmark.id):
            if protected and groups[group] and bucket_range(groups[group])[0] < policy.min_units:
                raise ProtocolError(
                    Code.BELOW_THRESHOLD,
                    f"{group}: a group of {_name_size(groups[group])} is published, below the minimum "
                    f"of {policy.min_units}",
                )
            if is_too_large(groups[group], benchmark.units):
                raise ProtocolError(
                    Code.WRONG_GROUPS,
                    f"{group}: the group has {_name_size(groups[group])}, but the published dataset has only "
                    f"{benchmark.units}",
                )
        for margin in scorecard.margins(benchmark.id):
            shown = [group for group in margin if groups[group]]
            least = sum(bucket_range(groups[group])[0] for group in shown)
            if least > most:
                raise ProtocolError(
                    Code.WRONG_GROUPS,
                    f"{benchmark.id}: the groups of a variable have more units than the whole",
                )
            withheld = len(margin) - len(shown)
            few = withheld < policy.margin_hidden or most - least < policy.min_units
            if protected and shown and withheld and few:
                raise ProtocolError(
                    Code.OPEN_MARGIN, f"{benchmark.id}: a withheld group follows from the others"
                )


def is_too_large(bucket: int, dataset_units: int) -> bool:
    """Return whether a group is too large for a published dataset (rule 8.6).

    `dataset_units` is 0 if the size of the dataset is not known.
    """
    return 0 < dataset_units < bucket_range(bucket)[0]


def _find_fault(cell: Cell, bucket: int, value: int, policy: DisclosurePolicy) -> Code | None:
    """Return the code of the first rule that a value breaks in a group of that size; None if it may be published."""
    if not cell.protected:
        return None if value == NOT_RUN or (bucket and value >= 0) else Code.WRONG_VALUE
    if value in {SUPPRESSED, NOT_RUN}:
        return None
    if not bucket:
        return Code.BELOW_THRESHOLD
    if value in {LOW_CODED, HIGH_CODED}:
        return None
    if value in {0, 1000}:
        return Code.EXTREME_VALUE
    fewest, most = bucket_range(bucket)
    if policy.max_share_percent * fewest < 100:
        return Code.BELOW_THRESHOLD
    step = grid_step(fewest, policy)
    if value % step:
        return Code.OFF_GRID
    if _may_be_few(min(value, 1000 - value), step, most, policy):
        return Code.SMALL_COUNT
    return None


def allowed_values(cell: Cell, bucket: int, policy: DisclosurePolicy) -> list[int]:
    """Return every value and code that one cell may have in a group of that size."""
    step = 1
    if cell.protected and bucket:
        step = grid_step(bucket_range(bucket)[0], policy)  # values off the grid need not be tried
    values = (*range(HIGH_CODED, 0), *range(0, 1001, step))
    return [value for value in values if _find_fault(cell, bucket, value, policy) is None]


_NO_SPREADS = (NO_SPREAD,)
_SPREADS = range(SPREAD_STEPS + 1)
# 0 would say that all units of a group are alike.
_PROTECTED_SPREADS = (NO_SPREAD, *range(1, SPREAD_STEPS + 1))


def allowed_spreads(cell: Cell, value: int) -> range | tuple[int, ...]:
    """Return every spread that a non-binary cell may have with a value."""
    if value < 0:
        return _NO_SPREADS
    return _PROTECTED_SPREADS if cell.protected else _SPREADS


def _protected(scorecard: Scorecard, benchmark: str) -> bool:
    return benchmark in scorecard.protected_benchmarks


def _protected_margins(scorecard: Scorecard) -> Iterator[tuple[Cell, dict[str, list[Cell]]]]:
    """Yield each protected cell about all units, with the cells of the same metric for the groups of each variable."""
    for whole in scorecard.cells:
        if whole.subgroup is not None or not whole.protected:
            continue
        margins: dict[str, list[Cell]] = {}
        for cell in scorecard.cells_of_benchmark(whole.benchmark):
            if cell.subgroup is not None and cell.metric == whole.metric:
                margins.setdefault(cell.subgroup.partition(".")[0], []).append(cell)
        if margins:
            yield whole, margins
