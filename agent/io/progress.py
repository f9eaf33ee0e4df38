"""The progress of runs on standard error: a bar for each on a terminal, plain lines elsewhere."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
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
_USUAL_SIZE = os.terminal_size((80, 24))
_LEAST_LABEL = 8  # characters of a label that is cut


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

    def draw_bar(self, width: int | None = None) -> str:
        """Return the progress as a bar on one line.

        Args:
            width: the most characters; the label is cut to fit, then the line. None for no limit.
        """
        filled = BAR_CELLS * self.done // max(1, self.total)
        bar = "█" * filled + "·" * (BAR_CELLS - filled)
        rest = f"  {bar} {self._describe_counts()}  {self.seconds:.0f} s{self._describe_left()}"
        if width is None:
            return self.label + rest
        label = self.label
        room = max(_LEAST_LABEL, width - len(rest))
        if len(label) > room:
            label = label[: room - 1] + "…"
        return (label + rest)[:width]

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


def combine_reports(reports: Sequence[ProgressReport]) -> ProgressReport:
    """Return one report of all runs that are carried out at the same time."""
    if len(reports) == 1:
        return reports[0]
    phases = dict.fromkeys(report.phase for report in reports if report.phase)
    slowest = max(reports, key=_estimate_rest)
    return ProgressReport(
        label=f"{len(reports)} runs at once",
        phase=" and ".join(sorted(phases)),
        done=sum(report.done for report in reports),
        failed=sum(report.failed for report in reports),
        total=sum(report.total for report in reports),
        seconds=max(report.seconds for report in reports),
        left=slowest.left,
        unscored=sum(report.unscored for report in reports),
        stored=sum(report.stored for report in reports),
    )


def _estimate_rest(report: ProgressReport) -> float:
    """Return roughly the seconds that a run still takes, to find the one that takes longest."""
    left = report.total - report.done - report.failed
    return report.seconds * left / max(1, report.done - report.stored)


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


class _Display:
    """The lines of all runs that are carried out at the same time, one below the other.

    Attributes:
        is_terminal: whether lines are drawn over.
        noted: the notes that were written.
    """

    def __init__(self, stream: TextIO, *, quiet: bool, one_line: bool) -> None:
        self.is_terminal = stream.isatty()
        self.noted: set[str] = set()
        self._stream = stream
        self._quiet = quiet
        self._one_line = one_line
        self._observer = _observer.get()
        self._observed = 0.0
        self._lanes: list[Progress] = []
        self._drawn = 0  # lines on the terminal that are drawn over

    def add(self, lane: "Progress") -> None:
        self._lanes.append(lane)

    def observe(self, lane: "Progress", *, at_once: bool = False, last: bool = False) -> None:
        """Report to the observer, about once a second or `at_once`; `last` if the lane's run has ended."""
        now = time.monotonic()
        if self._observer is None or not (at_once or now - self._observed >= _OBSERVE_EVERY_S):
            return
        self._observed = now
        shown = [each for each in self._lanes if each.is_open or each is lane]
        self._observer(combine_reports([each.report(last=last and each is lane) for each in shown]))

    def draw(self, lane: "Progress", *, last: bool = False) -> None:
        """Show a lane's progress; `last` if its run has ended."""
        if self._quiet:
            return
        if not self.is_terminal:
            if last or not lane.is_finished:
                self._stream.write(f"{lane.report(last=last).write_line()}\n")
        elif last:
            self._stream.write(f"{self._erase()}{lane.report(last=True).draw_bar()}\n")
            self._drawn = 0
            if any(each.is_open for each in self._lanes):
                self._draw_open()
        else:
            self._draw_open()
        self._stream.flush()

    def note(self, text: str) -> None:
        """Write a note above the lines, even when quiet."""
        self.noted.add(text)
        clear = self._erase() if self._drawn else ""
        has_lines = self._drawn > 0
        self._drawn = 0
        self._stream.write(f"{clear}note: {text}\n")
        if has_lines:
            self._draw_open()
        self._stream.flush()

    def _draw_open(self) -> None:
        """Draw the lines of all runs in work, over those that were drawn before."""
        reports = [lane.report() for lane in self._lanes if lane.is_open]
        width = None
        if len(self._lanes) > 1:
            # A line that the terminal breaks could not be drawn over with others.
            size = self._measure_terminal()
            width = size.columns - 1
            if self._one_line or len(reports) >= size.lines:
                reports = [combine_reports(reports)]
        bars = "\n".join(report.draw_bar(width) for report in reports)
        self._stream.write(f"{self._erase()}{bars}")
        self._drawn = len(reports)

    def _erase(self) -> str:
        """Return what takes the lines from the terminal that are to be drawn over."""
        return "\r\x1b[K" if self._drawn <= 1 else f"\r\x1b[{self._drawn - 1}A\x1b[J"

    def _measure_terminal(self) -> os.terminal_size:
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return _USUAL_SIZE
        return size if size.columns and size.lines else _USUAL_SIZE


class Progress:
    """A progress display for one run at a time, or for one run at a time in each of several lanes."""

    def __init__(
        self, stream: TextIO | None = None, *, quiet: bool = False, one_line: bool = False
    ) -> None:
        """Write to `stream` (default: standard error), or nowhere when `quiet`.

        With `one_line`, several runs at the same time have one line together, even on a terminal.
        """
        display = _Display(stream or sys.stderr, quiet=quiet, one_line=one_line)
        self._begin_lane(display)

    def open_lane(self) -> "Progress":
        """Return the display of a run that is carried out beside others. It shows notes and lines with this one."""
        lane = Progress.__new__(Progress)
        lane._begin_lane(self._display)
        return lane

    def _begin_lane(self, display: _Display) -> None:
        self._display = display
        self.is_open = False
        self._label = ""
        self._phase = ""
        self._total = 0
        self._done = 0
        self._failed = 0
        self._unscored = 0
        self._stored = 0
        self._began = 0.0
        self._shown = 0.0
        self._ticks = False
        self._describe_left: Callable[[], str] = str
        display.add(self)

    @property
    def noted(self) -> frozenset[str]:
        """The notes that were written, so that a report need not repeat them."""
        return frozenset(self._display.noted)

    @property
    def is_finished(self) -> bool:
        """Whether every instance of the run has an answer, or none for good."""
        return self._done + self._failed >= self._total

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
        self.is_open = True
        self._display.observe(self, at_once=True)
        if self._display.is_terminal:
            self._display.draw(self)

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
            self._show_in_time(TICK_BAR_EVERY_S if self._display.is_terminal else TICK_LINE_EVERY_S)
            return
        self._ticks = True
        self._show_in_time(0.0)

    def _show_in_time(self, interval_s: float | None = None) -> None:
        if interval_s is None:
            interval_s = BAR_EVERY_S if self._display.is_terminal else LINE_EVERY_S
        now = time.monotonic()
        self._display.observe(self)
        if now - self._shown >= interval_s:
            self._shown = now
            self._display.draw(self)

    def note(self, text: str) -> None:
        """Write a note for the user, even when `quiet`. Unfinished bars are drawn again below it."""
        self._display.note(text)

    def end(self) -> None:
        """Finish the run's line."""
        self.is_open = False
        self._display.observe(self, at_once=True, last=True)
        self._display.draw(self, last=True)

    def report(self, *, last: bool = False) -> ProgressReport:
        """Return the progress now; `last` if the run has ended."""
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
