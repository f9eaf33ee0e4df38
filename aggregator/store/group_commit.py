"""Several pieces of writing in one transaction: under load the disk is awaited once for all that came meanwhile.

No thread waits for company. The one that finds the writer free takes all that is queued, its own included; those that
come while it writes are queued for the next.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from sqlalchemy import Connection

from aggregator.errors import StoreError
from aggregator.store.database import Database

MAX_TOGETHER = 32  # pieces in one transaction, so that none waits long for the others

T = TypeVar("T")
_Piece = tuple[Callable[[Connection], object], "Future[object]"]


class GroupCommit:
    """Runs pieces of writing one after the other, as many as there are in each transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer = threading.Lock()
        self._queue: deque[_Piece] = deque()

    def run(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns, once it is committed.

        `work` may run twice: a failure of any piece takes back the whole transaction, and every piece is then tried in
        one of its own.

        Raises:
            StoreError: the database failed.
            Exception: whatever `work` raises; nothing of it was written.
        """
        done: Future[object] = Future()
        self._queue.append((work, done))
        with self._writer:
            while not done.done():
                self._write_together(self._take())
        return done.result()  # type: ignore[return-value]

    def _take(self) -> list[_Piece]:
        """Take the oldest pieces off the queue."""
        together: list[_Piece] = []
        while self._queue and len(together) < MAX_TOGETHER:
            together.append(self._queue.popleft())
        return together

    def _write_together(self, pieces: Sequence[_Piece]) -> None:
        try:
            with self._database.writing() as connection:
                results = [work(connection) for work, _ in pieces]
        except Exception as error:  # noqa: BLE001 - given to the thread that waits for it
            if len(pieces) == 1:
                pieces[0][1].set_exception(error)
                return
            try:
                for piece in pieces:
                    self._write_together([piece])
            finally:
                _fail_unfinished(pieces)
            return
        except BaseException as error:
            for _, done in pieces:
                done.set_exception(error)
            raise
        # Leaving the block has committed: only now may anybody hear of it.
        for (_, done), result in zip(pieces, results, strict=True):
            done.set_result(result)


def _fail_unfinished(pieces: Sequence[_Piece]) -> None:
    """Let nobody wait for a piece that an interruption kept from being tried."""
    for _, done in pieces:
        if not done.done():
            done.set_exception(StoreError("the database was not reached: the process is ending"))
