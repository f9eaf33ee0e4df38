"""Before a run: counts some of its prompts, and times its server with harmless questions. Nothing is kept."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities
from agent.inference.client import ask_all, count_all
from agent.inference.endpoint import Endpoint
from agent.inference.limits import HttpLimits
from agent.inference.probe import probe
from agent.inference.window import prompt_budget, window_of
from agent.runs.forecast.cost import CHARACTERS_A_TOKEN, Forecast, Pace, PromptSize, forecast, measure_prompt
from agent.runs.plan import Plan
from agent.vocabulary import ChatRequest, Failure, Instance, Message, Response

TRIAL_S = 10.0  # for timing one server
COUNTING_S = 10.0  # for counting the prompts of one plan
SAMPLED = 32  # prompts counted of those that surely fit, and as many of those that may not
_MOST_IN_FLIGHT = 64
_LONG_CHARACTERS = 4000
_ANSWER_TOKENS = 32
# Nothing of any dataset. Each begins otherwise, so that no server answers from what it has just read.
_QUESTION = "Trial {number}. {filler}Count from 1 to 200, separated by single spaces. Write the numbers only."
_FILLER = "This sentence is here to be read and says nothing at all. "


@dataclass(frozen=True, slots=True)
class ServerTrial:
    """What a server showed before a run; `problem` says why nothing else is known."""

    capabilities: Capabilities | None = None
    pace: Pace | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Round:
    """What became of some questions at once: seconds, answers, and the tokens of prompts and answers on average."""

    seconds: float
    answered: int
    prompt_tokens: float
    answer_tokens: float


def identify_server(plan: Plan) -> tuple[str, str]:
    """Return what plans share that ask the same model of the same server."""
    return plan.deployment.name, plan.deployment.served_model


async def try_servers(plans: Sequence[Plan], limits: HttpLimits) -> Mapping[tuple[str, str], ServerTrial]:
    """Probe and time each server that the plans ask; one that cannot be met is no error.

    Raises:
        ConfigError: a deployment's address, tokenizer file, proxy or CA bundle cannot be used.
    """
    asked = {identify_server(plan): plan for plan in plans}
    return {key: await try_server(plan.deployment, plan.max_in_flight, limits) for key, plan in asked.items()}


async def try_server(deployment: Endpoint, max_in_flight: int, limits: HttpLimits) -> ServerTrial:
    """Probe and time one server."""
    try:
        capabilities = await probe(deployment, _brief(limits))
    except InferenceError as error:
        return ServerTrial(problem=str(error))
    pace = await time_server(deployment, capabilities, limits, max_in_flight)
    return ServerTrial(capabilities, pace, "" if pace else "the server answered none of the trial's questions")


async def forecast_plan(
    plan: Plan, ask: Collection[int], capabilities: Capabilities | None, limits: HttpLimits
) -> Forecast:
    """Return what asking these positions of the plan would take.

    Without `capabilities` (no server could be asked) nothing is counted.
    """
    budget = prompt_budget(window_of(plan.deployment, capabilities), plan.max_tokens, plan.prompt_limit)
    sizes: list[PromptSize] = []
    chosen: dict[int, Instance] = {}
    every = -(-len(ask) // SAMPLED)
    doubtful = 0
    wanted = frozenset(ask)
    left = (instance for position, instance in enumerate(plan.instances) if position in wanted)
    for position, instance in enumerate(left):
        size = measure_prompt(instance)
        sizes.append(size)
        may_not_fit = budget is not None and size.most_tokens > budget and doubtful < SAMPLED
        doubtful += may_not_fit
        if may_not_fit or position % every == 0:
            chosen[position] = instance
    counts = await _count(plan, chosen, capabilities, limits) if capabilities else {}
    nobody_counts = capabilities is not None and capabilities.counting is None
    return forecast(
        sizes,
        counts,
        max_tokens=plan.max_tokens,
        budget=budget,
        can_shorten=not nobody_counts,
        byte_limit=plan.prompt_limit if nobody_counts else None,
        thinks=plan.deployment.reasoning or (capabilities is not None and capabilities.inline_thoughts),
    )


async def _count(
    plan: Plan, chosen: Mapping[int, Instance], capabilities: Capabilities, limits: HttpLimits
) -> dict[int, int]:
    counts: dict[int, int] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(COUNTING_S):
            await count_all(
                plan.deployment,
                ((position, instance.messages) for position, instance in chosen.items()),
                counts.__setitem__,
                max_in_flight=min(plan.max_in_flight, len(chosen)) or 1,
                limits=_brief(limits),
                capabilities=capabilities,
            )
    return counts


async def time_server(
    deployment: Endpoint, capabilities: Capabilities, limits: HttpLimits, max_in_flight: int
) -> Pace | None:
    """Ask a few harmless questions at once, three times, and return how fast they were answered.

    Once short with an answer of one token, once long, once with a longer answer. None: the server answered none.
    """
    at_once = min(max_in_flight, _MOST_IN_FLIGHT)
    window = window_of(deployment, capabilities)
    room = _LONG_CHARACTERS if window is None else min(_LONG_CHARACTERS, window)
    ask = partial(_round, deployment, capabilities, _brief(limits), at_once)
    began = time.monotonic()
    rounds: list[_Round] = []
    for characters, tokens in ((0, 1), (room, 1), (0, _ANSWER_TOKENS)):
        left_s = TRIAL_S - (time.monotonic() - began)
        done = await ask(characters, tokens, len(rounds), left_s) if left_s > 0 else None
        if done is None:
            return _unfinished(rounds, at_once, time.monotonic() - began)
        if not done.answered:
            return None
        rounds.append(done)
    short, long, wordy = rounds
    more_read = long.prompt_tokens - short.prompt_tokens
    more_said = wordy.answer_tokens - short.answer_tokens
    return Pace(
        in_flight=at_once,
        base_s=short.seconds,
        prompt_token_s=max(0.0, long.seconds - short.seconds) / more_read if more_read > 0 else 0.0,
        answer_token_s=max(0.0, wordy.seconds - short.seconds) / more_said if more_said > 0 else 0.0,
    )


def _unfinished(rounds: Sequence[_Round], at_once: int, seconds: float) -> Pace:
    """Return what is known of a server that did not end its trial: each round takes at least so long."""
    return Pace(at_once, base_s=rounds[0].seconds if rounds else seconds, at_least=True)


async def _round(
    deployment: Endpoint,
    capabilities: Capabilities,
    limits: HttpLimits,
    at_once: int,
    filler: int,
    tokens: int,
    number: int,
    most_s: float,
) -> _Round | None:
    """Ask so many questions at once; None when they were not all answered, or refused, in time."""
    answers: list[Response] = []
    text = (_FILLER * (filler // len(_FILLER) + 1))[:filler]

    def keep(_: int, result: Response | Failure) -> None:
        if isinstance(result, Response):
            answers.append(result)

    def request(one: int) -> ChatRequest:
        content = _QUESTION.format(number=1000 * number + one, filler=text)
        return ChatRequest(
            deployment.served_model, (Message("user", content),), tokens, extra_body=capabilities.extra_body
        )

    began = time.monotonic()
    try:
        async with asyncio.timeout(most_s):
            await ask_all(
                deployment,
                ((one, request(one)) for one in range(at_once)),
                keep,
                max_in_flight=at_once,
                limits=limits,
                capabilities=capabilities,
            )
    except TimeoutError:
        return None
    seconds = time.monotonic() - began
    many = max(1, len(answers))
    read = (filler + len(_QUESTION)) / CHARACTERS_A_TOKEN
    return _Round(
        # Those that failed would have taken their time too.
        seconds * at_once / many,
        len(answers),
        sum(read if one.prompt_tokens is None else one.prompt_tokens for one in answers) / many,
        sum(_said(one) for one in answers) / many,
    )


def _said(answer: Response) -> int:
    if answer.completion_tokens is not None:
        return answer.completion_tokens
    return len((answer.reasoning + answer.text).split())


def _brief(limits: HttpLimits) -> HttpLimits:
    return replace(limits, max_attempts=1, attempt_timeout_s=TRIAL_S, first_attempt_timeout_s=TRIAL_S)
