"""Runs one SQL query that nobody vouches for: it can only read one SQLite file, and only for a while.

The file is opened read-only. Every step that SQLite asks about is refused unless it reads: no writing, no ATTACH, no
PRAGMA, no extension, and only functions that compute. Time, rows and bytes are limited. The clock that a query sees
stands still, so that an answer means the same in every run.
"""

import re
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from agent.errors import BenchmarkError

Cell = str | int | float | bytes | None
SqlRow = tuple[Cell, ...]
Ended = Literal["finished", "refused", "failed", "too_long", "too_much"]

SECONDS = 10.0
ROWS = 10_000
_BYTES = 16 * 2**20
_LENGTH = 200_000  # of one text or statement: no single step of SQLite is longer than a blink
_STEPS = 1_000  # of SQLite's machine between two looks at the clock

_PRAGMA = re.compile(r"\s*pragma\s", re.IGNORECASE)
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
# What computes from its arguments alone. random() is left out: a result must come out again.
_FUNCTION = re.compile(
    r"abs|avg|cast|ceil|ceiling|char|coalesce|concat|concat_ws|count|cume_dist|current_date|current_time|"
    r"current_timestamp|date|datetime|dense_rank|exp|first_value|floor|format|glob|group_concat|hex|iif|"
    r"ifnull|instr|julianday|lag|last_value|lead|length|like|ln|log|log10|log2|lower|ltrim|max|min|mod|"
    r"nth_value|ntile|nullif|percent_rank|pow|power|printf|quote|rank|replace|round|row_number|rtrim|sign|"
    r"sqrt|strftime|string_agg|substr|substring|sum|time|timediff|total|trim|trunc|typeof|unicode|unixepoch|"
    r"upper",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a query.

    Attributes:
        ended: "finished"; "refused", it would do more than read; "failed", it is not one SQLite query over these
            tables; "too_long" or "too_much", stopped at the limit of time, or of rows and bytes.
        rows: the result, empty unless finished.
    """

    ended: Ended
    rows: tuple[SqlRow, ...] = ()


def run_query(
    database: Path, sql: str, *, now: str | None = None, seconds: float = SECONDS, max_rows: int = ROWS
) -> Outcome:
    """Run one query.

    Args:
        database: SQLite file.
        sql: one statement.
        now: what current_time, current_date and current_timestamp all give; None: the machine's clock.
        seconds: limit of time.
        max_rows: limit of the result.

    Raises:
        BenchmarkError: the file is missing or is no SQLite database.
    """
    refused: list[int] = []
    deadline = time.monotonic() + seconds
    connection = open_database(database)
    try:
        if now is not None:
            for name in ("current_time", "current_date", "current_timestamp"):
                connection.create_function(name, 0, _constant(now), deterministic=True)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LENGTH)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_authorizer(_only_reading(refused))
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        rows = _fetch(connection.execute(sql), max_rows)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):  # ValueError: a zero character
        if refused:
            return Outcome("refused")
        return Outcome("too_long" if time.monotonic() > deadline else "failed")
    finally:
        connection.close()
    return Outcome("too_much") if rows is None else Outcome("finished", rows)


def compiles(database: Path, sql: str) -> bool:
    """Tell whether SQLite would accept a statement of any kind, writing too, without running it."""
    if _PRAGMA.match(sql):
        return True  # SQLite passes over those it does not know
    connection = open_database(database)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_authorizer(_nothing_at_once)
        connection.execute(f"explain {sql}").close()
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return False
    finally:
        connection.close()
    return True


def open_database(database: Path) -> sqlite3.Connection:
    """Open a SQLite file read-only; its bytes cannot change by what is run.

    Raises:
        BenchmarkError: it is missing or is no SQLite database.
    """
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(database.resolve()))}?mode=ro&immutable=1", uri=True, isolation_level=None
        )
        connection.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.Error:
        raise BenchmarkError(f"{database.name}: is missing or is no SQLite database") from None
    return connection


def _only_reading(refused: list[int]) -> Callable[..., int]:
    def authorize(action: int, _first: str | None, second: str | None, *_: object) -> int:
        known_function = action == sqlite3.SQLITE_FUNCTION and _FUNCTION.fullmatch(second or "") is not None
        if action in _READING or known_function:
            return sqlite3.SQLITE_OK
        refused.append(action)
        return sqlite3.SQLITE_DENY

    return authorize


def _nothing_at_once(action: int, *_: object) -> int:
    """Refuse the statements that take effect while they are compiled."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK


def _constant(value: str) -> Callable[[], str]:
    return lambda: value


def _fetch(cursor: sqlite3.Cursor, max_rows: int) -> tuple[SqlRow, ...] | None:
    rows: list[SqlRow] = []
    size = 0
    for row in cursor:
        rows.append(row)
        size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if len(rows) > max_rows or size > _BYTES:
            return None
    return tuple(rows)
