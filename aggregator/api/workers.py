"""Several worker processes behind one address, each running the whole service. A worker that dies is replaced.

The database keeps the log in order: every append, by any worker, is one transaction under a single
lock. SQLite is only supported with one process, so several workers need PostgreSQL.
"""

import logging
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable

from aggregator.api.metrics import SHARED_FOLDER_VARIABLE
from aggregator.errors import SettingsError
from aggregator.home import Home

log = logging.getLogger("aggregator.workers")

FORCED_END_S = 15.0  # time after which a worker that was told to stop is killed
SHORT_LIFE_S = 5.0
RESTART_PAUSE_S = 1.0  # pause before replacing a worker that died shortly after its start


def check_workers(home: Home, workers: int) -> None:
    """Refuse several workers if the database is SQLite. Raises SettingsError."""
    if workers > 1 and home.database.engine.dialect.name == "sqlite":
        raise SettingsError(
            f"{workers} workers need PostgreSQL, but this directory's database is SQLite",
            "Use --workers 1, or set database_url in aggregator.yaml to a PostgreSQL database.",
        )


def run_workers(
    workers: int, listening: socket.socket, run_one: Callable[[socket.socket], None]
) -> None:
    """Run workers until SIGINT or SIGTERM.

    Args:
        workers: Number of processes.
        listening: The socket from which all of them accept connections.
        run_one: The function that a worker runs, in its own process. It must open its own
            connections.
    """
    with tempfile.TemporaryDirectory(prefix="intramural-metrics-") as folder:
        os.environ[SHARED_FOLDER_VARIABLE] = folder
        Supervisor(workers, listening, run_one).run()


class Supervisor:
    """A supervisor that starts workers, replaces those that die, and stops them all."""

    def __init__(
        self, workers: int, listening: socket.socket, run_one: Callable[[socket.socket], None]
    ) -> None:
        """Create a supervisor without starting workers; see `run_workers`."""
        self._wanted = workers
        self._listening = listening
        self._run_one = run_one
        self._started_at: dict[int, float] = {}
        self._is_ending = False

    def run(self) -> None:
        """Keep the given number of workers running until a signal requests the end."""
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)
        while not self._is_ending:
            while len(self._started_at) < self._wanted and not self._is_ending:
                self._start_one()
            self._wait_for_one()
        self._end_all()

    def _start_one(self) -> None:
        pid = os.fork()
        if pid != 0:
            self._started_at[pid] = time.monotonic()
            return
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        code = 1
        try:
            self._run_one(self._listening)
            code = 0
        except Exception as error:  # noqa: BLE001 - the message may quote request data
            log.error("worker failed: %s", type(error).__name__)
        finally:
            os._exit(code)  # skip cleanup that belongs to the parent

    def _wait_for_one(self) -> None:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            time.sleep(0.05)
            return
        lived_s = time.monotonic() - self._started_at.pop(pid)
        if self._is_ending:
            return
        log.error("worker %d ended with %d and is replaced", pid, os.waitstatus_to_exitcode(status))
        if lived_s < SHORT_LIFE_S:
            time.sleep(RESTART_PAUSE_S)

    def _end(self, *_: object) -> None:
        self._is_ending = True

    def _end_all(self) -> None:
        deadline = time.monotonic() + FORCED_END_S
        for pid in self._started_at:
            os.kill(pid, signal.SIGTERM)
        while self._started_at:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            self._started_at.pop(pid, None)
            if pid == 0:
                time.sleep(0.05)
            if time.monotonic() > deadline:
                for late in self._started_at:
                    os.kill(late, signal.SIGKILL)
                deadline = float("inf")
