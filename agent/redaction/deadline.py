"""The time limit for one field, shared by all steps that analyse the field.

The limit is the processor time of this thread, because on a busy machine a field waits for its turn through no fault of
its text. Patterns of the `regex` module count the processor time of the whole process, so they may give up too early
while other threads work; the step is then run again (see `Deadline.repeat`).
"""

import time
from collections.abc import Callable
from typing import TypeVar

_PATIENCE = 60.0  # seconds that may pass for each second of processor time, so that a process that is stopped ends
_MAX_UNCERTAINTY = (
    0.5  # share of the time left up to which the clock of the processor, which is slow, is not read
)

_Result = TypeVar("_Result")


class Deadline:
    """The processor time left for the current field. Restarted for each field."""

    def __init__(self) -> None:
        self._end_of_patience = 0.0
        # The processor time left when its clock was last read, and the time of that reading.
        self._left = 0.0
        self._read_at = 0.0
        self._end = 0.0

    def start(self, seconds: float) -> None:
        """Allow `seconds` of processor time from now for the next field."""
        self._left = seconds
        self._read_at = time.monotonic()
        self._end = time.thread_time() + seconds
        self._end_of_patience = self._read_at + seconds * _PATIENCE

    def left(self) -> float:
        """Return a number of seconds of processor time that is certainly left, at least half of the time left.

        Raises:
            TimeoutError: no time is left.
        """
        now = time.monotonic()
        # A thread uses no more processor time than the time that passes.
        certainly_left = self._left - (now - self._read_at)
        if certainly_left > _MAX_UNCERTAINTY * self._left:
            return certainly_left
        self._left = self._end - time.thread_time()
        self._read_at = now
        if self._left <= 0 or now >= self._end_of_patience:
            raise TimeoutError
        return self._left

    def repeat(self, step: Callable[[], _Result]) -> _Result:
        """Return the result of `step`, which is run again if it gave up while time was left.

        Raises:
            TimeoutError: no time is left.
        """
        while True:
            try:
                return step()
            except TimeoutError:
                self.left()
