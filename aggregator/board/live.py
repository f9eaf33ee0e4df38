"""The board as it stands now, served from memory: made once for a size of the log, however many people look at it."""

import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReadyError
from typing import Final

from aggregator.board.kept import read_kept
from aggregator.board.merging import merge_audited, merge_board
from aggregator.board.own_log import read_own_log
from aggregator.board.pages import BoardPages, Publication
from aggregator.board.releases import LogHead
from aggregator.home import Home
from aggregator.log import journal
from aggregator.registry.versions import newest_registry

log = logging.getLogger("aggregator.board")

WAIT_S: Final = 0.5  # how long a reader waits for a newer board before the present one is shown
PAGES_KEPT: Final = 512

_Version = tuple[int, int]  # size of the log, registry version


class LiveBoard:
    """Pages of the newest board that is ready. A newer one is made beside it, by one thread."""

    def __init__(self, home: Home) -> None:
        """Make nothing yet: the first reader does."""
        self._home = home
        self._lock = threading.Lock()
        self._maker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="board")
        self._ready: tuple[_Version, BoardPages] | None = None
        self._making: Future[None] | None = None
        self._kept: dict[str, bytes] = {}
        self._kept_of: BoardPages | None = None

    def pages(self) -> BoardPages:
        """Return the pages of the newest board, or for a moment those of the one before."""
        version = self._read_version()
        with self._lock:
            if self._ready is not None and self._ready[0] == version:
                return self._ready[1]
            if self._making is None or self._making.done():
                self._making = self._maker.submit(self._make)
            making, ready = self._making, self._ready
        try:
            making.result(timeout=None if ready is None else WAIT_S)
        except NotReadyError:
            pass  # the board is large; its page says of which log it is
        except Exception as error:
            if ready is None:
                raise
            log.error("the board could not be made again: %s", type(error).__name__)
        with self._lock:
            if self._ready is None:
                raise RuntimeError("no board was made")
            return self._ready[1]

    def page(self, path: str, query: Mapping[str, str]) -> tuple[bytes, str]:
        """Return one page or file, and a tag that changes when it may have changed.

        Raises:
            PageNotFoundError: the board has no such page.
        """
        pages = self.pages()
        head = pages.publication.head
        tag = f'W/"{head.size}-{head.registry}-{len(pages.publication.releases.entries)}"'
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
        """Wait for a board that is being made, and make no more."""
        self._maker.shutdown()

    def _read_version(self) -> _Version:
        with self._home.database.reading() as connection:
            return journal.size(connection), newest_registry(connection).version

    def _make(self) -> None:
        with self._home.database.reading() as connection:
            own = read_own_log(connection, self._home, _ignore)
        board = merge_board(own.shown, merge_audited(own.whole))
        head = LogHead(own.shown.checkpoint.size, own.shown.checkpoint.root.hex(), own.shown.registry.version)
        kept = read_kept(self._home.directory)
        publication = Publication(own.shown.registry, head, kept.releases, kept.references)
        pages = BoardPages(board, publication, live=True)
        with self._lock:
            self._ready = (head.size, head.registry), pages


def _ignore(_name: str, _content: bytes) -> None:
    """Take a file of the published log, which a live board does not need."""
