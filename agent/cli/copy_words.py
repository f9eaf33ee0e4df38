"""Copies of a site in words: when they were made, and which of them hold texts that were deleted since."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.store import KnownCopy

_SHORT: Final = 8  # characters of an id in a sentence
_MOST_NAMED: Final = 5


def say_time(seconds: int) -> str:
    """Return a time as YYYY-MM-DD HH:MM UTC, or "none" for 0."""
    from agent.store import format_time

    return format_time(seconds) if seconds else "none"


def describe_holding(held: "Sequence[KnownCopy]") -> list[str]:
    """Return sentences about known copies that hold deleted texts, for whoever has deleted them."""
    if not held:
        return []
    named = [_name_copy(copy) for copy in held[-_MOST_NAMED:]]
    if len(held) > len(named):
        named.insert(0, f"{len(held) - len(named)} older ones")
    subject = (
        "1 known copy still holds" if len(held) == 1 else f"{len(held)} known copies still hold"
    )
    return [
        f"{subject} texts that were deleted here: {', '.join(named)}.",
        "  Destroy them as your retention rule says, and then run `intramural copies forget COPY`. Snapshots and other "
        "copies made without `intramural backup` are not known here.",
    ]


def _name_copy(copy: "KnownCopy") -> str:
    label = f" ({copy.label})" if copy.label else ""
    return f"{copy.copy_id[:_SHORT]} of {say_time(copy.made_at)}{label}"
