"""Excel files: one sheet as a table of text. Formulas are refused by their cell, never computed."""

import datetime
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from agent.datasets.files import Files
from agent.datasets.parquet import cell_text
from agent.datasets.table import Problems, Row, Table
from agent.datasets.xlsx_parts import check_parts, check_sheet

_MOST_BYTES = 2**29  # of the unpacked file: it is a ZIP archive, and a small one can stand for terabytes
_LAST_ROW = 1_048_576  # of Excel


def load_xlsx(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the sheet that the option `sheet` names, or the only visible one, of each file.

    Raises:
        BenchmarkError: not an Excel file, or nobody says which sheet.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.binary(name) as file, _archive(file, problems) as archive:
            check_parts(archive, problems)
            book = _opened(file, problems)
            try:
                sheet = _sheet(book, files.options.get("sheet", ""), problems)
                check_sheet(archive, sheet._worksheet_path, problems)
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
    rows = _parsed(sheet, problems)
    header = _header(rows, problems)
    return Table(header, _rows(rows, header, problems), has_header=True)


def _parsed(sheet: Any, problems: Problems) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows that are there, each with its number and the cells that are there.

    Openpyxl's own walk fills every gap: a few bytes that name row 2,000,000,000 make it work for hours.
    """
    from openpyxl.cell.read_only import ReadOnlyCell

    last = 0
    with sheet._get_source() as source:
        rows = _parser(sheet, source).parse()
        while True:
            try:
                number, found = next(rows, (0, ()))
                cells = [ReadOnlyCell(sheet, **cell) for cell in found]
            except Exception:  # noqa: BLE001 - whatever the parser says of a damaged sheet
                raise problems.stop(f"after row {last}", "the Excel file is damaged") from None
            if not number:
                return
            if not last < number <= _LAST_ROW or any(cell.row != number for cell in cells):
                raise problems.stop(f"after row {last}", "the Excel file is damaged: its rows are not in order")
            if len({cell.column for cell in cells}) != len(cells):
                raise problems.stop(f"row {number}", "the Excel file is damaged: a cell is there twice")
            last = number
            yield number, cells


def _parser(sheet: Any, source: BinaryIO) -> Any:
    from openpyxl.worksheet._reader import WorkSheetParser

    book = sheet.parent
    return WorkSheetParser(
        source,
        sheet._shared_strings,
        data_only=False,
        epoch=book.epoch,
        date_formats=book._date_formats,
        timedelta_formats=book._timedelta_formats,
    )


def _header(rows: Iterator[tuple[int, list[Any]]], problems: Problems) -> tuple[str, ...]:
    number, cells = next(rows, (0, []))
    texts = {cell.column: _text(cell, problems) for cell in cells} if number == 1 else {}
    width = max((column for column, text in texts.items() if text.strip()), default=0)
    if not width:
        raise problems.stop("row 1", "expected a row with column names; the sheet is empty there")
    header = tuple(texts.get(column, "") for column in range(1, width + 1))
    problems.add_repeated_columns("row 1", header)
    return header


def _rows(rows: Iterator[tuple[int, list[Any]]], header: tuple[str, ...], problems: Problems) -> Iterator[Row]:
    width = len(header)
    for number, cells in rows:
        texts = {cell.column: _text(cell, problems) for cell in cells}
        last = max((column for column, text in texts.items() if text.strip()), default=0)
        if not last:
            continue
        where = f"row {number}"
        if last > width:
            problems.add(where, f"has more cells than the header's {width}")
            continue
        yield Row(where, {name: texts.get(column, "") for column, name in enumerate(header, 1)})


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
    try:
        return cell_text(cell.value)
    except TypeError:
        problems.add(f"cell {cell.coordinate}", "is a length of time; make it a text")
        return ""
