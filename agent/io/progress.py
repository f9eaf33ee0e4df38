"""The progress of a run on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TextIO

LINE_EVERY_S = 10.0
BAR_EVERY_S = 0.1
# While nothing is finished, only the time changes.
TICK_BAR_EVERY_S = 1.0
TICK_LINE_EVERY_S = 30.0
BAR_CELLS = 24
_OBSERVE_EVERY_S = 1.0
_RATED_FROM = 20  # finished instances


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """The progress of a run at one moment.

    Attributes:
        label: the benchmark and model; never text of an instance.
        phase: the kind of work, such as "asking" or "judging"; empty if there is only one.
        done: instances finished.
        failed: instances without an answer; not among those done.
        total: instances in all.
        seconds: time since the run began.
        left: words of the forecast; may be empty.
        unscored: instances finished whose answer has no score.
        stored: instances among those done whose answers were stored before.
    """

    label: str
    phase: str
    done: int
    failed: int
    total: int
    seconds: float
    left: str
    unscored: int = 0
    stored: int = 0

    @property
    def rate(self) -> float | None:
        """Instances finished in a second; None if too few have been finished to tell."""
        finished = self.done - self.stored
        if finished < _RATED_FROM or self.seconds <= 0.0:
            return None
        return finished / self.seconds

    def draw_bar(self) -> str:
        """Return the progress as a bar on one line."""
        filled = BAR_CELLS * self.done // max(1, self.total)
        bar = "█" * filled + "·" * (BAR_CELLS - filled)
        return f"{self.label}  {bar} {self._describe_counts()}  {self.seconds:.0f} s{self._describe_left()}"

    def write_line(self) -> str:
        """Return the progress as a plain line."""
        return (
            f"{self.label}  {self._describe_counts()}  {self.seconds:.1f} s{self._describe_left()}"
        )

    def _describe_counts(self) -> str:
        notes = []
        if self.failed:
            notes.append(f"{self.failed} without an answer")
        if self.unscored:
            notes.append(f"{self.unscored} unscored")
        counts = f"{self.done}/{self.total}"
        return f"{counts} ({', '.join(notes)})" if notes else counts

    def _describe_left(self) -> str:
        """Return rate and forecast while there is a forecast, that is, until the end."""
        if not self.left:
            return ""
        return f", {self.left}" if self.rate is None else f", {self.rate:.1f}/s, {self.left}"


Observer = Callable[[ProgressReport], None]
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observe_progress(observer: Observer) -> Iterator[None]:
    """Return a context in which `observer` is called with the progress of every run, about once a second.

    It is called in the thread of the run, which must not wait for it.
    """
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


class Progress:
    """A progress display for one run at a time."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        """Write to `stream` (default: standard error), or nowhere when `quiet`."""
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._terminal = self._stream.isatty()
        self._observer = _observer.get()
        self._label = ""
        self._phase = ""
        self._total = 0
        self._done = 0
        self._failed = 0
        self._unscored = 0
        self._stored = 0
        self._began = 0.0
        self._shown = 0.0
        self._observed = 0.0
        self._has_open_line = False
        self._ticks = False
        self._describe_left: Callable[[], str] = str
        self._noted: set[str] = set()

    @property
    def noted(self) -> frozenset[str]:
        """The notes that were written, so that a report need not repeat them."""
        return frozenset(self._noted)

    def begin(self, label: str, total: int, *, phase: str = "") -> None:
        """Start the display of a run.

        Args:
            label: contains only benchmark and model.
            total: the number of instances.
            phase: the kind of work, for those who observe it; the display does not name it.
        """
        self._describe_left = str
        self._label = label
        self._phase = phase
        self._total = total
        self._done = 0
        self._failed = 0
        self._unscored = 0
        self._stored = 0
        self._ticks = False
        self._began = time.monotonic()
        self._shown = self._began
        self._observe()
        if self._terminal:
            self._show()

    def show_left(self, describe: Callable[[], str]) -> None:
        """Show how long the run still takes, in the words of `describe`, which may be empty."""
        self._describe_left = describe

    def advance(self, count: int = 1, *, unscored: int = 0) -> None:
        """Add `count` finished instances; the answers of `unscored` of them have no score."""
        self._done += count
        self._unscored += unscored
        self._show_in_time()

    def advance_stored(self, count: int) -> None:
        """Add `count` instances that an earlier command finished; they do not count for the rate."""
        self._stored += count
        self.advance(count)

    def fail(self, count: int = 1) -> None:
        """Add `count` instances that have no answer. They are counted apart, so that a bar is full of answers only."""
        self._failed += count
        self._show_in_time()

    def tick(self) -> None:
        """Show the time that has passed although nothing was finished: at the first call at once, then rarely."""
        if self._ticks:
            self._show_in_time(TICK_BAR_EVERY_S if self._terminal else TICK_LINE_EVERY_S)
            return
        self._ticks = True
        self._show_in_time(0.0)

    def _show_in_time(self, interval_s: float | None = None) -> None:
        if interval_s is None:
            interval_s = BAR_EVERY_S if self._terminal else LINE_EVERY_S
        now = time.monotonic()
        if now - self._observed >= _OBSERVE_EVERY_S:
            self._observe()
        if now - self._shown >= interval_s:
            self._shown = now
            self._show()

    def note(self, text: str) -> None:
        """Write a note for the user, even when `quiet`. An unfinished bar is drawn again below it."""
        self._noted.add(text)
        clear = "\r\x1b[K" if self._has_open_line else ""
        self._stream.write(f"{clear}note: {text}\n")
        if self._has_open_line:
            self._show()
        self._stream.flush()

    def end(self) -> None:
        """Finish the run's line."""
        self._observe(last=True)
        self._show(last=True)

    def _report(self, *, last: bool = False) -> ProgressReport:
        return ProgressReport(
            label=self._label,
            phase=self._phase,
            done=self._done,
            failed=self._failed,
            total=self._total,
            seconds=time.monotonic() - self._began,
            left="" if last else self._describe_left(),
            unscored=self._unscored,
            stored=self._stored,
        )

    def _observe(self, *, last: bool = False) -> None:
        if self._observer is not None:
            self._observed = time.monotonic()
            self._observer(self._report(last=last))

    def _show(self, *, last: bool = False) -> None:
        if self._quiet:
            return
        report = self._report(last=last)
        if self._terminal:
            line_end = "\n" if last else ""
            self._stream.write(f"\r\x1b[K{report.draw_bar()}{line_end}")
            self._has_open_line = not last
        elif last or self._done + self._failed < self._total:
            self._stream.write(f"{report.write_line()}\n")
        self._stream.flush()
