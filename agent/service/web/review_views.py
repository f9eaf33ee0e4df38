"""One record of a redaction review as its page shows it: texts in pieces, with what is marked in them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.review.marking import MarkedSpan, ReviewVerdict
from agent.service.words import find_word

_AROUND = 30  # characters shown before and after a missed identifier in the list


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    Attributes:
        text: the words.
        kind: "found" for what redaction detected, "missed" for what the reviewer marked, "" for the rest.
        label: what stands beside the marked words, such as "1 name"; empty for the rest.
    """

    text: str
    kind: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class FoundLine:
    """One detection in the list below a text. `index` is its index from 0, `number` its number in the text."""

    index: int
    number: int
    entity: str
    words: str
    is_wrong: bool


@dataclass(frozen=True, slots=True)
class MissedLine:
    """One missed identifier in the list below a text, with the words around it."""

    start: int
    end: int
    entity: str
    words: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TextView:
    """One text of a record with its marks."""

    item: int
    pieces: tuple[Piece, ...]
    found: tuple[FoundLine, ...]
    missed: tuple[MissedLine, ...]


def view_text(item: int, text: str, verdict: ReviewVerdict) -> TextView:
    """Return one text as it is shown.

    Args:
        item: number of the text in the sample.
        text: the words, of the same length as the original.
        verdict: the marks in it.
    """
    found: list[FoundLine] = []
    for index, span in enumerate(verdict.found):
        words = text[span.start : span.end]
        is_wrong = index in verdict.wrong
        found.append(FoundLine(index, index + 1, span.entity, words, is_wrong))
    return TextView(
        item=item,
        pieces=tuple(_cut(text, verdict)),
        found=tuple(found),
        missed=tuple(_view_missed(text, span) for span in verdict.missed),
    )


def _view_missed(text: str, span: MarkedSpan) -> MissedLine:
    return MissedLine(
        start=span.start,
        end=span.end,
        entity=span.entity,
        words=text[span.start : span.end],
        before=text[max(0, span.start - _AROUND) : span.start],
        after=text[span.end : span.end + _AROUND],
    )


def _cut(text: str, verdict: ReviewVerdict) -> Sequence[Piece]:
    """Cut a text at its marks. Where two marks overlap, the words belong to the one that begins first."""
    marks: list[tuple[MarkedSpan, str, str]] = []
    for index, span in enumerate(verdict.found):
        marks.append((span, "found", f"{index + 1} {find_word(span.entity, 'entity')}"))
    marks += [
        (span, "missed", f"missed {find_word(span.entity, 'entity')}") for span in verdict.missed
    ]
    marks.sort(key=lambda mark: (mark[0].start, mark[0].end))
    pieces: list[Piece] = []
    position = 0
    for span, kind, label in marks:
        start = max(position, span.start)
        if start >= span.end:
            continue
        if start > position:
            pieces.append(Piece(text[position:start]))
        pieces.append(Piece(text[start : span.end], kind, label))
        position = span.end
    if position < len(text):
        pieces.append(Piece(text[position:]))
    return pieces
