"""Excel files: one sheet as a table of text. Formulas are refused by their cell, never computed."""

import datetime
import re
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from agent.datasets.files import Files
from agent.datasets.parquet import cell_text
from agent.datasets.table import Problems, Row, Table

_MOST_BYTES = 2**29  # of the unpacked file: it is a ZIP archive, and a small one can stand for terabytes
_CHUNK = 2**20  # bytes
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^<>]{0,200}?ref="([A-Z0-9:]{1,30})"')


def load_xlsx(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the sheet that the option `sheet` names, or the only visible one, of each file.

    Raises:
        BenchmarkError: not an Excel file, or nobody says which sheet.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.binary(name) as file, _archive(file, problems) as archive:
            book = _opened(file, problems)
            try:
                sheet = _sheet(book, files.options.get("sheet", ""), problems)
                _refuse_merged_cells(archive, sheet, problems)
                yield _table(sheet, problems), problems
            finally:
                book.close()


def _archive(file: BinaryIO, problems: Problems) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise problems.stop("the whole file", "is not an Excel file (.xlsx)") from None
    if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
        raise problems.stop("the whole file", f"unpacks to more than {_MOST_BYTES} bytes; save the table as CSV")
    return archive


def _refuse_merged_cells(archive: zipfile.ZipFile, sheet: Any, problems: Problems) -> None:
    """Note merged cells: all but the first of them are empty, and nobody can tell whether they are meant to be."""
    before = b""
    with archive.open(sheet._worksheet_path) as file:
        while chunk := file.read(_CHUNK):
            # A tag that the chunks' border cuts is found whole in the next round.
            for match in _MERGED.finditer(before + chunk):
                problems.add(f"cells {match[1].decode()}", "are merged; unmerge them and fill each")
            text = before + chunk
            open_tag = text.rfind(b"<")
            before = text[open_tag:] if b">" not in text[open_tag:] and len(text) - open_tag < _CHUNK else b""


def _opened(file: BinaryIO, problems: Problems) -> Any:
    import openpyxl

    try:
        # Formulas are asked for, not the values Excel once computed: nobody can tell whether those are still right.
        return openpyxl.load_workbook(file, read_only=True, data_only=False, keep_links=False)
    except Exception:  # noqa: BLE001 - whatever the parser says of a damaged archive
        raise problems.stop("the whole file", "is not an Excel file (.xlsx)") from None


def _sheet(book: Any, wanted: str, problems: Problems) -> Any:
    if wanted:
        if wanted in book.sheetnames and hasattr(book[wanted], "iter_rows"):
            return book[wanted]
        raise problems.stop("the whole file", f"has no sheet {wanted!r} with a table")
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if len(visible) != 1:
        raise problems.stop(
            "the whole file", f"has {len(visible)} visible sheets; name one: dataset_file: {{path: ..., sheet: ...}}"
        )
    return visible[0]


def _table(sheet: Any, problems: Problems) -> Table:
    sheet.reset_dimensions()  # what the file says of its own size is often wrong
    rows = _parsed(sheet.iter_rows(), problems)
    header = _header(rows, problems)
    return Table(header, _rows(rows, header, problems), has_header=True)


def _parsed(rows: Iterator[Any], problems: Problems) -> Iterator[Any]:
    number = 0
    while True:
        try:
            cells = next(rows, None)
        except Exception:  # noqa: BLE001 - whatever the parser says of a damaged sheet
            raise problems.stop(f"after row {number}", "the Excel file is damaged") from None
        if cells is None:
            return
        number += 1
        yield cells


def _header(rows: Iterator[Any], problems: Problems) -> tuple[str, ...]:
    header = tuple(_text(cell, problems) for cell in next(rows, ()))
    while header and not header[-1].strip():
        header = header[:-1]
    if not header:
        raise problems.stop("row 1", "expected a row with column names; the sheet is empty there")
    problems.add_repeated_columns("row 1", header)
    return header


def _rows(rows: Iterator[Any], header: tuple[str, ...], problems: Problems) -> Iterator[Row]:
    width = len(header)
    for number, cells in enumerate(rows, 2):
        values = [_text(cell, problems) for cell in cells]
        if not any(value.strip() for value in values):
            continue
        where = f"row {number}"
        if any(value.strip() for value in values[width:]):
            problems.add(where, f"has more cells than the header's {width}")
            continue
        values += [""] * (width - len(values))
        yield Row(where, dict(zip(header, values, strict=False)))


def _text(cell: Any, problems: Problems) -> str:
    if cell.data_type == "f":
        problems.add(f"cell {cell.coordinate}", "is a formula; paste its value (formulas are never computed)")
        return ""
    if cell.data_type == "e":
        problems.add(f"cell {cell.coordinate}", "is an error of Excel's (#N/A, #REF!, ...)")
        return ""
    match cell.value:
        case datetime.datetime() as day if day.time() == datetime.time.min:
            return day.date().isoformat()  # a date has midnight for its time
        case float() as number:
            return format(number, ".15g")  # as many digits as Excel shows: 0.3 is stored as 0.30000000000000004
        case value:
            return cell_text(value)
