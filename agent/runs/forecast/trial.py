"""Count the tokens of sampled prompts and time the server with harmless questions, before a run. Stores nothing."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import fmean

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities
from agent.inference.client import ask_all, count_all
from agent.inference.closed_questions import TEXT_MODES
from agent.inference.endpoint import Endpoint, ServerKey, identify_server
from agent.inference.limits import HttpLimits
from agent.inference.read_figures import read_figures
from agent.inference.replica_probe import probe_deployment
from agent.inference.server_figures import ServerFigures
from agent.inference.server_load import ServerLoads
from agent.inference.window import prompt_budget, window_of
from agent.runs.forecast.cost import (
    CHARACTERS_A_TOKEN,
    Forecast,
    Pace,
    PromptSize,
    forecast,
    measure_prompt,
)
from agent.runs.plan import Plan
from agent.vocabulary import ChatRequest, Failure, Instance, Message, Response

TRIAL_S = 10.0  # time limit for timing one server
COUNTING_S = 10.0  # time limit for counting the prompts of one plan
SAMPLED = 32  # prompts to count among those that certainly fit, and as many among the others
_MAX_IN_FLIGHT = 64
_LONG_CHARACTERS = 4000
_ANSWER_TOKENS = 32
# The question contains no text from any dataset. Each starts with its own number, so that no server answers from a
# cache.
_QUESTION = "Trial {number}. {filler}Count from 1 to 200, separated by single spaces. Write the numbers only."
_FILLER = "This sentence is here to be read and says nothing at all. "


@dataclass(frozen=True, slots=True)
class ServerTrial:
    """The capabilities and the pace of a server before a run. If either is unknown, `problem` is the reason.

    Attributes:
        figures: the server's own figures before the trial; None if it has none.
    """

    capabilities: Capabilities | None = None
    pace: Pace | None = None
    problem: str = ""
    figures: ServerFigures | None = None


async def try_servers(plans: Sequence[Plan], limits: HttpLimits) -> Mapping[ServerKey, ServerTrial]:
    """Probe and time each server that the plans use. An unreachable server does not raise an error.

    Raises:
        ConfigError: a deployment's address, tokenizer file, proxy or CA bundle cannot be used.
    """
    plan_by_server = {identify_server(plan.deployment): plan for plan in plans}
    trials = {}
    for key, plan in plan_by_server.items():
        trials[key] = await try_server(plan.deployment, plan.max_in_flight, limits)
    return trials


async def try_server(deployment: Endpoint, max_in_flight: int, limits: HttpLimits) -> ServerTrial:
    """Probe and time one server."""
    try:
        capabilities = await probe_deployment(deployment, _limit_to_trial(limits))
    except InferenceError as error:
        return ServerTrial(problem=str(error))
    figures = await read_figures(deployment, limits)
    pace = await time_server(deployment, capabilities, limits, max_in_flight)
    problem = "" if pace else "the server answered none of the trial questions"
    return ServerTrial(capabilities, pace, problem, figures)


async def forecast_plan(
    plan: Plan, ask: Collection[int], capabilities: Capabilities | None, limits: HttpLimits
) -> Forecast:
    """Forecast the work of asking the instances at these positions of the plan.

    Without `capabilities`, because the server could not be reached, no tokens are counted.
    """
    budget = prompt_budget(
        window_of(plan.deployment, capabilities), plan.max_tokens, plan.prompt_limit
    )
    prompts = _PromptSample(
        budget, step=-(-len(ask) // SAMPLED), rates_texts=plan.answer_mode in TEXT_MODES
    )
    positions = frozenset(ask)
    for position, instance in enumerate(plan.instances):
        if position in positions:
            prompts.add(instance)
    counts: dict[int, int] = {}
    if capabilities is not None:
        texts = {position: instance.messages for position, instance in prompts.sample.items()}
        counts = await count_prompts(
            plan.deployment, texts, plan.max_in_flight, capabilities, limits
        )
    cannot_count = capabilities is not None and capabilities.counting is None
    return forecast(
        prompts.sizes,
        counts,
        max_tokens=plan.max_tokens,
        budget=budget,
        can_shorten=not cannot_count,
        byte_limit=plan.prompt_limit if cannot_count else None,
        thinks=plan.deployment.reasoning
        or (capabilities is not None and capabilities.inline_thoughts),
    )


@dataclass(slots=True)
class _PromptSample:
    """The sizes of the prompts to ask, and the sample of them that is counted.

    Attributes:
        budget: maximum tokens per prompt; None if unknown.
        step: distance between two prompts of the sample.
        rates_texts: whether the texts of the options are rated.
        sizes: sizes of all prompts.
        sample: instances by position in `sizes`: every `step`-th one, and the first SAMPLED that may exceed the budget.
    """

    budget: int | None
    step: int
    rates_texts: bool
    sizes: list[PromptSize] = field(default_factory=list)
    sample: dict[int, Instance] = field(default_factory=dict)
    _doubtful: int = 0

    def add(self, instance: Instance) -> None:
        position = len(self.sizes)
        size = measure_prompt(instance, rates_texts=self.rates_texts)
        self.sizes.append(size)
        may_not_fit = self.budget is not None and size.most_tokens > self.budget
        if may_not_fit and self._doubtful < SAMPLED:
            self._doubtful += 1
            self.sample[position] = instance
        elif position % self.step == 0:
            self.sample[position] = instance


async def count_prompts(
    deployment: Endpoint,
    prompts: Mapping[int, Sequence[Message]],
    max_in_flight: int,
    capabilities: Capabilities,
    limits: HttpLimits,
) -> dict[int, int]:
    """Return the tokens of each of these prompts that the server counted in time."""
    counts: dict[int, int] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(COUNTING_S):
            await count_all(
                deployment,
                prompts.items(),
                counts.__setitem__,
                max_in_flight=min(max_in_flight, len(prompts)) or 1,
                limits=_limit_to_trial(limits),
                capabilities=capabilities,
            )
    return counts


@dataclass(frozen=True, slots=True)
class _Round:
    """Outcome of concurrent questions of equal length. Token counts are means over the answers."""

    seconds: float
    answered: int
    prompt_tokens: float
    answer_tokens: float


@dataclass(frozen=True, slots=True)
class _Questions:
    """The questions of one round.

    Attributes:
        number: number of the round, which makes its questions different from those of other rounds.
        filler_characters: length of the filler text before the task.
        max_tokens: maximum tokens per answer.
    """

    number: int
    filler_characters: int
    max_tokens: int

    def write(self, index: int, model: str, capabilities: Capabilities) -> ChatRequest:
        """Return the request for one question of the round."""
        repeats = self.filler_characters // len(_FILLER) + 1
        filler = (_FILLER * repeats)[: self.filler_characters]
        content = _QUESTION.format(number=1000 * self.number + index, filler=filler)
        return ChatRequest(
            model, (Message("user", content),), self.max_tokens, extra_body=capabilities.extra_body
        )


async def time_server(
    deployment: Endpoint, capabilities: Capabilities, limits: HttpLimits, max_in_flight: int
) -> Pace | None:
    """Measure the pace of a server with three rounds of harmless concurrent questions.

    The rounds have short questions with one-token answers, long questions with one-token answers, and short questions
    with longer answers. Their differences give the time per prompt token and per answer token.

    Returns:
        The pace, or None if the server answered no question of a round.
    """
    at_once = min(max_in_flight, _MAX_IN_FLIGHT)
    window = window_of(deployment, capabilities)
    # These questions are ASCII, so a character takes at most one token of the window.
    long_characters = _LONG_CHARACTERS if window is None else min(_LONG_CHARACTERS, window)
    questions_of_rounds = [
        _Questions(0, filler_characters=0, max_tokens=1),
        _Questions(1, filler_characters=long_characters, max_tokens=1),
        _Questions(2, filler_characters=0, max_tokens=_ANSWER_TOKENS),
    ]
    began = time.monotonic()
    # The first question may have to wait until the server has compiled or loaded something, so it is not timed.
    await _ask_round(deployment, capabilities, limits, 1, _Questions(3, 0, 1), TRIAL_S)
    rounds: list[_Round] = []
    for questions in questions_of_rounds:
        remaining_s = TRIAL_S - (time.monotonic() - began)
        outcome = None
        if remaining_s > 0:
            outcome = await _ask_round(
                deployment, capabilities, limits, at_once, questions, remaining_s
            )
        if outcome is None:
            # A round of the run takes at least as long as the round of short questions or, if that did not finish, as
            # the whole trial.
            base_s = rounds[0].seconds if rounds else time.monotonic() - began
            return Pace(at_once, base_s=base_s, at_least=True)
        if not outcome.answered:
            return None
        rounds.append(outcome)
    short, long_prompt, long_answer = rounds
    return Pace(
        in_flight=at_once,
        base_s=short.seconds,
        prompt_token_s=_divide_growth(
            seconds=long_prompt.seconds - short.seconds,
            tokens=long_prompt.prompt_tokens - short.prompt_tokens,
        ),
        answer_token_s=_measure_answer_token(short, long_answer),
    )


def _measure_answer_token(short: _Round, long: _Round) -> float:
    """Return the seconds that one more token in every answer adds to a round.

    If a round of longer answers took no longer, because something else delayed the short one, the whole time of the
    long round is divided by its tokens. Otherwise long answers would seem to take no time.
    """
    growth = _divide_growth(
        seconds=long.seconds - short.seconds, tokens=long.answer_tokens - short.answer_tokens
    )
    if growth or not long.answer_tokens:
        return growth
    return long.seconds / long.answer_tokens


def _divide_growth(*, seconds: float, tokens: float) -> float:
    """Return the seconds per additional token; 0 if more tokens took no longer or none were added."""
    return max(0.0, seconds) / tokens if tokens > 0 else 0.0


async def _ask_round(
    deployment: Endpoint,
    capabilities: Capabilities,
    limits: HttpLimits,
    at_once: int,
    questions: _Questions,
    most_s: float,
) -> _Round | None:
    """Ask the questions of one round concurrently; return None if not all of them were answered or failed in time."""
    answers: list[Response] = []

    def keep(_: int, result: Response | Failure) -> None:
        if isinstance(result, Response):
            answers.append(result)

    began = time.monotonic()
    try:
        async with asyncio.timeout(most_s):
            await ask_all(
                deployment,
                (
                    (index, questions.write(index, deployment.served_model, capabilities))
                    for index in range(at_once)
                ),
                keep,
                max_in_flight=at_once,
                limits=_limit_to_trial(limits),
                capabilities=capabilities,
                loads=ServerLoads(adapts=False),
            )
    except TimeoutError:
        return None
    seconds = time.monotonic() - began
    if not answers:
        return _Round(seconds, answered=0, prompt_tokens=0.0, answer_tokens=0.0)
    estimated_tokens = (questions.filler_characters + len(_QUESTION)) / CHARACTERS_A_TOKEN
    prompt_tokens = [
        estimated_tokens if answer.prompt_tokens is None else answer.prompt_tokens
        for answer in answers
    ]
    return _Round(
        # Failed questions would have taken time too.
        seconds=seconds * at_once / len(answers),
        answered=len(answers),
        prompt_tokens=fmean(prompt_tokens),
        answer_tokens=fmean(map(_count_answer_tokens, answers)),
    )


def _count_answer_tokens(answer: Response) -> int:
    """Return the tokens of an answer, or its words if the server does not count tokens."""
    if answer.completion_tokens is not None:
        return answer.completion_tokens
    return len((answer.reasoning + answer.text).split())


def _limit_to_trial(limits: HttpLimits) -> HttpLimits:
    return replace(
        limits, max_attempts=1, attempt_timeout_s=TRIAL_S, first_attempt_timeout_s=TRIAL_S
    )
