"""What a reviewer says of one text: marks that are wrong, identifiers that were missed. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """An identifier in a text: offsets in characters, end exclusive, and its kind."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """A reviewed text.

    Attributes:
        found: what redaction found, in order.
        wrong: places in `found` that identify nobody, counted from 0.
        missed: identifiers of which redaction left a letter or digit.
    """

    found: tuple[MarkedSpan, ...]
    wrong: frozenset[int] = frozenset()
    missed: tuple[MarkedSpan, ...] = ()

    def gold(self) -> list[MarkedSpan]:
        """Return every identifier of the text, in order."""
        right = [place for number, place in enumerate(self.found) if number not in self.wrong]
        return sorted([*right, *self.missed], key=lambda place: (place.start, place.end))

    def figures(self) -> dict[str, tuple[int, int, int]]:
        """Return, by kind, how many were rightly found, missed, and wrongly found.

        A place that was found in part is a missed one; the part found does not count a second time.
        """
        right, missed, wrong = Counter[str](), Counter[str](), Counter[str]()
        for number, place in enumerate(self.found):
            if number in self.wrong:
                wrong[place.entity] += 1
            elif not any(_overlap(place, other) for other in self.missed):
                right[place.entity] += 1
        missed.update(place.entity for place in self.missed)
        return {kind: (right[kind], missed[kind], wrong[kind]) for kind in sorted({*right, *missed, *wrong})}


def missed_places(text: str, found: Sequence[MarkedSpan], words: str, entity: str) -> list[MarkedSpan]:
    """Return where `words` stand in `text` with a letter or digit that was not found.

    In any case, and with any white space between them; whole words only.
    """
    parts = words.split()
    if not parts:
        return []
    pattern = r"\s+".join(map(regex.escape, parts))
    before = r"(?<![\p{L}\p{N}])" if parts[0][0].isalnum() else ""
    after = r"(?![\p{L}\p{N}])" if parts[-1][-1].isalnum() else ""
    places = (match.span() for match in regex.finditer(before + pattern + after, text, regex.IGNORECASE, timeout=5))
    return [MarkedSpan(start, end, entity) for start, end in places if _leaks(text, found, start, end)]


def _leaks(text: str, found: Iterable[MarkedSpan], start: int, end: int) -> bool:
    covered = [(place.start, place.end) for place in found]
    return any(text[at].isalnum() and not any(a <= at < b for a, b in covered) for at in range(start, end))


def _overlap(one: MarkedSpan, other: MarkedSpan) -> bool:
    return one.start < other.end and other.start < one.end
