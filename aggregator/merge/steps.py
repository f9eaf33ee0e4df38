"""Steps in which the pooled part of figures changes, each of which hides every site among others (rule 8.2). Pure.

Two sets are kept for each column (a cell of one model): the *present* contributions of pooled
sites, and the *shown* ones, which are the only ones used for the board. The present set becomes the
shown one as soon as at least `pooled_sites` sites have a figure in it that was never shown in this
column before, and no site dominates it. Any two sets that were ever shown, consecutive or not,
therefore differ by the figures of at least `pooled_sites` sites, because that many figures of the
later set were in no earlier one.

A new result that repeats the site's value does not hide other sites, even if other parts of it are
new. Nor does a coded figure, which is known to be near an end of the range.
"""

from dataclasses import dataclass, field

import numpy
from numpy.typing import NDArray

from aggregator.merge.site_cell import Flags, Integers

NOTHING = 0  # the code of a site without a contribution
NO_RESULT = -1


@dataclass(frozen=True, slots=True)
class StepRule:
    """The rule for when the present contributions of a column become the shown ones.

    Attributes:
        sites: Minimum number of sites with a figure that was never shown before.
        share_percent: Maximum share of the total weight for one site.
    """

    sites: int
    share_percent: int


@dataclass(slots=True)
class Past:
    """An earlier contribution of a site: its marks, and the columns in which they were shown."""

    marks: Integers
    was_shown: Flags


@dataclass(slots=True)
class Steps:
    """The pooled sites' contributions to the columns of one model.

    A contribution has a code and a mark for each column. Contributions with the same code are
        identical in that column. The mark represents only the value: contributions with the same
        mark do not hide each other.

    Attributes:
        moves_freely: Columns that need no steps.
        rule: Rule for the other columns.
        sites: Site ids in the order of their first contribution, which is the order of the rows
            below.
        present, shown: Codes of the contributions.
        marks, weight: Marks and weights of the present contributions. The mark NOTHING means that a
            contribution does not hide others.
        present_result, shown_result: Number of the contribution's result; NO_RESULT without one.
        since: Log size at which the shown set took effect, by column; 0 without one.
        taken: Number of steps so far, by column.
        was_shown: Whether the present mark was ever shown in this column.
        is_fresh: Whether it was never shown, and hides others.
        fresh: Number of fresh figures, by column.
        past: Earlier contributions that were at least partly shown, by row.
    """

    moves_freely: Flags
    rule: StepRule
    sites: dict[str, int] = field(default_factory=dict)
    present: Integers = field(init=False)
    shown: Integers = field(init=False)
    marks: Integers = field(init=False)
    weight: Integers = field(init=False)
    present_result: NDArray[numpy.int64] = field(init=False)
    shown_result: Integers = field(init=False)
    since: Integers = field(init=False)
    taken: Integers = field(init=False)
    was_shown: Flags = field(init=False)
    is_fresh: Flags = field(init=False)
    fresh: Integers = field(init=False)
    past: dict[int, list[Past]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        columns = len(self.moves_freely)
        nothing = numpy.zeros((0, columns), dtype=numpy.int64)
        no_flags = numpy.zeros((0, columns), dtype=numpy.bool_)
        self.present, self.shown, self.marks = nothing, nothing.copy(), nothing.copy()
        self.weight, self.shown_result = nothing.copy(), nothing.copy()
        self.was_shown, self.is_fresh = no_flags, no_flags.copy()
        self.present_result = numpy.zeros(0, dtype=numpy.int64)
        self.since = numpy.zeros(columns, dtype=numpy.int64)
        self.taken = numpy.zeros(columns, dtype=numpy.int64)
        self.fresh = numpy.zeros(columns, dtype=numpy.int64)

    def contribute(
        self,
        site: str,
        result: int,
        codes: Integers,
        marks: Integers,
        weight: Integers,
        log_size: int,
    ) -> None:
        """Replace a site's contribution, and perform all steps that are now possible.

        Args:
            site: Id of the site.
            result: Number of the contribution's result.
            codes: A code for each column.
            marks: Marks of the values; NOTHING where the contribution does not hide others.
            weight: Weight of each figure.
            log_size: Number of log entries, including the one with this contribution.
        """
        row = self._row_of(site)
        self._keep_past(row)
        was_shown = self._find_shown_before(row, marks)
        fresh = (marks != NOTHING) & ~was_shown & ~self.moves_freely
        self.fresh += fresh.astype(numpy.int64) - self.is_fresh[row]
        self.present[row], self.marks[row], self.weight[row] = codes, marks, weight
        self.was_shown[row], self.is_fresh[row] = was_shown, fresh
        self.present_result[row] = result
        self._step(log_size)

    def retract(self, site: str, log_size: int) -> None:
        """Remove a site's contribution, and perform all steps that are now possible."""
        if site in self.sites:
            nothing = numpy.zeros(len(self.moves_freely), dtype=numpy.int64)
            self.contribute(site, NO_RESULT, nothing, nothing, nothing, log_size)

    def count_waiting(self) -> Integers:
        """Return the number of sites, by column, whose present contribution differs from the shown one."""
        waiting: Integers = (self.present != self.shown).sum(axis=0)
        return waiting

    def find_void(self, stands: Flags) -> Flags:
        """Return the columns that show a contribution that no longer counts.

        Args:
            stands: Whether a result still counts, by result number.
        """
        if not self.sites or not len(stands):
            return numpy.zeros(len(self.moves_freely), dtype=numpy.bool_)
        still_counts = stands[self.shown_result] | (self.present == self.shown)
        void: Flags = ((self.shown != NOTHING) & ~still_counts).any(axis=0)
        return void

    def _row_of(self, site: str) -> int:
        row = self.sites.get(site)
        if row is not None:
            return row
        row = len(self.sites)
        self.sites[site] = row
        if row == len(self.present):
            self._grow(max(4, 2 * row))
        return row

    def _grow(self, rows: int) -> None:
        more = rows - len(self.present)
        shape = ((0, more), (0, 0))
        self.present, self.shown = numpy.pad(self.present, shape), numpy.pad(self.shown, shape)
        self.marks, self.weight = numpy.pad(self.marks, shape), numpy.pad(self.weight, shape)
        self.shown_result = numpy.pad(self.shown_result, shape, constant_values=NO_RESULT)
        self.present_result = numpy.pad(self.present_result, (0, more), constant_values=NO_RESULT)
        self.was_shown, self.is_fresh = (
            numpy.pad(self.was_shown, shape),
            numpy.pad(self.is_fresh, shape),
        )

    def _keep_past(self, row: int) -> None:
        """Record in which columns the present marks of a site were shown."""
        if self.was_shown[row].any():
            self.past.setdefault(row, []).append(
                Past(self.marks[row].copy(), self.was_shown[row].copy())
            )

    def _find_shown_before(self, row: int, marks: Integers) -> Flags:
        was_shown = numpy.zeros(len(marks), dtype=numpy.bool_)
        for past in self.past.get(row, ()):
            was_shown |= past.was_shown & (past.marks == marks)
        return was_shown

    def _step(self, log_size: int) -> None:
        """Perform a step in every column where it is allowed."""
        ready = self.fresh >= self.rule.sites
        if ready.any():
            ready &= self._is_balanced()
        if self.moves_freely.any():
            ready |= self.moves_freely & (self.present != self.shown).any(axis=0)
        if not ready.any():
            return
        self.shown[:, ready] = self.present[:, ready]
        has_part = self.present[:, ready] != NOTHING
        self.shown_result[:, ready] = numpy.where(has_part, self.present_result[:, None], NO_RESULT)
        self.was_shown[:, ready] |= self.marks[:, ready] != NOTHING
        self.is_fresh[:, ready] = False
        self.fresh[ready] = 0
        self.since[ready] = log_size
        self.taken[ready] += 1

    def _is_balanced(self) -> Flags:
        """Return the columns in which no site exceeds the allowed share of the weight."""
        weights = numpy.where(self.marks != NOTHING, self.weight, 0)
        balanced: Flags = 100 * weights.max(axis=0) <= self.rule.share_percent * weights.sum(axis=0)
        return balanced
