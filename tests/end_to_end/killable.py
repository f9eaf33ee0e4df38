"""Commands that are stopped before any step that outlives them: a file written or renamed, a commit, bytes sent.

python -m tests.end_to_end.killable FOLDER STEPS MODULE WORDS...        one command in this process
"""

import os
import re
import runpy
import signal
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable
from typing import Any

_RANDOM_NAME = re.compile("[0-9a-f]{12,}")
_RECEIVING = "receive"
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Steps:
    """Counts the steps of this process, notes each, and gives itself a signal before one of them."""

    def __init__(self, folder: str, note: str, at: int = 0, number: int = signal.SIGKILL) -> None:
        self._folder = os.path.realpath(folder) + os.sep
        self._note = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._at, self._signal = at, number
        self._count = 0
        self._last = ""
        self._lock = threading.Lock()  # the aggregator answers in threads

    def watch(self) -> None:
        """Begin to count."""
        sys.addaudithook(self._hear)
        for owner in (sqlite3, sqlite3.dbapi2):
            self._listen_to_database(owner)
        self._wrap(os, "fsync", lambda handle: "fsync")
        for name in ("sendall", "send"):
            self._wrap(socket.socket, name, lambda end, *_: "send" if _is_by_network(end) else "")
        for name in ("recv", "recv_into"):
            self._wrap(
                socket.socket, name, lambda end, *_: _RECEIVING if _is_by_network(end) else ""
            )

    def _step(self, name: str) -> None:
        with self._lock:
            if name == self._last == _RECEIVING:
                return  # an answer comes in as many pieces as it likes
            self._last = name
            self._count += 1
            os.write(self._note, f"{_RANDOM_NAME.sub('*', name)}\n".encode())
            if self._count == self._at:
                os.kill(os.getpid(), self._signal)

    def _wrap(self, owner: Any, name: str, describe: Callable[..., str]) -> None:
        real = getattr(owner, name)

        def stepping(*given: Any, **named: Any) -> Any:
            step = describe(*given)
            if step:
                self._step(step)
            return real(*given, **named)

        setattr(owner, name, stepping)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = given
            changes = flags & _WRITING and (flags & os.O_TRUNC or not _exists(path))
        elif event in ("os.mkdir", "os.remove", "os.rmdir"):
            path = given[0]
            changes = _exists(path) != (event == "os.mkdir")
        else:
            path = given[0] if event == "os.rename" else ""
            changes = event == "os.rename"
        if changes and self._is_ours(path):
            self._step(f"{event.removeprefix('os.')} {self._shorten(path)}")

    def _listen_to_database(self, owner: Any) -> None:
        real = owner.connect

        def connect(*given: Any, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = real(*given, **named)
            connection.set_trace_callback(self._hear_statements())
            return connection

        owner.connect = connect

    def _hear_statements(self) -> Callable[[str], None]:
        """Return what hears the statements of one connection: the end of a transaction that writes is a step."""
        writes = False

        def hear(statement: str) -> None:
            nonlocal writes
            if statement.startswith("BEGIN"):
                writes = "IMMEDIATE" in statement
            elif statement.startswith("COMMIT") and writes:
                self._step("commit")

        return hear

    def _is_ours(self, path: Any) -> bool:
        return not isinstance(path, int) and os.path.realpath(os.fsdecode(path)).startswith(
            self._folder
        )

    def _shorten(self, path: Any) -> str:
        return os.path.realpath(os.fsdecode(path)).removeprefix(self._folder)


def _exists(path: Any) -> bool:
    return not isinstance(path, int) and os.path.lexists(path)


def _is_by_network(end: socket.socket) -> bool:
    return end.family == socket.AF_INET


def watch_steps(folder: str, steps: str, at: int = 0, number: int = signal.SIGKILL) -> None:
    """Note every step of this process in the file `steps`, and give it a signal before step `at` (0: never)."""
    Steps(folder, steps, at, number).watch()


def main() -> None:
    """Run one command in this process."""
    folder, steps, module, *words = sys.argv[1:]
    watch_steps(folder, steps)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
