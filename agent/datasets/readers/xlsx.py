"""Read one sheet of an Excel file as a table of text. Formulas are reported as problems and never computed."""

import datetime
import zipfile
from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Any, BinaryIO

from agent.datasets.readers.files import Files
from agent.datasets.readers.parquet import format_typed_value
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.readers.xlsx_parts import check_parts, check_sheet

if TYPE_CHECKING:
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

# Maximum unpacked size. An .xlsx file is a ZIP archive, and a small one can unpack to terabytes.
_MAX_BYTES = 2**29

# The cells of one row from the first column on; None for a cell that is not in the file.
Cells = Sequence[Any]


def load_xlsx(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read one sheet of each file: the one named by the option `sheet`, or else the only visible one.

    Raises:
        BenchmarkError: a file is not an Excel file, the named sheet does not exist, or several sheets are visible.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.open_binary(name) as file, _open_archive(file, problems) as archive:
            check_parts(archive, problems)
            reader = _open_workbook(file, problems)
            try:
                sheet = _choose_sheet(reader.wb, files.options.get("sheet", ""), problems)
                last_column = check_sheet(archive, _find_part(reader, sheet.title), problems)
                yield _read_table(sheet, last_column, problems), problems
            finally:
                reader.archive.close()


def _open_archive(file: BinaryIO, problems: Problems) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise problems.stop("the whole file", "is not an Excel file (.xlsx)") from None
    if sum(entry.file_size for entry in archive.infolist()) > _MAX_BYTES:
        raise problems.stop(
            "the whole file", f"unpacks to more than {_MAX_BYTES} bytes; save the table as CSV"
        )
    return archive


def _open_workbook(file: BinaryIO, problems: Problems) -> "ExcelReader":
    from openpyxl.reader.excel import ExcelReader

    try:
        # With `data_only`, a formula would be read as the value stored by Excel, which may be out of date.
        reader = ExcelReader(file, read_only=True, data_only=False, keep_links=False)
        reader.read()
    except Exception:  # noqa: BLE001 - openpyxl raises errors of many types for a damaged archive
        raise problems.stop("the whole file", "is not an Excel file (.xlsx)") from None
    return reader


def _choose_sheet(book: "Workbook", wanted: str, problems: Problems) -> "Worksheet":
    if wanted:
        for sheet in book.worksheets:
            if sheet.title == wanted:
                return sheet
        raise problems.stop("the whole file", f"has no sheet {wanted!r} with a table")
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if len(visible) != 1:
        raise problems.stop(
            "the whole file",
            f"has {len(visible)} visible sheets; name one: dataset_file: {{path: ..., sheet: ...}}",
        )
    return visible[0]


def _find_part(reader: "ExcelReader", title: str) -> str:
    """Return the name in the archive of the XML part that contains the sheet."""
    parts = reader.parser.find_sheets()
    return next(str(part.target) for sheet, part in parts if sheet.name == title)


def _read_table(sheet: "Worksheet", last_column: int, problems: Problems) -> Table:
    rows = _walk_rows(sheet, last_column, problems)
    header = _read_header(rows, problems)
    return Table(header, _read_rows(rows, header, problems), has_header=True)


def _walk_rows(
    sheet: "Worksheet", last_column: int, problems: Problems
) -> Iterator[tuple[int, Cells]]:
    """Yield the number and cells of each row that is not empty."""
    from openpyxl.cell.read_only import EMPTY_CELL

    sheet.reset_dimensions()  # type: ignore[attr-defined]  # ignore the size that the file claims
    rows: Iterator[Cells] = sheet.iter_rows(max_col=last_column)
    for number in count(1):
        try:
            cells = next(rows, None)
        except Exception:  # noqa: BLE001 - openpyxl raises errors of many types for a damaged sheet
            raise problems.stop(f"after row {number - 1}", "the Excel file is damaged") from None
        if cells is None:
            return
        present = [None if cell is EMPTY_CELL else cell for cell in cells]
        if any(present):
            yield number, present


def _read_header(rows: Iterator[tuple[int, Cells]], problems: Problems) -> tuple[str, ...]:
    number, cells = next(rows, (0, ()))
    header = _read_texts(cells, problems) if number == 1 else []
    if not header:
        raise problems.stop("row 1", "expected a row with column names; the sheet is empty there")
    problems.add_repeated_columns("row 1", header)
    return tuple(header)


def _read_rows(
    rows: Iterator[tuple[int, Cells]], header: tuple[str, ...], problems: Problems
) -> Iterator[Row]:
    kept_number = 0
    for number, cells in rows:
        texts = _read_texts(cells, problems)
        if not texts:
            continue
        kept_number += 1
        where = f"row {number}"
        if len(texts) > len(header):
            problems.add(where, f"has more cells than the header, which has {len(header)}")
            continue
        # The header is row 1 of the sheet, so that the first row of data is row 2.
        yield Row(where, dict(zip_longest(header, texts, fillvalue="")), number - 1, kept_number)


def _read_texts(cells: Cells, problems: Problems) -> list[str]:
    """Return the texts of a row, up to the last one that is not blank."""
    texts = ["" if cell is None else _read_text(cell, problems) for cell in cells]
    while texts and not texts[-1].strip():
        texts.pop()
    return texts


def _read_text(cell: Any, problems: Problems) -> str:
    if cell.data_type == "f":
        problems.add(
            f"cell {cell.coordinate}", "is a formula; paste its value (formulas are never computed)"
        )
        return ""
    if cell.data_type == "e":
        problems.add(f"cell {cell.coordinate}", "is an Excel error (#N/A, #REF!, ...)")
        return ""
    match cell.value:
        case datetime.datetime() as day if day.time() == datetime.time.min:
            return day.date().isoformat()  # Excel stores a date as midnight of that day
        case float() as number:
            # The precision that Excel shows: 0.1 + 0.2 is stored as 0.30000000000000004.
            return format(number, ".15g")
    try:
        return format_typed_value(cell.value)
    except TypeError:
        problems.add(f"cell {cell.coordinate}", "is a duration; write it as text")
        return ""
