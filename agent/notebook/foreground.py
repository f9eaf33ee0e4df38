"""Run a command's work in a notebook, whose thread already has an event loop, with progress shown in place."""

import asyncio
import contextlib
import ctypes
import gc
import io
import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TextIO, TypeVar, cast

from agent.io.progress import Progress

T = TypeVar("T")
_CLEAR = "\r\x1b[K"  # begins each line that `Progress` draws over another
_WAIT_S = 0.1  # a thread that waits without end cannot be interrupted on every system


def run_in_foreground(work: Callable[[], T]) -> T:
    """Do the work and return its result.

    A notebook's thread has a running event loop, in which the agent's own loop cannot run. The work is then done in
    another thread, while this one waits. An interrupt stops the work as Ctrl-C stops a command.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    worker = _Worker(work)
    worker.start()
    try:
        worker.wait()
    except KeyboardInterrupt:
        worker.interrupt()
        worker.wait()
        raise
    return worker.read_result()


class _Worker(threading.Thread, Generic[T]):
    """A thread that keeps the result, or the error, of its work."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(name="intramural-run", daemon=True)
        self._work = work
        self._context = copy_context()
        self._results: list[T] = []
        self._error: BaseException | None = None
        # Thread.join takes a thread for ended if it is interrupted, so that an event tells of the end.
        self._ended = threading.Event()

    def run(self) -> None:
        """Do the work in the context of the thread that waits."""
        try:
            self._results.append(self._context.run(self._work))
        except BaseException as error:  # noqa: BLE001 (raised again by read_result)
            self._error = error
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Wait until the work has ended. An interrupt of the waiting thread ends the waiting, not the work."""
        while not self._ended.wait(_WAIT_S):
            pass

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in this thread at its next step; answers that have arrived are kept."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self.ident or 0), ctypes.py_object(KeyboardInterrupt)
        )
        _wake_loops()

    def read_result(self) -> T:
        """Return the result, or raise the error."""
        if self._error is not None:
            raise self._error
        return self._results[0]


def _wake_loops() -> None:
    """Let every event loop of the process take a step.

    The loop of the work may be waiting for a reply, and its thread would notice an interrupt only then. It cannot be
    told from others, to which a step without work does no harm.
    """
    for thing in gc.get_objects():
        if isinstance(thing, asyncio.AbstractEventLoop) and thing.is_running():
            with contextlib.suppress(RuntimeError):  # it was closed meanwhile
                thing.call_soon_threadsafe(_do_nothing)


def _do_nothing() -> None:
    """Take a step."""


def open_progress(*, quiet: bool) -> Progress:
    """Return the display of a run: in a notebook one line that is drawn over, elsewhere as on the command line."""
    is_notebook = "ipykernel" in sys.modules and not sys.stderr.isatty()
    stream = cast(TextIO, _DrawnOver()) if is_notebook else None
    return Progress(stream, quiet=quiet, one_line=is_notebook)


class _DrawnOver(io.TextIOBase):
    """Standard error of a notebook, which draws a line over after a carriage return but knows no other control.

    What a longer line leaves is covered with spaces, in place of the control that clears a line.
    """

    def __init__(self) -> None:
        super().__init__()
        self._width = 0

    def isatty(self) -> bool:
        """Return that lines can be drawn over."""
        return True

    def write(self, text: str) -> int:
        """Write a line, over the previous one if it begins with the control that clears it."""
        *_, line = text.split(_CLEAR)
        words = line.removesuffix("\n")
        padded = words.ljust(self._width) if _CLEAR in text else words
        ends = line != words
        self._width = 0 if ends else len(words)
        start = "\r" if _CLEAR in text else ""
        end = "\n" if ends else ""
        sys.stderr.write(start + padded + end)
        return len(text)

    def flush(self) -> None:
        """Show what has been written."""
        sys.stderr.flush()
