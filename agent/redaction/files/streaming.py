"""Clearing a file of rows of any length: order kept, memory bounded, one process or several.

    with Processes(choice, task, 4) as processes:
        for part in redact_stream(lines_of(source), out.write, processes):
            ...

What one process cannot bear (a row that kills it) is withheld; the others go on.
"""

import secrets
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import IO, Any, Protocol, Self, cast

from agent.errors import RedactionError
from agent.redaction.files.rows import MOST_LINE, RowTally, RowTask, redact_rows, withheld_row
from agent.redaction.files.worker import EngineChoice, peak_mb, read_frame, write_frame
from agent.redaction.redacted import Withheld

_ROWS = 64  # at once
_BYTES = 256 * 1024  # at once, but for a single long row
_AHEAD = 2  # portions a process, so that none waits


@dataclass(frozen=True, slots=True)
class Portion:
    """Neighbouring lines of a file; `first` is the number of the first of them, counted from 1."""

    first: int
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What became of a portion.

    Attributes:
        lines: as they are written, in order.
        cpu_s: seconds of a processor it took.
        peak_mb: most memory that the process has held so far, in MB; None where nobody knows.
    """

    lines: list[bytes]
    tally: RowTally
    cpu_s: float
    peak_mb: float | None


class _Clearing(Protocol):
    def begin(self, portion: Portion) -> Future[Cleared]:
        """Begin to clear a portion."""
        ...

    @property
    def ahead(self) -> int:
        """How many portions may be begun before the first of them is awaited."""
        ...


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file without their ends. A line over MOST_LINE is cut off just behind it."""
    while line := file.readline(MOST_LINE + 2):
        if line.endswith(b"\n"):
            yield line.removesuffix(b"\n").removesuffix(b"\r")
            continue
        yield line
        while len(line) == MOST_LINE + 2 and not line.endswith(b"\n"):
            line = file.readline(MOST_LINE + 2)


def portions(lines: Iterable[bytes]) -> Iterator[Portion]:
    """Yield portions of lines; empty lines are left out, as JSON lines has none."""
    first, gathered, size = 1, list[bytes](), 0
    for line in lines:
        if not line.strip():
            continue
        gathered.append(line)
        size += len(line)
        if len(gathered) == _ROWS or size >= _BYTES:
            yield Portion(first, tuple(gathered))
            first, gathered, size = first + len(gathered), [], 0
    if gathered:
        yield Portion(first, tuple(gathered))


def redact_stream(lines: Iterable[bytes], write: Callable[[bytes], object], clearing: _Clearing) -> Iterator[Cleared]:
    """Clear lines and write them, in order; yield what became of each portion, without its lines, once it is written.

    Raises:
        RedactionError: the engine cannot be opened, or a row is none.
    """
    begun: deque[Future[Cleared]] = deque()

    def finish() -> Cleared:
        done = begun.popleft().result()
        for line in done.lines:
            write(line + b"\n")
        return Cleared([], done.tally, done.cpu_s, done.peak_mb)

    for portion in portions(lines):
        begun.append(clearing.begin(portion))
        if len(begun) >= clearing.ahead:
            yield finish()
    while begun:
        yield finish()


class InThisProcess:
    """Clears portions here, one after the other."""

    ahead = 1

    def __init__(self, choice: EngineChoice, task: RowTask) -> None:
        """Open the engine.

        Raises:
            RedactionError: it cannot be opened.
        """
        self._engine = choice.open()
        self._task = task

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self, portion: Portion) -> Future[Cleared]:
        """Clear a portion."""
        began, done = time.process_time(), Future[Cleared]()
        written, tally = redact_rows(portion.lines, portion.first, self._task, self._engine)
        done.set_result(Cleared(written, tally, time.process_time() - began, peak_mb()))
        return done


class Processes:
    """Clears portions in processes of their own. They end with the `with` block, or with this process."""

    def __init__(self, choice: EngineChoice, task: RowTask, count: int) -> None:
        self.ahead = _AHEAD * count
        key = choice.key or secrets.token_hex(32)  # of all processes
        self._opening = {"engine": {**asdict(choice), "key": key}, "task": asdict(task)}
        self._task = task
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="redact")
        self._idle: SimpleQueue[_Process | None] = SimpleQueue()
        for _ in range(count):
            self._idle.put(None)  # each starts with its first portion
        self._all: list[_Process] = []
        self._closed = False
        self.opening_cpu_s = 0.0  # seconds of a processor that the last one took to open its engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:  # a thread that waits for one finds it dead
            process.kill()
        self._threads.shutdown()
        for process in self._all:
            process.end()

    def begin(self, portion: Portion) -> Future[Cleared]:
        """Begin to clear a portion in whichever process is free first."""
        return self._threads.submit(self._clear, portion)

    def _clear(self, portion: Portion) -> Cleared:
        done = self._asked(portion)
        if done is not None:
            return done
        # Whatever ended the process (memory, say): each row again by itself, so that only those that end two are lost.
        tally, lines, used, peak = RowTally(), list[bytes](), 0.0, None
        for number, line in enumerate(portion.lines, portion.first):
            alone = Portion(number, (line,))
            one = self._asked(alone) or self._asked(alone)
            if one is None:
                lines.append(withheld_row(number, self._task, Withheld.ENGINE_ERROR, tally))
                continue
            lines += one.lines
            tally.add(one.tally)
            used, peak = used + one.cpu_s, one.peak_mb
        return Cleared(lines, tally, used, peak)

    def _asked(self, portion: Portion) -> Cleared | None:
        """Clear a portion in a process; None when the process died of it."""
        process = self._idle.get()
        if process is not None and process.is_dead():
            self._forget(process)
            process = None
        process = process or self._started()
        reply = process.ask({"first": portion.first}, portion.lines)
        if self._closed:
            raise CancelledError  # nobody waits for it any more
        if reply is None:
            self._forget(process)
            self._idle.put(None)
            return None
        self._idle.put(process)
        head, lines = reply
        _raise_error(head)
        tally = RowTally(**{**head["tally"], "withheld": Counter(head["tally"]["withheld"])})
        return Cleared(lines, tally, head["cpu_s"], head["peak_mb"])

    def _forget(self, process: "_Process") -> None:
        process.end()
        self._all.remove(process)

    def _started(self) -> "_Process":
        try:
            process = _Process()
            self._all.append(process)
            ready = process.ask(self._opening)
            if ready is None:
                raise RedactionError("a process that redacts ended before it began", "Is there memory for --workers?")
            _raise_error(ready[0])
            self.opening_cpu_s = ready[0]["cpu_s"]
        except BaseException:
            self._idle.put(None)  # whoever waits for one finds out as well
            raise
        return process


class _Process:
    """One process that clears, and its pipes."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-m", "agent.redaction.files.worker"]
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise RedactionError(f"a process that redacts cannot be started ({error.strerror})") from error

    def ask(self, head: Mapping[str, object], lines: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]] | None:
        """Send a frame and return the one that answers it; None when the process is dead."""
        try:
            write_frame(cast(IO[bytes], self._child.stdin), head, lines)
        except OSError:
            return None
        return read_frame(cast(IO[bytes], self._child.stdout))

    def is_dead(self) -> bool:
        """Tell whether it has ended."""
        return self._child.poll() is not None

    def kill(self) -> None:
        """Let it end: it holds nothing but what it was given."""
        self._child.kill()

    def end(self) -> None:
        """End it, and close its pipes."""
        self._child.kill()
        with suppress(OSError), self._child:  # closes its pipes and waits
            pass


def _raise_error(head: dict[str, Any]) -> None:
    if "error" in head:
        raise RedactionError(*head["error"])
