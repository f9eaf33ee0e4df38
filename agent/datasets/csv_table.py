"""CSV files, read strictly: a row that does not fit its header is named, never padded or cut.

The standard library's reader is used because it keeps every cell the text it is: `1`, `NA`, `True` and `nan`
are answers in medical data, and a reader that guesses types turns them into numbers and gaps.
"""

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from agent.datasets.table import Problems, Row, Table

if TYPE_CHECKING:
    from _csv import Reader

_CELL_CHARACTERS = 16 * 2**20


def read_csv(file: TextIO, problems: Problems) -> Table:
    """Read comma-separated values with a header line; cells may be quoted and span lines.

    Raises:
        BenchmarkError: while the rows are walked, when a quote is not closed or wrongly placed.
    """
    # The reader's limit is 128 KiB a cell, less than a long record; it can only be set for the whole process.
    csv.field_size_limit(_CELL_CHARACTERS)
    reader = csv.reader(file, strict=True)
    header = _header(reader, problems)
    return Table(header, _rows(reader, header, problems), has_header=True)


def _header(reader: "Reader", problems: Problems) -> tuple[str, ...]:
    try:
        header = tuple(next(reader, ()))
    except csv.Error as why:
        raise problems.stop("the header line", _reason(why)) from None
    if not any(name.strip() for name in header):
        raise problems.stop("line 1", "expected a header line with column names; the file is empty there")
    problems.add_repeated_columns("the header line", header)
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        problems.add("the header line", "only one column; save the file with commas between the columns")
    return header


def _rows(reader: "Reader", header: tuple[str, ...], problems: Problems) -> Iterator[Row]:
    width = len(header)
    number = 0
    line = reader.line_num + 1
    while True:
        try:
            values = next(reader, None)
        except csv.Error as why:
            raise problems.stop(f"row {number + 1} (line {line})", _reason(why)) from None
        if values is None:
            return
        if values:  # a blank line is no row
            number += 1
            where = f"row {number} (line {line})"
            if len(values) == width:
                yield Row(where, dict(zip(header, values, strict=True)))
            else:
                problems.add(where, f"has {len(values)} fields, and the header has {width}")
        line = reader.line_num + 1


def _reason(why: csv.Error) -> str:
    text = str(why)
    if "unexpected end of data" in text:
        return "a quote is opened and never closed"
    if "expected after" in text:
        return "a closing quote is followed by text; quotes inside a cell are written twice"
    if "field larger" in text:
        return f"a cell is longer than {_CELL_CHARACTERS} characters; is a quote missing?"
    return "is not comma-separated text"
