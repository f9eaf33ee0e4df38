"""Commands in processes of their own, forked from one that has imported every module.

Imports are most of the cost of a short command, and the tests run a thousand of them. Each fork does again what a new
interpreter does before its first line: folder, environment, search path, `sitecustomize`, time zone, temporary folder.

    python -m tests.forked        orders on standard input, one JSON object per line
"""

import atexit
import importlib
import json
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "protocol",
    "agent.catalog",
    "agent.datasets",
    "agent.delivery",
    "agent.disclosure",
    "agent.store",
    "aggregator",
    "intramural_steward",
)
# Imported whole these cost more than most commands save; a command that needs the rest imports it as always.
MODULES = ("agent.cli.main", "agent.redaction.engine", "numpy", "httpx")


@dataclass(frozen=True)
class Order:
    """One command.

    Attributes:
        module: the module to run, as `python -m MODULE` does.
        words: its arguments.
        folder: current directory.
        output: file that standard output is appended to.
        errors: file that standard error is appended to.
        typed: file with standard input.
        environment: the whole environment.
        before: `MODULE:FUNCTION` that is called first, with `settings`.
        settings: keyword arguments of that function.
    """

    module: str
    words: Sequence[str]
    folder: str
    output: str
    errors: str
    typed: str = os.devnull
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    before: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


class Nursery:
    """The process that forks, from outside."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lock = threading.Lock()

    def begin(self, order: Order) -> int:
        """Start a command; return the id of its process."""
        return self._ask(asdict(order))

    def wait(self, pid: int) -> int:
        """Wait for a command's end; return its exit code, or the signal that killed or stopped it, negative."""
        return self._ask({"wait": pid})

    def _ask(self, question: Mapping[str, object]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())


@contextmanager
def open_nursery() -> Iterator[Nursery]:
    """Start the process that forks, for the length of a `with` block."""
    steward = ROOT / "deploy" / "steward"
    paths = [str(ROOT), str(steward), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths).rstrip(os.pathsep)}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.forked"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield Nursery(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)


@cache
def _open_shared_nursery() -> Nursery:
    """Return the nursery of this test process, which ends with it."""
    opened = open_nursery()
    nursery = opened.__enter__()
    atexit.register(opened.__exit__, None, None, None)
    return nursery


def run_command(
    module: str,
    *words: object,
    folder: Path = ROOT,
    typed: str = "",
    environment: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run `python -m MODULE WORDS` to its end, in a fork; return its exit code and both outputs."""
    with tempfile.TemporaryDirectory(prefix="forked-") as kept:
        files = [Path(kept) / name for name in ("typed", "output", "errors")]
        for file, text in zip(files, (typed, "", ""), strict=True):
            file.write_text(text)
        order = Order(
            module=module,
            words=[str(word) for word in words],
            folder=str(folder),
            typed=str(files[0]),
            output=str(files[1]),
            errors=str(files[2]),
            environment=dict(os.environ if environment is None else environment),
        )
        nursery = _open_shared_nursery()
        code = nursery.wait(nursery.begin(order))
        command = [sys.executable, "-m", module, *order.words]
        return subprocess.CompletedProcess(
            command, code, files[1].read_text(), files[2].read_text()
        )


def _serve() -> None:
    _import_everything()
    print("ready", flush=True)
    # Unbuffered: what was not read yet stays out of the children.
    while line := sys.stdin.buffer.raw.readline():  # type: ignore[attr-defined]
        question = json.loads(line)
        if "wait" in question:
            _, status = os.waitpid(question["wait"], os.WUNTRACED)
            stopped = os.WIFSTOPPED(status)
            code = -os.WSTOPSIG(status) if stopped else os.waitstatus_to_exitcode(status)
            print(code, flush=True)
            continue
        child = os.fork()
        if not child:
            _run(Order(**question))
        print(child, flush=True)


def _import_everything() -> None:
    for name in PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if "migrations" not in module.name and not module.name.endswith("__main__"):
                with suppress(ImportError):  # of an extra that is not installed
                    importlib.import_module(module.name)
    for name in MODULES:
        importlib.import_module(name)


def _run(order: Order) -> None:
    """Run an order in this process, and end it."""
    _become(order)
    code: object = 0
    try:
        if order.before:
            module, function = order.before.split(":")
            getattr(importlib.import_module(module), function)(**order.settings)
        runpy.run_module(order.module, run_name="__main__")
    except SystemExit as ending:
        code = ending.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - an interpreter prints it and ends, too
        sys.excepthook(*sys.exc_info())
        code = 1
    # As an interpreter ends: its threads, its exit functions, its streams.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _become(order: Order) -> None:
    """Take over the streams, the folder and the environment of an order."""
    readable = os.open(order.typed, os.O_RDONLY)
    appended = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    os.dup2(readable, 0)
    os.dup2(os.open(order.output, appended, 0o600), 1)
    os.dup2(os.open(order.errors, appended, 0o600), 2)
    sys.stdin, sys.stdout, sys.stderr = (open(end, mode) for end, mode in enumerate("rww"))  # noqa: PTH123, SIM115
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    tempfile.tempdir = None
    sys.argv = [order.module, *order.words]
    sys.path[0] = order.folder
    for path in reversed(order.environment.get("PYTHONPATH", "").split(os.pathsep)):
        if path and path not in sys.path:
            sys.path.insert(1, path)
            if (customize := Path(path) / "sitecustomize.py").exists():
                runpy.run_path(str(customize))


if __name__ == "__main__":
    _serve()
