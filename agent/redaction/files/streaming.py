"""Redact a file of rows of any length in one process or several, in order and with bounded memory.

    with WorkerPool(choice, task, 4) as workers:
        for portion in redact_stream(lines_of(source), out.write, workers):
            ...

A row that terminates two processes is withheld; the other rows are redacted.
"""

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from queue import SimpleQueue
from typing import IO, Any, Protocol, Self

from agent.errors import RedactionError
from agent.io.worker_process import WorkerProcess
from agent.redaction.files.division import PORTION, group_rows
from agent.redaction.files.rows import MAX_LINE, RowTally, RowTask, redact_rows, write_withheld_row
from agent.redaction.files.worker import EngineChoice, peak_mb, read_frame, write_frame
from agent.redaction.redacted import Withheld

_AHEAD = 2  # portions started per process, so that no process waits for its next portion


@dataclass(frozen=True, slots=True)
class Portion:
    """Consecutive lines of a file. `first` is the number of the first line, starting at 1."""

    first: int
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class RedactedPortion:
    """A portion after redaction.

    Attributes:
        lines: output lines, in order.
        cpu_s: processor seconds that the redaction took.
        peak_mb: peak memory of the process so far, in MB; None if the system does not report it.
    """

    lines: list[bytes]
    tally: RowTally
    cpu_s: float
    peak_mb: float | None


class _Worker(Protocol):
    def begin(self, portion: Portion) -> Future[RedactedPortion]:
        """Start redacting a portion."""
        ...

    @property
    def ahead(self) -> int:
        """The number of portions that may be started before the first result is awaited."""
        ...


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file without line ends. A line longer than MAX_LINE is truncated just after that length."""
    for _, _, line in locate_lines(file):
        yield line


def locate_lines(file: IO[bytes], start: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Yield each line with its position: where it starts, and where the next line starts.

    Args:
        file: is read from where it is.
        start: the position where it is.
    """
    while line := file.readline(MAX_LINE + 2):
        end = start + len(line)
        if line.endswith(b"\n"):
            yield start, end, line.removesuffix(b"\n").removesuffix(b"\r")
            start = end
            continue
        truncated = line
        while len(line) == MAX_LINE + 2 and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 2)
            end += len(line)
        yield start, end, truncated
        start = end


def split_portions(lines: Iterable[bytes], first: int = 1) -> Iterator[Portion]:
    """Yield portions of lines, omitting empty lines, which are not rows; `first` is the number of the first row."""
    rows = (line for line in lines if line.strip())
    for group in group_rows(rows, len, PORTION):
        yield Portion(first, tuple(group))
        first += len(group)


def redact_stream(
    lines: Iterable[bytes], write: Callable[[bytes], object], worker: _Worker, first: int = 1
) -> Iterator[RedactedPortion]:
    """Redact lines and write them in order; yield each portion, without its lines, after it is written.

    Args:
        lines: of a file, or of a part of it.
        write: called with each redacted line and its line end.
        worker: redacts the portions.
        first: number of the first row in its file, starting at 1.

    Raises:
        RedactionError: the engine cannot be opened, or a row cannot be read.
    """
    begun: deque[Future[RedactedPortion]] = deque()

    def finish_first() -> RedactedPortion:
        portion = begun.popleft().result()
        for line in portion.lines:
            write(line + b"\n")
        return replace(portion, lines=[])

    for portion in split_portions(lines, first):
        begun.append(worker.begin(portion))
        if len(begun) >= worker.ahead:
            yield finish_first()
    while begun:
        yield finish_first()


class LocalWorker:
    """Redacts portions in this process, one after the other."""

    ahead = 1

    def __init__(self, choice: EngineChoice, task: RowTask) -> None:
        """Open the engine.

        Raises:
            RedactionError: the engine cannot be opened.
        """
        self._engine = choice.open()
        self._task = task

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self, portion: Portion) -> Future[RedactedPortion]:
        """Redact a portion, and return a completed future."""
        started = time.process_time()
        lines, tally = redact_rows(portion.lines, portion.first, self._task, self._engine)
        cpu_s = time.process_time() - started
        future = Future[RedactedPortion]()
        future.set_result(RedactedPortion(lines, tally, cpu_s, peak_mb()))
        return future


class WorkerPool:
    """Redacts portions in several processes, which end with the `with` block or with this process."""

    def __init__(self, choice: EngineChoice, task: RowTask, count: int) -> None:
        self.ahead = _AHEAD * count
        # One key for all processes, so that they write the same surrogates.
        key = choice.key or secrets.token_hex(32)
        self._opening = {"engine": {**asdict(choice), "key": key}, "task": asdict(task)}
        self._task = task
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="redact")
        self._idle: SimpleQueue[_RedactionProcess | None] = SimpleQueue()
        for _ in range(count):
            self._idle.put(None)  # the process is started for its first portion
        self._all: list[_RedactionProcess] = []
        self._closed = False
        self.opening_cpu_s = 0.0  # processor seconds that the last process took to open its engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.kill()  # unblocks the thread that waits for a reply of this process
        self._threads.shutdown()
        for process in self._all:
            process.end()

    def begin(self, portion: Portion) -> Future[RedactedPortion]:
        """Start redacting a portion in the first process that is free."""
        return self._threads.submit(self._redact, portion)

    def _redact(self, portion: Portion) -> RedactedPortion:
        redacted = self._ask_process(portion)
        if redacted is None:
            return self._redact_row_by_row(portion)
        return redacted

    def _redact_row_by_row(self, portion: Portion) -> RedactedPortion:
        """Redact each row of a portion separately, so that only rows that terminate two processes are withheld.

        Called when a portion terminated its process: one row needed too much memory, or the system killed the process.
        """
        redacted = RedactedPortion([], RowTally(), 0.0, None)
        for number, line in enumerate(portion.lines, portion.first):
            row = Portion(number, (line,))
            redacted_row = self._ask_process(row) or self._ask_process(row)
            if redacted_row is None:
                redacted.lines.append(
                    write_withheld_row(number, self._task, Withheld.ENGINE_ERROR, redacted.tally)
                )
                continue
            redacted.lines.extend(redacted_row.lines)
            redacted.tally.add(redacted_row.tally)
            redacted.tally.dead_letters += redacted_row.tally.dead_letters
            redacted = replace(
                redacted, cpu_s=redacted.cpu_s + redacted_row.cpu_s, peak_mb=redacted_row.peak_mb
            )
        return redacted

    def _ask_process(self, portion: Portion) -> RedactedPortion | None:
        """Redact a portion in a process; return None if the process ended before it replied."""
        process = self._take_idle()
        reply = process.ask({"first": portion.first}, portion.lines)
        if self._closed:
            raise CancelledError  # the `with` block has ended, so no caller waits for the result
        if reply is None:
            self._forget(process)
            self._idle.put(None)
            return None
        self._idle.put(process)
        head, lines = reply
        _raise_error(head)
        tally = RowTally.load(head["tally"])
        return RedactedPortion(lines, tally, head["cpu_s"], head["peak_mb"])

    def _take_idle(self) -> "_RedactionProcess":
        """Wait for an idle process; start a new one if the process died or was never started."""
        process = self._idle.get()
        if process is not None and process.is_dead():
            self._forget(process)
            process = None
        return process or self._start_process()

    def _forget(self, process: "_RedactionProcess") -> None:
        process.end()
        self._all.remove(process)

    def _start_process(self) -> "_RedactionProcess":
        try:
            process = _RedactionProcess()
            self._all.append(process)
            ready = process.ask(self._opening)
            if ready is None:
                raise RedactionError(
                    "a redaction process ended before it was ready",
                    "Check that there is enough memory for the number of --workers.",
                )
            _raise_error(ready[0])
            self.opening_cpu_s = ready[0]["cpu_s"]
        except BaseException:
            self._idle.put(None)  # so that the next waiting thread also raises the error
            raise
        return process


class _RedactionProcess(WorkerProcess):
    """A process that redacts portions, one at a time. It holds no other portion in memory."""

    def __init__(self) -> None:
        try:
            super().__init__("agent.redaction.files.worker")
        except OSError as error:
            raise RedactionError(
                f"a redaction process cannot be started ({error.strerror})"
            ) from error

    def ask(
        self, head: Mapping[str, object], lines: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[bytes]] | None:
        """Send a frame and return the reply, or None if the process has died."""
        try:
            write_frame(self.requests, head, lines)
        except OSError:
            return None
        return read_frame(self.replies)


def _raise_error(head: dict[str, Any]) -> None:
    if "error" in head:
        raise RedactionError(*head["error"])
