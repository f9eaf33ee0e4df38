"""Ask a model server many requests at once, or count the tokens of many prompts."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from agent.errors import ConfigError
from agent.inference.capabilities import Capabilities
from agent.inference.connection import ServerLine
from agent.inference.conversation import Conversation, Read
from agent.inference.endpoint import Endpoint
from agent.inference.fitting import Fitting
from agent.inference.limits import HttpLimits
from agent.inference.naming import name_check
from agent.inference.retry import ServerHealth
from agent.inference.wire import encode_request, parse_reply
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Response

Key = TypeVar("Key")


async def ask_all(
    deployment: Endpoint,
    requests: Iterable[tuple[Key, ChatRequest]],
    on_result: Callable[[Key, Response | Failure], None],
    *,
    max_in_flight: int,
    limits: HttpLimits,
    capabilities: Capabilities | None = None,
    prompt_limit: int | None = None,
    slots: asyncio.Semaphore | None = None,
) -> None:
    """Ask every request, at most `max_in_flight` at once, and call `on_result` once for each, as answers arrive.

    `requests` is pulled lazily, one item whenever a place is free, so a run of any size stays small in memory.
    `on_result` runs in the event loop; an exception of it or of the iterator ends the call. Results come in the order
    of arrival. An iterator that was at its end may have more items once a result has come: the worker that brought the
    result asks for them. Calls at the same time that share `slots` share the places in flight of one server; a place
    is taken before a request is pulled, so that it goes to a call that has work.

    A request that fails becomes a Failure, never an exception. When the server is plainly down (silent for
    `limits.outage_grace_s`), the remaining requests are reported as `Reason.NOT_ASKED` without being asked. Cancelling
    ends the call at once; requests in flight then get no result.

    `capabilities` decides the name of the token limit and the fields that must always be sent
    (`Capabilities.extra_body`, under the request's own). Stop sequences are cut here in any case; they are not sent
    where they would end the thoughts of a model that thinks inside its answers. A text cut off by the limit of
    tokens with no sign that its thought ended is a thought, if the deployment or `capabilities` says that the model
    thinks. A reply that names a model which is neither the one asked nor one that the probe met is
    `Reason.BAD_REPLY`: the model was changed under the run. Without `capabilities` names are not looked at.

    A prompt that may not fit the deployment's window beside its answer, or that may have more than `prompt_limit`
    tokens, is counted first, in the request's own place in flight. If it is too long, its `shortenable` part is cut
    until it fits, which `Response.shortened` tells; where that cannot be, it is `Reason.CONTEXT_LENGTH` and not asked.
    Where nothing can count tokens, the server is left to refuse a prompt that does not fit its window, and a prompt
    that may be above `prompt_limit` is not asked.

    Raises:
        ConfigError: the address, token file, tokenizer file, proxy or CA bundle cannot be used, or `max_in_flight` is
            below 1.
    """
    if max_in_flight < 1:
        raise ConfigError("max_in_flight must be at least 1")
    line = ServerLine(deployment, limits)
    health = ServerHealth(limits)
    asker = _RequestAsker(
        deployment, capabilities, health, Fitting(deployment, capabilities, prompt_limit)
    )
    waiting = iter(requests)
    places = slots or asyncio.Semaphore(max_in_flight)

    async def work() -> None:
        connection = line.open()
        conversation = Conversation(connection, health, limits)
        try:
            while True:
                async with places:
                    item = next(waiting, None)
                    if item is None:
                        return
                    key, request = item
                    on_result(key, await asker.ask(request, conversation))
        finally:
            await connection.close()

    await _run_workers(max_in_flight, work)


class _RequestAsker:
    """Asks one request in the way that its deployment and the server's capabilities require."""

    def __init__(
        self,
        deployment: Endpoint,
        capabilities: Capabilities | None,
        health: ServerHealth,
        fitting: Fitting,
    ) -> None:
        self._health = health
        self._fitting = fitting
        self._token_limit_field = "max_tokens"  # noqa: S105 - a field's name
        self._extra_body: Mapping[str, str | int | float | bool] = {}
        self._thinks_inline = deployment.reasoning
        self._accepts_name: Callable[[str, object], bool] | None = None
        if capabilities is not None:
            self._token_limit_field = capabilities.token_limit_field
            self._extra_body = capabilities.extra_body
            self._thinks_inline = capabilities.inline_thoughts
            self._accepts_name = name_check(capabilities.other_names)
        self._thinks = self._thinks_inline or deployment.reasoning

    async def ask(self, request: ChatRequest, conversation: Conversation) -> Response | Failure:
        """Return the response to a request, shortened if it must be, or its failure."""
        if self._health.given_up:
            return Failure(Reason.NOT_ASKED)
        deadline = conversation.deadline()
        fitted = await self._fitting.fit(request, conversation, deadline)
        if isinstance(fitted, Failure):
            return fitted
        body = self._encode(fitted.request)
        result, attempts = await conversation.ask(
            "/chat/completions", body, self._make_reader(request), deadline
        )
        if isinstance(result, Response) and (fitted.left_out or attempts > 1):
            return replace(result, shortened=fitted.left_out, attempts=attempts)
        return result

    def _encode(self, request: ChatRequest) -> bytes:
        if self._thinks_inline and request.stop:
            request = replace(request, stop=())  # a stop sequence would end the thought
        return encode_request(
            request, token_limit_field=self._token_limit_field, always=self._extra_body
        )

    def _make_reader(self, request: ChatRequest) -> Read[Response]:
        accepts_name = (
            None if self._accepts_name is None else partial(self._accepts_name, request.model)
        )
        return partial(
            parse_reply, stop=request.stop, thinks=self._thinks, accepts_name=accepts_name
        )


async def count_all(
    deployment: Endpoint,
    prompts: Iterable[tuple[Key, Sequence[Message]]],
    on_count: Callable[[Key, int], None],
    *,
    max_in_flight: int,
    limits: HttpLimits,
    capabilities: Capabilities,
) -> None:
    """Count the tokens of every prompt, at most `max_in_flight` at once. A prompt that cannot be counted is left out.

    Raises:
        ConfigError: the address, token file, tokenizer file, proxy or CA bundle cannot be used.
    """
    fitting = Fitting(deployment, capabilities, None)
    if not fitting.can_count:
        return
    line = ServerLine(deployment, limits)
    health = ServerHealth(limits)
    waiting = iter(prompts)

    async def work() -> None:
        connection = line.open()
        conversation = Conversation(connection, health, limits)
        try:
            for key, messages in waiting:
                if health.given_up:
                    return
                counted = await fitting.count(messages, conversation, conversation.deadline())
                if not isinstance(counted, Failure):
                    on_count(key, counted)
        finally:
            await connection.close()

    await _run_workers(max_in_flight, work)


async def _run_workers(number: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `number` workers until all are done; an exception of one ends them all."""
    workers = [asyncio.create_task(work()) for _ in range(number)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
