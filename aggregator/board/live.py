"""The current board, served from memory. It is built once for each size of the log, however many readers it has."""

import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReadyError
from typing import Final

from aggregator.board.followed_log import FollowedLog
from aggregator.board.kept import read_kept, stamp_kept
from aggregator.board.merging import merge_audited, merge_board
from aggregator.board.own_log import read_own_log
from aggregator.board.pages import BoardPages, Publication
from aggregator.board.releases import BoardOrigin
from aggregator.home import Home
from aggregator.log import journal
from aggregator.registry.versions import newest_registry

log = logging.getLogger("aggregator.board")

WAIT_S: Final = 0.5  # how long a reader waits for a newer board before the current one is shown
# How long a reader waits for the first board; meanwhile, readers of the log wait too.
FIRST_WAIT_S: Final = 5.0
# Pause after a board, as a multiple of its build time: building takes at most a tenth of the time.
REST: Final = 9.0
# Deducted from that pause, so that a small board is rebuilt after every entry.
REST_FREE_S: Final = 5.0
PAGES_KEPT: Final = 512

# Size of the log, registry version, `stamp_kept` of the home.
_Version = tuple[int, int, tuple[int, ...]]


class BoardNotReadyError(Exception):
    """The first board is still being built."""


class LiveBoard:
    """The pages of the newest board that is ready. One background thread builds the next one."""

    def __init__(self, home: Home, *, rest: float = REST, rest_free_s: float = REST_FREE_S) -> None:
        """Create a live board. Nothing is built until the first reader asks.

        Args:
            home: The aggregator's directory.
            rest: Pause after building a board, as a multiple of its build time.
            rest_free_s: Seconds deducted from that pause.
        """
        self._home = home
        self._rest, self._rest_free_s = rest, rest_free_s
        self._rests_until = 0.0
        self._lock = threading.Lock()
        self._maker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="board")
        self._ready: tuple[_Version, BoardPages] | None = None
        self._making: Future[None] | None = None
        self._followed: FollowedLog | None = None  # used by the building thread only
        self._kept: dict[str, bytes] = {}
        self._kept_of: BoardPages | None = None

    def pages(self) -> BoardPages:
        """Return the pages of the newest board. While it is being built, return those of the previous one.

        Raises:
            BoardNotReadyError: the first board is still being built.
        """
        version = self._read_version()
        with self._lock:
            if self._ready is not None and self._ready[0] == version:
                return self._ready[1]
            if self._making is None or self._making.done():
                if self._ready is not None and time.monotonic() < self._rests_until:
                    return self._ready[1]
                self._making = self._maker.submit(self._make)
            making, ready = self._making, self._ready
        try:
            making.result(timeout=FIRST_WAIT_S if ready is None else WAIT_S)
        except NotReadyError:
            if ready is None:
                raise BoardNotReadyError from None
            # A large board may be older than the log. Its pages state the log size.
        except Exception as error:
            if ready is None:
                raise
            log.error("the board could not be rebuilt: %s", type(error).__name__)
        with self._lock:
            if self._ready is None:
                raise RuntimeError("no board was built")
            return self._ready[1]

    def page(self, path: str, query: Mapping[str, str]) -> tuple[bytes, str]:
        """Return a page or file, and a tag that changes whenever its content may have changed.

        Raises:
            PageNotFoundError: the board does not have this page.
            BoardNotReadyError: the first board is still being built.
        """
        pages = self.pages()
        tag = _tag(pages.publication)
        if query:
            return pages.page(path, query), tag
        with self._lock:
            if self._kept_of is not pages:
                self._kept, self._kept_of = {}, pages
            content = self._kept.get(path)
        if content is None:
            content = pages.page(path)
            with self._lock:
                if self._kept_of is pages and len(self._kept) < PAGES_KEPT:
                    self._kept[path] = content
        return content, tag

    def close(self) -> None:
        """Wait for a board that is being built, and do not build any more."""
        self._maker.shutdown()

    def _read_version(self) -> _Version:
        with self._home.database.reading() as connection:
            size, registry = journal.size(connection), newest_registry(connection).version
        return size, registry, stamp_kept(self._home.directory)

    def _make(self) -> None:
        began = time.monotonic()
        stamp = stamp_kept(self._home.directory)
        followed, self._followed = self._followed, None  # a failed attempt is not continued
        with self._home.database.reading() as connection:
            own = read_own_log(connection, self._home, known=followed)
        board = merge_board(own.shown, merge_audited(own.whole))
        head = BoardOrigin(
            own.shown.checkpoint.size, own.shown.checkpoint.root.hex(), own.shown.registry.version
        )
        kept = read_kept(self._home.directory)
        publication = Publication(own.shown.registry, head, kept.releases, kept.references)
        pages = BoardPages(board, publication, live=True)
        self._followed = own.followed
        ended = time.monotonic()
        with self._lock:
            self._ready = (head.size, head.registry, stamp), pages
            self._rests_until = ended + max(0.0, self._rest * (ended - began) - self._rest_free_s)


def _tag(publication: Publication) -> str:
    """Return a tag that identifies everything the pages are built from."""
    head = publication.head
    beside = "".join(reference.copy_digest[:8] for reference in publication.references)
    return f'W/"{head.size}-{head.registry}-{len(publication.releases.entries)}-{beside}"'
