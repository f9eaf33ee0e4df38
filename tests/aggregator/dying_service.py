"""A service that is killed before any step of taking a statement; `tests.forked` calls `die_at_step` in its process."""

import os
import signal
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.pool import Pool

from aggregator.api import submission_routes

_STEPS = ("before_cursor_execute", "after_cursor_execute", "begin", "commit", "rollback")


class Countdown:
    """Counts the steps of a post, and kills the process before the last of them."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._left: int | None = None
        self._accept = submission_routes.accept

    def accept(self, *arguments: Any, **named: Any) -> Any:
        """Accept a statement, and count."""
        self._left = self._step
        try:
            receipted = self._accept(*arguments, **named)
            self.take_step()  # decided, and not yet answered
            return receipted
        finally:
            self._left = None

    def take_step(self, *_: object) -> None:
        """Count one step, if a statement is being accepted."""
        if self._left is None:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def die_at_step(step: int) -> None:
    """Kill this process at a step of the first post that takes so many."""
    countdown = Countdown(step)
    submission_routes.accept = countdown.accept  # type: ignore[assignment]
    for name in _STEPS:
        event.listen(Engine, name, countdown.take_step)
    event.listen(Pool, "checkin", countdown.take_step)
