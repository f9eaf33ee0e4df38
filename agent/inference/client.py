"""Asks a model server many requests at once, and hands back a response or a failure for each."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

from agent.errors import ConfigError
from agent.inference.capabilities import Capabilities
from agent.inference.connection import BrokenError, Connection, Line, RefusedError, TooLongError
from agent.inference.endpoint import Endpoint
from agent.inference.limits import HttpLimits
from agent.inference.naming import name_check
from agent.inference.retry import (
    FIRST_WAIT_S,
    JITTER_S,
    RETRIED_STATUSES,
    AttemptFailedError,
    ServerHealth,
    retry_after_s,
)
from agent.inference.wire import encode_request, parse_error, parse_reply
from agent.vocabulary import ChatRequest, Failure, Reason, Response

Key = TypeVar("Key")


async def ask_all(
    deployment: Endpoint,
    requests: Iterable[tuple[Key, ChatRequest]],
    on_result: Callable[[Key, Response | Failure], None],
    *,
    max_in_flight: int,
    limits: HttpLimits,
    capabilities: Capabilities | None = None,
) -> None:
    """Ask every request, at most `max_in_flight` at once, and call `on_result` once for each, as answers arrive.

    `requests` is pulled lazily, one item whenever a place is free, so a run of any size stays small in memory.
    `on_result` runs in the event loop; what it or the iterator raises ends the call. Order is that of arrival.

    A request that fails becomes a Failure, never an exception. When the server is plainly down (silent for
    `limits.outage_grace_s`), the rest is reported as `Reason.NOT_ASKED` without being asked. Cancelling leaves at
    once; requests in flight then get no result.

    `capabilities` decides the name of the token limit and the fields that must always be sent
    (`Capabilities.extra_body`, under the request's own). Stop sequences are cut here in any case; they are not sent
    where they would end the thoughts of a model that thinks inside its answers. A text cut off by the limit of
    tokens with no sign that its thought ended is a thought, if the deployment or `capabilities` says that the model
    thinks. A reply that names a model which is neither the one asked nor one that the probe met is
    `Reason.BAD_REPLY`: the model was changed under the run. Without `capabilities` names are not looked at.

    Raises:
        ConfigError: the address, token file, proxy or CA bundle cannot be used, or `max_in_flight` is below 1.
    """
    if max_in_flight < 1:
        raise ConfigError("max_in_flight must be at least 1")
    line = Line(deployment, limits)
    health = ServerHealth(limits)
    field = capabilities.token_limit_field if capabilities else "max_tokens"
    always = capabilities.extra_body if capabilities else None
    inline = capabilities.inline_thoughts if capabilities else deployment.reasoning
    check = name_check(capabilities.other_names) if capabilities else None
    waiting = iter(requests)

    async def work() -> None:
        connection = line.open()
        try:
            for key, request in waiting:
                if health.given_up:
                    on_result(key, Failure(Reason.NOT_ASKED))
                    continue
                sent = replace(request, stop=()) if inline and request.stop else request
                body = encode_request(sent, token_limit_field=field, always=always)
                read = partial(
                    parse_reply,
                    stop=request.stop,
                    thinks=inline or deployment.reasoning,
                    accepts_name=partial(check, request.model) if check else None,
                )
                on_result(key, await _ask(connection, body, read, health, limits))
        finally:
            await connection.close()

    workers = [asyncio.create_task(work()) for _ in range(max_in_flight)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


class _Read(Protocol):
    """Reads the body of a reply with status 200."""

    def __call__(self, body: bytes, *, seconds: float) -> Response | Failure: ...


async def _ask(
    connection: Connection, body: bytes, read: _Read, health: ServerHealth, limits: HttpLimits
) -> Response | Failure:
    deadline = asyncio.get_running_loop().time() + limits.total_timeout_s
    result: Response | Failure
    try:
        result = await _attempt(connection, body, read, health)
    except AttemptFailedError as failed:
        result = await _ask_again(failed, connection, body, read, health, limits, deadline)
    health.finished(result if isinstance(result, Failure) else None)
    return result


async def _ask_again(
    failed: AttemptFailedError,
    connection: Connection,
    body: bytes,
    read: _Read,
    health: ServerHealth,
    limits: HttpLimits,
    deadline: float,
) -> Response | Failure:
    """Go on after a first failed attempt, which counts as the first of the loop."""
    import stamina  # a run without failures does not pay for it
    import stamina.instrumentation

    stamina.instrumentation.set_on_retry_hooks(())  # by default each retry is logged
    last, attempts = failed, 0

    def decide(error: Exception) -> float | bool:
        nonlocal last, attempts
        if not isinstance(error, AttemptFailedError):
            return False
        last = error
        attempts += error.left
        return health.next_wait(error, attempts)

    pending: AttemptFailedError | None = failed
    try:
        async with asyncio.timeout_at(deadline):
            async for attempt in stamina.retry_context(
                on=decide,
                attempts=None,
                timeout=None,
                wait_initial=FIRST_WAIT_S,
                wait_max=limits.retry_wait_max_s,
                wait_jitter=JITTER_S,
            ):
                with attempt:
                    if pending is not None:
                        first, pending = pending, None
                        raise first
                    return await _attempt(connection, body, read, health)
    except (AttemptFailedError, TimeoutError):
        return last.failure
    raise AssertionError("the loop above ends by returning or raising")


async def _attempt(connection: Connection, body: bytes, read: _Read, health: ServerHealth) -> Response | Failure:
    """Ask once. Return a response, or a failure that asking again cannot mend.

    Raises:
        AttemptFailedError: asking again may help.
    """
    began = time.perf_counter()
    try:
        async with asyncio.timeout(health.attempt_timeout_s):
            reply = await connection.post("/chat/completions", body)
    except TimeoutError:
        health.silent()
        raise AttemptFailedError(Failure(Reason.TIMEOUT)) from None
    except RefusedError:
        health.silent()
        raise AttemptFailedError(Failure(Reason.UNREACHABLE), left=False) from None
    except BrokenError as broken:
        reason = Reason.BAD_REPLY if broken.mid_reply else Reason.UNREACHABLE
        raise AttemptFailedError(Failure(reason)) from None
    except TooLongError:
        return Failure(Reason.BAD_REPLY)
    health.replied()
    if reply.status == 200:
        return read(reply.body, seconds=time.perf_counter() - began)
    failure = parse_error(reply.status, reply.body)
    if reply.status in RETRIED_STATUSES and failure.reason is Reason.SERVER_ERROR:
        wait_s = retry_after_s(reply.header(b"retry-after"), time.time())
        raise AttemptFailedError(failure, retry_after_s=wait_s)
    return failure
