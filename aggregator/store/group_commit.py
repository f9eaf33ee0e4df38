"""Several pieces of writing in one transaction: under load the disk is awaited once for all that came meanwhile.

No thread waits for company. The one that finds the writer free takes all that is queued, its own included; those that
come while it writes are queued for the next.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import Connection

from aggregator.errors import StoreError
from aggregator.store.database import Database

MAX_TOGETHER = 32  # pieces in one transaction, so that none waits long for the others

Item = TypeVar("Item")
Result = TypeVar("Result")
_Write = Callable[[Connection, Sequence[Any]], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Piece:
    write: _Write
    item: Any
    done: "Future[Any]"


class GroupCommit:
    """Runs pieces of writing, as many as there are in each transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer = threading.Lock()
        self._queue: deque[_Piece] = deque()

    def run(
        self, write: Callable[[Connection, Sequence[Item]], Sequence[Result]], item: Item
    ) -> Result:
        """Return the result of writing `item`, once it is committed.

        Args:
            write: writes several items and returns a result for each. It may be called twice for an item: a failure
                takes back the whole transaction, and every item of it is then tried in one of its own.
            item: what is to be written.

        Raises:
            StoreError: the database failed.
            Exception: whatever `write` raises; nothing of the item was written.
        """
        done: Future[Result] = Future()
        self._queue.append(_Piece(write, item, done))
        with self._writer:
            while not done.done():
                self._write_together(self._take())
        return done.result()

    def _take(self) -> list[_Piece]:
        """Take the oldest pieces off the queue."""
        together: list[_Piece] = []
        while self._queue and len(together) < MAX_TOGETHER:
            together.append(self._queue.popleft())
        return together

    def _write_together(self, pieces: Sequence[_Piece]) -> None:
        results: list[Any] = []
        try:
            with self._database.writing() as connection:
                for write, alike in groupby(pieces, key=lambda piece: piece.write):
                    results += write(connection, [piece.item for piece in alike])
        except Exception as error:  # noqa: BLE001 - given to the thread that waits for it
            if len(pieces) == 1:
                pieces[0].done.set_exception(error)
                return
            try:
                for piece in pieces:
                    self._write_together([piece])
            finally:
                _fail_unfinished(pieces)
            return
        except BaseException as error:
            for piece in pieces:
                piece.done.set_exception(error)
            raise
        # Leaving the block has committed: only now may anybody hear of it.
        for piece, result in zip(pieces, results, strict=True):
            piece.done.set_result(result)


def _fail_unfinished(pieces: Sequence[_Piece]) -> None:
    """Let nobody wait for a piece that an interruption kept from being tried."""
    for piece in pieces:
        if not piece.done.done():
            piece.done.set_exception(
                StoreError("the database was not reached: the process is ending")
            )
