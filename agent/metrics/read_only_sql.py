"""Run one untrusted SQL query that can only read one SQLite file, for a limited time.

The file is opened read-only, and SQLite's authorizer refuses every action except reading: no writing, no ATTACH, no
PRAGMA, no extension, and only functions that compute. Time, memory, rows and bytes are limited. The query's clock is
fixed, so that an answer gives the same result in every run.

All queries run in one separate process (`agent.metrics.sql_process`). SQLite checks the time limit only between its
steps, and a hostile statement can make a single step, or its compilation, last for hours. A process can be ended at any
point.
"""

import atexit
import pickle
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, NoReturn, cast

from agent.errors import BenchmarkError
from agent.io.worker_process import WorkerProcess
from agent.metrics import sql_process
from agent.metrics.sql_process import Cell, Reply, Request, SqlRow

__all__ = ["Cell", "Outcome", "SqlRow", "compiles", "run_query"]

Ended = Literal["finished", "refused", "failed", "too_long", "too_much"]

SECONDS = 3.0
"""The time limit for a query, for which scoring waits. Queries on the public database take milliseconds.

A published query that exceeds the limit cannot serve as a reference.
"""
ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a query.

    Attributes:
        ended: "finished"; "refused": it would do more than read; "failed": it is not one SQLite query over these
            tables; "too_long": stopped by the limit on time or memory; "too_much": by the limit on rows and bytes.
        rows: the result; empty unless the query finished.
    """

    ended: Ended
    rows: tuple[SqlRow, ...] = ()


def run_query(
    database: Path,
    sql: str,
    *,
    now: str | None = None,
    seconds: float = SECONDS,
    max_rows: int = ROWS,
) -> Outcome:
    """Run one query.

    Args:
        database: SQLite file.
        sql: one statement.
        now: the value of current_time, current_date and current_timestamp; None for the machine's clock.
        seconds: time limit; a query ends at most half a second after it.
        max_rows: maximum number of rows in the result.

    Raises:
        BenchmarkError: the file is missing or is not a SQLite database.
    """
    return _ask(database, Request(False, str(database.resolve()), sql, now, seconds, max_rows))


def compiles(database: Path, sql: str) -> bool:
    """Return whether SQLite would accept a statement of any kind, even one that writes, without running it."""
    request = Request(True, str(database.resolve()), sql, None, SECONDS, ROWS)
    return _ask(database, request).ended == "finished"


def _ask(database: Path, request: Request) -> Outcome:
    ended, rows = _PROCESS.ask(request)
    if ended == "missing":
        raise BenchmarkError(f"{database.name} is missing or is not a SQLite database")
    return Outcome(ended, rows)


class _Values(pickle.Unpickler):
    """Reads plain values, and refuses anything that could run."""

    def find_class(self, module: str, name: str) -> NoReturn:  # noqa: ARG002
        raise pickle.UnpicklingError


class _QueryProcess:
    """The process that runs queries. A new process is started if a query kills this one."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._lock = Lock()

    def ask(self, request: Request) -> Reply:
        with self._lock:
            process = self._take_process()
            try:
                pickle.dump(tuple(request), process.requests)
                process.requests.flush()
                return cast(Reply, _Values(process.replies).load())
            except (EOFError, OSError, pickle.UnpicklingError):
                # The process may already be ending. Its exit status gives the reason.
                if (
                    self._end(process, patience_s=0.2) >= 0
                ):  # it exited by itself, which a query cannot cause
                    raise _make_start_error() from None
                return "too_long", ()
            except (
                BaseException
            ):  # Ctrl-C: the reply to this request must not be taken for the next reply
                self._end(process)
                raise

    def _take_process(self) -> WorkerProcess:
        if (
            self._process is not None and self._process.is_dead()
        ):  # the system ended the process between two queries
            self._end(self._process)
        if self._process is None:
            self._process = _start_process()
        return self._process

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            if self._process is not None:
                self._end(self._process)

    def _end(self, process: WorkerProcess, patience_s: float = 0.0) -> int:
        self._process = None
        return process.end(patience_s)


def _start_process() -> WorkerProcess:
    # -I and -S make Python ignore site-packages and the environment, and start faster.
    try:
        return WorkerProcess(Path(sql_process.__file__), flags=("-I", "-S"), cwd="/")
    except OSError:
        raise _make_start_error() from None


def _make_start_error() -> BenchmarkError:
    return BenchmarkError(
        "the process that runs SQL queries cannot be started",
        "Check that this account may start processes.",
    )


_PROCESS = _QueryProcess()
atexit.register(_PROCESS.close)
