"""The file that a clinician fills in: a row an item, a column a criterion. Written and read as CSV."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.datasets.readers.table import Problems
from agent.errors import BenchmarkError
from agent.io.atomic_files import open_plain
from agent.io.plain_text import spreadsheet_cell
from agent.metrics import Scale

ITEM, QUESTION, REFERENCE, ANSWER = "item", "question", "reference", "answer"
LONGEST_CELL = 32_767  # characters that common spreadsheets keep of one cell
_MOST_BYTES = 64 * 2**20
_GRADE = re.compile(r"[+-]?[0-9]{1,9}(?:[.,][0-9]{1,9})?")

Grades = dict[str, dict[str, float]]  # item -> criterion -> grade


def heading(criterion: str, scale: Scale) -> str:
    """Return the column's name: the criterion, and what a grade may be."""
    return f"{criterion} ({scale.low:g} to {scale.high:g})"


def sheet(rows: Sequence[Mapping[str, str]], criteria: Sequence[str], scale: Scale, *, with_reference: bool) -> bytes:
    """Return a file to be filled in. Before what a spreadsheet would run as a formula stands an apostrophe.

    Args:
        rows: by the names above, cleared for the reader.
        criteria: a column each, left blank.
        scale: of the grades.
        with_reference: whether there is a column of right answers.
    """
    texts = [ITEM, QUESTION, *([REFERENCE] if with_reference else []), ANSWER]
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([*texts, *(spreadsheet_cell(heading(criterion, scale)) for criterion in criteria)])
    for row in rows:
        writer.writerow([*(spreadsheet_cell(row[text]) for text in texts), *("" for _ in criteria)])
    return file.getvalue().encode("utf-8-sig", "replace")  # the mark tells spreadsheets that it is UTF-8


def read_sheet(path: Path, items: Sequence[str], criteria: Sequence[str], scale: Scale) -> Grades:
    """Read a filled-in file; blank cells and rows that are not there are missing grades.

    As spreadsheets save it: separated by commas, semicolons or tabs, decimals with a point or a comma, columns in any
    order. Only items and grades are read; texts, and columns that somebody added, are not.

    Raises:
        BenchmarkError: lists every wrong cell by its row (as a spreadsheet counts, the headings are row 1) and column;
            never what stands in it.
    """
    problems = Problems(path.name)
    rows = _rows(path, problems)
    item_column, columns = _columns(rows[0] if rows else [], criteria, scale, problems)
    known = set(items)
    found: Grades = {}
    first_rows: dict[str, int] = {}
    for number, row in enumerate(rows[1:], 2):
        item = row[item_column].strip() if item_column < len(row) else ""
        if not item:
            if any(cell.strip() for cell in row):
                problems.add(f"row {number}", "has no item code; did a long text break into several rows?")
            continue
        if item not in known:
            problems.add(f"row {number}", "its item code is not one of this sample")
            continue
        if first_rows.setdefault(item, number) != number:
            problems.add(f"row {number}", f"is the same item as row {first_rows[item]}")
            continue
        for criterion in criteria:
            cell = row[columns[criterion]].strip() if columns[criterion] < len(row) else ""
            if not cell:
                continue
            grade = float(cell.replace(",", ".")) if _GRADE.fullmatch(cell) else None
            if grade is None or not scale.low <= grade <= scale.high:
                expected = f"expected is a number from {scale.low:g} to {scale.high:g}, or nothing"
                problems.add(f"row {number}, column {criterion}", expected)
            else:
                found.setdefault(item, {})[criterion] = grade
    problems.check()
    if not found:
        raise problems.stop("the whole file", "holds no grades")
    return found


def _rows(path: Path, problems: Problems) -> list[list[str]]:
    try:
        with open_plain(path) as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as why:
        raise BenchmarkError(f"{path.name}: cannot be read ({why.strerror})") from None
    if len(content) > _MOST_BYTES:
        raise problems.stop("the whole file", f"is longer than {_MOST_BYTES // 2**20} MiB")
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise problems.stop("the whole file", "is a spreadsheet's own format; save it as CSV (UTF-8)")
    text = _decoded(content).replace("\r\n", "\n").replace("\r", "\n")
    header = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=header.count)
    csv.field_size_limit(_MOST_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error:
        raise problems.stop(f"row {len(rows) + 1}", "its quotes do not close as CSV has it") from None
    return rows


def _decoded(content: bytes) -> str:
    """Return the text; what a spreadsheet saved in an older code is read too, as codes and grades are ASCII."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _columns(
    header: Sequence[str], criteria: Sequence[str], scale: Scale, problems: Problems
) -> tuple[int, dict[str, int]]:
    """Return where the item stands, and each criterion: first by its full heading, for it may be called like a text."""
    folded = [_folded(cell) for cell in header]

    def place(*names: str) -> int:
        for name in names:
            places = [at for at, cell in enumerate(folded) if cell in (_folded(name), _folded(spreadsheet_cell(name)))]
            if len(places) == 1:
                return places[0]
            if places:
                problems.add("row 1", f"the column {names[0]} is there twice or more")
                return 0
        problems.add("row 1", f"the column {names[0]} is missing")
        return 0

    found = place(ITEM), {criterion: place(heading(criterion, scale), criterion) for criterion in criteria}
    problems.check()
    return found


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
