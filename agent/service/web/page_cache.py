"""Pages of figures, kept for two seconds, so that fifty people who look at one page cost as much as one.

A kept page holds marks in place of the reader's name and of the secret of their forms; both are put in for each reader.
Pages with texts of instances are never kept.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from markupsafe import escape

from agent.service.frame import Frame
from agent.service.pages import PageFile
from agent.store import Audience

_KEPT_S: Final = 2.0
_MOST_PAGES: Final = 200
Draw = Callable[[Frame], PageFile | None]


@dataclass(slots=True)
class _Kept:
    """One page, or None if there is no such page, with the time at which it was drawn; and who draws it."""

    drawing: threading.Lock
    page: PageFile | None = None
    drawn_at: float = float("-inf")


class PageCache:
    """The pages drawn in the last two seconds. For several threads; a page is drawn by one of them at a time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[object, _Kept] = {}
        # Not guessable, so that no text on a page can contain them.
        self._account_mark = f"account{secrets.token_hex(16)}"
        self._csrf_mark = f"csrf{secrets.token_hex(16)}"

    def draw(self, path: str, audience: Audience, frame: Frame, draw: Draw) -> PageFile | None:
        """Return the page at `path` for a reader, as it is now or was at most two seconds ago.

        Args:
            path: the page.
            audience: the reader. Readers who see the same runs in equal frames share a page.
            frame: the reader's frame.
            draw: draws the page in a frame.
        """
        marked = replace(frame, account=self._account_mark, csrf=self._csrf_mark)
        kept = self._find((path, audience, marked))
        with kept.drawing:
            if self._clock() - kept.drawn_at >= _KEPT_S:
                kept.page = draw(marked)
                kept.drawn_at = self._clock()
            page = kept.page
        return None if page is None else self._put_in(page, frame)

    def forget(self) -> None:
        """Forget all pages, because what they show was deleted, or is no longer for everyone."""
        with self._lock:
            self._kept.clear()

    def _find(self, key: object) -> _Kept:
        with self._lock:
            if key not in self._kept and len(self._kept) >= _MOST_PAGES:
                self._kept.clear()
            return self._kept.setdefault(key, _Kept(threading.Lock()))

    def _put_in(self, page: PageFile, frame: Frame) -> PageFile:
        content = page.content.replace(self._account_mark.encode(), escape(frame.account).encode())
        return replace(page, content=content.replace(self._csrf_mark.encode(), frame.csrf.encode()))
