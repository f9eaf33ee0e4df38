"""The pure decisions of disclosure control: from exact scores to what may be published, and what a result must obey.

`release*` runs inside the hospital, `check_result` on both sides of the wall; what the first makes the second accepts.
Protected means gated or private; public benchmarks skip every rule but that their figures fit together.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from protocol.errors import Code, ProtocolError
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range, grid_step
from protocol.scorecard import Cell, Scorecard
from protocol.statements import ResultPredicate

SUPPRESSED, NOT_RUN, LOW_CODED, HIGH_CODED = -1, -2, -3, -4
NO_SPREAD = -1
SPREAD_STEPS = 25  # of 0.02 of the range; no standard deviation exceeds half the range


@dataclass(frozen=True, slots=True)
class Release:
    """What may be published of one result: the maps `groups`, `cells` and `spreads` of a statement."""

    groups: dict[str, int]
    cells: dict[str, int]
    spreads: dict[str, int]


def release(
    scorecard: Scorecard,
    units: Mapping[str, int],
    unit_scores: Mapping[str, Sequence[float] | None],
    policy: DisclosurePolicy,
) -> Release:
    """Decide everything a result publishes. `check_result` accepts what comes out, unless nothing was published.

    Args:
        scorecard: its groups are the keys of `units`, its cells those of `unit_scores`.
        units: see `release_groups`.
        unit_scores: see `release_cell`.
        policy: already the stricter of site and federation.
    """
    groups = release_groups(scorecard, units, policy)
    cells = {
        cell.key: release_cell(cell, unit_scores[cell.key], groups[cell.group], policy) for cell in scorecard.cells
    }
    for whole, parts in _protected_margins(scorecard):
        while _margin_is_open(cells[whole.key], [cells[part.key] for part in parts], policy):
            shown = [part for part in parts if cells[part.key] >= 0]
            cells[min(shown, key=lambda part: units[part.group]).key] = SUPPRESSED
    spreads = {
        cell.key: release_spread(cell, unit_scores[cell.key], cells[cell.key])
        for cell in scorecard.cells
        if not cell.binary
    }
    return Release(groups, cells, spreads)


def release_groups(scorecard: Scorecard, units: Mapping[str, int], policy: DisclosurePolicy) -> dict[str, int]:
    """Decide the published bucket of every group of the scorecard.

    Args:
        scorecard: its groups must be exactly the keys of `units`.
        units: the exact number of distinct units behind each group, of the metric with the fewest scored units among
            those that have any; 0 for a benchmark that was not run.
        policy: already the stricter of site and federation.

    Protected groups below the threshold get 0, and in a margin (the subgroups of one variable) where one is withheld,
    so is the next smallest, until enough groups and units are hidden. Public groups get their bucket.
    """
    buckets = {group: bucket_of(units[group]) for group in scorecard.group_keys}
    for benchmark in scorecard.benchmarks:
        if not _protected(scorecard, benchmark.id):
            continue
        for group in (benchmark.id, *(group for margin in scorecard.margins(benchmark.id) for group in margin)):
            if bucket_range(buckets[group])[0] < policy.min_units or not buckets[benchmark.id]:
                buckets[group] = 0
        for margin in scorecard.margins(benchmark.id):
            _close_margin(margin, units[benchmark.id], units, buckets, policy)
    return buckets


def _close_margin(
    margin: Sequence[str], total: int, units: Mapping[str, int], buckets: dict[str, int], policy: DisclosurePolicy
) -> None:
    """Withhold further groups, smallest first, until the hidden ones do not follow from the total and the rest."""
    while shown := [group for group in margin if buckets[group]]:
        withheld = len(margin) - len(shown)
        hidden_units = total - sum(units[group] for group in shown)  # counts units of no listed group too
        few = withheld > 0 and (withheld < policy.margin_hidden or hidden_units < policy.min_units)
        if not few and not 0 < hidden_units < policy.min_units:
            return
        buckets[min(shown, key=lambda group: units[group])] = 0


def release_cell(cell: Cell, unit_scores: Sequence[float] | None, bucket: int, policy: DisclosurePolicy) -> int:
    """Decide the published value of one cell, apart from margins (see `release`).

    Args:
        cell: which figure.
        unit_scores: one mean score for each distinct unit, within the metric's range; None: not run; empty: run, but
            no unit has a score.
        bucket: what `release_groups` gave for the cell's group.
        policy: already the stricter of site and federation.

    Returns:
        Thousandths of the range on the allowed grid, or SUPPRESSED, NOT_RUN, LOW_CODED, HIGH_CODED.

    Raises:
        ValueError: a score outside the metric's range, or fewer units than the bucket says.
    """
    if unit_scores is None or (not unit_scores and not cell.protected):
        return NOT_RUN
    if cell.protected and not (unit_scores and bucket):
        return SUPPRESSED
    fewest = bucket_range(bucket)[0]
    if not bucket or len(unit_scores) < fewest:
        raise ValueError(f"{cell.key}: {len(unit_scores)} units do not fit bucket {bucket}")
    shares = _shares(cell, unit_scores)
    mean = Fraction(math.fsum(shares)) / len(shares)
    step = grid_step(fewest, policy) if cell.protected else 1
    value = step * math.floor(mean * 1000 / step + Fraction(1, 2))
    if not cell.protected:
        return value
    if cell.binary:
        low = _may_be_few(value, step, len(shares), policy)
        high = _may_be_few(1000 - value, step, len(shares), policy)
    else:
        low = value == 0 or _few_dominate(shares, policy)
        high = value == 1000 or _few_dominate([1 - share for share in shares], policy)
    one_counts_much = policy.max_share_percent * len(shares) < 100
    if (low and high) or one_counts_much:
        return SUPPRESSED
    if low or high:
        return LOW_CODED if low else HIGH_CODED
    return value if _fault(cell, bucket, value, policy) is None else SUPPRESSED


def _shares(cell: Cell, unit_scores: Sequence[float]) -> list[float]:
    """Scale scores to 0..1."""
    if not all(cell.low <= score <= cell.high for score in unit_scores):
        raise ValueError(f"{cell.key}: a score outside {cell.low}..{cell.high}")
    return [(score - cell.low) / (cell.high - cell.low) for score in unit_scores]


def _may_be_few(value: int, step: int, units: int, policy: DisclosurePolicy) -> bool:
    """Whether a binary rate printed as `value` may stand for fewer than min_events of `units`.

    Asked of the printed value, not of the exact count: otherwise the values next to the coded ones would stand for one
    or two counts only, and tell them to whoever knows the number of units.
    """
    return (2 * value - step) * units < 2000 * policy.min_events


def _few_dominate(shares: Sequence[float], policy: DisclosurePolicy) -> bool:
    """Whether few units make up the sum of `shares`, by the NK or the p% rule."""
    total = math.fsum(shares)
    largest = sorted(shares, reverse=True)[: max(2, policy.dominance_n)]
    return (
        100 * math.fsum(largest[: policy.dominance_n]) > policy.dominance_percent * total
        or 100 * (total - math.fsum(largest[:2])) < policy.p_percent * largest[0]
    )


def release_spread(cell: Cell, unit_scores: Sequence[float] | None, value: int) -> int:
    """Decide the published standard deviation (population form, between units) of a non-binary cell.

    `value` is what was decided for the cell. Steps of 0.02 of the range, 0 to 25; NO_SPREAD where the value is coded,
    or where all units of a protected cell score nearly alike.
    """
    if value < 0 or not unit_scores:
        return NO_SPREAD
    shares = _shares(cell, unit_scores)
    mean = math.fsum(shares) / len(shares)
    deviation = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / len(shares))
    steps = min(SPREAD_STEPS, math.floor(deviation * 2 * SPREAD_STEPS + 0.5))
    return steps if steps in allowed_spreads(cell, value) else NO_SPREAD


def check_result(result: ResultPredicate, scorecard: Scorecard, policy: DisclosurePolicy) -> None:
    """Check that groups, cells and spreads obey the scorecard and the policy.

    Raises:
        ProtocolError: WRONG_CELLS, WRONG_OUTCOME, BELOW_THRESHOLD, OFF_GRID, EXTREME_VALUE, SMALL_COUNT, WRONG_VALUE,
            WRONG_GROUPS, OPEN_MARGIN or NOTHING_PUBLISHED; the detail names the key.
    """
    _check_keys(result, scorecard)
    _check_groups(result.groups, scorecard, policy)
    for cell in scorecard.cells:
        value = result.cells[cell.key]
        if code := _fault(cell, result.groups[cell.group], value, policy):
            raise ProtocolError(code, f"{cell.key}: {value} in bucket {result.groups[cell.group]}")
        if not cell.binary and result.spreads[cell.key] not in allowed_spreads(cell, value):
            raise ProtocolError(Code.WRONG_VALUE, f"{cell.key}: spread {result.spreads[cell.key]} beside {value}")
    for group in scorecard.group_keys:
        if result.groups[group] and all(result.cells[cell.key] == NOT_RUN for cell in scorecard.cells_of(group)):
            raise ProtocolError(Code.WRONG_GROUPS, f"{group}: has units, but was not run")
    for whole, parts in _protected_margins(scorecard):
        if _margin_is_open(result.cells[whole.key], [result.cells[part.key] for part in parts], policy):
            raise ProtocolError(Code.OPEN_MARGIN, f"{whole.key}: a withheld part follows from the others")
    if result.outcome == "complete" and any(
        result.cells[cell.key] == NOT_RUN for cell in scorecard.cells if cell.subgroup is None
    ):
        raise ProtocolError(Code.WRONG_OUTCOME, "complete, but a cell was not run")
    if all(value in {SUPPRESSED, NOT_RUN} for value in result.cells.values()):
        raise ProtocolError(Code.NOTHING_PUBLISHED, "every cell is suppressed or was not run")


def _check_keys(result: ResultPredicate, scorecard: Scorecard) -> None:
    for name, found, expected in (
        ("data", result.data, [benchmark.id for benchmark in scorecard.benchmarks]),
        ("groups", result.groups, scorecard.group_keys),
        ("cells", result.cells, [cell.key for cell in scorecard.cells]),
        ("spreads", result.spreads, [cell.key for cell in scorecard.cells if not cell.binary]),
    ):
        if found.keys() != set(expected):
            missing = sorted(set(expected) - found.keys())
            extra = len(found.keys() - set(expected))
            raise ProtocolError(Code.WRONG_CELLS, f"{name}: lacks {missing}, has {extra} that the scorecard has not")


def _check_groups(groups: Mapping[str, int], scorecard: Scorecard, policy: DisclosurePolicy) -> None:
    for benchmark in scorecard.benchmarks:
        protected = _protected(scorecard, benchmark.id)
        most = bucket_range(groups[benchmark.id])[1]
        for group in (benchmark.id, *(group for margin in scorecard.margins(benchmark.id) for group in margin)):
            if protected and groups[group] and bucket_range(groups[group])[0] < policy.min_units:
                raise ProtocolError(Code.BELOW_THRESHOLD, f"{group}: bucket {groups[group]}")
        for margin in scorecard.margins(benchmark.id):
            shown = [group for group in margin if groups[group]]
            least = sum(bucket_range(groups[group])[0] for group in shown)
            if least > most:
                raise ProtocolError(Code.WRONG_GROUPS, f"{benchmark.id}: parts exceed the whole")
            withheld = len(margin) - len(shown)
            few = withheld < policy.margin_hidden or most - least < policy.min_units
            if protected and shown and withheld and few:
                raise ProtocolError(Code.OPEN_MARGIN, f"{benchmark.id}: a withheld group follows from the others")


def _fault(cell: Cell, bucket: int, value: int, policy: DisclosurePolicy) -> Code | None:
    """Say what is wrong with one value in a group of that size; None if it may be published."""
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
    step = grid_step(fewest, policy)
    if value % step:
        return Code.OFF_GRID
    if cell.binary and _may_be_few(min(value, 1000 - value), step, most, policy):
        return Code.SMALL_COUNT
    return None


def allowed_values(cell: Cell, bucket: int, policy: DisclosurePolicy) -> list[int]:
    """Return every value and code that one cell may have in a group of that size."""
    return [value for value in range(HIGH_CODED, 1001) if _fault(cell, bucket, value, policy) is None]


def allowed_spreads(cell: Cell, value: int) -> range | tuple[int, ...]:
    """Return every spread that a non-binary cell may have beside its value."""
    if value < 0:
        return (NO_SPREAD,)
    return (NO_SPREAD, *range(1, SPREAD_STEPS + 1)) if cell.protected else range(SPREAD_STEPS + 1)


def _protected(scorecard: Scorecard, benchmark: str) -> bool:
    return any(cell.benchmark == benchmark and cell.protected for cell in scorecard.cells)


def _protected_margins(scorecard: Scorecard) -> Iterator[tuple[Cell, list[Cell]]]:
    """Yield, for each protected figure of all units, the same figure of the groups of one variable."""
    for whole in scorecard.cells:
        if whole.subgroup is None and whole.protected:
            for margin in scorecard.margins(whole.benchmark):
                parts = [cell for cell in scorecard.cells if cell.group in margin and cell.metric == whole.metric]
                if parts:
                    yield whole, parts


def _margin_is_open(whole: int, parts: Sequence[int], policy: DisclosurePolicy) -> bool:
    """Whether a withheld figure follows from published ones: a part from the rest, or the whole from its parts."""
    shown = sum(part >= 0 for part in parts)
    hidden = len(parts) - shown
    return shown > 0 and (whole < 0 or 0 < hidden < policy.margin_hidden)
