"""Sentences that confirm what a form did: kept in memory with a session, and shown once, on the page that follows.

They are no part of an address, which browsers and proxies remember. A restart loses them.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

_KEPT_S: Final = 120.0
_MOST_SESSIONS: Final = 1000


@dataclass(frozen=True, slots=True)
class _Notice:
    """A sentence, the page on which it is to be shown, and when it was left."""

    path: str
    words: str
    left_at: float


class Notices:
    """The sentences that wait for their pages. For several threads.

    Each waits for one page, so that another page of the same session, such as one in another tab, does not use it up.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._notices: dict[str, _Notice] = {}

    def leave(self, session_id: str, address: str, words: str) -> None:
        """Leave a sentence for the page at an address. It replaces an earlier one of the session."""
        path = unquote(address.partition("#")[0].partition("?")[0])
        with self._lock:
            self._notices.pop(session_id, None)
            while len(self._notices) >= _MOST_SESSIONS:
                del self._notices[next(iter(self._notices))]
            self._notices[session_id] = _Notice(path, words, self._clock())

    def take(self, session_id: str, path: str) -> str:
        """Return the sentence for a page, which is then forgotten; empty if there is none."""
        with self._lock:
            notice = self._notices.get(session_id)
            if notice is None:
                return ""
            is_old = self._clock() - notice.left_at > _KEPT_S
            if is_old or notice.path == path:
                del self._notices[session_id]
            return notice.words if notice.path == path and not is_old else ""
