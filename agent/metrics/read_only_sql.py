"""Runs one SQL query that nobody vouches for: it can only read one SQLite file, and only for a while.

The file is opened read-only. Every step that SQLite asks about is refused unless it reads: no writing, no ATTACH, no
PRAGMA, no extension, and only functions that compute. Time, memory, rows and bytes are limited. The clock that a query
sees stands still, so that an answer means the same in every run.

Queries run in a process of their own (`agent.metrics.sql_process`), one for all of them: SQLite looks at the clock
between its steps only, and a hostile statement can make one step, or its compilation, last for hours. A process can be
ended in the middle of anything.
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
"""Scoring waits for a query. On the public database one takes milliseconds; a published one that is cut is no gold."""
ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a query.

    Attributes:
        ended: "finished"; "refused", it would do more than read; "failed", it is not one SQLite query over these
            tables; "too_long", stopped at the limit of time or memory; "too_much", at that of rows and bytes.
        rows: the result, empty unless finished.
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
        now: what current_time, current_date and current_timestamp all give; None: the machine's clock.
        seconds: limit of time; a query ends at the latest half a second after it.
        max_rows: limit of the result.

    Raises:
        BenchmarkError: the file is missing or is no SQLite database.
    """
    return _ask(database, Request(False, str(database.resolve()), sql, now, seconds, max_rows))


def compiles(database: Path, sql: str) -> bool:
    """Tell whether SQLite would accept a statement of any kind, writing too, without running it."""
    request = Request(True, str(database.resolve()), sql, None, SECONDS, ROWS)
    return _ask(database, request).ended == "finished"


def _ask(database: Path, request: Request) -> Outcome:
    ended, rows = _PROCESS.ask(request)
    if ended == "missing":
        raise BenchmarkError(f"{database.name}: is missing or is no SQLite database")
    return Outcome(ended, rows)


class _Values(pickle.Unpickler):
    """Reads plain values, and nothing that could run."""

    def find_class(self, module: str, name: str) -> NoReturn:  # noqa: ARG002
        raise pickle.UnpicklingError


class _QueryProcess:
    """The process that runs queries; another one takes its place when a query has ended it."""

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
                # It may be ending already: its status tells why.
                if (
                    self._end(process, patience_s=0.2) >= 0
                ):  # not by a signal: by itself, which no query brings about
                    raise _make_start_error() from None
                return "too_long", ()
            except (
                BaseException
            ):  # Ctrl-C: the reply to this request must not be read as that to the next
                self._end(process)
                raise

    def _take_process(self) -> WorkerProcess:
        if (
            self._process is not None and self._process.is_dead()
        ):  # the system ended it between two queries
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
    # -I and -S: it reads neither the site's packages nor the environment, and starts fast.
    try:
        return WorkerProcess(Path(sql_process.__file__), flags=("-I", "-S"), cwd="/")
    except OSError:
        raise _make_start_error() from None


def _make_start_error() -> BenchmarkError:
    return BenchmarkError(
        "the process that runs SQL queries cannot be started",
        "Look whether this account may start processes.",
    )


_PROCESS = _QueryProcess()
atexit.register(_PROCESS.close)
