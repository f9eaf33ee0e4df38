"""What a result would add to the newest accepted one of the same model and scorecard, in words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from agent.delivery.outbox import State, Submission
from agent.io.wording import format_count
from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.describe import describe_statement
from protocol.description import CODE_WORDS, FigureRow, Knowledge, format_day
from protocol.errors import ProtocolError
from protocol.policy import DisclosurePolicy
from protocol.predicates import ResultPredicate
from protocol.registry import Registry

# A low- or high-coded figure has no value, but it tells something, and so it counts as one that leaves.
_WITHHELD: Final = frozenset({"", CODE_WORDS[SUPPRESSED], CODE_WORDS[NOT_RUN]})


class Change(StrEnum):
    """What becomes of a figure."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"
    SAME = "the same"
    WITHHELD = "withheld, as before"


_SENTENCES: Final = {
    Change.NEW: ("is new", "are new"),
    Change.CHANGED: ("has changed", "have changed"),
    Change.GONE: ("is gone", "are gone"),
    Change.SAME: ("stays the same", "stay the same"),
}


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure beside that of the newest accepted result."""

    figure: FigureRow
    change: Change


@dataclass(frozen=True, slots=True)
class ReleaseDifference:
    """The difference of a result to the newest accepted one.

    Attributes:
        previous: digest of that result; empty if there is none.
        day: its day, as YYYY-MM-DD; empty if there is none.
        changes: one entry for each figure that leaves now or left then, in the order of the scorecard.
    """

    previous: str = ""
    day: str = ""
    changes: Sequence[FigureChange] = ()

    @property
    def summary(self) -> str:
        """How many figures are new, changed, gone and the same."""
        counts = Counter(entry.change for entry in self.changes)
        parts: list[str] = []
        for change, (singular, plural) in _SENTENCES.items():
            if counts[change]:
                verb = singular if counts[change] == 1 else plural
                parts.append(f"{format_count(counts[change], 'figure')} {verb}")
        return ", ".join(parts)


def compare_with_last(
    submission: Submission,
    registry: Registry,
    own_policy: DisclosurePolicy,
    others: Sequence[Submission],
) -> ReleaseDifference | None:
    """Compare a result with the newest accepted result of the same model and scorecard.

    Args:
        submission: the submission.
        registry: the verified registry, from which all names come.
        own_policy: the site's own policy.
        others: all submissions of the site.

    Returns:
        the difference; None if the submission is no result, or refers to something that the registry lacks.
    """
    if not submission.is_result:
        return None
    accepted = {
        other.digest: other.statement
        for other in others
        if other.state is State.RECEIPTED and other.place < submission.place
    }
    try:
        description = describe_statement(
            submission.payload, Knowledge(registry, own_policy, accepted)
        )
    except ProtocolError:
        return None
    before = accepted.get(description.previous)
    if not isinstance(before, ResultPredicate):
        return ReleaseDifference()
    changes: list[FigureChange] = []
    for figure in description.figures:
        change = judge_change(figure)
        if change is not Change.WITHHELD:
            changes.append(FigureChange(figure, change))
    return ReleaseDifference(description.previous, format_day(before.day), changes)


def judge_change(figure: FigureRow) -> Change:
    """Return what becomes of a figure."""
    leaves, left = figure.value not in _WITHHELD, figure.before not in _WITHHELD
    if leaves and not left:
        return Change.NEW
    if left and not leaves:
        return Change.GONE
    if not leaves:
        return Change.WITHHELD
    is_same = (figure.value, figure.units) == (figure.before, figure.units_before)
    return Change.SAME if is_same else Change.CHANGED
