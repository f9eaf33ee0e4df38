"""The files of a located dataset, which loaders open by name with their digests checked."""

import codecs
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from agent.datasets.readers.table import Problems, Table
from agent.errors import BenchmarkError

_CHUNK = 2**20  # bytes
_FAULTS = (UnicodeDecodeError, OSError, EOFError, zlib.error)
_NOT_UTF8 = "is not UTF-8; save the file as UTF-8"


@dataclass(frozen=True)
class Files:
    """The files, arguments and options that a loader may read.

    Attributes:
        paths: the files by name relative to the dataset's folder (`labels/x/labels.parquet`), in instance order.
        digests: the SHA-256 of each file when the dataset was located, by the same names.
        arguments: the run entry's arguments with defaults filled in (subject, condition, subset, ...).
        options: the definition's settings for the loader (`data.options`).
        named: the columns that the definition names; only these may be quoted in messages about problems.
    """

    paths: Mapping[str, Path]
    digests: Mapping[str, str]
    arguments: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    named: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, in instance order."""
        return tuple(self.paths)

    def problems(self, name: str) -> Problems:
        """Return an empty `Problems` for one file; a loader yields it together with the file's table."""
        return Problems(name, self.named)

    @contextmanager
    def open_binary(self, name: str) -> Iterator[BinaryIO]:
        """Open a file; files whose name ends in .gz are decompressed while they are read.

        Raises:
            BenchmarkError: the file cannot be read, or changed since the dataset was located.
        """
        try:
            with self.paths[name].open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != self.digests[name]:
                    raise BenchmarkError(f"{name}: changed since the run began; start again")
                file.seek(0)
                if name.lower().endswith(".gz"):
                    with gzip.open(file) as inner:
                        yield cast(BinaryIO, inner)
                else:
                    yield file
        except (OSError, EOFError, zlib.error) as why:
            raise self._explain(name, why) from None

    @contextmanager
    def open_text(self, name: str) -> Iterator[TextIO]:
        """Open a UTF-8 file. A byte order mark is skipped, and line endings are not converted.

        Raises:
            BenchmarkError: see `open_binary`; or a line is not UTF-8. May also be raised while the file is read.
        """
        with self.open_binary(name) as file:
            yield _TextFile(file, lambda why: self._explain(name, why))

    def _explain(self, name: str, why: Exception) -> BenchmarkError:
        if isinstance(why, UnicodeDecodeError):
            line, problem = self._find_bad_line(name)
            return self.problems(name).stop(f"line {line}", problem)
        if isinstance(why, (gzip.BadGzipFile, EOFError, zlib.error)):
            return BenchmarkError(f"{name}: is not a complete gzip file")
        reason = (why.strerror if isinstance(why, OSError) else None) or type(why).__name__
        return BenchmarkError(f"{name}: cannot be read ({reason})")

    def _find_bad_line(self, name: str) -> tuple[int, str]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        line = 1
        with self.open_binary(name) as file:
            start = file.read(2)
            if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                return line, "is UTF-16 (Excel's Unicode text); save the file as UTF-8"
            chunk = start
            while chunk:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError as why:
                    # The decoder may have kept bytes from the previous chunk, which never contain a line ending.
                    held_back = len(why.object) - len(chunk)
                    line_ends = chunk.count(b"\n", 0, max(why.start - held_back, 0))
                    return line + line_ends, _NOT_UTF8
                line += chunk.count(b"\n")
                chunk = file.read(_CHUNK)
        return line, _NOT_UTF8


class _TextFile(io.TextIOWrapper):
    """A text file that converts read errors to `BenchmarkError`.

    Rows are read long after the file was opened, by functions that do not know its name.
    """

    def __init__(self, file: BinaryIO, explain: Callable[[Exception], BenchmarkError]) -> None:
        super().__init__(file, encoding="utf-8-sig", newline="")
        self._explain = explain

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        try:
            return super().readline(size)
        except _FAULTS as why:
            raise self._explain(why) from None

    def read(self, size: int | None = -1, /) -> str:
        try:
            return super().read(size)
        except _FAULTS as why:
            raise self._explain(why) from None

    def __next__(self) -> str:  # type: ignore[override]
        if line := self.readline():
            return line
        raise StopIteration


Loader = Callable[[Files], Iterator[tuple[Table, Problems]]]
"""A function that reads a dataset and yields its tables in instance order, each with its problems.

The rows of a table are consumed before the next table is requested, so a loader can keep the file open until then.
"""


def make_text_loader(read: Callable[[TextIO, Problems], Table]) -> Loader:
    """Return a loader that reads each file as one table of text."""

    def load_tables(files: Files) -> Iterator[tuple[Table, Problems]]:
        for name in files.names:
            problems = files.problems(name)
            with files.open_text(name) as file:
                yield read(file, problems), problems

    return load_tables
