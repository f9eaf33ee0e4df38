"""A structured text written as a form: one labelled value a line, which rules and models read better than syntax."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent.redaction.formats.cells import FREE, KEEP, REFERENCE, Cell, Quoting
from agent.redaction.formats.labels import QUASI_IDENTIFIERS, find_certain_part
from agent.redaction.formats.recognise import read_cells
from agent.redaction.spans.span import Span

# Kinds that are recognised by their own form, and so are taken from cells that otherwise state nothing.
_SURE_ANYWHERE = frozenset({"EMAIL", "SSN", "UNKNOWN_WORD"})
# Labels are written until the form is this many times as long as a source of more than some characters.
_MAX_GROWTH = 3
_SMALL = 2_000
_ENTITY_OF_REFERENCE = "MRN"
_FIGURE = re.compile(r"\d{1,4}(?:[.,/]\d{1,4})?")
_UNIT = re.compile(
    r" ?(?:%|(?:[munpµ]?mol|[munpµkd]?g|[mdµ]?L|m?(?:IU|U|Eq)|mm\[?Hg|mm|cm|kg|10[*^]\d|bpm|Cel|°C|kPa)"
    r"(?:/(?:min|h|d?L|mL|mol|kg|m2))?(?![A-Za-z]))"
)


@dataclass(frozen=True, slots=True)
class _Line:
    """The position of a cell's value in the form."""

    start: int
    end: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A stretch of the source, its entity, and how to write its replacement.

    Attributes:
        form: the stretch of the form that it stands for.
    """

    span: Span
    form: Span
    quoting: Quoting


@dataclass(frozen=True, slots=True)
class Form:
    """A structured text as a form.

    Attributes:
        text: the form.
        lines: the values, in order.
    """

    text: str
    lines: tuple[_Line, ...]
    _ends: Sequence[int]

    def list_certain(self) -> Iterator[Span]:
        """Yield the values that their labels declare as identifiers."""
        for line in self.lines:
            part = find_certain_part(line.cell.meaning, line.cell.value.text)
            if part is not None:
                entity = line.cell.meaning
                entity = _ENTITY_OF_REFERENCE if entity == "REFERENCE" else entity
                yield Span(line.start + part[0], line.start + part[1], entity)

    def join_prose(self) -> str:
        """Return the labels and the values of which nothing is known in advance: they tell the language of the text."""
        labels = dict.fromkeys(line.cell.cue for line in self.lines)
        values = [line.cell.value.text for line in self.lines if line.cell.meaning == FREE]
        return "\n".join([*labels, *values])

    def is_within_one(self, span: Span) -> bool:
        """Return whether a detection lies within one value that is to be searched."""
        lines = list(self._find_lines(span))
        return (
            len(lines) == 1
            and lines[0].start <= span.start
            and span.end <= lines[0].end
            and _is_searched(lines[0].cell, span.entity)
            and not self._is_measured(span)
        )

    def cut(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Yield the parts of detections that lie within values that are to be searched."""
        for span in spans:
            for line in self._find_lines(span):
                if _is_searched(line.cell, span.entity) and not self._is_measured(span):
                    yield Span(max(span.start, line.start), min(span.end, line.end), span.entity)

    def cut_all(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Yield the parts of spans that lie within values."""
        for span in spans:
            for line in self._find_lines(span):
                yield Span(max(span.start, line.start), min(span.end, line.end), span.entity)

    def cut_known(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Yield the parts of known values that lie within values. Single words are not taken from codes and drugs."""
        for span in spans:
            for line in self._find_lines(span):
                part = Span(max(span.start, line.start), min(span.end, line.end), span.entity)
                is_within = part.start == span.start and part.end == span.end
                if line.cell.meaning != KEEP or (is_within and self._is_telling(part, line)):
                    yield part

    def _is_measured(self, span: Span) -> bool:
        """Return whether a detection is a figure before a unit of measurement."""
        is_figure = _FIGURE.fullmatch(self.text, span.start, span.end) is not None
        return is_figure and _UNIT.match(self.text, span.end) is not None

    def _is_telling(self, part: Span, line: _Line) -> bool:
        known = self.text[part.start : part.end]
        is_whole = part.end - part.start == line.end - line.start
        return is_whole or len(known.split()) > 1 or sum(map(str.isdigit, known)) > 3

    def locate(self, spans: Iterable[Span]) -> Iterator[SourceSpan]:
        """Yield the stretches of the source that spans of the form, in order, stand for."""
        end_of_last = 0
        for span in spans:
            for line in self._find_lines(span):
                start, end = max(span.start, line.start), min(span.end, line.end)
                if line.cell.is_number:
                    start, end = line.start, line.end
                first, last = line.cell.value.locate(start - line.start, end - line.start)
                first = max(first, end_of_last)
                if first < last:
                    stretch = Span(first, last, span.entity)
                    yield SourceSpan(stretch, Span(start, end, span.entity), line.cell.quoting)
                    end_of_last = last

    def _find_lines(self, span: Span) -> Iterator[_Line]:
        """Yield the values that a span overlaps."""
        for index in range(bisect_right(self._ends, span.start), len(self.lines)):
            line = self.lines[index]
            if line.start >= span.end:
                return
            yield line


def _is_searched(cell: Cell, entity: str) -> bool:
    if cell.meaning in QUASI_IDENTIFIERS:
        return entity in (cell.meaning, *_SURE_ANYWHERE)
    return cell.meaning not in (KEEP, REFERENCE) or entity in _SURE_ANYWHERE


def write_form(source: str) -> Form | None:
    """Return a structured text as a form, or None if it has no format that is known here."""
    cells = read_cells(source)
    if cells is None:
        return None
    if cells.is_form:
        lines = [_Line(cell.value.starts[0], cell.value.ends[-1], cell) for cell in cells.items]
        return Form(source, tuple(lines), array("I", [line.end for line in lines]))
    pieces: list[str] = []
    written = 0
    lines = []
    for cell in cells.items:
        has_room = written < _MAX_GROWTH * len(source) + _SMALL
        label = f"{cell.cue}: " if cell.cue and has_room else ""
        start = written + len(label)
        end = start + len(cell.value.text)
        pieces.append(f"{label}{cell.value.text}\n")
        lines.append(_Line(start, end, cell))
        written = end + 1
    return Form("".join(pieces), tuple(lines), array("I", [line.end for line in lines]))
