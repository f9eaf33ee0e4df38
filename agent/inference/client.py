"""Send many requests to a model server concurrently, or count the tokens of many prompts."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from agent.errors import ConfigError
from agent.inference.capabilities import Capabilities
from agent.inference.closed_questions import (
    TEXT_MODES,
    choose_text,
    sum_text_logprobs,
    write_context_request,
    write_text_request,
)
from agent.inference.conversation import Conversation, Read
from agent.inference.endpoint import Endpoint
from agent.inference.fitting import Fitting
from agent.inference.limits import HttpLimits
from agent.inference.naming import name_check
from agent.inference.outage import Outage, ServerWatch
from agent.inference.probe import ask_plain_question
from agent.inference.readmission import readmit_replicas
from agent.inference.refusals import explain_refusals
from agent.inference.replicas import ReplicaPool
from agent.inference.retry import ServerHealth
from agent.inference.server_load import ServerLoads
from agent.inference.wire import encode_request, parse_object, parse_reply
from agent.vocabulary import (
    ChatRequest,
    ClosedQuestion,
    Failure,
    Message,
    OptionLikelihood,
    Reason,
    Response,
)

Key = TypeVar("Key")

_EXPLAINED_WITHIN_S = 30.0  # for the harmless question that is asked after questions were refused


async def ask_all(
    deployment: Endpoint,
    requests: Iterable[tuple[Key, ChatRequest]],
    on_result: Callable[[Key, Response | Failure], None],
    *,
    max_in_flight: int,
    limits: HttpLimits,
    capabilities: Capabilities | None = None,
    prompt_limit: int | None = None,
    watch: ServerWatch | None = None,
    loads: ServerLoads | None = None,
) -> None:
    """Send all requests, and call `on_result` for each as its answer arrives.

    Each of the deployment's servers gets up to `max_in_flight` requests at once, fewer while that is more than it can
    do, see `agent.inference.concurrency`.

    `requests` is consumed lazily, one item whenever a slot is free, so memory use does not depend on the size of the
    run. `on_result` runs in the event loop, and an exception in it or in the iterator ends the call. Results are
    reported in order of arrival. An exhausted iterator may yield further items after a result was reported, because the
    worker that reported the result requests the next item. Concurrent calls with the same `watch` or `loads` share the
    places at a server. A place is taken before the next request is taken from the iterator.

    A request that fails becomes a Failure, never an exception. If the server is down (silent for
    `limits.outage_grace_s`), the remaining requests are reported as `Reason.NOT_ASKED` without being sent. Calls that
    share a `watch` wait for a server only once: later calls send nothing unless it answers again. If the call is
    cancelled, it ends at once, and requests in flight have no result.

    `capabilities` determines the name of the token limit and the fields that must always be sent
    (`Capabilities.extra_body`, which the request's own fields override). Answers are always cut at stop sequences
    here. Stop sequences are not sent if they could interrupt reasoning inside an answer. If the deployment or
    `capabilities` marks a reasoning model, a text that is cut off by the token limit and has no sign that its
    reasoning ended counts as reasoning. A reply with a model name that is neither the requested one nor known from
    the probe is `Reason.BAD_REPLY`, because the model was changed during the run. Without `capabilities`, names are
    not checked.

    The tokens of a prompt are counted first, in the same slot, if the prompt may exceed `prompt_limit` or may not fit
    in the deployment's window together with its answer. If the prompt is too long, its `shortenable` part is cut until
    the prompt fits, and `Response.shortened` is set. If that is impossible, the result is `Reason.CONTEXT_LENGTH` and
    the request is not sent. If tokens cannot be counted, prompts that may exceed `prompt_limit` are not sent, and the
    server must refuse prompts that do not fit in its window.

    Raises:
        ConfigError: the address, token file, tokenizer file, proxy or CA bundle cannot be used, or `max_in_flight` is
            below 1.
    """
    if max_in_flight < 1:
        raise ConfigError("max_in_flight must be at least 1")
    outage = (watch or ServerWatch(limits)).find(deployment)
    if loads is None:
        loads = ServerLoads() if watch is None else watch.loads
    pool = _open_pool(deployment, limits, outage, max_in_flight, capabilities, loads)
    health = ServerHealth(limits, outage=outage)
    asker = _RequestAsker(
        deployment, capabilities, health, Fitting(deployment, capabilities, prompt_limit)
    )
    waiting = iter(requests)
    places = pool.find_places()

    async def work() -> None:
        conversation = Conversation(pool, health, limits)
        while True:
            async with places:
                item = next(waiting, None)
                if item is None:
                    return
                key, request = item
                result = await asker.ask(request, conversation)
                if isinstance(result, Failure) and result.reason is Reason.SERVER_ERROR:
                    outage.note_refusal(result.status or 0)
                on_result(key, result)

    try:
        if outage.is_worth_another_try and await pool.answers_again():
            outage.note_reply()
        async with readmit_replicas(deployment, capabilities, pool, limits):
            with pool.allow_requests():
                await _run_workers(pool.total_in_flight, work)
        if watch is not None:
            await _explain_refusals(deployment, limits, outage, capabilities)
    finally:
        await pool.close()


async def _explain_refusals(
    deployment: Endpoint, limits: HttpLimits, outage: Outage, capabilities: Capabilities | None
) -> None:
    """Tell the user why questions were refused, once for each status, as far as a harmless question shows it."""
    model = deployment.served_model
    if capabilities is not None and capabilities.served_as:
        model = capabilities.served_as
    if outage.given_up:
        return
    patience_s = min(_EXPLAINED_WITHIN_S, limits.first_attempt_timeout_s)
    limits = replace(limits, first_attempt_timeout_s=patience_s)
    while (status := outage.take_unexplained_refusal()) is not None:
        plain = await ask_plain_question(deployment, limits, model)
        outage.tell(explain_refusals(deployment, status, plain))


def _open_pool(
    deployment: Endpoint,
    limits: HttpLimits,
    outage: Outage,
    max_in_flight: int,
    capabilities: Capabilities | None,
    loads: ServerLoads,
) -> ReplicaPool:
    """Open the replicas of a deployment that the probe found usable."""
    if capabilities is None:
        return ReplicaPool(deployment, limits, outage, max_in_flight=max_in_flight, loads=loads)
    return ReplicaPool(
        deployment,
        limits,
        outage,
        max_in_flight=max_in_flight,
        loads=loads,
        left_out=capabilities.left_out,
        tried_again=capabilities.tried_again,
    )


class _RequestAsker:
    """Sends requests in the way that the deployment and the server's capabilities require."""

    def __init__(
        self,
        deployment: Endpoint,
        capabilities: Capabilities | None,
        health: ServerHealth,
        fitting: Fitting,
    ) -> None:
        self._health = health
        self._fitting = fitting
        self._token_limit_field = "max_tokens"  # noqa: S105 - the name of a field
        self._extra_body: Mapping[str, str | int | float | bool] = {}
        self._thinks_inline = deployment.reasoning
        self._accepts_name: Callable[[str, object], bool] | None = None
        self._served_as = ""
        if capabilities is not None:
            self._served_as = capabilities.served_as
            self._token_limit_field = capabilities.token_limit_field
            self._extra_body = capabilities.extra_body
            self._thinks_inline = capabilities.inline_thoughts
            self._accepts_name = name_check(capabilities.other_names)
        self._thinks = self._thinks_inline or deployment.reasoning

    async def ask(self, request: ChatRequest, conversation: Conversation) -> Response | Failure:
        """Send a request, shortened if necessary, and return its response or failure."""
        if self._health.given_up:
            return Failure(Reason.NOT_ASKED)
        deadline = conversation.deadline()
        fitted = await self._fitting.fit(request, conversation, deadline)
        if isinstance(fitted, Failure):
            return fitted
        closed = request.closed
        if closed is not None and closed.mode in TEXT_MODES:
            asked = await self._score_texts(fitted.request, closed, conversation, deadline)
            if isinstance(asked, Failure):
                return asked
            return replace(asked, shortened=fitted.left_out)
        body = self._encode(fitted.request)
        result, attempts = await conversation.ask(
            "/chat/completions", body, self._make_reader(request), deadline
        )
        if isinstance(result, Response) and (fitted.left_out or attempts > 1):
            return replace(result, shortened=fitted.left_out, attempts=attempts)
        return result

    async def _score_texts(
        self,
        request: ChatRequest,
        closed: ClosedQuestion,
        conversation: Conversation,
        deadline: float,
    ) -> Response | Failure:
        """Score the text of each option in a request of its own; return the likeliest option's letter."""
        context = write_context_request(request)
        counted, attempts = await conversation.ask(
            "/chat/completions", self._encode(context), self._make_reader(context), deadline
        )
        if isinstance(counted, Failure):
            return counted
        if counted.prompt_tokens is None:
            return Failure(Reason.BAD_REPLY, 200)
        responses, likelihoods = [counted], []
        for option, text in zip(closed.options, closed.texts, strict=True):
            scoring = write_text_request(request, text)
            read = _TextReader(self._make_reader(scoring), text, counted.prompt_tokens)
            scored, more_attempts = await conversation.ask(
                "/chat/completions", self._encode(scoring), read, deadline
            )
            attempts += more_attempts
            if isinstance(scored, Failure):
                return scored
            responses.append(scored.response)
            likelihoods.append(OptionLikelihood(option, scored.logprob))
        return Response(
            text=choose_text(closed, likelihoods) or "",
            reasoning="",
            finish_reason="stop",
            prompt_tokens=_add_counts([each.prompt_tokens for each in responses]),
            completion_tokens=_add_counts([each.completion_tokens for each in responses]),
            seconds=sum(each.seconds for each in responses),
            attempts=attempts,
            likelihoods=tuple(likelihoods),
        )

    def _encode(self, request: ChatRequest) -> bytes:
        if self._thinks_inline and request.stop:
            request = replace(request, stop=())  # a stop sequence could interrupt the reasoning
        if self._served_as:
            request = replace(request, model=self._served_as)
        return encode_request(
            request, token_limit_field=self._token_limit_field, always=self._extra_body
        )

    def _make_reader(self, request: ChatRequest) -> Read[Response]:
        accepts_name = (
            None
            if self._accepts_name is None
            else partial(self._accepts_name, self._served_as or request.model)
        )
        return partial(
            parse_reply,
            stop=request.stop,
            thinks=self._thinks,
            accepts_name=accepts_name,
            closed=request.closed,
        )


def _add_counts(counts: Sequence[int | None]) -> int | None:
    """Return the sum; None if the server did not count the tokens of every reply."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


@dataclass(frozen=True, slots=True)
class _ScoredText:
    """The reply to a request that scores an option's text."""

    response: Response
    logprob: float


@dataclass(frozen=True, slots=True)
class _TextReader:
    """Reads the reply to a request that scores `text` after so many tokens of context."""

    read: Read[Response]
    text: str
    context_tokens: int

    def __call__(self, body: bytes, *, seconds: float) -> _ScoredText | Failure:
        """Return the text's log-likelihood, or a failure if the server did not score it."""
        response = self.read(body, seconds=seconds)
        if isinstance(response, Failure):
            return response
        logprob = sum_text_logprobs(parse_object(body) or {}, self.text, self.context_tokens)
        if logprob is None:
            return Failure(Reason.BAD_REPLY, 200)
        return _ScoredText(response, logprob)


async def count_all(
    deployment: Endpoint,
    prompts: Iterable[tuple[Key, Sequence[Message]]],
    on_count: Callable[[Key, int], None],
    *,
    max_in_flight: int,
    limits: HttpLimits,
    capabilities: Capabilities,
) -> None:
    """Count the tokens of every prompt, up to `max_in_flight` at once. Prompts that cannot be counted are skipped.

    Raises:
        ConfigError: the address, token file, tokenizer file, proxy or CA bundle cannot be used.
    """
    fitting = Fitting(deployment, capabilities, None)
    if not fitting.can_count:
        return
    outage = ServerWatch(limits).find(deployment)
    loads = ServerLoads(adapts=False)
    pool = _open_pool(deployment, limits, outage, max_in_flight, capabilities, loads)
    health = ServerHealth(limits, outage=outage)
    waiting = iter(prompts)

    async def work() -> None:
        conversation = Conversation(pool, health, limits)
        for key, messages in waiting:
            if health.given_up:
                return
            counted = await fitting.count(messages, conversation, conversation.deadline())
            if not isinstance(counted, Failure):
                on_count(key, counted)

    try:
        with pool.allow_requests():
            await _run_workers(pool.total_in_flight, work)
    finally:
        await pool.close()


async def _run_workers(number: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `number` workers until all are done; an exception in one of them cancels all."""
    workers = [asyncio.create_task(work()) for _ in range(number)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
