"""The result of reading an answer: the value, the span of the answer that states it, and the rule that read it."""

from dataclasses import dataclass
from typing import Literal

ValueKind = Literal["option", "number", "verdict", "query", "codes", "text"]
"""The kind of value that a metric reads from an answer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A value read from an answer.

    Attributes:
        value: the value as text: an option's letter, a number, a date, a verdict, a query.
        start: position in the answer of the first character that states the value.
        end: position after the last such character.
        rule: name of the rule that read it, as in the table of docs/scoring.md.
    """

    value: str
    start: int
    end: int
    rule: str
