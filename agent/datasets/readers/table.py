"""A dataset file as rows of text cells, and the list of its problems."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent.errors import BenchmarkError

MAX_COLUMNS = 10_000
_SHOWN = 50


class Row(NamedTuple):
    """One record: where it stands in its file, for messages, and its cells by column."""

    where: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text.

    Attributes:
        columns: those that any row may have.
        rows: can be walked once.
        has_header: whether the columns stand in the file's first line, and so are cells if that line is missing.
    """

    columns: tuple[str, ...]
    rows: Iterable[Row]
    has_header: bool = False

    def require(self, columns: Iterable[str], problems: "Problems") -> "Table":
        """Return the table itself if it has all these columns.

        Raises:
            BenchmarkError: names those that are missing.
        """
        missing = [repr(column) for column in columns if column not in self.columns]
        if missing:
            raise problems.stop(
                "columns", f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            )
        return self


class Problems:
    """Collects the problems of one file, so that its author sees all of them at once.

    Problems name rows and columns and never quote a cell: cells hold patient text. A file without a header line has
    cells for column names, so only columns that the benchmark's definition names are called by name.

    Args:
        file_name: for messages.
        named: the columns that the definition names.
    """

    def __init__(self, file_name: str, named: Collection[str] = ()) -> None:
        self.file_name = file_name
        self._named = frozenset(named)
        self._shown: list[str] = []
        self._count = 0

    def add(self, where: str, problem: str) -> None:
        """Note a problem at a row, a line or a column."""
        self._count += 1
        if self._count <= _SHOWN:
            self._shown.append(f"{self.file_name}: {where}: {problem}")

    def add_repeated_columns(self, where: str, columns: Sequence[str]) -> None:
        """Note every column name that stands there more than once.

        Raises:
            BenchmarkError: there are more columns than any dataset has.
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
        # Without a header line, a name is a cell.
        subject = (
            f"the column {name!r} is there twice or more: "
            if name in self._named
            else "one name for "
        )
        listed = ", ".join(map(str, numbers[:_SHOWN]))
        more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
        return f"{subject}columns {listed}{more}"

    def check(self) -> None:
        """Raise if there is any problem.

        Raises:
            BenchmarkError: lists the first 50 and counts the others.
        """
        if self._count:
            raise BenchmarkError("\n".join(self.messages))

    @property
    def messages(self) -> list[str]:
        """The first 50, and how many others there are."""
        messages = list(self._shown)
        if self._count > _SHOWN:
            messages.append(f"... and {self._count - _SHOWN} more")
        return messages

    def stop(self, where: str, problem: str) -> BenchmarkError:
        """Return the error for a problem after which the file cannot be read on."""
        self.add(where, problem)
        try:
            self.check()
        except BenchmarkError as error:
            return error
        raise AssertionError
