"""Start the process of an own metric, and ask it with a time limit.

The process gets the code and the texts through a pipe or as a copy, and nothing else: no environment, no open file, an
empty working directory. It is ended if a reply takes too long.
"""

import builtins
import json
import os
import select
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent.errors import BenchmarkError
from agent.io.worker_process import WorkerProcess
from agent.own_metrics import worker
from agent.own_metrics.declaration import PREFIX, OwnMetric, read_declaration
from agent.own_metrics.source import MetricCode

SECONDS = 10.0
"""Time limit for scoring one answer."""
LOAD_SECONDS = 60.0
"""Time limit for loading a metric's code."""
MEMORY_BYTES = 2 * 2**30
"""Limit of the process's memory."""

# Equal hashes give sets the same order in every run. Numerical libraries must not start threads, which are refused.
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
_FLAGS = (
    "-P",
    "-s",
    "-B",
)  # nothing is imported from the working directory or the account's own packages
_REPLY_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class MetricFault:
    """The reason why an own metric gave no valid result, in words that quote no text of a case.

    Attributes:
        is_final: whether the process cannot be asked again.
        is_limit: whether it reached its time limit.
    """

    words: str
    is_final: bool = True
    is_limit: bool = False


class OwnMetricProcess:
    """A running own metric. Call `end` when it is no longer needed.

    Attributes:
        declared: what the metric declares.
    """

    def __init__(self, code: MetricCode) -> None:
        """Start the process and load the code.

        Raises:
            BenchmarkError: the code cannot be loaded within its limits, or its declaration is wrong.
        """
        self._numbers = 0
        self._folder = TemporaryDirectory(prefix="intramural-metric-", ignore_cleanup_errors=True)
        try:
            folder = _write_code(code, Path(self._folder.name))
            self._process = _start_process(str(Path(self._folder.name) / "empty"))
        except OSError:
            self._folder.cleanup()
            raise BenchmarkError(
                f"{PREFIX}{code.name}: its process cannot be started",
                "Check that this account may start processes and write temporary files.",
            ) from None
        setup = {
            "code": str(folder),
            "module": code.module,
            "memory_bytes": MEMORY_BYTES,
            "load_seconds": LOAD_SECONDS,
            "seconds": SECONDS,
        }
        reply = self._exchange(setup, LOAD_SECONDS)
        declared = None if isinstance(reply, MetricFault) else reply.get("declared")
        if not isinstance(declared, dict):
            self.end()
            fault = reply if isinstance(reply, MetricFault) else _read_fault(reply)
            raise BenchmarkError(
                f"{PREFIX}{code.name}: its code cannot be loaded: it {fault.words}",
                "Nothing was asked. Repair the code, review it, and enter its new sha256 in site.yaml.",
            )
        try:
            self.declared = read_declaration(code.name, code.sha256, declared)
        except BenchmarkError:
            self.end()
            raise

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any] | MetricFault:
        """Return the metric's reply about one answer. After a final fault, the process must be ended."""
        self._numbers += 1
        reply = self._exchange({**request, "number": self._numbers}, SECONDS)
        if not isinstance(reply, MetricFault) and "raised" in reply:
            return _read_fault(reply)
        return reply

    def end(self) -> None:
        """End the process with all processes that it started, and remove its folder."""
        self._process.end()
        self._folder.cleanup()

    def _exchange(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any] | MetricFault:
        line = json.dumps(message).encode("ascii") + b"\n"
        try:
            reply = json.loads(_send_and_receive(self._process, line, seconds))
        except TimeoutError:
            return MetricFault(f"was ended at its limit of {seconds:g} s", is_limit=True)
        except (EOFError, OSError):
            return MetricFault("ended its own process, or was ended by the system")
        except (ValueError, RecursionError):
            return MetricFault("disturbed the exchange with its process")
        if not isinstance(reply, dict) or reply.get("number") != self._numbers:
            return MetricFault("disturbed the exchange with its process")
        return reply


def declare(code: MetricCode) -> OwnMetric:
    """Return what the code declares, by loading it once. Raises BenchmarkError as `OwnMetricProcess` does."""
    process = OwnMetricProcess(code)
    process.end()
    return process.declared


def _write_code(code: MetricCode, folder: Path) -> Path:
    """Write a copy of the code, which cannot change later and has no compiled files, and an empty folder."""
    (folder / "empty").mkdir()
    for file in code.files:
        name = file.path if code.module else "metric.py"
        path = folder / "code" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    return folder / "code"


def _start_process(cwd: str) -> WorkerProcess:
    process = WorkerProcess(
        Path(worker.__file__),
        flags=_FLAGS,
        cwd=cwd,
        environment=_ENVIRONMENT,
        has_own_group=True,
    )
    os.set_blocking(process.requests.fileno(), False)
    os.set_blocking(process.replies.fileno(), False)
    return process


def _send_and_receive(process: WorkerProcess, line: bytes, seconds: float) -> bytes:
    """Send a line and return the line that comes back.

    A process that was stopped or that reads nothing costs no more than the time limit.

    Raises:
        TimeoutError: there is no whole reply within the time limit.
        EOFError, OSError: the process has ended.
        ValueError: the reply is too long, or more than one line.
    """
    deadline = time.monotonic() + seconds
    to_send = memoryview(line)
    requests, replies = process.requests.fileno(), process.replies.fileno()
    pipes = select.poll()
    pipes.register(replies, select.POLLIN)
    pipes.register(requests, select.POLLOUT)
    reply = b""
    while not reply.endswith(b"\n"):
        patience_s = deadline - time.monotonic()
        ready = dict(pipes.poll(max(patience_s, 0) * 1000))
        if not ready:
            raise TimeoutError
        if replies in ready:
            part = os.read(replies, _REPLY_BYTES)
            if not part:
                raise EOFError
            reply += part
            if len(reply) > _REPLY_BYTES:
                raise ValueError
        elif requests in ready:
            to_send = to_send[os.write(requests, to_send) :]
            if not to_send:
                pipes.unregister(requests)
    if reply.count(b"\n") != 1:
        raise ValueError
    return reply


def _read_fault(reply: Mapping[str, Any]) -> MetricFault:
    """Describe an error by its type, if that is one of Python's own, and its line. Names could be made from texts."""
    raised = reply.get("raised")
    kind = raised.get("type") if isinstance(raised, dict) else None
    line = raised.get("line") if isinstance(raised, dict) else None
    if kind == "MemoryError":
        return MetricFault(f"needed more than its limit of {MEMORY_BYTES // 2**20} MiB of memory")
    builtin = getattr(builtins, kind, None) if isinstance(kind, str) else None
    is_builtin = isinstance(builtin, type) and issubclass(builtin, BaseException)
    words = f"raised {kind}" if is_builtin else "raised an exception of its own type"
    words = f"{words} in line {line}" if isinstance(line, int) else words
    return MetricFault(words, is_final=False)
