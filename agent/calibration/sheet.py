"""Write and read a clinician's file: CSV with one row per item and one column per criterion."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.datasets.readers.table import Problems
from agent.errors import BenchmarkError
from agent.io.atomic_files import open_plain
from agent.io.plain_text import format_cell
from agent.metrics import Scale

ITEM, QUESTION, REFERENCE, ANSWER = "item", "question", "reference", "answer"
MAX_CELL_LENGTH = 32_767  # characters: common spreadsheets cut or split a longer cell
_MAX_BYTES = 64 * 2**20
_GRADE = re.compile(r"[+-]?[0-9]{1,9}(?:[.,][0-9]{1,9})?")

Grades = dict[str, dict[str, float]]  # item -> criterion -> grade


def write_heading(criterion: str, scale: Scale) -> str:
    """Return the column's name: the criterion and the scale of its grades."""
    return f"{criterion} ({scale.low:g} to {scale.high:g})"


def write_sheet(
    rows: Sequence[Mapping[str, str]],
    criteria: Sequence[str],
    scale: Scale,
    *,
    with_reference: bool,
) -> bytes:
    """Return the content of a blank file. Texts that a spreadsheet would run as formulas start with an apostrophe.

    Args:
        rows: redacted (or revealed) texts by column name (ITEM, QUESTION, REFERENCE, ANSWER).
        criteria: names of the criteria; each gets a blank column.
        scale: scale of the grades.
        with_reference: whether there is a column for reference answers.
    """
    text_columns = [ITEM, QUESTION, ANSWER]
    if with_reference:
        text_columns.insert(2, REFERENCE)
    grade_columns = [format_cell(write_heading(criterion, scale)) for criterion in criteria]
    blank_grades = [""] * len(criteria)
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(text_columns + grade_columns)
    for row in rows:
        texts = [format_cell(row[column]) for column in text_columns]
        writer.writerow(texts + blank_grades)
    # The byte order mark tells spreadsheets that the file is UTF-8.
    return file.getvalue().encode("utf-8-sig", "replace")


@dataclass(frozen=True, slots=True)
class _SheetColumns:
    """The indexes of the columns that are read."""

    item: int
    criteria: dict[str, int]


class _GradeReader:
    """A reader that collects the grades and problems of a sheet row by row."""

    def __init__(
        self, items: Sequence[str], columns: _SheetColumns, scale: Scale, problems: Problems
    ) -> None:
        self.grades: Grades = {}
        self._items = set(items)
        self._columns = columns
        self._scale = scale
        self._problems = problems
        self._first_rows: dict[str, int] = {}

    def read_row(self, number: int, row: Sequence[str]) -> None:
        """Read the grades of one row; `number` is its row number in a spreadsheet."""
        item = _read_cell(row, self._columns.item)
        if not item:
            if any(cell.strip() for cell in row):
                self._problems.add(
                    f"row {number}",
                    "has no item code; a long text may have been split into several rows",
                )
            return
        if item not in self._items:
            self._problems.add(f"row {number}", "the item code does not belong to this sample")
            return
        first_row = self._first_rows.setdefault(item, number)
        if first_row != number:
            self._problems.add(f"row {number}", f"has the same item code as row {first_row}")
            return
        for criterion, column in self._columns.criteria.items():
            cell = _read_cell(row, column)
            if cell:
                self._read_grade(number, item, criterion, cell)

    def _read_grade(self, number: int, item: str, criterion: str, cell: str) -> None:
        grade = parse_grade(cell, self._scale)
        if grade is None:
            low, high = self._scale.low, self._scale.high
            expected = f"expected a number from {low:g} to {high:g}, or a blank cell"
            self._problems.add(f"row {number}, column {criterion}", expected)
        else:
            self.grades.setdefault(item, {})[criterion] = grade


def parse_grade(text: str, scale: Scale) -> float | None:
    """Return the grade, written with a decimal point or a decimal comma; None if it is not a number on the scale."""
    if not _GRADE.fullmatch(text):
        return None
    grade = float(text.replace(",", "."))
    return grade if scale.low <= grade <= scale.high else None


def read_sheet(path: Path, items: Sequence[str], criteria: Sequence[str], scale: Scale) -> Grades:
    """Return the grades in a completed file; blank cells and missing rows are missing grades.

    Every common variant of CSV is accepted: columns separated by commas, semicolons or tabs, decimal numbers with a
    point or a comma, and columns in any order. Only item codes and grades are read; texts and added columns are
    ignored.

    Raises:
        BenchmarkError: the file is invalid. The message lists invalid cells by column and row (as in a spreadsheet,
            headings are row 1) and never quotes them.
    """
    problems = Problems(path.name)
    rows = _read_rows(path, problems)
    columns = _find_columns(rows[0] if rows else [], criteria, scale, problems)
    reader = _GradeReader(items, columns, scale, problems)
    for number, row in enumerate(rows[1:], 2):
        reader.read_row(number, row)
    problems.check()
    if not reader.grades:
        raise problems.stop("the whole file", "contains no grades")
    return reader.grades


def _read_cell(row: Sequence[str], column: int) -> str:
    # Spreadsheets may omit trailing blank cells.
    return row[column].strip() if column < len(row) else ""


def _read_rows(path: Path, problems: Problems) -> list[list[str]]:
    try:
        with open_plain(path) as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BenchmarkError(f"{path.name}: cannot be read ({error.strerror})") from None
    if len(content) > _MAX_BYTES:
        raise problems.stop("the whole file", f"is longer than {_MAX_BYTES // 2**20} MiB")
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise problems.stop(
            "the whole file", "is not CSV but a spreadsheet file; save it as CSV (UTF-8)"
        )
    text = _decode(content).replace("\r\n", "\n").replace("\r", "\n")
    header = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=header.count)
    csv.field_size_limit(_MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error:
        raise problems.stop(f"row {len(rows) + 1}", "has invalid quoting; expected CSV") from None
    return rows


def _decode(content: bytes) -> str:
    """Return the text of a file in UTF-8, UTF-16 or an older encoding (in which codes and grades are ASCII, too)."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _find_columns(
    header: Sequence[str], criteria: Sequence[str], scale: Scale, problems: Problems
) -> _SheetColumns:
    item = _find_column(header, [ITEM], problems)
    criterion_columns: dict[str, int] = {}
    for criterion in criteria:
        # Search for the full heading first, because a criterion may have the same name as a text column.
        names = [write_heading(criterion, scale), criterion]
        criterion_columns[criterion] = _find_column(header, names, problems)
    problems.check()
    return _SheetColumns(item, criterion_columns)


def _find_column(header: Sequence[str], names: Sequence[str], problems: Problems) -> int:
    """Return the index of the column named by the first of the `names` in the header; 0 after recording a problem."""
    for name in names:
        spellings = (_fold(name), _fold(format_cell(name)))
        columns = [column for column, cell in enumerate(header) if _fold(cell) in spellings]
        if len(columns) == 1:
            return columns[0]
        if columns:
            problems.add("row 1", f"the column {names[0]} occurs more than once")
            return 0
    problems.add("row 1", f"the column {names[0]} is missing")
    return 0


def _fold(name: str) -> str:
    return " ".join(name.split()).casefold()
