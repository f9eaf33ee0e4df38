"""A dataset file as rows of text cells, and the list of what is wrong with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agent.errors import BenchmarkError

_SHOWN = 50


class Row(NamedTuple):
    """One record: where it stands in its file, for messages, and its cells by column."""

    where: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text. `columns` are those that any row may have; `rows` can be walked once."""

    columns: tuple[str, ...]
    rows: Iterable[Row]


class Problems:
    """Collects what is wrong with one file, so that its author sees everything at once.

    Problems name rows and columns and never quote a cell: cells hold patient text.
    """

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._shown: list[str] = []
        self._count = 0

    def add(self, where: str, problem: str) -> None:
        """Note a problem at a row, a line or a column."""
        self._count += 1
        if self._count <= _SHOWN:
            self._shown.append(f"{self._file_name}: {where}: {problem}")

    def check(self) -> None:
        """Raise if there is any problem.

        Raises:
            BenchmarkError: lists the first 50 and counts the others.
        """
        if self._count:
            more = [f"... and {self._count - _SHOWN} more"] if self._count > _SHOWN else []
            raise BenchmarkError("\n".join(self._shown + more))

    def stop(self, where: str, problem: str) -> BenchmarkError:
        """Return the error for a problem after which the file cannot be read on."""
        self.add(where, problem)
        try:
            self.check()
        except BenchmarkError as error:
            return error
        raise AssertionError
