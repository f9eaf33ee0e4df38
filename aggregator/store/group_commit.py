"""Group commit: several writes in one transaction, so that under load they share one wait for the disk.

No thread waits for others to join. A thread that finds the writer free processes all queued writes,
including its own. Writes that arrive meanwhile are queued for the next transaction.
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

MAX_TOGETHER = 32  # maximum writes per transaction, so that none waits long for the others

Item = TypeVar("Item")
Result = TypeVar("Result")
_Write = Callable[[Connection, Sequence[Any]], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Piece:
    write: _Write
    item: Any
    done: "Future[Any]"


class GroupCommit:
    """A writer that commits queued writes together."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer = threading.Lock()
        self._queue: deque[_Piece] = deque()

    def run(
        self, write: Callable[[Connection, Sequence[Item]], Sequence[Result]], item: Item
    ) -> Result:
        """Write `item` and return the result once it is committed.

        Args:
            write: A function that writes several items and returns a result for each. It may be
                called twice for an item: after a failure the transaction is rolled back, and each
                of its items is retried in its own transaction.
            item: The item to write.

        Raises:
            StoreError: the database failed.
            Exception: any error raised by `write`. The item was not written.
        """
        done: Future[Result] = Future()
        self._queue.append(_Piece(write, item, done))
        with self._writer:
            while not done.done():
                self._write_together(self._take())
        return done.result()

    def _take(self) -> list[_Piece]:
        """Remove the oldest writes from the queue and return them."""
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
        except Exception as error:  # noqa: BLE001 - passed to the waiting thread
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
        # The transaction is committed when the block ends. Only then may results be reported.
        for piece, result in zip(pieces, results, strict=True):
            piece.done.set_result(result)


def _fail_unfinished(pieces: Sequence[_Piece]) -> None:
    """Fail the writes that were not tried because of an interruption, so that no thread waits for them."""
    for piece in pieces:
        if not piece.done.done():
            piece.done.set_exception(
                StoreError("the database was not reached: the process is ending")
            )
