"""Store judges' replies and seats in batches, so that little is lost if the process is killed."""

import asyncio
from collections.abc import Callable, Sequence

from agent.errors import AgentError
from agent.io.progress import TICK_BAR_EVERY_S, Progress
from agent.scoring.batching import KEEP_EVERY_ANSWERS, KEEP_EVERY_S
from agent.store import RETRIED, Judgement, Seat, Store
from agent.vocabulary import Unscored


class JudgementWriter:
    """Stores the judgements of one run.

    Attributes:
        done: number of answers about which every seat has been asked.
        open: number of answers with a seat that lacks a reply for a temporary reason.
    """

    def __init__(self, store: Store, run_id: str, progress: Progress) -> None:
        self.done = 0
        self.open = 0
        self._store = store
        self._run_id = run_id
        self._progress = progress
        self._judgements: dict[bytes, Judgement] = {}
        self._seats: list[tuple[int, str, Seat]] = []
        self._scores: list[tuple[int, str, float | Unscored]] = []
        self._waiting = 0
        self._timer: asyncio.TimerHandle | None = None
        self._broken: AgentError | None = None

    def show_left(self, describe: Callable[[], str]) -> None:
        """Show in the progress display how long the judging still takes."""
        self._progress.show_left(describe)

    async def show_time(self) -> None:
        """Show the time that passes, from now until this task is cancelled. A judge may need minutes for a verdict."""
        while True:
            self._progress.tick()
            await asyncio.sleep(TICK_BAR_EVERY_S)

    def check(self) -> None:
        """Raise the StoreError of an earlier batch, after which further replies could not be stored."""
        if self._broken is not None:
            raise self._broken

    def judgement(self, key: bytes) -> Judgement | None:
        """Return the replies to a request, stored or queued; None if there are none."""
        return self._judgements.get(key) or self._store.juries.find_judgement(key)

    def keep_judgement(self, key: bytes, judgement: Judgement) -> None:
        """Queue a judge's replies for storing. The reply to a request for a correction is stored with the first one."""
        self._judgements[key] = judgement
        self._count_kept()

    def keep_answer(
        self,
        position: int,
        metric: str,
        seats: Sequence[Seat],
        score: tuple[str, float | Unscored] | None,
    ) -> None:
        """Queue every seat's verdict about one answer, and the answer's score, for storing."""
        for seat in seats:
            self._seats.append((position, metric, seat))
        if score is not None:
            self._scores.append((position, *score))
        self.done += 1
        if any(seat.reason in RETRIED for seat in seats):
            self.open += 1
            self._progress.fail()
        else:
            self._progress.advance()
        self._count_kept()

    def _count_kept(self) -> None:
        self._waiting += 1
        if self._waiting >= KEEP_EVERY_ANSWERS:
            self.write()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(KEEP_EVERY_S, self._write_in_time)

    def write(self) -> None:
        """Store everything queued in one transaction."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        self._store.scores.keep(self._run_id, self._scores, self._judgements.items(), self._seats)
        self._judgements = {}
        self._seats = []
        self._scores = []
        self._waiting = 0

    def _write_in_time(self) -> None:
        try:
            self.write()
        except AgentError as error:  # a timer has no caller, so the next reply raises the error and ends the judging
            self._broken = error
