"""Commands in processes of their own, which are stopped before any step that outlives them: written, named, said, sent.

As a program it forks one process for each order that it reads. The modules of all three parties are loaded by then, so
that a command takes a fifth of the time that a new interpreter needs; hundreds of them can be killed in a minute.

    python -m tests.end_to_end.killable                                     orders on standard input
    python -m tests.end_to_end.killable FOLDER STEPS MODULE WORDS...        one command in this very process
"""

import importlib
import json
import os
import pkgutil
import re
import runpy
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PACKAGES = (
    *(
        "protocol",
        "agent.catalog",
        "agent.datasets",
        "agent.delivery",
        "agent.disclosure",
        "agent.store",
    ),
    *("aggregator", "intramural_steward"),
)
_RANDOM_NAME = re.compile("[0-9a-f]{12,}")
_RECEIVING = "receive"
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Order:
    """One command.

    Attributes:
        module: what is run, as `python -m MODULE` does.
        words: its words.
        folder: steps on files elsewhere do not count.
        steps: file that gets one line for each step.
        output: file that gets standard output and error.
        typed: standard input.
        at: number of the step before which the process gets `signal`; 0 for none.
        environment: variables that differ from this process's.
    """

    module: str
    words: Sequence[str]
    folder: str
    steps: str
    output: str
    typed: str = ""
    at: int = 0
    signal: int = signal.SIGKILL
    environment: Mapping[str, str] = field(default_factory=dict)


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


def _load_everything() -> None:
    for name in PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if "migrations" not in module.name and not module.name.endswith("__main__"):
                with suppress(ImportError):  # of an extra that is not installed
                    importlib.import_module(module.name)
    importlib.import_module("agent.cli.main")


def _run(order: Order) -> None:
    """Run an order in this process, and end it."""
    os.environ.update(order.environment)
    near, far = os.pipe()
    os.write(far, order.typed.encode())
    os.close(far)
    os.dup2(near, 0)
    output = os.open(order.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdin, sys.stdout, sys.stderr = (open(end, mode) for end, mode in enumerate("rww"))  # noqa: PTH123, SIM115
    Steps(order.folder, order.steps, order.at, order.signal).watch()
    sys.argv = [order.module, *order.words]
    code: object = 0
    try:
        runpy.run_module(order.module, run_name="__main__")
    except SystemExit as ending:
        code = ending.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _serve() -> None:
    _load_everything()
    print("ready", flush=True)
    while (
        line := sys.stdin.buffer.raw.readline()
    ):  # unbuffered: what was not read yet stays out of the children
        asked = json.loads(line)
        if "wait" in asked:
            _, status = os.waitpid(asked["wait"], os.WUNTRACED)
            code = (
                -os.WSTOPSIG(status) if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)
            )
            print(code, flush=True)
            continue
        child = os.fork()
        if not child:
            _run(Order(**asked))
        print(child, flush=True)


class Nursery:
    """The program above, from outside."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def begin(self, order: Order) -> int:
        """Start a command; return the id of its process."""
        return self._ask(asdict(order))

    def wait(self, pid: int) -> int:
        """Wait for a command's end; return its exit code, or the signal that killed or stopped it, negative."""
        return self._ask({"wait": pid})

    def _ask(self, asked: Mapping[str, object]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def open_nursery(root: Path) -> Iterator[Nursery]:
    """Run the program above for the length of a `with` block."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    paths = [str(root / "deploy" / "steward"), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(paths).rstrip(os.pathsep)
    command = [sys.executable, "-m", "tests.end_to_end.killable"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield Nursery(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Take orders, or run one command."""
    if len(sys.argv) == 1:
        _serve()
        return
    folder, steps, module, *words = sys.argv[1:]
    Steps(folder, steps).watch()
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
