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
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class _Notice:
    """A sentence, and when it was left."""

    words: str
    left_at: float


class Notices:
    """The sentences that wait for their pages. For several threads.

    Each waits for one page of one session, so that another page, such as one in another tab, neither uses it up nor
    replaces it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._notices: dict[tuple[str, str], _Notice] = {}

    def leave(self, session_id: str, address: str, words: str) -> None:
        """Leave a sentence for the page at an address. It replaces an earlier one for this page."""
        path = unquote(address.partition("#")[0].partition("?")[0])
        with self._lock:
            self._notices.pop((session_id, path), None)
            while len(self._notices) >= _MOST:
                del self._notices[next(iter(self._notices))]
            self._notices[session_id, path] = _Notice(words, self._clock())

    def take(self, session_id: str, path: str) -> str:
        """Return the sentence for a page, which is then forgotten; empty if there is none."""
        with self._lock:
            notice = self._notices.pop((session_id, path), None)
        if notice is None or self._clock() - notice.left_at > _KEPT_S:
            return ""
        return notice.words
