"""The audit of margins: which counts a withheld group can still have, and which groups to withhold to leave enough.

A result may publish the figure of all units of a benchmark (the *whole*) and, one variable at a time, the figures of
its groups. The groups of one variable do not overlap, so their counts of successes, together with those of the units
in no listed group, add up to the count of the whole. An attacker who knows every group's size, including withheld
ones, can subtract.

Because of rounding and noise, each published figure admits an interval of counts. This module does integer arithmetic
on such intervals. For a metric with scores between 0 and 1, read "sum of the scores" for "count".

Both decisions, `close_margins` and `check_margins`, see only sizes and values derived from perturbed sums. So even an
attacker who knows this code learns no more from them than the perturbed sums reveal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.errors import Code, ProtocolError
from protocol.policy import BUCKETS, DisclosurePolicy, bucket_of, bucket_range, grid_step

# An attacker assumes that the Laplace noise is at most 3 scales, which is true in 95 % of all cases.
NOISE_SCALES = 3

Form = Literal["shown", "coded", "suppressed"]


@dataclass(frozen=True, slots=True)
class AuditCell:
    """The counts of successes that one figure admits, regardless of other figures.

    Attributes:
        units: number of units in the group, or the lower edge of its bucket if only that is known.
        low, high: the smallest and largest count that the figure admits. The interval is empty (low > high) if
            combined figures contradict each other, which happens when the noise exceeds what the attacker assumes.
        form: whether a value, only a code, or nothing is published.
    """

    units: int
    low: int
    high: int
    form: Form

    @property
    def hidden(self) -> bool:
        """Whether no value is published."""
        return self.form != "shown"


@dataclass(frozen=True, slots=True)
class MarginTable:
    """The figures of one metric of one benchmark: the whole, and its groups by variable.

    Attributes:
        whole: the figure of all units.
        margins: variable -> key of a group -> figure of the group. Keys are unique across all variables.
        unlisted: variable -> the units in none of its listed groups; their figure is never published.
    """

    whole: AuditCell
    margins: Mapping[str, Mapping[str, AuditCell]]
    unlisted: Mapping[str, AuditCell]


@dataclass(frozen=True, slots=True)
class FeasibleCounts:
    """The counts that each cell of a table can have, given all figures; all empty if the figures contradict each other.

    Attributes:
        whole, groups, unlisted: counts of the whole, of each group by its key, and of each variable's unlisted units.
        hidden: total counts of a variable's hidden groups, including its unlisted units.
    """

    whole: range
    groups: Mapping[str, range]
    unlisted: Mapping[str, range]
    hidden: Mapping[str, range]


class Figure(NamedTuple):
    """The published figure of one group: the bucket of its size (0: withheld), and a value in thousandths or a code."""

    bucket: int
    value: int


def admit_counts(value: int, units: int, policy: DisclosurePolicy) -> AuditCell:
    """Return the counts that a figure admits to an attacker who knows the exact size of the group.

    Args:
        value: thousandths on the grid of the group's bucket, or a code.
        units: the exact number of units, at least 1 unless `value` is SUPPRESSED or NOT_RUN.
        policy: the policy that the result names. If the site applied a stricter one, its noise is larger than assumed
            here, and the audit errs only on the safe side.
    """
    return _admit(
        value,
        range(units, units + 1),
        grid_step(bucket_range(bucket_of(max(1, units)))[0], policy),
        policy,
    )


def _admit(value: int, sizes: range, step: int, policy: DisclosurePolicy) -> AuditCell:
    """Return the counts that a figure admits for any of the given sizes of its group."""
    least, most = sizes[0], sizes[-1]
    if value in {SUPPRESSED, NOT_RUN}:
        return AuditCell(least, 0, most, "suppressed")
    # A cell is coded if its perturbed count is below min_events - 3 scales. The attacker assumes that the noise
    # lowered the count by at most 3 scales and 1.
    if value == LOW_CODED:
        return AuditCell(least, 0, min(most, policy.min_events), "coded")
    if value == HIGH_CODED:
        return AuditCell(least, max(0, least - policy.min_events), most, "coded")
    noise = NOISE_SCALES * policy.perturbation_units + 1
    low = (
        -((step - 2 * value) * least // 2000) - noise
    )  # floor division of the negated value rounds up
    high = (2 * value + step) * most // 2000 + noise
    return AuditCell(least, min(max(0, low), most), min(max(0, high), most), "shown")


def build_table(whole: AuditCell, margins: Mapping[str, Mapping[str, AuditCell]]) -> MarginTable:
    """Return a table; its unlisted units are computed from the exact sizes of the whole and of the groups.

    Raises:
        ValueError: the groups of a variable have more units than the whole.
    """
    unlisted = {}
    for variable, groups in margins.items():
        units = whole.units - sum(cell.units for cell in groups.values())
        if units < 0:
            raise ValueError(f"groups of {variable} have {-units} more units than the whole")
        unlisted[variable] = _suppressed_cell(units)
    return MarginTable(whole, margins, unlisted)


def combine_tables(tables: Sequence[MarginTable]) -> MarginTable:
    """Return one table for several releases of the same units and scores; its counts are those that fit all of them.

    Args:
        tables: at least one table, with exact sizes (`build_table`). Groups with the same key have the same units.
            The groups of one variable do not overlap, not even across releases.

    Raises:
        ValueError: the sizes contradict each other.
    """
    margins: dict[str, dict[str, AuditCell]] = {}
    whole = tables[0].whole
    for table in tables:
        whole = _join_cells(whole, table.whole)
        for variable, groups in table.margins.items():
            joined = margins.setdefault(variable, {})
            for key, cell in groups.items():
                joined[key] = _join_cells(joined.get(key, cell), cell)
    return build_table(whole, margins)


def _join_cells(a: AuditCell, b: AuditCell) -> AuditCell:
    if a.units != b.units:
        raise ValueError(f"one group has {a.units} units in one release and {b.units} in another")
    forms: tuple[Form, ...] = ("shown", "coded", "suppressed")
    return AuditCell(
        a.units, max(a.low, b.low), min(a.high, b.high), min(a.form, b.form, key=forms.index)
    )


def count_feasible(table: MarginTable) -> FeasibleCounts:
    """Return the exact ranges of counts that each cell can have, given all figures of the table.

    The ranges are exact, and not only bounds, for two reasons. First, the sum of integers that vary freely between
    bounds takes every value between the sums of the bounds, since it can be raised in steps of one. Second, the
    variables have only the whole in common: for any count of the whole that each variable can reach by itself, counts
    for the groups of each variable can be chosen independently. So the counts of the whole form an interval, the
    intersection of its own interval with one interval per variable. A set of groups of one variable can have the sum x
    if and only if x is within the set's own bounds and, for some feasible count of the whole, the rest (whole - x) is
    within the bounds of the variable's other groups. As both intervals have no gaps, the differences have none either.
    """
    whole_low, whole_high = table.whole.low, table.whole.high
    possible = whole_low <= whole_high
    for variable in table.margins:
        cells = list(_cells_of(table, variable))
        whole_low = max(whole_low, sum(cell.low for cell in cells))
        whole_high = min(whole_high, sum(cell.high for cell in cells))
        possible = possible and all(cell.low <= cell.high for cell in cells)
    whole = range(whole_low, whole_high + 1) if possible else range(0)

    groups, unlisted, hidden = {}, {}, {}
    for variable, margin in table.margins.items():
        all_cells = list(_cells_of(table, variable))
        for key, cell in margin.items():
            groups[key] = _count_sum([cell], all_cells, whole)
        unlisted[variable] = _count_sum([table.unlisted[variable]], all_cells, whole)
        hidden[variable] = _count_sum([cell for cell in all_cells if cell.hidden], all_cells, whole)
    return FeasibleCounts(whole, groups, unlisted, hidden)


def _cells_of(table: MarginTable, variable: str) -> Iterator[AuditCell]:
    yield from table.margins[variable].values()
    yield table.unlisted[variable]


def _count_sum(some: Sequence[AuditCell], all_cells: Sequence[AuditCell], whole: range) -> range:
    """Return the sums that some of a variable's cells can have if the whole has one of the given counts."""
    if not whole:
        return range(0)
    low = sum(cell.low for cell in some)
    high = sum(cell.high for cell in some)
    others_low = sum(cell.low for cell in all_cells) - low
    others_high = sum(cell.high for cell in all_cells) - high
    return range(max(low, whole[0] - others_high), min(high, whole[-1] - others_low) + 1)


def close_margins(
    table: MarginTable, policy: DisclosurePolicy, earlier: Sequence[MarginTable] = ()
) -> frozenset[str]:
    """Return the keys of the further groups to suppress, so that no margin reveals a hidden group.

    Afterwards, each variable with a published group has either no hidden group or at least `margin_hidden` of them,
    with at least `min_units` units in total and `min_events` feasible counts together. Every hidden group of n units,
    and the unlisted units, has at least `min_events` feasible counts, or all n + 1 if that is fewer. If earlier
    releases already left fewer counts than that, they are not reduced further.

    Suppresses the smallest group of the open variable first. If no group is left to suppress in it, continues with the
    other variables. If nothing else is enough, every group of every variable is suppressed, and only the figure of the
    whole remains.

    Args:
        table: the figures about to be published, with exact sizes.
        policy: the policy that the site applies.
        earlier: one table for each earlier release of the same units and scores.
    """
    suppressed: set[str] = set()
    known = combine_tables([_withhold(table), *earlier])
    while candidates := _find_candidates(table, known, policy):
        key = min(candidates, key=lambda candidate: (candidates[candidate].units, candidate))
        suppressed.add(key)
        table = _suppress_group(table, key)
    return frozenset(suppressed)


def _withhold(table: MarginTable) -> MarginTable:
    """Return a table with the same groups and sizes, but with every figure suppressed."""
    margins = {}
    for variable, groups in table.margins.items():
        margins[variable] = {key: _suppressed_cell(cell.units) for key, cell in groups.items()}
    return MarginTable(_suppressed_cell(table.whole.units), margins, table.unlisted)


def _suppressed_cell(units: int) -> AuditCell:
    return AuditCell(units, 0, units, "suppressed")


def _suppress_group(table: MarginTable, key: str) -> MarginTable:
    margins = {}
    for variable, groups in table.margins.items():
        margins[variable] = dict(groups)
        if key in groups:
            margins[variable][key] = _suppressed_cell(groups[key].units)
    return replace(table, margins=margins)


def _find_candidates(
    table: MarginTable, known: MarginTable, policy: DisclosurePolicy
) -> dict[str, AuditCell]:
    """Return the groups one of which must be suppressed next; none if no margin is open or no group is published."""
    for variable, groups in table.margins.items():
        if _has_too_few_hidden(table, variable, policy):
            return {key: cell for key, cell in groups.items() if not cell.hidden}
    speaking: dict[str, dict[str, AuditCell]] = {}
    for variable, groups in table.margins.items():
        speaking[variable] = {
            key: cell for key, cell in groups.items() if cell.form != "suppressed"
        }
    everything_that_speaks = {
        key: cell for groups in speaking.values() for key, cell in groups.items()
    }
    if not everything_that_speaks:
        return {}
    narrow_variable = _find_narrow(table, _withhold(table), policy)
    if narrow_variable is None:
        narrow_variable = _find_narrow_sum(table, policy)
    if narrow_variable is None:
        narrow_variable = _find_narrow(combine_tables([table, known]), known, policy)
    if narrow_variable is None:
        return {}
    return speaking.get(narrow_variable) or everything_that_speaks


def _has_too_few_hidden(table: MarginTable, variable: str, policy: DisclosurePolicy) -> bool:
    """Return whether a variable has published groups, but too few hidden groups or hidden units."""
    groups = table.margins[variable].values()
    shown_units = [cell.units for cell in groups if not cell.hidden]
    if not shown_units:
        return False
    if table.whole.hidden:
        return True
    hidden_groups = len(groups) - len(shown_units)
    hidden_units = table.whole.units - sum(shown_units)
    if hidden_groups:
        return hidden_groups < policy.margin_hidden or hidden_units < policy.min_units
    return 0 < hidden_units < policy.min_units


_WHOLE = ""  # returned instead of a variable if the whole is narrow


def _find_narrow(table: MarginTable, known: MarginTable, policy: DisclosurePolicy) -> str | None:
    """Return a variable with a hidden group that has too few feasible counts; None if there is none.

    Args:
        table: all known figures.
        known: the figures of the same groups that were released earlier. If they already leave too few counts,
            `table` must not leave fewer.
    """
    feasible = count_feasible(table)
    before = count_feasible(known)
    if table.whole.hidden and _is_narrow(feasible.whole, table.whole.units, policy, before.whole):
        return _WHOLE
    for variable, groups in table.margins.items():
        for key, cell in groups.items():
            if cell.hidden and _is_narrow(
                feasible.groups[key], cell.units, policy, before.groups[key]
            ):
                return variable
        units = table.unlisted[variable].units
        if _is_narrow(feasible.unlisted[variable], units, policy, before.unlisted[variable]):
            return variable
    return None


def _find_narrow_sum(table: MarginTable, policy: DisclosurePolicy) -> str | None:
    """Return a variable whose hidden groups together have too few feasible counts; None if there is none.

    Variables with all groups hidden are skipped: together the groups are the whole, whose own figure gives their sum.
    """
    feasible = count_feasible(table)
    for variable, groups in table.margins.items():
        some_group_is_shown = any(not cell.hidden for cell in groups.values())
        hidden_units = sum(cell.units for cell in _cells_of(table, variable) if cell.hidden)
        if some_group_is_shown and _is_narrow(feasible.hidden[variable], hidden_units, policy):
            return variable
    return None


def _is_narrow(
    counts: range, units: int, policy: DisclosurePolicy, before: range | None = None
) -> bool:
    """Return whether a group of at least `units` units has too few feasible counts, and fewer than `before`."""
    enough = min(policy.min_events, units + 1)
    if before is not None:
        enough = min(enough, len(before))
    return len(counts) < enough


def check_margins(
    whole: Figure, margins: Mapping[str, Mapping[str, Figure]], policy: DisclosurePolicy
) -> None:
    """Check the published figures of one metric of one benchmark, given sizes only as buckets.

    Refuses margins that are open for all sizes that the buckets allow. Accepts everything that `close_margins` closed.

    Args:
        whole: the figure of all units.
        margins: variable -> key of a group -> figure of the group.
        policy: the policy that the result names.

    Raises:
        ProtocolError: OPEN_MARGIN; the detail names the group or variable.
    """
    figures = [figure for groups in margins.values() for figure in groups.values()]
    if all(figure.value in {SUPPRESSED, NOT_RUN} for figure in figures):
        return
    # Every interval is the union of the intervals for all possible sizes, so counts that are feasible for the real
    # sizes, which only the site knows, are feasible here. If the site found enough counts, so does this check.
    whole_sizes = _sizes(whole.bucket, BUCKETS[-1][1])
    table = _widen_table(whole, whole_sizes, margins, policy)
    feasible = count_feasible(table)
    if table.whole.hidden and _is_narrow(feasible.whole, table.whole.units, policy):
        raise ProtocolError(Code.OPEN_MARGIN, "the withheld whole follows from its groups")
    for variable, groups in table.margins.items():
        for key, cell in groups.items():
            if cell.hidden and _is_narrow(feasible.groups[key], cell.units, policy):
                raise ProtocolError(
                    Code.OPEN_MARGIN, f"{key}: a withheld group follows from the others"
                )
        shown_units = [cell.units for cell in groups.values() if not cell.hidden]
        hidden_groups = len(groups) - len(shown_units)
        if shown_units and table.whole.hidden:
            raise ProtocolError(
                Code.OPEN_MARGIN, f"{variable}: a group is published although the whole is withheld"
            )
        if not shown_units or not hidden_groups:
            continue  # the buckets do not show whether some units are in no group
        hidden_units = whole_sizes[-1] - sum(shown_units)
        if hidden_groups < policy.margin_hidden or hidden_units < policy.min_units:
            raise ProtocolError(
                Code.OPEN_MARGIN, f"{variable}: too few groups or units are withheld"
            )
        if _is_narrow(feasible.hidden[variable], policy.min_units, policy):
            raise ProtocolError(
                Code.OPEN_MARGIN, f"{variable}: the withheld groups together follow from the others"
            )


def _widen_table(
    whole: Figure,
    whole_sizes: range,
    margins: Mapping[str, Mapping[str, Figure]],
    policy: DisclosurePolicy,
) -> MarginTable:
    """Return a table that admits all counts that are possible for any sizes within the buckets."""
    cells: dict[str, dict[str, AuditCell]] = {}
    unlisted = {}
    for variable, groups in margins.items():
        listed_units = sum(bucket_range(figure.bucket)[0] for figure in groups.values())
        most_left = max(0, whole_sizes[-1] - listed_units)
        cells[variable] = {}
        for key, figure in groups.items():
            cells[variable][key] = _admit(
                figure.value, _sizes(figure.bucket, most_left), _step(figure, policy), policy
            )
        unlisted[variable] = AuditCell(0, 0, most_left, "suppressed")
    return MarginTable(
        _admit(whole.value, whole_sizes, _step(whole, policy), policy), cells, unlisted
    )


def _sizes(bucket: int, most_withheld: int) -> range:
    """Return the sizes that a group in a bucket can have; a group in bucket 0 is withheld."""
    least, most = bucket_range(bucket) if bucket else (0, most_withheld)
    return range(least, most + 1)


def _step(figure: Figure, policy: DisclosurePolicy) -> int:
    return grid_step(max(1, bucket_range(figure.bucket)[0]), policy)
