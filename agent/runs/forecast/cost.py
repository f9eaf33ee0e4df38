"""What a run would take: requests, tokens, time and money. Pure; `trial` counts prompts and times the server.

Everything here is an estimate and says upon what it rests. What nobody can know stays unknown.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.catalog.deployments import Prices
from agent.inference.tokens import byte_length
from agent.io.wording import counted
from agent.runs.forecast.usage import Cost, compute_cost, format_cost, format_duration, format_total_cost
from agent.vocabulary import Instance

CHARACTERS_A_TOKEN = 4.0  # of English text, where nobody counts


@dataclass(frozen=True, slots=True)
class PromptSize:
    """How long one prompt is, without its text.

    Attributes:
        characters: of all messages.
        most_tokens: it has no more, whoever counts: its bytes.
        fixed: characters that cannot be cut; all of them where nothing may be.
        answer: characters of the longest right reference, of which an option has one; None where there is none.
    """

    characters: int
    most_tokens: int
    fixed: int
    answer: int | None


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a server answered trial questions, so many at once.

    Attributes:
        in_flight: questions at once.
        base_s: seconds of one round of them, whatever their length.
        prompt_token_s, answer_token_s: seconds that each token adds to a round in which every question has it.
        at_least: the server did not finish in time, so all of it takes longer than this.
    """

    in_flight: int
    base_s: float
    prompt_token_s: float = 0.0
    answer_token_s: float = 0.0
    at_least: bool = False

    def seconds(self, requests: int, prompt_tokens: float, answer_tokens: float) -> float:
        """Return how long so many requests take, with so many tokens in all."""
        rounds = max(requests / self.in_flight, min(1, requests))
        tokens = prompt_tokens * self.prompt_token_s + answer_tokens * self.answer_token_s
        return rounds * self.base_s + tokens / self.in_flight


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one run would take.

    Attributes:
        requests: prompts that would be sent.
        prompt_tokens: of all prompts as they would be sent.
        counted: prompts that were really counted; with none, a token is taken for four characters.
        answer_most: tokens of all answers, were each as long as is allowed.
        answer_expected: tokens of all answers, were each as long as its reference; None where that says nothing.
        shortened: prompts that would be cut to fit.
        not_fitting: prompts that would not be asked, or that the server would refuse.
        bounded: whether it is known how much fits.
    """

    requests: int
    prompt_tokens: int
    counted: int
    answer_most: int
    answer_expected: int | None
    shortened: int
    not_fitting: int
    bounded: bool


def measure_prompt(instance: Instance) -> PromptSize:
    """Return how long an instance's prompt and answer are."""
    part = instance.shortenable
    characters = sum(len(message.content) for message in instance.messages)
    right = [len(reference.text) for reference in instance.references if reference.correct]
    return PromptSize(
        characters,
        byte_length(instance.messages),
        characters - (part.end - part.start if part else 0),
        1 if instance.multiple_choice else max(right, default=None),
    )


def forecast(
    sizes: Sequence[PromptSize],
    counts: Mapping[int, int],
    *,
    max_tokens: int,
    budget: int | None,
    can_shorten: bool,
    thinks: bool,
    byte_limit: int | None = None,
) -> Forecast:
    """Estimate a run.

    Args:
        sizes: of every prompt.
        counts: real tokens of some of the prompts, by position.
        max_tokens: the most tokens of an answer.
        budget: the most tokens of a prompt; None if nobody says.
        can_shorten: whether somebody counts, so that prompts can be cut.
        thinks: the model thinks before it answers, so that references say nothing of the length of answers.
        byte_limit: nobody counts, so that a prompt of more bytes is not asked.
    """
    counted_characters = sum(sizes[position].characters for position in counts)
    per_token = counted_characters / sum(counts.values()) if counts and counted_characters else CHARACTERS_A_TOKEN
    requests, tokens, shortened, not_fitting = 0, 0.0, 0, 0
    answers: list[float] = []
    for position, size in enumerate(sizes):
        if byte_limit is not None and size.most_tokens > byte_limit:
            not_fitting += 1
            continue
        own = counts.get(position, min(size.characters / per_token, size.most_tokens))
        if budget is not None and own > budget:
            if not can_shorten or size.fixed == size.characters or size.fixed / per_token >= budget:
                not_fitting += 1
                continue
            shortened += 1
            own = budget
        requests += 1
        tokens += own
        if size.answer is not None:
            answers.append(min(size.answer / per_token + 1, max_tokens))  # an end is a token too
    return Forecast(
        requests=requests,
        prompt_tokens=round(tokens),
        counted=len(counts),
        answer_most=requests * max_tokens,
        answer_expected=_expected(answers, requests, thinks),
        shortened=shortened,
        not_fitting=not_fitting,
        bounded=budget is not None,
    )


def _expected(answers: Sequence[float], requests: int, thinks: bool) -> int | None:
    if requests == 0:
        return 0
    return None if thinks or not answers else round(sum(answers) / len(answers) * requests)


@dataclass(frozen=True, slots=True)
class Times:
    """How long a run takes.

    Attributes:
        likely: seconds, were each answer as long as its reference; None where that is not known.
        most: seconds, were each answer as long as is allowed; infinite where the server is slower than was waited for,
            and `likely` then is the least.
    """

    likely: float | None
    most: float


def estimate_times(found: Forecast, pace: Pace) -> Times:
    """Return how long the run takes at this pace."""
    if pace.at_least:
        return Times(pace.seconds(found.requests, found.prompt_tokens, found.answer_expected or 0), math.inf)
    expected = found.answer_expected
    return Times(
        None if expected is None else pace.seconds(found.requests, found.prompt_tokens, expected),
        pace.seconds(found.requests, found.prompt_tokens, found.answer_most),
    )


def describe_forecast(found: Forecast, pace: Pace | None, prices: Prices | None) -> list[str]:
    """Return what a person should know before the run, one thing a line."""
    if not found.requests and not found.not_fitting:
        return ["nothing is left to ask"]
    lines = _size_lines(found)
    if pace is not None:
        lines.append(
            f"{_time_words(estimate_times(found, pace))}, by a trial of the server, {pace.in_flight} questions at once"
        )
    if prices is not None:
        lines.extend(_cost_words(found, pace, prices))
    return lines


def describe_total(
    forecasts: Sequence[Forecast], paces: Sequence[Pace | None], prices: Sequence[Prices | None]
) -> list[str]:
    """Return the same of several runs, one after the other; their time and cost only where it is known of each."""
    if not any(one.requests or one.not_fitting for one in forecasts):
        return ["nothing is left to ask"]
    expected = [one.answer_expected for one in forecasts]
    total = Forecast(
        requests=sum(one.requests for one in forecasts),
        prompt_tokens=sum(one.prompt_tokens for one in forecasts),
        counted=sum(one.counted for one in forecasts),
        answer_most=sum(one.answer_most for one in forecasts),
        answer_expected=None if None in expected else sum(one for one in expected if one is not None),
        shortened=sum(one.shortened for one in forecasts),
        not_fitting=sum(one.not_fitting for one in forecasts),
        bounded=all(one.bounded for one in forecasts),
    )
    each = [estimate_times(found, pace) for found, pace in zip(forecasts, paces, strict=True) if pace is not None]
    lines = _size_lines(total)
    if len(each) == len(forecasts):
        likely = [one.likely for one in each]
        known = None if None in likely else sum(seconds for seconds in likely if seconds is not None)
        lines.append(_time_words(Times(known, sum(one.most for one in each))))
    priced = list(zip(forecasts, paces, prices, strict=True))
    for words in ("about", "at most"):
        amount = format_total_cost([_cost(*one, words) for one in priced])
        if amount:
            lines.append(f"cost {words} {amount}")
    return lines


def _size_lines(found: Forecast) -> list[str]:
    basis = (
        f"{counted(found.counted, 'prompt')} {'was' if found.counted == 1 else 'were'} counted"
        if found.counted
        else f"not counted: a token is taken for {CHARACTERS_A_TOKEN:g} characters"
    )
    expected = ""
    if found.answer_expected is not None:
        expected = f", about {found.answer_expected:,} if answers are as long as the reference answers"
    lines = [
        f"{counted(found.requests, 'request')}, about {found.prompt_tokens:,} tokens in ({basis})",
        f"at most {found.answer_most:,} tokens out{expected}",
    ]
    if found.shortened:
        lines.append(f"prompts that would be shortened to fit: {found.shortened:,}")
    if found.not_fitting:
        lines.append(f"prompts that do not fit and would have no score (context_length): {found.not_fitting:,}")
    if not found.bounded:
        lines.append("how much fits the model is not known, so neither is whether all prompts do")
    return lines


def _time_words(time: Times) -> str:
    if math.isinf(time.most):
        return f"more than {format_duration(time.likely or 0)} (the server did not end its trial in time)"
    if time.likely is None:
        return f"up to {format_duration(time.most)}"
    return f"about {format_duration(time.likely)}, up to {format_duration(time.most)} if answers are as long as allowed"


def _cost_words(found: Forecast, pace: Pace | None, prices: Prices) -> Iterable[str]:
    for words in ("about", "at most"):
        amount = _cost(found, pace, prices, words)
        if amount is not None and format_cost(amount):
            yield f"cost {words} {format_cost(amount)}"


def _cost(found: Forecast, pace: Pace | None, prices: Prices | None, words: str) -> Cost | None:
    """Return what a run would cost about or at most; None where nobody knows."""
    answer_tokens = found.answer_expected if words == "about" else found.answer_most
    if answer_tokens is None or prices is None:
        return None
    seconds = None
    if pace is not None and not pace.at_least:
        seconds = pace.seconds(found.requests, found.prompt_tokens, answer_tokens)
    return compute_cost(prices, prompt_tokens=found.prompt_tokens, completion_tokens=answer_tokens, seconds=seconds)
