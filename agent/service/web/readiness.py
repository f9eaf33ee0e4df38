"""Whether the service can do its work: its store can be read, and its queue is worked off."""

import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from agent.errors import AgentError
from agent.site.directory import Site

CHECKS: Final = ("store", "queue")
_KEPT_S: Final = 1.0  # everyone may ask, as often as they like


class Readiness:
    """The checks, of which the outcome is kept for a second.

    Args:
        find_site: returns the site.
        find_queue_problem: returns why the queue stands still; empty if it does not.
    """

    def __init__(
        self, find_site: Callable[[], Site], find_queue_problem: Callable[[], str]
    ) -> None:
        self._find_site = find_site
        self._find_queue_problem = find_queue_problem
        self._lock = threading.Lock()
        self._checks: Mapping[str, bool] = {}
        self._checked_at = 0.0

    def check(self) -> Mapping[str, bool]:
        """Return by its name whether each check passes."""
        with self._lock:
            if not self._checks or time.monotonic() - self._checked_at > _KEPT_S:
                is_queue_well = not self._find_queue_problem()
                self._checks = {"store": self._can_read_store(), "queue": is_queue_well}
                self._checked_at = time.monotonic()
            return self._checks

    def _can_read_store(self) -> bool:
        try:
            with self._find_site().store() as store:
                store.jobs.count_states()
        except (AgentError, sqlite3.Error):
            return False
        return True
