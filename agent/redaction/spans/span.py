"""A detection: where an identifier stands in a text, and of which kind it is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A detection: offsets into a text, end exclusive, and the entity."""

    start: int
    end: int
    entity: str
