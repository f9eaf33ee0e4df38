"""Score answers as they arrive and write them in batches, so that little is lost if the process is killed."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agent.errors import AgentError
from agent.io.progress import Progress
from agent.monitoring.counters import INSTANCES, UNSCORED
from agent.scoring.batching import KEEP_EVERY_ANSWERS, KEEP_EVERY_S
from agent.scoring.measures import Rules
from agent.scoring.score import score_response
from agent.store import RETRIED, Store
from agent.vocabulary import Failure, Instance, Reason, Response, Unscored

# Reasons for which an answer has no score yet.
_COMPUTED_LATER = (Reason.NOT_JUDGED, Reason.NOT_MEASURED)


class ScoreWriter:
    """Writes the answers and scores of one run.

    Attributes:
        failed: number of instances whose request failed and is sent again by the next command. Prompts that do not
            fit, withheld answers and missing answers are excluded.
        not_sent: number of requests not sent because the server is down or the prompt does not fit.
        not_sent_for: number of instances that those requests cover.
    """

    def __init__(self, store: Store, rules: Rules, run_id: str, progress: Progress) -> None:
        self.progress = progress
        self.failed = 0
        self.not_sent = 0
        self.not_sent_for = 0
        self._store = store
        self._rules = rules
        self._run_id = run_id
        self._answers: list[tuple[bytes, Response]] = []
        self._scores: list[tuple[int, str, float | Unscored]] = []
        self._labelled: list[tuple[int, str, Unscored | None]] = []
        self._waiting = 0  # number of instances scored but not yet written
        self._timer: asyncio.TimerHandle | None = None
        self._broken: AgentError | None = None
        # The time up to which asking time has been recorded; None while nothing is being asked.
        self._asked_until: float | None = None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Record the time inside the `with` block as asking time."""
        self._asked_until = time.perf_counter()
        try:
            yield
        finally:
            self.write()
            self._asked_until = None

    def keep(
        self, key: bytes, cases: Sequence[tuple[int, Instance]], result: Response | Failure
    ) -> None:
        """Queue a new answer for writing, and score the (position, instance) pairs that share it.

        Raises:
            StoreError: this or an earlier batch could not be written, so no further answers can be stored.
        """
        if self._broken is not None:
            raise self._broken
        INSTANCES.add(len(cases), _name_outcome(result))
        if isinstance(result, Response):
            # Queue the answer before scoring it, so that an error in scoring does not lose it.
            self._answers.append((key, result))
        else:
            if result.reason in RETRIED:
                self.failed += len(cases)
            if result.status is None and result.reason in (Reason.NOT_ASKED, Reason.CONTEXT_LENGTH):
                self.not_sent += 1
                self.not_sent_for += len(cases)
        for position, instance in cases:
            self.score(position, instance, result)
        if self._timer is None and self._waiting:
            self._timer = asyncio.get_running_loop().call_later(KEEP_EVERY_S, self._write_in_time)

    def score(self, position: int, instance: Instance, result: Response | Failure) -> None:
        """Score the instance at this position and queue its scores for writing."""
        has_score = True
        for number, score in enumerate(score_response(self._rules, instance, result)):
            if number == 0:
                has_score = not _lacks_score(score.value)
                if not has_score and isinstance(score.value, Unscored):
                    UNSCORED.add(value=score.value.reason)
            name = score.measure.name
            value = score.value
            if score.measure.of_whole_run:
                self._labelled.append(
                    (position, name, value if isinstance(value, Unscored) else None)
                )
            elif isinstance(value, float | int | Unscored):
                self._scores.append((position, name, value))
        self._waiting += 1
        if isinstance(result, Failure):
            self.progress.fail()
        else:
            self.progress.advance(unscored=0 if has_score else 1)
        if self._waiting >= KEEP_EVERY_ANSWERS:
            self.write()

    def write(self) -> None:
        """Write all queued answers and scores in one transaction."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        now = time.perf_counter()
        began = self._asked_until
        self._store.answers.settle(
            self._run_id,
            self._answers,
            self._scores,
            self._labelled,
            asked_seconds=0.0 if began is None else now - began,
        )
        self._answers = []
        self._scores = []
        self._labelled = []
        self._waiting = 0
        self._asked_until = None if began is None else now

    def _write_in_time(self) -> None:
        try:
            self.write()
        except AgentError as error:  # a timer has no caller, so the next call of `keep` raises it
            self._broken = error


def _name_outcome(result: Response | Failure) -> str:
    if isinstance(result, Response):
        return "answered"
    return "failed" if result.reason in RETRIED else "not_answerable"


def _lacks_score(value: object) -> bool:
    """Return whether an answer has no score, except for scores that are computed later."""
    return isinstance(value, Unscored) and value.reason not in _COMPUTED_LATER
