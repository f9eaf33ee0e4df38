"""Send a worker's requests to a model server, and retry each until it succeeds, fails permanently or times out."""

import asyncio
import time
from typing import Protocol, TypeVar

from agent.inference.connection import (
    BrokenError,
    ServerConnection,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.limits import HttpLimits
from agent.inference.retry import (
    FIRST_WAIT_S,
    JITTER_S,
    RETRIED_STATUSES,
    AttemptFailedError,
    ServerHealth,
    read_retry_after,
)
from agent.inference.wire import parse_error
from agent.vocabulary import Failure, Reason

Result_co = TypeVar("Result_co", covariant=True)


class Read(Protocol[Result_co]):
    """A function that reads the body of a reply with status 200."""

    def __call__(self, body: bytes, *, seconds: float) -> Result_co | Failure: ...  # noqa: D102 - documented at the class


class Conversation:
    """A worker's own connection to a server, with the server's health that all workers share."""

    def __init__(
        self, connection: ServerConnection, health: ServerHealth, limits: HttpLimits
    ) -> None:
        self._connection = connection
        self._health = health
        self._limits = limits

    def deadline(self) -> float:
        """Return the time, by the event loop's clock, at which a request that starts now times out."""
        return asyncio.get_running_loop().time() + self._limits.total_timeout_s

    async def ask(
        self, path: str, body: bytes, read: Read[Result_co], deadline: float
    ) -> tuple[Result_co | Failure, int]:
        """Send a request until it succeeds or fails permanently; return the result and the number of sent attempts."""
        result: Result_co | Failure
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
        health = self._health
        began = time.perf_counter()
        try:
            async with asyncio.timeout(health.attempt_timeout_s):
                reply = await self._connection.post(path, body)
        except TimeoutError:
            health.note_silence()
            raise AttemptFailedError(Failure(Reason.TIMEOUT)) from None
        except UnreachableServerError:
            health.note_silence()
            raise AttemptFailedError(Failure(Reason.UNREACHABLE), was_sent=False) from None
        except BrokenError as broken:
            reason = Reason.BAD_REPLY if broken.mid_reply else Reason.UNREACHABLE
            raise AttemptFailedError(Failure(reason)) from None
        except TooLongError:
            return Failure(Reason.BAD_REPLY)
        health.note_reply()
        if reply.status == 200:
            return read(reply.body, seconds=time.perf_counter() - began)
        failure = parse_error(reply.status, reply.body)
        if reply.status in RETRIED_STATUSES and failure.reason is Reason.SERVER_ERROR:
            wait_s = read_retry_after(reply.header(b"retry-after"), time.time())
            raise AttemptFailedError(failure, retry_after_s=wait_s)
        return failure
