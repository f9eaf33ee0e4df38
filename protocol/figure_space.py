"""The ordered set of all figures that a result may publish, for counting and numbering them.

The set is exact if the policy lets only one figure per group leave and the scorecard has no subgroups. Otherwise it is
larger than the set that `check_result` accepts: it omits the rules that relate groups, or several figures of one
group, to each other, and those rules only refuse results.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.disclosure import allowed_spreads, allowed_values, is_too_large, surplus_cells
from protocol.policy import BUCKETS, DisclosurePolicy
from protocol.predicates import ResultPredicate
from protocol.scorecard import Cell, Scorecard

_OUTCOMES = ("complete", "partial")
_SILENT = frozenset({SUPPRESSED, NOT_RUN})

# Value of a cell and its spread; None for a binary cell, which has no spread.
_Choice = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Figures:
    """The published figures of a result: the fields `outcome`, `groups`, `cells` and `spreads` of a statement."""

    outcome: str
    groups: Mapping[str, int]
    cells: Mapping[str, int]
    spreads: Mapping[str, int]


class _SpeakingChoices:
    """The choices that publish a value, in order: each value with each of its spreads. They are too many to list."""

    def __init__(self, spreads: Mapping[int, Sequence[int | None]]) -> None:
        """Number the choices. `spreads` are those of each value."""
        self._spreads = spreads
        self._values = list(spreads)
        self._starts = list(accumulate(map(len, spreads.values()), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, number: int) -> _Choice:
        if not 0 <= number < len(self):
            raise IndexError(number)
        place = bisect_right(self._starts, number) - 1
        value = self._values[place]
        return value, self._spreads[value][number - self._starts[place]]

    def index(self, choice: _Choice) -> int:
        """Return the number of a choice. Raises ValueError if it is none of these."""
        value, spread = choice
        place = self._values.index(value)
        return self._starts[place] + self._spreads[value].index(spread)


@dataclass(frozen=True, slots=True)
class _Choices:
    """The choices for one cell in a group of a given size: `quiet` ones publish nothing, `speaking` ones a value."""

    quiet: tuple[_Choice, ...]
    speaking: _SpeakingChoices

    @property
    def may_be_unrun(self) -> bool:
        return any(value == NOT_RUN for value, _ in self.quiet)


@dataclass(frozen=True, slots=True)
class _Progress:
    """The state after some choices, on which the following ones depend.

    Attributes:
        complete: whether the outcome is `complete`, so that every cell about all units was run.
        ran: whether a cell of the current group was run.
        spoken: whether any cell publishes a value; at the end at least one must.
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

    A result is treated as a row of choices: its outcome, then for each group the bucket and the cells in order. Its
    number is the number of rows before it. The number of rows that begin with the same choices is a product, since the
    cells of a group are independent of each other, except for the few rows that are refused as a whole.
    """

    def __init__(self, scorecard: Scorecard, policy: DisclosurePolicy) -> None:
        """Count the rows for a scorecard. `policy` is the stricter of the site's and the federation's policies."""
        self.scorecard = scorecard
        self._policy = policy
        self._groups = [(group, scorecard.cells_of(group)) for group in scorecard.group_keys]
        self._surplus = {cell.key for cell in surplus_cells(scorecard, policy)}
        self._known_values: dict[tuple[bool, int], list[int]] = {}
        self._known_choices: dict[tuple[bool, bool, bool, bool, int], _Choices] = {}
        # _rows[i]: the number of ways to fill groups i and later, by the two flags that persist between groups:
        # complete and spoken. After the last group, a row counts only if a value was published.
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
        """The number of different sets of figures."""
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
                raise ValueError(f"{group} has units but was not run")
            progress = progress.in_next_group()
        if not progress.spoken:
            raise ValueError("no value is published")
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
        if bucket and not progress.ran:  # a group with units of which nothing was run is refused
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
        """Count the rows that differ first in this cell and have an earlier choice for it."""
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
        """Return the choice for one cell that leads to the row with this number, and the number within that choice."""
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
        """Return the buckets that may be published for one group."""
        first = self._groups[place][1][0]
        threshold = self._policy.min_units if first.protected else 0
        size = self.scorecard.units_of(first.benchmark)
        return [
            bucket
            for bucket, (fewest, _) in enumerate(BUCKETS)
            if not bucket or (fewest >= threshold and not is_too_large(bucket, size))
        ]

    def _choices(self, cell: Cell, bucket: int, progress: _Progress) -> _Choices:
        # The choices depend on nothing but the cell's kind. There are many cells but few kinds, so cache by kind.
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
        speaking: dict[int, Sequence[int | None]] = {}
        for value in self._values(cell, bucket):
            spreads = (None,) if cell.binary else allowed_spreads(cell, value)
            if value not in _SILENT:
                if not is_surplus:
                    speaking[value] = spreads
            elif value != NOT_RUN or may_be_unrun:
                quiet += [(value, spread) for spread in spreads]
        return _Choices(tuple(quiet), _SpeakingChoices(speaking))

    def _values(self, cell: Cell, bucket: int) -> list[int]:
        kind = (cell.protected, bucket)
        if kind not in self._known_values:
            self._known_values[kind] = allowed_values(cell, bucket, self._policy)
        return self._known_values[kind]
