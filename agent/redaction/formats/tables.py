"""Cells of delimited files and of Markdown tables, whose column heads are the cues."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from agent.redaction.formats.cells import (
    FREE,
    Cell,
    DecodedText,
    Quoting,
    chain_quoting,
    split_lines,
    trim,
)
from agent.redaction.formats.labels import (
    find_meaning,
    is_known_label,
    is_telling_key,
    read_cue,
)

Row = list[DecodedText]

_SEPARATORS = ("\t", ";", ",", "|")
_DOUBLED_QUOTE = re.compile(r'""')
_BREAK = re.compile(r"(?i)<br ?/?>|&nbsp;|\\\|")
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?)?\s*")
_SAMPLE = 4_000  # characters from which a table without known heads is recognised
_LEAST_ROWS = 3
_LEAST_SEPARATORS = 2  # in each row
_MAX_COLUMNS = 2_000
_LONGEST_HEAD = 60  # characters
_GENERIC_HEADS = frozenset(
    {"field", "value", "item", "key", "label", "data", "", "campo", "valor", "feld", "wert"}
)
_MARKS = " \t\r*`_"  # emphasis of Markdown


def find_separator(text: str) -> str | None:
    """Return the separator of a delimited file, or None if `text` is none.

    Only the first line is looked at, unless it looks like the head of a table.
    """
    end = text.find("\n")
    head = text[: end if end >= 0 else len(text)].rstrip("\r")
    if end < 0 or len(head) > 10_000:
        return None
    for separator in _SEPARATORS:
        labels = [label.strip(" \"'\r") for label in head.split(separator)]
        if len(labels) < 2 or any(len(label) > _LONGEST_HEAD for label in labels):
            continue
        known = sum(map(is_known_label, labels))
        if known >= 2 and 3 * known >= len(labels) and not head.lstrip().startswith("|"):
            return separator
    return None


def find_plain_separator(text: str) -> str | None:
    """Return the separator of rows without known heads, or None: at least three lines with as many separators each."""
    lines = text[:_SAMPLE].split("\n")
    if len(text) > _SAMPLE:
        lines.pop()
    lines = [line for line in lines if line.strip()]
    if len(lines) < _LEAST_ROWS:
        return None
    for separator in "\t;,|":
        count = lines[0].count(separator)
        is_even = all(line.count(separator) == count for line in lines[1:])
        if count >= _LEAST_SEPARATORS and is_even and f"{separator} " not in lines[0]:
            return separator
    return None


def read_plain_rows(rows: Sequence[Row], separator: str, quoting: Quoting) -> Iterator[Cell]:
    """Yield the cells of rows without known heads."""
    bare = chain_quoting(lambda replacement: _write_bare(replacement, separator), quoting)
    for row in rows:
        for written in row:
            content = trim(written, ' \t\r"')
            if content.text:
                yield Cell(content, "", FREE, bare)


def read_rows(text: DecodedText, separator: str) -> list[Row] | None:
    """Return the rows of a delimited file, each cell with its quotes, or None if its rows differ in length."""
    rows: list[Row] = []
    row: Row = []
    source = text.text
    start = 0
    length = len(source)
    while start <= length:
        end = _find_end_of_cell(source, start, separator)
        if end < 0:
            return None
        row.append(text.cut(start, end))
        if end >= length or source[end] == "\n":
            rows.append(row)
            row = []
        start = end + 1
    rows = [row for row in rows if len(row) > 1 or row[0].text.strip()]
    widths = Counter(len(row) for row in rows)
    width = len(rows[0]) if rows else 0
    is_table = 2 <= width <= _MAX_COLUMNS and len(rows) > 1 and widths[width] == len(rows)
    return rows if is_table else None


def _find_end_of_cell(source: str, start: int, separator: str) -> int:
    """Return the end of the cell that begins at `start`, or -1 if its quotes are not closed."""
    position = start
    if source.startswith('"', start):
        position = start + 1
        while True:
            position = source.find('"', position)
            if position < 0:
                return -1
            if source.startswith('""', position):
                position += 2
                continue
            position += 1
            break
    end = position
    while end < len(source) and source[end] not in (separator, "\n"):
        end += 1
    return end


def read_delimited(rows: Sequence[Row], separator: str, quoting: Quoting) -> Iterator[Cell]:
    """Yield the cells below the head of a delimited file."""
    heads = [head.text.strip(' \t\r"\ufeff') for head in rows[0]]
    owner = dict.fromkeys(heads, "")
    quoted = chain_quoting(_double_quotes, quoting)
    bare = chain_quoting(lambda replacement: _write_bare(replacement, separator), quoting)
    for written in rows[0]:
        content = trim(written, ' \t\r"\ufeff')
        if is_telling_key(content.text):
            yield Cell(content, "", "", bare)
    for row in rows[1:]:
        for head, written in zip(heads, row, strict=True):
            content = trim(written)
            is_quoted = len(content.text) > 1 and content.text[0] == content.text[-1] == '"'
            if is_quoted:
                inner = content.cut(1, len(content.text) - 1)
                content = trim(inner.decode(_DOUBLED_QUOTE, lambda _: '"'))
            if content.text:
                meaning = find_meaning((head,), (owner,), content.text)
                yield Cell(content, read_cue((head,)), meaning, quoted if is_quoted else bare)


def _double_quotes(replacement: str) -> str:
    return replacement.replace('"', '""')


def _write_bare(replacement: str, separator: str) -> str:
    return replacement.translate(dict.fromkeys(map(ord, f'{separator}"\r\n'), " "))


def has_markdown_table(text: str) -> bool:
    """Return whether `text` contains a Markdown table: a line of dashes below a line with bars."""
    at = text.find("|")
    while at >= 0:
        end = text.find("\n", at)
        if end < 0:
            return False
        following = text.find("\n", end + 1)
        rule = text[end + 1 : following if following >= 0 else len(text)]
        if "-" in rule and "|" in rule and _RULE.fullmatch(rule.strip()):
            return True
        at = text.find("|", end)
    return False


def read_markdown(text: DecodedText, quoting: Quoting) -> Iterator[Cell]:
    """Yield the cells of the tables in a Markdown text, and the text between them."""
    lines = list(split_lines(text))
    index = 0
    start_of_prose = 0
    position = 0
    starts = []
    for line in lines:
        starts.append(position)
        position += len(line.text) + 1
    while index < len(lines):
        is_head = "|" in lines[index].text and index + 1 < len(lines)
        if not (is_head and _RULE.fullmatch(lines[index + 1].text.strip())):
            index += 1
            continue
        yield from _read_prose(text.cut(start_of_prose, starts[index]), quoting)
        end = index + 2
        while end < len(lines) and "|" in lines[end].text:
            end += 1
        yield from _read_table([lines[index], *lines[index + 2 : end]], quoting)
        start_of_prose = starts[end] if end < len(lines) else len(text.text)
        index = end
    yield from _read_prose(text.cut(start_of_prose, len(text.text)), quoting)


def _read_prose(text: DecodedText, quoting: Quoting) -> Iterator[Cell]:
    prose = trim(text)
    if prose.text:
        yield Cell(prose, "", "", quoting)


def _read_table(lines: Sequence[DecodedText], quoting: Quoting) -> Iterator[Cell]:
    quote = chain_quoting(lambda replacement: _write_bare(replacement, "|"), quoting)
    rows = [_split_bars(line) for line in lines]
    heads = [cell.text.strip(_MARKS) for cell in rows[0]]
    labels_rows = len(heads) == 2 and (
        {head.lower() for head in heads} <= _GENERIC_HEADS or not any(map(is_known_label, heads))
    )
    labels = [row[0].text.strip(_MARKS) for row in rows if row] if labels_rows else heads
    owner = dict.fromkeys(labels, "")
    yield from _read_heads(rows[0], labels_rows, quote)
    for row in rows[1:]:
        for column, written in enumerate(row):
            content = trim(written, _MARKS).decode(_BREAK, _read_break)
            if not content.text:
                continue
            if labels_rows and column == 0:
                if is_telling_key(content.text):
                    yield Cell(content, "", "", quote)
                continue
            label = row[0].text.strip(_MARKS) if labels_rows else ""
            head = heads[column] if column < len(heads) else ""
            path = (label or head,)
            meaning = find_meaning(path, (owner,), content.text)
            yield Cell(content, read_cue(path), meaning, quote)


def _read_heads(row: Row, labels_rows: bool, quote: Quoting) -> Iterator[Cell]:
    """Yield the cells of the first row that are no labels: some tables begin with a value."""
    label = row[0].text.strip(_MARKS) if labels_rows and row else ""
    for column, written in enumerate(row):
        content = trim(written, _MARKS).decode(_BREAK, _read_break)
        text = content.text
        if not text or text.lower() in _GENERIC_HEADS or is_known_label(text):
            continue
        path = (label,) if column and label else ()
        yield Cell(content, read_cue(path), find_meaning(path, (), text), quote)


def _read_break(written: str) -> str:
    if written == "\\|":
        return "|"
    return " " if written.startswith("&") else "\n"


def _split_bars(line: DecodedText) -> Row:
    cells: Row = []
    start = 0
    for match in re.finditer(r"(?<!\\)\|", line.text):
        cells.append(line.cut(start, match.start()))
        start = match.end()
    cells.append(line.cut(start, len(line.text)))
    if cells and not cells[0].text.strip():
        cells.pop(0)
    if cells and not cells[-1].text.strip():
        cells.pop()
    return cells
