"""Check the XML parts of an Excel file before openpyxl reads them, because a small part may unpack to a huge one.

Openpyxl fills all gaps between rows and cells and has no limits, so rows, cells and texts are checked here.
"""

import zipfile
import zlib
from typing import BinaryIO, cast
from xml.parsers import expat

from agent.datasets.readers.lines import MAX_LENGTH
from agent.datasets.readers.table import Problems

_CHUNK = 2**18  # bytes
_MAX_ELEMENTS = 2_000_000  # in a part that is not a sheet, such as the shared strings
_LAST_ROW = 1_048_576  # Excel's limit
_LAST_COLUMN = 16_384  # Excel's limit
_ELEMENTS_OF_CELL = 8  # maximum per cell; about three are usual
_DEEPEST = 50
_ROW = "http://schemas.openxmlformats.org/spreadsheetml/2006/main row"


class _RefusedError(Exception):
    """A part is refused. `where` is empty if the problem is after the last row that was read."""

    def __init__(self, problem: str, where: str = "") -> None:
        super().__init__(problem)
        self.where = where


def check_parts(archive: zipfile.ZipFile, problems: Problems) -> None:
    """Check all parts except the sheets.

    Raises:
        BenchmarkError: a part declares entities, is too large or is damaged.
    """
    for entry in archive.infolist():
        if entry.filename.endswith((".xml", ".rels")) and not entry.filename.startswith(
            "xl/worksheets/sheet"
        ):
            _check_part(archive, entry.filename, _Part(), problems)


def check_sheet(archive: zipfile.ZipFile, part: str, problems: Problems) -> int:
    """Check a sheet and return the last column that has a value. Merged cells are recorded as problems.

    In merged cells, all cells except the first are empty, and it is not known whether they are meant to be.

    Raises:
        BenchmarkError: the sheet declares entities, has too many cells in a row, rows out of order or a repeated
            cell, or is damaged.
    """
    sheet = _Sheet()
    _check_part(archive, part, sheet, problems)
    for cells in sheet.merged:
        problems.add(f"cells {cells}", "are merged; unmerge them and fill each")
    return sheet.last_column


def _check_part(archive: zipfile.ZipFile, name: str, part: "_Part", problems: Problems) -> None:
    try:
        with archive.open(name) as file:
            part.read(cast(BinaryIO, file))
    except _RefusedError as why:
        raise problems.stop(why.where or part.where, str(why)) from None
    except (
        expat.ExpatError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        LookupError,
        ValueError,
        RuntimeError,
    ):
        # A RuntimeError means that the part is encrypted or its compression is unknown.
        raise problems.stop(part.where, "the Excel file is damaged") from None


class _Part:
    """A part other than a sheet; counts its elements and measures its texts."""

    def __init__(self) -> None:
        self._elements = 0
        self._depth = 0
        self._length = 0  # length of the current text
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._measure_text
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    @property
    def where(self) -> str:
        """The location to report for a problem of this part."""
        return "the whole file"

    def read(self, file: BinaryIO) -> None:
        """Read the part to its end."""
        while data := file.read(_CHUNK):
            self._parser.Parse(data, False)
        self._parser.Parse(b"", True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - expat's signature
        self._deepen()
        self._length = 0
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            raise _RefusedError(
                f"contains an XML part with more than {_MAX_ELEMENTS} elements; save the table as CSV"
            )

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _RefusedError("contains elements that are nested too deeply for an Excel file")

    def _end(self, name: str) -> None:  # noqa: ARG002 - expat's signature
        self._depth -= 1

    def _measure_text(self, text: str) -> None:
        self._length += len(text)
        if self._length > MAX_LENGTH:
            raise _RefusedError(
                f"contains a text longer than {MAX_LENGTH} characters; save the table as CSV"
            )

    def _refuse_doctype(self, *_: object) -> None:
        raise _RefusedError("declares XML entities, which are not allowed in an Excel file")


class _Sheet(_Part):
    """A sheet; checks that openpyxl will put its rows and cells at the positions that they claim."""

    def __init__(self) -> None:
        super().__init__()
        from openpyxl.utils.cell import coordinate_to_tuple

        self._parse_coordinate = coordinate_to_tuple
        # The length of cells is checked when they are read.
        self._parser.CharacterDataHandler = None
        self.merged: list[str] = []
        self.last_column = 1
        self._row = 0
        self._column = 0
        self._finished_row = 0
        self._row_depth = 0  # depth of the current row element; 0 between rows
        self._columns: set[int] = set()

    @property
    def where(self) -> str:
        return f"after row {self._finished_row}"

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._deepen()
        if name == _ROW:
            self._begin_row(attributes)
        elif self._row_depth:
            self._begin_inside_row(attributes)
        elif name.endswith(" mergeCell"):
            self.merged.append(_shorten(attributes.get("ref", "")))

    def _begin_row(self, attributes: dict[str, str]) -> None:
        number = float(attributes.get("r", self._row + 1))  # some programs write row 3 as 3.0
        if not number.is_integer():
            raise ValueError
        if self._row_depth or not self._row < number <= _LAST_ROW:
            raise _RefusedError("the Excel file is damaged: its rows are not in order")
        self._row = int(number)
        self._row_depth = self._depth
        self._column = 0
        self._elements = 0
        self._columns.clear()

    def _begin_inside_row(self, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > _ELEMENTS_OF_CELL * _LAST_COLUMN:
            raise _RefusedError(f"a row has more than {_LAST_COLUMN} cells")
        if self._depth == self._row_depth + 1:
            self._begin_cell(attributes)
        else:  # a value, a text or a formula
            self.last_column = max(self.last_column, self._column)

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        coordinate = attributes.get("r")
        if coordinate:
            row, self._column = self._parse_coordinate(coordinate)
        else:  # without a coordinate, openpyxl puts the cell after the previous one
            row, self._column = self._row, self._column + 1
        if row != self._row:
            raise _RefusedError("the Excel file is damaged: its rows are not in order")
        if self._column in self._columns:
            raise _RefusedError(
                "the Excel file is damaged: a cell occurs twice", f"row {self._row}"
            )
        self._columns.add(self._column)

    def _end(self, name: str) -> None:
        if self._depth == self._row_depth:
            self._row_depth = 0
            self._finished_row = self._row
        super()._end(name)


def _shorten(reference: str) -> str:
    """Return a reference such as A1:B2, or "?" for other text, because messages must not quote the file."""
    is_reference = (
        len(reference) < 30 and reference.isascii() and reference.replace(":", "").isalnum()
    )
    return reference if is_reference else "?"
