"""Work of a page that may take minutes: it gets few seconds of the request, and then goes on without it.

Each piece of work has a thread of its own, and few of them go on at a time, so that neither a slow inference server
nor a large file keeps other people's pages waiting. Whoever asked is led to a page that says that it goes on, and that
shows the outcome when it has ended.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.responses import RedirectResponse, Response

from agent.errors import BusyError

PATH: Final = "/work/{work_id}"


@dataclass(slots=True)
class Work:
    """One piece of work.

    Attributes:
        work_id: names it in its address.
        session_id: the session that asked for it; nobody else sees its outcome.
        account_id: the account of that session.
        request: what was asked for, to notice that it was asked for twice.
        began_at: when it was asked for, on the clock of `SlowWork`.
        ended: is set when it has ended.
        response: the page that it led to; None before the end, and if it failed.
        error: why it failed; None if it did not.
        ended_at: when it ended.
    """

    work_id: str
    session_id: str
    account_id: str
    request: object
    began_at: float
    ended: threading.Event = field(default_factory=threading.Event)
    response: Response | None = None
    error: BaseException | None = None
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """How much slow work goes on, and how long it is waited for.

    Attributes:
        wait_s: seconds that a request waits for its outcome.
        at_once: pieces of work that go on at a time; further ones wait for their turn.
        per_account: pieces of work of one account that go on or wait.
        kept_s: seconds for which an outcome is kept that nobody has fetched.
    """

    wait_s: float = 10.0
    at_once: int = 4
    per_account: int = 3
    kept_s: float = 600.0


class SlowWork:
    """All slow work of a service. For several threads.

    Args:
        limits: how much goes on, and how long it is waited for.
    """

    def __init__(self, limits: WorkLimits | None = None) -> None:
        self.limits = limits or WorkLimits()
        self._turns = threading.Semaphore(self.limits.at_once)
        self._lock = threading.Lock()
        self._works: dict[str, Work] = {}

    def answer(
        self, session_id: str, account_id: str, request: object, do: Callable[[], Response]
    ) -> Response:
        """Do work; return its page or, if it takes longer, a way to the page that waits for it.

        Work that the session has asked for in the same way, and that goes on, is not begun again.

        Raises:
            BusyError: too much work of this account goes on.
            Exception: what `do` raises, if it does so in time.
        """
        work = self._begin(session_id, account_id, request, do)
        if work.ended.wait(self.limits.wait_s):
            return self._hand_out(work)
        return RedirectResponse(PATH.format(work_id=work.work_id), 303)

    def find(self, work_id: str, session_id: str) -> Work | None:
        """Return the session's work with this id; None if there is none, or its outcome was shown or is too old."""
        with self._lock:
            self._forget_old()
            work = self._works.get(work_id)
        return work if work is not None and work.session_id == session_id else None

    def fetch(self, work: Work) -> Response | None:
        """Return the page of work that has ended, once; None while it goes on. Raises what the work raised."""
        return self._hand_out(work) if work.ended.is_set() else None

    def measure(self, work: Work) -> float:
        """Return for how many seconds work has been going on."""
        return time.monotonic() - work.began_at

    def _begin(
        self, session_id: str, account_id: str, request: object, do: Callable[[], Response]
    ) -> Work:
        with self._lock:
            self._forget_old()
            going_on = [
                work
                for work in self._works.values()
                if work.account_id == account_id and not work.ended.is_set()
            ]
            for work in going_on:
                if work.session_id == session_id and work.request == request:
                    return work
            if len(going_on) >= self.limits.per_account:
                raise BusyError(
                    f"{len(going_on)} slow tasks of yours are going on",
                    "Wait until one of them has ended.",
                )
            work_id = secrets.token_hex(8)
            work = Work(work_id, session_id, account_id, request, time.monotonic())
            self._works[work.work_id] = work
        # A daemon: a slow server must not keep the service from ending.
        threading.Thread(target=self._do, args=(work, do), name="slow work", daemon=True).start()
        return work

    def _do(self, work: Work, do: Callable[[], Response]) -> None:
        with self._turns:
            try:
                work.response = do()
            except BaseException as error:  # noqa: BLE001 - it is raised where the outcome is fetched
                work.error = error
            finally:
                work.ended_at = time.monotonic()
                work.ended.set()

    def _hand_out(self, work: Work) -> Response:
        with self._lock:
            self._works.pop(work.work_id, None)
        if work.error is not None:
            raise work.error
        assert work.response is not None, "the work has ended without an error"
        return work.response

    def _forget_old(self) -> None:
        oldest = time.monotonic() - self.limits.kept_s
        for work in list(self._works.values()):
            if work.ended_at is not None and work.ended_at < oldest:
                del self._works[work.work_id]
