"""The worker process that runs untrusted queries. It imports nothing from the agent and exits when its input closes.

A request (read from standard input) is answered on standard output. A query that takes too much time is stopped by
SQLite at the next step. If a single step or the compiler takes too long, the signal SIGALRM ends the whole process,
and the caller starts a new one.
"""

import contextlib
import pickle
import re
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import BinaryIO, Literal, NamedTuple
from urllib.parse import quote

GRACE = 0.5  # seconds for which a step may continue after the limit
_BYTES = 16 * 2**20  # maximum per result
_MEMORY = 2**30  # bytes; maximum for the whole process
_LENGTH = 200_000  # characters; maximum per string or statement
_LIKE = 200  # characters in a LIKE or GLOB pattern; matching takes time proportional to the product of both lengths
_STEPS = 1_000  # instructions of SQLite's virtual machine between two checks of the deadline

_PRAGMA = re.compile(r"\s*pragma\s", re.IGNORECASE)
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
# Functions that depend only on their arguments. random() is left out: results must be reproducible.
_FUNCTION = re.compile(
    r"abs|avg|cast|ceil|ceiling|char|coalesce|concat|concat_ws|count|cume_dist|current_date|current_time|"
    r"current_timestamp|date|datetime|dense_rank|exp|first_value|floor|format|glob|group_concat|hex|iif|"
    r"ifnull|instr|julianday|lag|last_value|lead|length|like|ln|log|log10|log2|lower|ltrim|max|min|mod|"
    r"nth_value|ntile|nullif|percent_rank|pow|power|printf|quote|rank|replace|round|row_number|rtrim|sign|"
    r"sqrt|strftime|string_agg|substr|substring|sum|time|timediff|total|trim|trunc|typeof|unicode|unixepoch|"
    r"upper",
    re.IGNORECASE,
)

Cell = str | int | float | bytes | None
SqlRow = tuple[Cell, ...]
Outcome = Literal["finished", "refused", "failed", "too_long", "too_much", "missing"]
Reply = tuple[Outcome, tuple[SqlRow, ...]]


class Request(NamedTuple):
    """A request to run a statement, or only to compile it. It is pickled as a plain tuple."""

    compile_only: bool
    database: str
    sql: str
    now: str | None
    seconds: float
    max_rows: int


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until the input ends."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is handled by the agent, which then closes this process's input
    signal.signal(
        signal.SIGALRM, signal.SIG_DFL
    )  # SIGALRM ends the process, even in the middle of a step
    with contextlib.suppress(OSError, ValueError):  # some systems have no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    while True:
        try:
            request = Request(*pickle.load(requests))  # noqa: S301 - sent by the process that started this one
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_REAL, request.seconds + GRACE)
        try:
            message = pickle.dumps(_answer(request))
        except MemoryError:
            message = pickle.dumps(("too_long", ()))
        signal.setitimer(signal.ITIMER_REAL, 0)
        replies.write(message)
        replies.flush()


def _answer(request: Request) -> Reply:
    connection = _open_read_only(request.database)
    if connection is None:
        return "missing", ()
    try:
        return (
            _try_compile(connection, request.sql)
            if request.compile_only
            else _run(connection, request)
        )
    finally:
        connection.close()


def _open_read_only(database: str) -> sqlite3.Connection | None:
    """Open a database for reading only; return None if it is missing or not a database."""
    connection = None
    try:
        connection = sqlite3.connect(
            f"file:{quote(database)}?mode=ro&immutable=1", uri=True, isolation_level=None
        )
        connection.execute("select count(*) from sqlite_master").fetchone()
        connection.execute("pragma temp_store = memory")  # temporary tables never reach the disk
    except sqlite3.Error:
        if connection is not None:
            connection.close()
        return None
    return connection


def _run(connection: sqlite3.Connection, request: Request) -> Reply:
    refused: list[int] = []
    deadline = time.monotonic() + request.seconds
    try:
        if request.now is not None:
            for name in ("current_time", "current_date", "current_timestamp"):
                connection.create_function(name, 0, _make_constant(request.now), deterministic=True)
        _limit(connection)
        connection.set_authorizer(_build_read_only_authorizer(refused))
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        rows = _fetch(connection.execute(request.sql), request.max_rows)
    except (
        sqlite3.Error,
        sqlite3.Warning,
        ValueError,
        OverflowError,
    ):  # ValueError: a NUL character in the statement
        if refused:
            return "refused", ()
        return "too_long" if time.monotonic() > deadline else "failed", ()
    return ("too_much", ()) if rows is None else ("finished", rows)


def _try_compile(connection: sqlite3.Connection, sql: str) -> Reply:
    """Return "finished" if SQLite can compile the statement, even one that writes; do not run it."""
    if _PRAGMA.match(sql):
        return "finished", ()  # SQLite ignores unknown pragmas
    try:
        _limit(connection)
        connection.set_authorizer(_deny_pragmas)
        connection.execute(f"explain {sql}").close()
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return "failed", ()
    return "finished", ()


def _limit(connection: sqlite3.Connection) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LENGTH)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LIKE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)


def _build_read_only_authorizer(refused: list[int]) -> Callable[..., int]:
    def authorize(action: int, _first: str | None, second: str | None, *_: object) -> int:
        known_function = (
            action == sqlite3.SQLITE_FUNCTION and _FUNCTION.fullmatch(second or "") is not None
        )
        if action in _READING or known_function:
            return sqlite3.SQLITE_OK
        refused.append(action)
        return sqlite3.SQLITE_DENY

    return authorize


def _deny_pragmas(action: int, *_: object) -> int:
    """Refuse statements that take effect during compilation."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK


def _make_constant(value: str) -> Callable[[], str]:
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


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
