"""Tables of text cells read from dataset files, and the problems found in them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agent.catalog.template import describe_found_columns
from agent.errors import BenchmarkError

MAX_COLUMNS = 10_000
_SHOWN = 50


class Row(NamedTuple):
    """One record of a file.

    Attributes:
        where: its location in the file, for messages.
        cells: its cells by column.
        number: its number in the file, as a person counts: the first row of data is 1, and empty rows count. 0 if it is
            not one row of a file.
        kept_number: its number among the rows that are not empty, by which earlier versions numbered rows.
    """

    where: str
    cells: Mapping[str, str]
    number: int = 0
    kept_number: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text cells.

    Attributes:
        columns: all columns that a row may have.
        rows: the rows, which can be iterated only once.
        has_header: whether the column names come from the file's first line. If that line is missing, they are cells.
        added: the columns that are not in the file, but are made from its rows.
    """

    columns: tuple[str, ...]
    rows: Iterable[Row]
    has_header: bool = False
    added: tuple[str, ...] = ()

    @property
    def file_columns(self) -> tuple[str, ...]:
        """The columns of the file itself."""
        return tuple(column for column in self.columns if column not in self.added)

    def add_columns(self, added: Iterable[str], rows: Iterable[Row]) -> "Table":
        """Return the table with further columns, which are made from its rows.

        Args:
            added: the columns; those that the file has stay its own.
            rows: the rows with these columns.
        """
        new = tuple(column for column in dict.fromkeys(added) if column not in self.columns)
        return replace(self, columns=(*self.columns, *new), rows=rows, added=(*self.added, *new))

    def require(self, columns: Iterable[str], problems: "Problems") -> "Table":
        """Return the table itself if it has all these columns.

        Raises:
            BenchmarkError: columns are missing; the message names them.
        """
        needed = list(columns)
        missing = [repr(column) for column in needed if column not in self.columns]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            found = describe_found_columns(self.file_columns, needed)
            raise problems.stop("columns", f"{', '.join(missing)} {verb} missing; {found}")
        return self


class Problems:
    """Collects the problems of one file, so that all of them can be reported at once.

    Problems identify rows and columns but never quote a cell, which may contain patient text. In a file without a
    header line, the supposed column names are cells, so only columns that the definition names are quoted.

    Args:
        file_name: the name of the file, for messages.
        named: the columns that the definition names.
    """

    def __init__(self, file_name: str, named: Collection[str] = ()) -> None:
        self.file_name = file_name
        self._named = frozenset(named)
        self._shown: list[str] = []
        self._count = 0

    def add(self, where: str, problem: str) -> None:
        """Record a problem in a row, line or column."""
        self._count += 1
        if self._count <= _SHOWN:
            self._shown.append(f"{self.file_name}: {where}: {problem}")

    def add_repeated_columns(self, where: str, columns: Sequence[str]) -> None:
        """Record a problem for every column name that occurs more than once.

        Raises:
            BenchmarkError: there are too many columns.
        """
        if len(columns) > MAX_COLUMNS:
            raise self.stop(where, f"has more than {MAX_COLUMNS} columns")
        numbers: dict[str, list[int]] = {}
        for number, name in enumerate(columns, 1):
            numbers.setdefault(name, []).append(number)
        for name, repeated in numbers.items():
            if len(repeated) > 1:
                self.add(where, self._describe_repeated(name, repeated))

    def _describe_repeated(self, name: str, numbers: Sequence[int]) -> str:
        # If the header line is missing, the name is a cell and must not be quoted.
        subject = (
            f"the column {name!r} occurs more than once: "
            if name in self._named
            else "a column name occurs more than once: "
        )
        listed = ", ".join(map(str, numbers[:_SHOWN]))
        more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
        return f"{subject}columns {listed}{more}"

    def check(self) -> None:
        """Raise an error if there is any problem.

        Raises:
            BenchmarkError: there are problems; the message lists the first 50 and counts the others.
        """
        if self._count:
            raise BenchmarkError("\n".join(self.messages))

    @property
    def messages(self) -> list[str]:
        """The first 50 problems, followed by the number of further ones."""
        messages = list(self._shown)
        if self._count > _SHOWN:
            messages.append(f"... and {self._count - _SHOWN} more")
        return messages

    def stop(self, where: str, problem: str) -> BenchmarkError:
        """Record a problem that prevents reading the rest of the file, and return the error to raise."""
        self.add(where, problem)
        try:
            self.check()
        except BenchmarkError as error:
            return error
        raise AssertionError
