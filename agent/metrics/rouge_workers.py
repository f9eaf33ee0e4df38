"""Compute ROUGE for many answers: in this process at first, and in worker processes if it takes long."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from agent.io.worker_process import WorkerProcess
from agent.metrics.rouge import RougeComparison

# Time spent computing in this process (on about 1,500 notes) before workers start, as each takes a second to load.
PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class _Share:
    """The comparisons assigned to one process.

    Attributes:
        is_sent: whether the process was alive to receive them.
    """

    process: WorkerProcess
    comparisons: Sequence[RougeComparison]
    is_sent: bool


class RougeWorkers:
    """Computes ROUGE in up to `workers` processes, which end with the `with` block or with this process.

    A process that cannot be started or dies costs only time, because its share is computed here.
    """

    def __init__(self, workers: int, patience_s: float | None = None) -> None:
        self._workers = workers
        self._patience_s = PATIENCE_S if patience_s is None else patience_s
        self._spent_s = 0.0
        self._processes: list[WorkerProcess] | None = None  # None: not started yet

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes or ():
            process.end()
        self._processes = []

    def begin(self, comparisons: Sequence[RougeComparison]) -> Callable[[], list[float]]:
        """Start computing; return a function that waits for the scores, in the order of `comparisons`.

        Call that function before the next `begin`.
        """
        if self._workers > 1 and self._processes is None and self._spent_s >= self._patience_s:
            self._processes = _start_processes(self._workers)
        if not self._processes:
            figures = self._compute_here(comparisons)
            return lambda: figures
        shares = _send_shares(self._processes, comparisons)
        return lambda: self._gather(shares)

    def _compute_here(self, comparisons: Sequence[RougeComparison]) -> list[float]:
        began = time.perf_counter()
        figures = [comparison.compute_best() for comparison in comparisons]
        self._spent_s += time.perf_counter() - began
        return figures

    def _gather(self, shares: Sequence[_Share]) -> list[float]:
        figures: list[float] = []
        for share in shares:
            reply = _receive(share)
            if reply is None:
                self._end_worker(share.process)
                reply = [comparison.compute_best() for comparison in share.comparisons]
            figures += reply
        return figures

    def _end_worker(self, process: WorkerProcess) -> None:
        process.end()
        self._processes = [running for running in self._processes or () if running is not process]


def _start_processes(workers: int) -> list[WorkerProcess]:
    """Start up to `workers` processes; skip those that cannot start."""
    processes: list[WorkerProcess] = []
    for _ in range(workers):
        try:
            processes.append(WorkerProcess("agent.metrics.rouge_process"))
        except OSError:
            continue
    return processes


def _send_shares(
    processes: Sequence[WorkerProcess], comparisons: Sequence[RougeComparison]
) -> list[_Share]:
    # Keep neighbours together: the metrics of one answer share its tokenised words.
    size = -(-len(comparisons) // len(processes))  # rounded up
    shares: list[_Share] = []
    for number, process in enumerate(processes):
        portion = comparisons[size * number : size * (number + 1)]
        shares.append(_Share(process, portion, is_sent=_send(process, portion)))
    return shares


def _send(process: WorkerProcess, comparisons: Sequence[RougeComparison]) -> bool:
    request = [
        [comparison.rouge_type, comparison.stemmer, comparison.golds, comparison.answer]
        for comparison in comparisons
    ]
    line = json.dumps(request) + "\n"
    try:
        process.requests.write(line.encode("ascii"))
        process.requests.flush()
    except OSError:
        return False
    return True


def _receive(share: _Share) -> list[float] | None:
    """Wait for the scores of a share; return None if its process has died."""
    if not share.is_sent:
        return None
    try:
        figures: list[float] = json.loads(share.process.replies.readline())
    except (OSError, ValueError):
        return None
    return figures if len(figures) == len(share.comparisons) else None
