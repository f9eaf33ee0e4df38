"""Send a worker's requests to a model server, and retry each until it succeeds, fails permanently or times out."""

import asyncio
import time
from collections.abc import Mapping
from typing import Protocol, TypeVar

from agent.inference.connection import (
    BrokenError,
    Reply,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.limits import HttpLimits
from agent.inference.replicas import Replica, ReplicaPool
from agent.inference.retry import (
    FIRST_WAIT_S,
    JITTER_S,
    RETRIED_STATUSES,
    AttemptFailedError,
    ServerHealth,
    read_retry_after,
)
from agent.inference.wire import parse_error
from agent.monitoring.counters import SERVER_REQUESTS, SERVER_SECONDS
from agent.monitoring.events import AttemptOutcome, RequestSent
from agent.monitoring.log import is_logged, log_event
from agent.vocabulary import Failure, Reason

Result_co = TypeVar("Result_co", covariant=True)


# Statuses of a server that starts, stops or has lost what is behind it. The request was not processed.
_NOT_SERVING = frozenset({502, 503, 504})

_OUTCOMES: Mapping[type[BaseException], AttemptOutcome] = {
    TimeoutError: "timeout",
    UnreachableServerError: "unreachable",
    BrokenError: "broken",
    TooLongError: "too_long",
}
_FAILURES = tuple(_OUTCOMES)


def _sort_status(status: int | None) -> str:
    """Return the class of a reply's status, in a word."""
    if status is None or status >= 500:
        return "server_error"
    return "client_error" if status >= 400 else "ok"


class _TryAnotherError(Exception):
    """A replica cannot be asked now, but another one can."""


class Read(Protocol[Result_co]):
    """A function that reads the body of a reply with status 200."""

    def __call__(self, body: bytes, *, seconds: float) -> Result_co | Failure: ...  # noqa: D102 - documented at the class


class Conversation:
    """A worker's requests to the replicas of a deployment, whose health all workers share."""

    def __init__(self, pool: ReplicaPool, health: ServerHealth, limits: HttpLimits) -> None:
        self._pool = pool
        self._health = health
        self._limits = limits
        self._failed_at: Replica | None = None  # where the current request failed last

    def deadline(self) -> float:
        """Return the time, by the event loop's clock, at which a request that starts now times out."""
        return asyncio.get_running_loop().time() + self._limits.total_timeout_s

    async def ask(
        self, path: str, body: bytes, read: Read[Result_co], deadline: float
    ) -> tuple[Result_co | Failure, int]:
        """Send a request until it succeeds or fails permanently; return the result and the number of sent attempts."""
        result: Result_co | Failure
        self._failed_at = None
        try:
            result, attempts = await self._attempt(path, body, read), 1
        except AttemptFailedError as failed:
            result, attempts = await self._ask_again(failed, path, body, read, deadline)
        self._health.note_result(result if isinstance(result, Failure) else None)
        return result, attempts

    async def _ask_again(
        self,
        failed: AttemptFailedError,
        path: str,
        body: bytes,
        read: Read[Result_co],
        deadline: float,
    ) -> tuple[Result_co | Failure, int]:
        """Retry a request whose first attempt failed; that attempt counts as the first of the retry loop."""
        import stamina  # imported only if a request fails
        import stamina.instrumentation

        stamina.instrumentation.set_on_retry_hooks(())  # by default, stamina logs each retry
        last, attempts = failed, 0

        def decide(error: Exception) -> float | bool:
            nonlocal last, attempts
            if not isinstance(error, AttemptFailedError):
                return False
            last = error
            attempts += error.was_sent
            return self._health.decide_wait(error, attempts)

        pending: AttemptFailedError | None = failed
        try:
            async with asyncio.timeout_at(deadline):
                async for attempt in stamina.retry_context(
                    on=decide,
                    attempts=None,
                    timeout=None,
                    wait_initial=FIRST_WAIT_S,
                    wait_max=self._limits.retry_wait_max_s,
                    wait_jitter=JITTER_S,
                ):
                    with attempt:
                        if pending is not None:
                            first, pending = pending, None
                            raise first
                        return await self._attempt(path, body, read), attempts + 1
        except (AttemptFailedError, TimeoutError):
            return last.failure, attempts
        raise AssertionError("the loop above ends by returning or raising")

    async def _attempt(self, path: str, body: bytes, read: Read[Result_co]) -> Result_co | Failure:
        """Send the request once, and return a result or a permanent failure.

        Raises:
            AttemptFailedError: the request failed, but can be retried.
        """
        while True:
            replica = await self._pool.reserve(self._failed_at)
            try:
                return await self._attempt_at(replica, path, body, read)
            except _TryAnotherError:
                self._failed_at = replica
            except AttemptFailedError:
                self._failed_at = replica
                raise
            finally:
                await self._pool.release(replica)

    async def _attempt_at(
        self, replica: Replica, path: str, body: bytes, read: Read[Result_co]
    ) -> Result_co | Failure:
        """Send the request once to this replica, and return a result or a permanent failure.

        Raises:
            AttemptFailedError: the request failed, but can be retried.
            _TryAnotherError: this replica cannot be asked now, but another one can at once.
        """
        asked_at = time.monotonic()
        began = time.perf_counter()
        try:
            reply = await self._post(replica, path, body)
        except TimeoutError:
            if self._pool.has_other(replica):
                replica.health.note_strike()
            else:
                self._health.note_silence(time.perf_counter() - began, refused=False)
            raise AttemptFailedError(Failure(Reason.TIMEOUT)) from None
        except UnreachableServerError:
            if self._leave_out(replica, "cannot be reached"):
                raise _TryAnotherError from None
            self._health.note_silence(time.perf_counter() - began)
            raise AttemptFailedError(Failure(Reason.UNREACHABLE), was_sent=False) from None
        except BrokenError as broken:
            reason = Reason.BAD_REPLY if broken.mid_reply else Reason.UNREACHABLE
            raise AttemptFailedError(Failure(reason)) from None
        except TooLongError:
            return Failure(Reason.BAD_REPLY)
        self._health.note_reply()
        replica.load.note_status(reply.status, asked_at)
        if reply.status in _NOT_SERVING and self._leave_out(
            replica, f"does not serve now (HTTP {reply.status})"
        ):
            raise _TryAnotherError
        replica.health.note_reply(asked_at)
        if reply.status == 200:
            result = read(reply.body, seconds=time.perf_counter() - began)
            replica.load.note_reply(result, asked_at)
            return result
        failure = parse_error(reply.status, reply.body)
        if reply.status in RETRIED_STATUSES and failure.reason is Reason.SERVER_ERROR:
            wait_s = read_retry_after(reply.header(b"retry-after"), time.time())
            raise AttemptFailedError(failure, retry_after_s=wait_s)
        return failure

    async def _post(self, replica: Replica, path: str, body: bytes) -> Reply:
        connection = replica.take_connection()
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._health.attempt_timeout_s):
                reply = await connection.post(path, body)
        except _FAILURES as error:
            self._note_attempt(_OUTCOMES[type(error)], None, began)
            raise
        finally:
            replica.keep_connection(connection)
        self._note_attempt("reply", reply.status, began)
        return reply

    def _note_attempt(self, outcome: AttemptOutcome, status: int | None, began: float) -> None:
        seconds = time.perf_counter() - began
        SERVER_REQUESTS.add(value=_sort_status(status) if outcome == "reply" else outcome)
        if outcome == "reply":
            SERVER_SECONDS.add(seconds)
        if is_logged(RequestSent.LEVEL):
            log_event(RequestSent(self._pool.deployment, outcome, status, seconds))

    def _leave_out(self, replica: Replica, problem: str) -> bool:
        """Leave out a replica if another one can be asked at once; return whether that is so."""
        if not self._pool.has_other(replica):
            return False
        replica.health.leave_out(problem)
        return True
