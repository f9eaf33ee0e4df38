"""A detection: the position of an identifier in a text, and its entity."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A detection: offsets into a text, end exclusive, and the entity."""

    start: int
    end: int
    entity: str

    @classmethod
    def for_match(cls, match: re.Match[str], entity: str) -> "Span":
        """Return the detection that covers a whole match of a pattern."""
        return cls(match.start(), match.end(), entity)
