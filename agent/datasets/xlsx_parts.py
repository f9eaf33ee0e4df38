"""The XML parts of an Excel file, looked through before a library reads them: small may unpack to large."""

import zipfile
import zlib
from typing import BinaryIO, cast
from xml.parsers import expat

from agent.datasets.lines import LONGEST
from agent.datasets.table import Problems

_CHUNK = 2**18  # bytes
_MOST_ELEMENTS = 2_000_000  # of a part that is no sheet, such as the texts of all cells
_MOST_CELLS = 16_384  # of a row, as Excel has them
_DEPTH = 50


class _RefusedError(Exception):
    """A part is refused; says why in words for a person."""


def check_parts(archive: zipfile.ZipFile, problems: Problems) -> None:
    """Look through all parts but the sheets.

    Raises:
        BenchmarkError: one declares entities, is too large or is damaged.
    """
    for entry in archive.infolist():
        if entry.filename.endswith((".xml", ".rels")) and not entry.filename.startswith("xl/worksheets/sheet"):
            _look_through(archive, entry.filename, problems, _MOST_ELEMENTS)


def check_sheet(archive: zipfile.ZipFile, part: str, problems: Problems) -> None:
    """Look through a sheet, and note merged cells.

    All but the first of merged cells are empty, and nobody can tell whether they are meant to be.

    Raises:
        BenchmarkError: it declares entities, has a row of more cells than Excel's or is damaged.
    """
    for cells in _look_through(archive, part, problems, None):
        problems.add(f"cells {cells}", "are merged; unmerge them and fill each")


def _look_through(archive: zipfile.ZipFile, part: str, problems: Problems, most: int | None) -> list[str]:
    looker = _Looker(most)
    try:
        with archive.open(part) as file:
            looker.read(cast(BinaryIO, file))
    except _RefusedError as why:
        raise problems.stop(looker.where, str(why)) from None
    except (expat.ExpatError, zipfile.BadZipFile, zlib.error, EOFError, OSError, LookupError, ValueError, RuntimeError):
        # RuntimeError: encrypted, or of an unknown compression.
        raise problems.stop(looker.where, "the Excel file is damaged") from None
    return looker.merged


class _Looker:
    def __init__(self, most: int | None) -> None:
        self.merged: list[str] = []
        self._most = most
        self._count = self._depth = self._rows = self._length = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        if most is not None:
            self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    @property
    def where(self) -> str:
        return "the whole file" if self._most else f"after row {max(self._rows - 1, 0)}"

    def read(self, file: BinaryIO) -> None:
        while data := file.read(_CHUNK):
            self._parser.Parse(data, False)
        self._parser.Parse(b"", True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        self._depth += 1
        self._length = 0
        if self._depth > _DEPTH:
            raise _RefusedError("is nested too deeply for an Excel file")
        kind = name.rpartition(" ")[2]
        if self._most is None:
            if kind == "row":
                self._rows += 1
                self._count = 0
            elif kind == "c" and self._count > 8 * _MOST_CELLS:  # a cell holds up to three elements or so
                raise _RefusedError(f"a row has more than {_MOST_CELLS} cells")
            elif kind == "mergeCell":
                self.merged.append(_reference(attributes.get("ref", "")))
        elif self._count > self._most:
            raise _RefusedError(f"has a part of more than {self._most} elements; save the table as CSV")

    def _end(self, name: str) -> None:  # noqa: ARG002 - expat's signature
        self._depth -= 1

    def _characters(self, text: str) -> None:
        self._length += len(text)
        if self._length > LONGEST:
            raise _RefusedError(f"holds a text longer than {LONGEST} characters; save the table as CSV")

    def _doctype(self, *_: object) -> None:
        raise _RefusedError("declares XML entities, which no Excel file does; it is not read")


def _reference(text: str) -> str:
    """Return a reference such as A1:B2, or "?" for what is none: a message must not hold a file's own words."""
    return text if len(text) < 30 and text.isascii() and text.replace(":", "").isalnum() else "?"
