"""ROUGE of many answers: in this process while they are few, then in several."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import IO, Self, cast

from agent.metrics.rouge import RougeComparison

PATIENCE_S = 5.0  # of computing here, some 1,500 notes, before others are started: each takes a second to load


class RougeWorkers:
    """Computes ROUGE in up to `workers` processes. They end with the `with` block, or with this process.

    A process that cannot be started or dies costs time only: what it was given is computed here.
    """

    def __init__(self, workers: int, patience_s: float | None = None) -> None:
        self._workers = workers
        self._patience_s = PATIENCE_S if patience_s is None else patience_s
        self._spent_s = 0.0
        self._children: list[subprocess.Popen[str]] | None = None  # None: not started yet

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children or ():
            _end(child)
        self._children = []

    def begin(self, comparisons: Sequence[RougeComparison]) -> Callable[[], list[float]]:
        """Begin to compute; return what waits for the figures, in the same order. Call that before the next `begin`."""
        if self._workers > 1 and self._children is None and self._spent_s >= self._patience_s:
            self._children = [child for _ in range(self._workers) if (child := _started()) is not None]
        if not self._children:
            began = time.perf_counter()
            found = [one.best() for one in comparisons]
            self._spent_s += time.perf_counter() - began
            return lambda: found
        children = tuple(self._children)
        # Neighbours stay together: the metrics of one answer share the words it was cut into.
        size = -(-len(comparisons) // len(children))
        shares = [comparisons[size * number : size * (number + 1)] for number in range(len(children))]
        asked = [_ask(child, share) for child, share in zip(children, shares, strict=True)]

        def gather() -> list[float]:
            figures: list[float] = []
            for child, share, is_asked in zip(children, shares, asked, strict=True):
                reply = _reply(child, len(share)) if is_asked else None
                if reply is None:
                    self._lose(child)
                    reply = [one.best() for one in share]
                figures += reply
            return figures

        return gather

    def _lose(self, child: "subprocess.Popen[str]") -> None:
        _end(child)
        self._children = [other for other in self._children or () if other is not child]


def _started() -> "subprocess.Popen[str] | None":
    command = [sys.executable, "-P", "-m", "agent.metrics.rouge_process"]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
        )
    except OSError:
        return None


def _ask(child: "subprocess.Popen[str]", share: Sequence[RougeComparison]) -> bool:
    line = json.dumps([[one.rouge_type, one.stemmer, one.golds, one.answer] for one in share])
    try:
        cast(IO[str], child.stdin).write(line + "\n")
        cast(IO[str], child.stdin).flush()
    except OSError:
        return False
    return True


def _reply(child: "subprocess.Popen[str]", expected: int) -> list[float] | None:
    try:
        found: list[float] = json.loads(cast(IO[str], child.stdout).readline())
    except (OSError, ValueError):
        return None
    return found if len(found) == expected else None


def _end(child: "subprocess.Popen[str]") -> None:
    child.kill()  # it holds nothing but what it was given
    with contextlib.suppress(OSError), child:  # closes its pipes and waits
        pass
