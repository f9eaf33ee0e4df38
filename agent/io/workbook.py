"""Write a table to an XLSX workbook, row by row. No text of it can become a formula."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from agent.errors import ConfigError

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

MAX_ROWS = 1_048_575  # of a sheet, without the row of headings
MAX_CELL = 32_767  # UTF-16 units of a text
_CUT = " … [cut off: longer than a cell of a workbook can be]"
# XML cannot contain them, and openpyxl refuses them.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

AddRow = Callable[[Sequence[Any]], None]


def check_rows(count: int) -> None:
    """Check that a sheet can hold so many rows.

    Raises:
        ConfigError: there are too many.
    """
    if count > MAX_ROWS:
        raise ConfigError(
            f"a workbook holds at most {MAX_ROWS:,} rows, and there are {count:,}",
            "Use --format parquet, csv or jsonl.",
        )


@contextmanager
def open_workbook(
    file: IO[bytes], draft: Path, title: str, headings: Sequence[str]
) -> Iterator[AddRow]:
    """Yield a function that adds a row to a new workbook, which is written to `file` at the end.

    Args:
        file: the open file.
        draft: a name in the file's folder for the sheet while it grows, which is deleted at the end. Without it,
            openpyxl would keep the texts in the system's folder of temporary files.
        title: the sheet's name.
        headings: the names of the columns.
    """
    from openpyxl import Workbook
    from openpyxl.worksheet._writer import ALL_TEMP_FILES, WorksheetWriter

    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet(title)
    sheet.freeze_panes = "A2"
    draft.touch(mode=0o600, exist_ok=False)
    ALL_TEMP_FILES.append(str(draft))  # openpyxl takes it off when it has deleted the file
    try:
        writer = WorksheetWriter(sheet, out=str(draft))
        writer.write_top()
        sheet._writer = writer
        sheet.append([_build_cell(sheet, heading) for heading in headings])

        def add(values: Sequence[Any]) -> None:
            sheet.append([_build_cell(sheet, value) for value in values])

        yield add
        workbook.save(file)
    finally:
        if draft.exists():
            draft.unlink()
            ALL_TEMP_FILES.remove(str(draft))


def _build_cell(sheet: "WriteOnlyWorksheet", value: Any) -> "Cell | None":
    """Return the cell of a value. A text is a text, however it begins."""
    from openpyxl.cell import WriteOnlyCell

    if value is None:
        return None
    if isinstance(value, datetime):  # a workbook has no time zones
        value = value.isoformat()
    if not isinstance(value, str):
        return WriteOnlyCell(sheet, value)
    cell = WriteOnlyCell(sheet, _fit_text(value))
    cell.data_type = "s"
    cell.quotePrefix = True  # it stays a text when a person edits the cell
    return cell


def _fit_text(text: str) -> str:
    """Return a text without forbidden characters, and cut off, visibly, if it is longer than a cell can be."""
    allowed = _FORBIDDEN.sub("\ufffd", text)
    units = allowed.encode("utf-16-le")
    if len(units) <= 2 * MAX_CELL:
        return allowed
    return units[: 2 * (MAX_CELL - len(_CUT))].decode("utf-16-le", "ignore") + _CUT
