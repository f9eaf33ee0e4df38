"""A reviewer's verdict on one text: detections that are wrong and identifiers that were missed. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """An identifier in a text: its start and end in characters (end exclusive) and its kind."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """A reviewer's verdict on the detections in one text.

    Attributes:
        found: the spans that redaction detected, in order.
        wrong: indexes (from 0) of the spans in `found` that do not identify a person.
        missed: identifiers with at least one letter or digit outside every span in `found`.
    """

    found: tuple[MarkedSpan, ...]
    wrong: frozenset[int] = frozenset()
    missed: tuple[MarkedSpan, ...] = ()

    def list_gold(self) -> list[MarkedSpan]:
        """Return every identifier in the text, in order."""
        gold = [span for number, span in enumerate(self.found) if number not in self.wrong]
        gold += self.missed
        return sorted(gold, key=_get_position)

    def count_figures(self) -> dict[str, tuple[int, int, int]]:
        """Return, by kind, the number of identifiers found, of identifiers missed, and of wrong detections.

        An identifier that was found only in part counts as missed; its detections do not count as found.
        """
        right = Counter[str]()
        missed = Counter(span.entity for span in self.missed)
        wrong = Counter[str]()
        for number, span in enumerate(self.found):
            if number in self.wrong:
                wrong[span.entity] += 1
            elif not any(_overlap(span, missed_span) for missed_span in self.missed):
                right[span.entity] += 1
        kinds = sorted({*right, *missed, *wrong})
        return {kind: (right[kind], missed[kind], wrong[kind]) for kind in kinds}


def find_missed_spans(
    text: str, found: Sequence[MarkedSpan], words: str, entity: str
) -> list[MarkedSpan]:
    """Return the occurrences of `words` in `text` with a letter or digit outside the spans in `found`.

    Only whole words match, regardless of case and of the white space between them.
    """
    parts = words.split()
    if not parts:
        return []
    pattern = r"\s+".join(map(regex.escape, parts))
    if parts[0][0].isalnum():
        pattern = r"(?<![\p{L}\p{N}])" + pattern
    if parts[-1][-1].isalnum():
        pattern += r"(?![\p{L}\p{N}])"
    missed: list[MarkedSpan] = []
    for match in regex.finditer(pattern, text, regex.IGNORECASE, timeout=5):
        span = MarkedSpan(match.start(), match.end(), entity)
        if _is_uncovered(text, found, span):
            missed.append(span)
    return missed


def _is_uncovered(text: str, found: Iterable[MarkedSpan], span: MarkedSpan) -> bool:
    """Return whether the span has a letter or digit outside every span in `found`."""
    covered: set[int] = set()
    for mark in found:
        covered.update(range(mark.start, mark.end))
    return any(
        text[position].isalnum() and position not in covered
        for position in range(span.start, span.end)
    )


def _get_position(span: MarkedSpan) -> tuple[int, int]:
    return span.start, span.end


def _overlap(span_a: MarkedSpan, span_b: MarkedSpan) -> bool:
    return span_a.start < span_b.end and span_b.start < span_a.end
