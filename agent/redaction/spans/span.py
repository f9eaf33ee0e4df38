"""A detection: where an identifier stands in a text, and of which kind it is."""

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
        """Return the detection of all that a pattern matched."""
        return cls(match.start(), match.end(), entity)
