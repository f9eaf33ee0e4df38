"""Forecast the requests, tokens, time and cost of a run.

This module is pure; `trial` counts prompts and times the server. Every number is an estimate and is reported with its
basis. Numbers without a basis remain unknown.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from agent.catalog.deployments import Prices
from agent.inference.tokens import byte_length
from agent.io.wording import format_count
from agent.results.usage import (
    Cost,
    compute_cost,
    format_cost,
    format_duration,
    format_total_cost,
)
from agent.vocabulary import Instance

Number = TypeVar("Number", int, float)

CHARACTERS_A_TOKEN = 4.0  # typical of English text; used if no server counts tokens


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The length of one prompt, without its text.

    Attributes:
        characters: number of characters in all messages.
        most_tokens: upper bound on the tokens under any tokenizer, which is the number of bytes.
        fixed: number of characters that cannot be cut; equal to `characters` if the prompt cannot be shortened.
        answer: characters in the longest correct reference (1 for an option); None if there is no correct reference.
        rated_texts: number of options whose texts are rated, each by a request of its own with the whole prompt.
        rated_characters: number of characters in these texts.
    """

    characters: int
    most_tokens: int
    fixed: int
    answer: int | None
    rated_texts: int = 0
    rated_characters: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """The speed at which a server answered trial questions.

    Attributes:
        in_flight: number of concurrent questions in a round.
        base_s: seconds per round, regardless of the length of its questions.
        prompt_token_s, answer_token_s: seconds that one more token in every question or answer adds to a round.
        at_least: whether `base_s` is a lower bound because the server did not finish in time.
    """

    in_flight: int
    base_s: float
    prompt_token_s: float = 0.0
    answer_token_s: float = 0.0
    at_least: bool = False

    def seconds(self, requests: int, prompt_tokens: float, answer_tokens: float) -> float:
        """Return the seconds for these requests with these total numbers of tokens."""
        rounds = max(requests / self.in_flight, min(1, requests))
        tokens = prompt_tokens * self.prompt_token_s + answer_tokens * self.answer_token_s
        return rounds * self.base_s + tokens / self.in_flight


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected size of a run before it starts.

    Attributes:
        requests: number of requests that would be sent.
        prompt_tokens: tokens in all prompts as they would be sent.
        counted: number of prompts whose tokens a server counted. If zero, a token is assumed to have four characters.
        answer_most: tokens in all answers if each is as long as allowed.
        answer_expected: tokens in all answers if each is as long as its reference; None if references give no estimate.
        shortened: number of prompts that would be cut to fit.
        not_fitting: number of prompts that would not be sent or that the server would refuse.
        bounded: whether the maximum length of a prompt is known.
    """

    requests: int
    prompt_tokens: int
    counted: int
    answer_most: int
    answer_expected: int | None
    shortened: int
    not_fitting: int
    bounded: bool


def measure_prompt(instance: Instance, *, rates_texts: bool = False) -> PromptSize:
    """Return the length of an instance's prompt and answer, and of its options if their texts are rated."""
    characters = sum(len(message.content) for message in instance.messages)
    shortenable = instance.shortenable
    fixed = characters
    if shortenable is not None:
        fixed -= shortenable.end - shortenable.start
    answer: int | None = 1  # the letter of an option
    if not instance.multiple_choice:
        right_lengths = [
            len(reference.text) for reference in instance.references if reference.correct
        ]
        answer = max(right_lengths, default=None)
    texts = [reference.text for reference in instance.references] if rates_texts else []
    return PromptSize(
        characters=characters,
        most_tokens=byte_length(instance.messages),
        fixed=fixed,
        answer=answer,
        rated_texts=len(texts),
        rated_characters=sum(map(len, texts)),
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
    """Forecast the size of a run.

    Args:
        sizes: size of every prompt.
        counts: actual tokens of some of the prompts, by position.
        max_tokens: maximum tokens per answer.
        budget: maximum tokens per prompt; None if unknown.
        can_shorten: whether the server counts tokens, so that prompts can be cut to fit.
        thinks: whether the model reasons before it answers, so that references do not predict the length of answers.
        byte_limit: maximum bytes per prompt if the server does not count tokens; None for no limit.
    """
    counted_characters = sum(sizes[position].characters for position in counts)
    per_token = CHARACTERS_A_TOKEN
    if counted_characters:
        per_token = counted_characters / sum(counts.values())
    requests, tokens, shortened, not_fitting = 0, 0.0, 0, 0
    answer_most = 0
    answers: list[float] = []
    for position, size in enumerate(sizes):
        if byte_limit is not None and size.most_tokens > byte_limit:
            not_fitting += 1
            continue
        prompt_tokens = counts.get(position, min(size.characters / per_token, size.most_tokens))
        if budget is not None and prompt_tokens > budget:
            has_part_to_cut = size.fixed < size.characters and size.fixed / per_token < budget
            if not can_shorten or not has_part_to_cut:
                not_fitting += 1
                continue
            shortened += 1
            prompt_tokens = budget
        # One more request counts the prompt's tokens before the texts of its options are rated.
        requests_of_prompt = 1 + size.rated_texts
        requests += requests_of_prompt
        tokens += requests_of_prompt * prompt_tokens + size.rated_characters / per_token
        answer_most += requests_of_prompt if size.rated_texts else max_tokens
        if size.rated_texts:
            answers.append(1)  # the server writes one token, which nobody reads
        elif size.answer is not None:
            # Add one for the end-of-text token.
            answers.append(min(size.answer / per_token + 1, max_tokens))
    return Forecast(
        requests=requests,
        prompt_tokens=round(tokens),
        counted=len(counts),
        answer_most=answer_most,
        answer_expected=_estimate_answer_tokens(answers, requests, thinks),
        shortened=shortened,
        not_fitting=not_fitting,
        bounded=budget is not None,
    )


def _estimate_answer_tokens(answers: Sequence[float], requests: int, thinks: bool) -> int | None:
    if requests == 0:
        return 0
    if thinks or not answers:
        return None
    return round(sum(answers) / len(answers) * requests)


@dataclass(frozen=True, slots=True)
class Times:
    """The duration of a run.

    Attributes:
        likely: seconds if each answer is as long as its reference; None if that is not known.
        most: seconds if each answer is as long as allowed. Infinite if the server did not finish its trial in time;
            `likely` is then a lower bound.
    """

    likely: float | None
    most: float


def estimate_times(run: Forecast, pace: Pace) -> Times:
    """Return the duration of the run at this pace."""
    expected = run.answer_expected
    if pace.at_least:
        return Times(
            likely=pace.seconds(run.requests, run.prompt_tokens, expected or 0), most=math.inf
        )
    likely = None
    if expected is not None:
        likely = pace.seconds(run.requests, run.prompt_tokens, expected)
    return Times(likely, most=pace.seconds(run.requests, run.prompt_tokens, run.answer_most))


def describe_forecast(run: Forecast, pace: Pace | None, prices: Prices | None) -> list[str]:
    """Return lines for the user that describe the forecast of one run."""
    if not run.requests and not run.not_fitting:
        return ["nothing is left to ask"]
    lines = _describe_size(run)
    if pace is not None:
        duration = _describe_times(estimate_times(run, pace))
        lines.append(
            f"{duration}, from a trial of the server with {pace.in_flight} concurrent questions"
        )
    if prices is not None:
        lines.extend(_describe_cost(run, pace, prices))
    return lines


def describe_total(
    forecasts: Sequence[Forecast], paces: Sequence[Pace | None], prices: Sequence[Prices | None]
) -> list[str]:
    """Return lines for the user that describe the total of several runs carried out one after another.

    Time and cost are omitted unless they are known for every run.
    """
    if not any(run.requests or run.not_fitting for run in forecasts):
        return ["nothing is left to ask"]
    lines = _describe_size(_add_forecasts(forecasts))
    times = []
    for run, pace in zip(forecasts, paces, strict=True):
        if pace is not None:
            times.append(estimate_times(run, pace))
    if len(times) == len(forecasts):
        lines.append(_describe_times(_add_times(times)))
    for words in ("about", "at most"):
        costs = [
            _estimate_cost(run, pace, run_prices, words)
            for run, pace, run_prices in zip(forecasts, paces, prices, strict=True)
        ]
        amount = format_total_cost(costs)
        if amount:
            lines.append(f"cost {words} {amount}")
    return lines


def _add_forecasts(forecasts: Sequence[Forecast]) -> Forecast:
    return Forecast(
        requests=sum(run.requests for run in forecasts),
        prompt_tokens=sum(run.prompt_tokens for run in forecasts),
        counted=sum(run.counted for run in forecasts),
        answer_most=sum(run.answer_most for run in forecasts),
        answer_expected=_add_known([run.answer_expected for run in forecasts]),
        shortened=sum(run.shortened for run in forecasts),
        not_fitting=sum(run.not_fitting for run in forecasts),
        bounded=all(run.bounded for run in forecasts),
    )


def _add_times(times: Sequence[Times]) -> Times:
    return Times(
        likely=_add_known([time.likely for time in times]), most=sum(time.most for time in times)
    )


def _add_known(numbers: Sequence[Number | None]) -> Number | None:
    """Return the sum, or None if any of the numbers is unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _describe_size(run: Forecast) -> list[str]:
    basis = f"not counted; assuming {CHARACTERS_A_TOKEN:g} characters per token"
    if run.counted:
        verb = "was" if run.counted == 1 else "were"
        basis = f"{format_count(run.counted, 'prompt')} {verb} counted"
    expected = ""
    if run.answer_expected is not None:
        expected = (
            f", about {run.answer_expected:,} if answers are as long as the reference answers"
        )
    lines = [
        f"{format_count(run.requests, 'request')}, about {run.prompt_tokens:,} tokens in ({basis})",
        f"at most {run.answer_most:,} tokens out{expected}",
    ]
    if run.shortened:
        lines.append(f"prompts that would be shortened to fit: {run.shortened:,}")
    if run.not_fitting:
        lines.append(
            f"prompts that do not fit and would have no score (context_length): {run.not_fitting:,}"
        )
    if not run.bounded:
        lines.append("the model's maximum prompt length is unknown, so some prompts may not fit")
    return lines


def _describe_times(time: Times) -> str:
    if math.isinf(time.most):
        return f"more than {format_duration(time.likely or 0)} (the server did not finish its trial in time)"
    if time.likely is None:
        return f"up to {format_duration(time.most)}"
    return f"about {format_duration(time.likely)}, up to {format_duration(time.most)} if answers are as long as allowed"


def _describe_cost(run: Forecast, pace: Pace | None, prices: Prices) -> Iterable[str]:
    for words in ("about", "at most"):
        amount = _estimate_cost(run, pace, prices, words)
        if amount is not None and format_cost(amount):
            yield f"cost {words} {format_cost(amount)}"


def _estimate_cost(
    run: Forecast, pace: Pace | None, prices: Prices | None, words: str
) -> Cost | None:
    """Return the expected cost of a run if `words` is "about", else its maximum cost; None if unknown."""
    answer_tokens = run.answer_expected if words == "about" else run.answer_most
    if answer_tokens is None or prices is None:
        return None
    seconds = None
    if pace is not None and not pace.at_least:
        seconds = pace.seconds(run.requests, run.prompt_tokens, answer_tokens)
    return compute_cost(
        prices, prompt_tokens=run.prompt_tokens, completion_tokens=answer_tokens, seconds=seconds
    )
