"""Every set of figures that a result may publish, in one order: to count them, and to number them.

Exact where the policy lets one figure of a group leave and the scorecard has no subgroups. Otherwise the space is
larger than what `check_result` accepts: rules that tie groups, or several figures of one group, to each other are left
out, and those only refuse.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.disclosure import allowed_spreads, allowed_values, is_too_large, surplus_cells
from protocol.policy import BUCKETS, DisclosurePolicy
from protocol.predicates import ResultPredicate
from protocol.scorecard import Cell, Scorecard

_OUTCOMES = ("complete", "partial")
_SILENT = frozenset({SUPPRESSED, NOT_RUN})

_Choice = tuple[
    int, int | None
]  # value of a cell and its spread; None for a binary cell, which has no spread


@dataclass(frozen=True, slots=True)
class Figures:
    """What a result publishes: the fields `outcome`, `groups`, `cells` and `spreads` of a statement."""

    outcome: str
    groups: Mapping[str, int]
    cells: Mapping[str, int]
    spreads: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Choices:
    """What one cell may be in a group of one size: `quiet` ones publish nothing, `speaking` ones do."""

    quiet: tuple[_Choice, ...]
    speaking: tuple[_Choice, ...]

    @property
    def may_be_unrun(self) -> bool:
        return any(value == NOT_RUN for value, _ in self.quiet)


@dataclass(frozen=True, slots=True)
class _Progress:
    """What the choices so far mean for those that follow.

    Attributes:
        complete: whether the outcome is `complete`, so that every figure of all units was run.
        ran: whether a cell of the group at hand was run.
        spoken: whether any cell publishes something; in the end one must.
    """

    complete: bool
    ran: bool = False
    spoken: bool = False

    def after(self, choice: _Choice) -> "_Progress":
        value, _ = choice
        return _Progress(
            self.complete, self.ran or value != NOT_RUN, self.spoken or value not in _SILENT
        )

    def in_next_group(self) -> "_Progress":
        return replace(self, ran=False)


class FigureSpace:
    """The figures that results for one scorecard may publish under one policy, numbered from 0 to `count` - 1.

    A result is read as a row of choices: its outcome, then for each group the bucket and the cells in their order. Its
    number is the number of rows before it. How many rows begin with the same choices is found by multiplying: the
    cells of a group are free of each other, but for the few rows that are refused as a whole.
    """

    def __init__(self, scorecard: Scorecard, policy: DisclosurePolicy) -> None:
        """`policy` is already the stricter of site and federation."""
        self.scorecard = scorecard
        self._policy = policy
        self._groups = [(group, scorecard.cells_of(group)) for group in scorecard.group_keys]
        self._surplus = {cell.key for cell in surplus_cells(scorecard, policy)}
        self._known_values: dict[tuple[bool, int], list[int]] = {}
        self._known_choices: dict[tuple[bool, bool, bool, bool, int], _Choices] = {}
        # _rows[i]: the ways to fill groups i and later, by the two marks that outlast a group: complete, spoken.
        # Behind the last group a row counts only if something was published.
        after_the_last = {
            (complete, spoken): int(spoken)
            for complete in (True, False)
            for spoken in (True, False)
        }
        self._rows = [after_the_last] * (len(self._groups) + 1)
        for place in reversed(range(len(self._groups))):
            self._rows[place] = {mark: self._count_group(place, *mark) for mark in after_the_last}

    @property
    def count(self) -> int:
        """How many different figures there are."""
        return sum(self._count_outcome(outcome) for outcome in _OUTCOMES)

    def rank(self, figures: Figures | ResultPredicate) -> int:
        """Return the number of these figures. Raises ValueError if they are not in the space."""
        number = 0
        for outcome in _OUTCOMES[: _OUTCOMES.index(figures.outcome)]:
            number += self._count_outcome(outcome)
        progress = _Progress(figures.outcome == "complete")
        for place, (group, cells) in enumerate(self._groups):
            buckets, bucket = self._buckets(place), figures.groups[group]
            for smaller in buckets[: buckets.index(bucket)]:
                number += self._count_rows(place, 0, smaller, progress)
            for position, cell in enumerate(cells):
                choice = (
                    figures.cells[cell.key],
                    None if cell.binary else figures.spreads[cell.key],
                )
                number += self._count_before(place, position, bucket, progress, choice)
                progress = progress.after(choice)
            if bucket and not progress.ran:
                raise ValueError(f"{group}: has units, but was not run")
            progress = progress.in_next_group()
        if not progress.spoken:
            raise ValueError("nothing is published")
        return number

    def unrank(self, number: int) -> Figures:
        """Return the figures with this number. Raises ValueError if it is not from 0 to `count` - 1."""
        if not 0 <= number < self.count:
            raise ValueError(f"{number} is not from 0 to {self.count - 1}")
        outcome = _OUTCOMES[0]
        if number >= self._count_outcome(outcome):
            number -= self._count_outcome(outcome)
            outcome = _OUTCOMES[1]
        progress = _Progress(outcome == "complete")
        groups: dict[str, int] = {}
        values: dict[str, int] = {}
        spreads: dict[str, int] = {}
        for place, (group, cells) in enumerate(self._groups):
            for bucket in self._buckets(place):
                rows = self._count_rows(place, 0, bucket, progress)
                if number < rows:
                    groups[group] = bucket
                    break
                number -= rows
            for position, cell in enumerate(cells):
                choice, number = self._choose(place, position, groups[group], progress, number)
                progress = progress.after(choice)
                value, spread = choice
                values[cell.key] = value
                if spread is not None:
                    spreads[cell.key] = spread
            progress = progress.in_next_group()
        return Figures(outcome, groups, values, spreads)

    def _count_outcome(self, outcome: str) -> int:
        return self._rows[0][outcome == "complete", False]

    def _count_group(self, place: int, complete: bool, spoken: bool) -> int:
        progress = _Progress(complete, spoken=spoken)
        return sum(self._count_rows(place, 0, bucket, progress) for bucket in self._buckets(place))

    def _count_rows(self, place: int, position: int, bucket: int, progress: _Progress) -> int:
        """Count the ways to fill one group's cells from `position` on, and all later groups."""
        every, quiet, unrun = 1, 1, 1
        for cell in self._groups[place][1][position:]:
            choices = self._choices(cell, bucket, progress)
            every *= len(choices.quiet) + len(choices.speaking)
            quiet *= len(choices.quiet)
            unrun *= choices.may_be_unrun
        if bucket and not progress.ran:  # units, yet nothing was run: refused
            every -= unrun
            quiet -= unrun
        silent = 0 if progress.spoken else quiet
        later = self._rows[place + 1]
        return (
            silent * later[progress.complete, False]
            + (every - silent) * later[progress.complete, True]
        )

    def _count_before(
        self, place: int, position: int, bucket: int, progress: _Progress, choice: _Choice
    ) -> int:
        """Count the rows that differ first in this cell, by an earlier choice for it."""
        choices = self._choices(self._groups[place][1][position], bucket, progress)
        before = 0
        for quiet in choices.quiet:
            if quiet == choice:
                return before
            before += self._count_rows(place, position + 1, bucket, progress.after(quiet))
        rows = self._count_rows(place, position + 1, bucket, progress.after(choice))
        return before + choices.speaking.index(choice) * rows

    def _choose(
        self, place: int, position: int, bucket: int, progress: _Progress, number: int
    ) -> tuple[_Choice, int]:
        """Return the choice for one cell that leads to the row with this number, and the number among its rows."""
        choices = self._choices(self._groups[place][1][position], bucket, progress)
        for quiet in choices.quiet:
            rows = self._count_rows(place, position + 1, bucket, progress.after(quiet))
            if number < rows:
                return quiet, number
            number -= rows
        rows = self._count_rows(place, position + 1, bucket, progress.after(choices.speaking[0]))
        place_among, number = divmod(number, rows)
        return choices.speaking[place_among], number

    def _buckets(self, place: int) -> list[int]:
        """Return the group sizes that may be published of one group."""
        first = self._groups[place][1][0]
        threshold = self._policy.min_units if first.protected else 0
        size = self.scorecard.units_of(first.benchmark)
        return [
            bucket
            for bucket, (fewest, _) in enumerate(BUCKETS)
            if not bucket or (fewest >= threshold and not is_too_large(bucket, size))
        ]

    def _choices(self, cell: Cell, bucket: int, progress: _Progress) -> _Choices:
        # Cells are many and their kinds few; what a cell may be depends on nothing else than this.
        is_surplus = cell.key in self._surplus
        may_be_unrun = not progress.complete or cell.subgroup is not None
        kind = (cell.binary, cell.protected, is_surplus, may_be_unrun, bucket)
        if kind not in self._known_choices:
            self._known_choices[kind] = self._list_choices(cell, bucket, is_surplus, may_be_unrun)
        return self._known_choices[kind]

    def _list_choices(
        self, cell: Cell, bucket: int, is_surplus: bool, may_be_unrun: bool
    ) -> _Choices:
        quiet: list[_Choice] = []
        speaking: list[_Choice] = []
        for value in self._values(cell, bucket):
            spreads = (None,) if cell.binary else allowed_spreads(cell, value)
            if value not in _SILENT:
                speaking += [] if is_surplus else [(value, spread) for spread in spreads]
            elif value != NOT_RUN or may_be_unrun:
                quiet += [(value, spread) for spread in spreads]
        return _Choices(tuple(quiet), tuple(speaking))

    def _values(self, cell: Cell, bucket: int) -> list[int]:
        kind = (cell.protected, bucket)
        if kind not in self._known_values:
            self._known_values[kind] = allowed_values(cell, bucket, self._policy)
        return self._known_values[kind]
