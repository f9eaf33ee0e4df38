"""Excel files: one sheet as a table of text. Formulas are refused by their cell, never computed."""

import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from agent.datasets.files import Files
from agent.datasets.parquet import cell_text
from agent.datasets.table import Problems, Row, Table

_MOST_BYTES = 2**31  # of the unpacked file: it is a ZIP archive, and a small one can stand for terabytes
_LONGEST = 32_767  # characters of a cell in Excel


def load_xlsx(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the sheet that `options.sheet` names, or the only visible one, of each file.

    Raises:
        BenchmarkError: not an Excel file, or nobody says which sheet.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.binary(name) as file:
            _refuse_bomb(file, problems)
            book = _opened(file, problems)
            try:
                yield _table(_sheet(book, files.options.get("sheet", ""), problems), problems), problems
            finally:
                book.close()


def _refuse_bomb(file: BinaryIO, problems: Problems) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):
        raise problems.stop("the whole file", "is not an Excel file (.xlsx)") from None
    if size > _MOST_BYTES:
        raise problems.stop("the whole file", "unpacks to more than 2 GiB; save the table as CSV")
    file.seek(0)


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
    rows = sheet.iter_rows()
    header = _header(rows, problems)
    return Table(header, _rows(rows, header, problems), has_header=True)


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
    value = cell.value
    if isinstance(value, float) and value.is_integer() and cell.number_format == "General":
        value = int(value)
    return cell_text(value)
