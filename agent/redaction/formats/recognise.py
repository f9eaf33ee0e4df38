"""Recognise the format of a text, and list its cells.

The first characters and the first lines decide whether a text may have a format at all, so that prose costs next to
nothing.
"""

from collections.abc import Iterator

from agent.redaction.formats.cells import (
    FREE,
    KEEP,
    Cell,
    Cells,
    DecodedText,
    Quoting,
    trim,
    write_plainly,
)
from agent.redaction.formats.hl7 import is_hl7, read_hl7
from agent.redaction.formats.json_cells import are_json_lines, find_json, is_json, read_json
from agent.redaction.formats.key_values import are_key_values, read_key_values
from agent.redaction.formats.markup import is_markup, read_markup
from agent.redaction.formats.queries import read_queries
from agent.redaction.formats.tables import (
    find_plain_separator,
    find_separator,
    has_markdown_table,
    read_delimited,
    read_markdown,
    read_plain_rows,
    read_rows,
)

_NESTED = 3  # levels of formats within values of formats
_SHORTEST = 8  # characters


def read_cells(source: str) -> Cells | None:
    """Return the cells of a structured text in order, or None if the text has no format that is known here."""
    text = DecodedText.whole(source)
    cells = _read_format(text, write_plainly)
    if cells is not None:
        return Cells(tuple(_read_nested(cells, _NESTED)))
    separator = find_plain_separator(source)
    rows = None if separator is None else read_rows(text, separator)
    if separator is not None and rows is not None:
        return Cells(tuple(read_plain_rows(rows, separator, write_plainly)), is_form=True)
    if are_key_values(source):
        return Cells(tuple(read_key_values(text, write_plainly)), is_form=True)
    queries = read_queries(text, write_plainly)
    if queries is not None:
        return Cells(tuple(queries), is_form=True)
    return None


def _read_format(text: DecodedText, quoting: Quoting) -> Iterator[Cell] | None:
    source = text.text
    beginning = source[:200].lstrip("\ufeff \t\r\n")[:1]
    if len(source) < _SHORTEST:
        return None
    if beginning in ("{", "["):
        if is_json(source) or are_json_lines(source):
            return read_json(text, quoting)
        return _read_table(text, quoting)
    if beginning == "<":
        return read_markup(text, quoting) if is_markup(source) else None
    if beginning in ("M", "F", "B") and is_hl7(source):
        return read_hl7(text, quoting)
    return _read_table(text, quoting)


def _read_table(text: DecodedText, quoting: Quoting) -> Iterator[Cell] | None:
    separator = find_separator(text.text)
    if separator is not None:
        rows = read_rows(text, separator)
        if rows is not None:
            return read_delimited(rows, separator, quoting)
    if has_markdown_table(text.text):
        return read_markdown(text, quoting)
    stretches = find_json(text.text)
    return _read_between_json(text, stretches, quoting) if stretches else None


def _read_between_json(
    text: DecodedText, stretches: list[tuple[int, int]], quoting: Quoting
) -> Iterator[Cell]:
    """Yield the cells of JSON that stands within prose, and the prose around it."""
    end_of_last = 0
    for start, end in [*stretches, (len(text.text), len(text.text))]:
        prose = trim(text.cut(end_of_last, start))
        if prose.text:
            yield Cell(prose, "", FREE, quoting)
        yield from read_json(text.cut(start, end), quoting)
        end_of_last = end


def _read_nested(cells: Iterator[Cell], levels: int) -> Iterator[Cell]:
    """Yield the cells, and in place of a value that has a format itself the cells of that value."""
    for cell in cells:
        nested = None
        if levels and cell.meaning in (FREE, KEEP) and not cell.is_number:
            nested = _read_format(cell.value, cell.quoting)
        if nested is None:
            yield cell
        else:
            yield from _read_nested(nested, levels - 1)
