"""The outcome of comparing a sealed or signed record of the site with another copy of it, or with the store."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_LINK_DIGITS: Final = 64
_HEX_DIGITS: Final = frozenset("0123456789abcdef")
_MAX_NUMBER_DIGITS: Final = 18  # Python refuses to read numbers of thousands of digits


class AuditOutcome(StrEnum):
    """The outcome of comparing a record with the store, or with a copy of it."""

    MATCH = "match"
    DIFFERENT = "different"
    NOT_CHECKABLE = "not_checkable"


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """One comparison: its subject, the outcome, and the finding in words that never quote an instance."""

    subject: str
    outcome: AuditOutcome
    finding: str


def split_head(text: str) -> tuple[int, str] | None:
    """Return the number and the link of a head in the form NUMBER:LINK, as commands print it; None for other texts."""
    number, _, link = text.strip().partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) <= _MAX_NUMBER_DIGITS
    return (int(number), link) if is_number and is_link(link) else None


def is_link(value: object) -> bool:
    """Return whether a value is the link of an event or entry: 64 hex digits."""
    return isinstance(value, str) and len(value) == _LINK_DIGITS and set(value) <= _HEX_DIGITS
