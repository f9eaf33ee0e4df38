"""The ways of doing the pieces of a job: in threads with a process each, or on a cluster."""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import astuple
from queue import SimpleQueue
from typing import Any, Final, Protocol

from agent.errors import RedactionError
from agent.redaction.files.division import RowPiece
from agent.redaction.files.job import RedactionJob
from agent.redaction.files.piece_runner import PieceRunner, withhold_row

_MOST_LOSSES: Final = 3  # engines that a piece may cost before it is divided
_TICK_S: Final = 0.5


class Executor(Protocol):
    """Does the pieces of a job.

    Attributes:
        patience_s: how long a finished part may take to be seen here.
    """

    patience_s: float

    def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
        """Do all pieces, and yield each as it is finished, in any order; None now and then while none is."""
        ...

    def describe(self) -> str:
        """Return how many engines are at work."""
        ...


class LocalExecutor:
    """Does pieces on this machine, each in one of several processes."""

    patience_s = 0.0

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def describe(self) -> str:
        """Return how many engines are at work."""
        return f"{self._workers} engine" + ("s" if self._workers > 1 else "")

    def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
        """Do all pieces, and yield each as it is finished; None now and then while none is.

        Raises:
            RedactionError: a piece cannot be redacted.
        """
        runners = [PieceRunner(str(job.folder)) for _ in range(self._workers)]
        idle: SimpleQueue[PieceRunner] = SimpleQueue()
        for runner in runners:
            raise_error(runner.open())
            idle.put(runner)

        def run_piece(piece: RowPiece) -> None:
            runner = idle.get()
            try:
                raise_error(runner.run(astuple(piece), name_shard(job, piece)))
            finally:
                idle.put(runner)

        threads = ThreadPoolExecutor(self._workers, thread_name_prefix="pieces")
        begun: dict[Future[None], RowPiece] = {}
        try:
            while True:
                while len(begun) < self._workers and (piece := next(pieces, None)) is not None:
                    begun[threads.submit(run_piece, piece)] = piece
                if not begun:
                    return
                done, _ = wait(begun, _TICK_S, FIRST_COMPLETED)
                if not done:
                    yield None
                for future in done:
                    future.result()
                    yield begun.pop(future)
        finally:
            for runner in runners:
                runner.close()  # ends a piece that is being redacted
            threads.shutdown(cancel_futures=True)


class ClusterExecutor:
    """Does pieces on the nodes of a cluster."""

    patience_s = 90.0  # a client of NFS believes for a minute that a file is missing

    def __init__(self, ray: Any) -> None:
        """Prepare; `ray` is the module, connected to a cluster."""
        self._ray = ray
        self._dispatcher: Any = None

    def describe(self) -> str:
        """Return how many engines work on how many nodes, and what was lost."""
        return str(self._dispatcher.describe()) if self._dispatcher is not None else ""

    def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
        """Do all pieces, and yield each as it is finished; None now and then while none is.

        A piece that ends several engines is divided in two, until one row is left that does: that row is withheld.

        Raises:
            ConfigError: a node is not fit for the work, or no node is left.
            RedactionError: a piece cannot be redacted.
        """
        from agent.cluster.dispatch import ActorClass, ActorPool, Assignment

        def assign(piece: RowPiece) -> Assignment[RowPiece]:
            return Assignment(piece, (astuple(piece), name_shard(job, piece)))

        actor = ActorClass(PieceRunner.__module__, PieceRunner.__name__, (str(job.folder),))
        self._dispatcher = dispatcher = ActorPool[RowPiece](self._ray, actor, _MOST_LOSSES)
        for outcome in dispatcher.run(map(assign, pieces)):
            if outcome is None:
                yield None
                continue
            piece = outcome.assignment.task
            if outcome.reply is not None:
                raise_error(outcome.reply)
                yield piece
            elif piece.rows > 1:
                dispatcher.give_again(map(assign, job.halve(piece)))
            else:
                path = job.shards[piece.shard]
                withhold_row(job.folder, job.description, path, piece)
                yield piece


def name_shard(job: RedactionJob, piece: RowPiece) -> str:
    """Return the name of a piece's file in the folder of the source; empty if the source is a file."""
    path = job.shards[piece.shard]
    return "" if str(path) == job.description.source else path.name


def raise_error(reply: dict[str, Any]) -> None:
    """Raise the error of a reply.

    Raises:
        RedactionError: the reply has one.
    """
    if "error" in reply:
        message, advice = reply["error"]
        raise RedactionError(message, advice)
