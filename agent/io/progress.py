"""The progress of a run on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

LINE_EVERY_S = 10.0
BAR_EVERY_S = 0.1
# While nothing is finished, only the time changes.
TICK_BAR_EVERY_S = 1.0
TICK_LINE_EVERY_S = 30.0
BAR_CELLS = 24


class Progress:
    """A progress display for one run at a time."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        """Write to `stream` (default: standard error), or nowhere when `quiet`."""
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._terminal = self._stream.isatty()
        self._label = ""
        self._total = 0
        self._done = 0
        self._failed = 0
        self._began = 0.0
        self._shown = 0.0
        self._has_open_line = False
        self._ticks = False
        self._describe_left: Callable[[], str] = str

    def begin(self, label: str, total: int) -> None:
        """Start the display of a run with `total` instances. `label` contains only benchmark and model."""
        self._describe_left = str
        self._label = label
        self._total = total
        self._done = 0
        self._failed = 0
        self._ticks = False
        self._began = time.monotonic()
        self._shown = self._began
        if self._terminal:
            self._show()

    def show_left(self, describe: Callable[[], str]) -> None:
        """Show how long the run still takes, in the words of `describe`, which may be empty."""
        self._describe_left = describe

    def advance(self, count: int = 1) -> None:
        """Add `count` finished instances."""
        self._done += count
        self._show_in_time()

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
        if now - self._shown >= interval_s:
            self._shown = now
            self._show()

    def note(self, text: str) -> None:
        """Write a note for the user, even when `quiet`. An unfinished bar is drawn again below it."""
        clear = "\r\x1b[K" if self._has_open_line else ""
        self._stream.write(f"{clear}note: {text}\n")
        if self._has_open_line:
            self._show()
        self._stream.flush()

    def end(self) -> None:
        """Finish the run's line."""
        self._show(last=True)

    def _show(self, *, last: bool = False) -> None:
        if self._quiet:
            return
        seconds = time.monotonic() - self._began
        counts = f"{self._done}/{self._total}"
        if self._failed:
            counts += f" ({self._failed} without an answer)"
        left = "" if last else self._describe_left()
        left = left and f", {left}"
        if self._terminal:
            filled = BAR_CELLS * self._done // max(1, self._total)
            bar = "█" * filled + "·" * (BAR_CELLS - filled)
            line_end = "\n" if last else ""
            self._stream.write(
                f"\r\x1b[K{self._label}  {bar} {counts}  {seconds:.0f} s{left}{line_end}"
            )
            self._has_open_line = not last
        elif last or self._done + self._failed < self._total:
            self._stream.write(f"{self._label}  {counts}  {seconds:.1f} s{left}\n")
        self._stream.flush()
