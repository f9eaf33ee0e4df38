"""The formats of files that are redacted in pieces: how a file is divided, and how a piece is read and written."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final, Literal, Protocol

from agent.io.atomic_files import open_plain
from agent.redaction.files.division import (
    PIECE,
    PieceLimits,
    RowPiece,
    divide_positions,
    explain_changed_file,
)
from agent.redaction.files.rows import RowTask
from agent.redaction.files.streaming import locate_lines

FormatName = Literal["jsonl", "parquet"]

_COPIED_AT_ONCE: Final = 2**20  # bytes


class FileFormat(Protocol):
    """Reads and writes the pieces of files of one format. Rows travel as lines of JSON."""

    @property
    def ending(self) -> str:
        """The ending of the names of files of this format, with its dot."""
        ...

    def divide(self, path: Path, shard: int) -> Iterator[RowPiece]:
        """Yield the pieces of a file."""
        ...

    def halve(self, path: Path, piece: RowPiece) -> list[RowPiece]:
        """Return the two halves of a piece of several rows."""
        ...

    def open_piece(self, path: Path, piece: RowPiece) -> "OpenPiece":
        """Return a piece whose rows can be read, and written after redaction."""
        ...

    def join(self, source: Path, parts: Sequence[Path], file: IO[bytes]) -> None:
        """Write the file that consists of the parts of a source in their order."""
        ...


class OpenPiece(Protocol):
    """The rows of one piece."""

    def read_rows(self) -> Iterator[bytes]:
        """Yield each row as a line of JSON."""
        ...

    def write_row(self, line: bytes) -> None:
        """Take the next redacted row, with its line end."""
        ...

    def save(self, part: IO[bytes]) -> None:
        """Write all redacted rows to a part."""
        ...


def open_format(name: FormatName, task: RowTask, limits: PieceLimits = PIECE) -> FileFormat:
    """Return the format of that name, for a task on its rows."""
    if name == "parquet":
        from agent.redaction.files.parquet_format import ParquetFormat

        return ParquetFormat(task, limits)
    return JsonLinesFormat(limits)


class JsonLinesFormat:
    """JSON Lines: one object a line."""

    ending = ".jsonl"

    def __init__(self, limits: PieceLimits = PIECE) -> None:
        self._limits = limits

    def divide(self, path: Path, shard: int) -> Iterator[RowPiece]:
        """Yield the pieces of a file. Empty lines are not rows."""
        with open_plain(path) as file:
            rows = ((start, end) for start, end, line in locate_lines(file) if line.strip())
            yield from divide_positions(rows, shard, self._limits)

    def halve(self, path: Path, piece: RowPiece) -> list[RowPiece]:
        """Return the two halves of a piece of several rows."""
        limits = PieceLimits(-(-piece.rows // 2), piece.end - piece.start + 1)
        with open_plain(path) as file:
            file.seek(piece.start)
            rows = []
            for start, end, line in locate_lines(file, piece.start):
                if end > piece.end:
                    break
                if line.strip():
                    rows.append((start, end))
        return list(divide_positions(rows, piece.shard, limits, piece.first))

    def open_piece(self, path: Path, piece: RowPiece) -> "JsonLinesPiece":
        """Return a piece whose rows can be read, and written after redaction."""
        return JsonLinesPiece(path, piece)

    def join(self, source: Path, parts: Sequence[Path], file: IO[bytes]) -> None:  # noqa: ARG002
        """Write the lines of all parts in their order."""
        for part in parts:
            with open_plain(part) as lines:
                while block := lines.read(_COPIED_AT_ONCE):
                    file.write(block)


class JsonLinesPiece:
    """Some lines of a file."""

    def __init__(self, path: Path, piece: RowPiece) -> None:
        self._path = path
        self._piece = piece
        self._redacted: list[bytes] = []

    def read_rows(self) -> Iterator[bytes]:
        """Yield each line.

        Raises:
            RedactionError: the file has other lines than when it was divided.
        """
        rows = 0
        with open_plain(self._path) as file:
            file.seek(self._piece.start)
            for _, end, line in locate_lines(file, self._piece.start):
                if end > self._piece.end:
                    break
                if line.strip():
                    rows += 1
                    yield line
        if rows != self._piece.rows:
            raise explain_changed_file(self._path)

    def write_row(self, line: bytes) -> None:
        """Take the next redacted line."""
        self._redacted.append(line)

    def save(self, part: IO[bytes]) -> None:
        """Write the redacted lines."""
        part.writelines(self._redacted)


def load_task(options: dict[str, Any]) -> RowTask:
    """Return the task from its JSON form."""
    return RowTask(**{**options, "fields": tuple(options["fields"])})
