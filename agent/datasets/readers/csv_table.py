"""Read CSV and TSV files strictly: a row that does not fit the header is a problem, and is never padded or cut.

The standard library's reader is used because it keeps every cell as text. In medical data, `1`, `NA`, `True` and
`nan` can be answers, which a reader that guesses types would turn into numbers and missing values.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from agent.datasets.readers.lines import MAX_LENGTH, LongLineError, read_lines
from agent.datasets.readers.table import Problems, Row, Table

if TYPE_CHECKING:
    from _csv import Reader


@dataclass(frozen=True, slots=True)
class _Dialect:
    kind: str
    delimiter: str
    # If the only column has one of these characters in its name, the file probably uses that character as its
    # delimiter.
    other_delimiters: str


_CSV = _Dialect("comma-separated", ",", ";\t|")
_TSV = _Dialect("tab-separated", "\t", ";,|")


def read_csv(file: TextIO, problems: Problems) -> Table:
    """Read comma-separated values with a header line; cells may be quoted and span several lines.

    Raises:
        BenchmarkError: a quote is misplaced or not closed, or a line is too long. Raised while rows are iterated.
    """
    return _read_table(file, problems, _CSV)


def read_tsv(file: TextIO, problems: Problems) -> Table:
    """Read tab-separated values, with the same rules as `read_csv`.

    Raises:
        BenchmarkError: see `read_csv`.
    """
    return _read_table(file, problems, _TSV)


def _read_table(file: TextIO, problems: Problems, dialect: _Dialect) -> Table:
    # The default limit of 128 KiB per cell is too low for long records. It can only be set for the whole process.
    csv.field_size_limit(MAX_LENGTH)
    reader = csv.reader(read_lines(file), strict=True, delimiter=dialect.delimiter)
    header = _read_header(reader, problems, dialect)
    return Table(header, _read_rows(reader, header, problems, dialect), has_header=True)


def _read_header(reader: "Reader", problems: Problems, dialect: _Dialect) -> tuple[str, ...]:
    try:
        header = tuple(next(reader, ()))
    except (csv.Error, LongLineError) as why:
        raise problems.stop("the header line", _describe_error(why, dialect)) from None
    if not any(name.strip() for name in header):
        raise problems.stop(
            "line 1", "expected a header line with column names, but this line is empty"
        )
    problems.add_repeated_columns("the header line", header)
    if len(header) == 1 and any(mark in header[0] for mark in dialect.other_delimiters):
        between = "tabs" if dialect.delimiter == "\t" else "commas"
        problems.add(
            "the header line", f"has only one column; save the file with {between} between columns"
        )
    return header


def _read_rows(
    reader: "Reader", header: tuple[str, ...], problems: Problems, dialect: _Dialect
) -> Iterator[Row]:
    width = len(header)
    number = kept_number = 0
    line = reader.line_num + 1
    while True:
        try:
            values = next(reader, None)
        except (csv.Error, LongLineError) as why:
            raise problems.stop(
                f"row {number + 1} (line {line})", _describe_error(why, dialect)
            ) from None
        if values is None:
            return
        # A blank line counts as a row, as it does in a spreadsheet.
        number += 1
        is_blank_line = not values
        if not is_blank_line:
            kept_number += 1
            where = f"row {number} (line {line})"
            if len(values) == width:
                yield Row(where, dict(zip(header, values, strict=True)), number, kept_number)
            else:
                fields = "1 field" if len(values) == 1 else f"{len(values)} fields"
                problems.add(where, f"has {fields}, but the header has {width}")
        line = reader.line_num + 1  # a cell may span several lines


def _describe_error(why: csv.Error | LongLineError, dialect: _Dialect) -> str:
    if isinstance(why, LongLineError):
        return f"is longer than {MAX_LENGTH} characters"
    text = str(why)
    if "unexpected end of data" in text:
        return "a quote is opened but never closed"
    if "expected after" in text:
        return "a closing quote is followed by text; quotes inside a cell are written twice"
    if "field larger" in text:
        return f"a cell is longer than {MAX_LENGTH} characters; is a quote missing?"
    return f"is not {dialect.kind} text"
