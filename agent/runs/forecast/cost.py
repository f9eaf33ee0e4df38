"""Forecast the requests, tokens, time and cost of a run.

This module is pure; `trial` counts prompts and times the server. Every number is an estimate and is reported with its
basis. Numbers without a basis remain unknown.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from agent.catalog.deployments import Prices
from agent.inference.tokens import byte_length
from agent.io.wording import format_count, format_range_s
from agent.results.usage import compute_cost, format_duration
from agent.runs.forecast.cost_range import CostRange, describe_cost_range
from agent.runs.forecast.seen import SeenAnswers
from agent.statistics.prediction import Range
from agent.vocabulary import Instance

Number = TypeVar("Number", int, float)

_TRIAL_ERROR = 1.25  # factor by which a trial of a few seconds may be wrong in either direction
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
        answer_least: tokens in all answers if each is as short as possible.
        seen: number of stored answers like these, on which the following figures rest.
        answer_seen: tokens in all answers, if they resemble those; None without such answers.
        seconds_seen: time for all answers, if they resemble those; None if it is not known.
        corrections: requests among `requests` in which judges are asked to correct a reply; None if it is not known.
        questions: number of answers that the requests give; a question whose options are rated needs several requests.
        partly_seen: whether the figures of only some of several runs rest on stored answers.
    """

    requests: int
    prompt_tokens: int
    counted: int
    answer_most: int
    answer_expected: int | None
    shortened: int
    not_fitting: int
    bounded: bool
    answer_least: int = 0
    seen: int = 0
    answer_seen: Range | None = None
    seconds_seen: Range | None = None
    corrections: int | None = None
    questions: int = 0
    partly_seen: bool = False

    @property
    def answers(self) -> Range:
        """The tokens in all answers."""
        if self.answer_seen is not None:
            return self.answer_seen
        least = self.answer_least if self.answer_expected is None else self.answer_expected
        return Range(min(least, self.answer_most), self.answer_most)


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
    characters_a_token: float = CHARACTERS_A_TOKEN,
    least_tokens: int = 1,
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
        characters_a_token: assumed if no prompt was counted.
        least_tokens: minimum tokens per answer.
    """
    counted_characters = sum(sizes[position].characters for position in counts)
    per_token = characters_a_token
    if counted_characters:
        per_token = counted_characters / sum(counts.values())
    questions, requests, tokens, shortened, not_fitting = 0, 0, 0.0, 0, 0
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
        questions += 1
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
        answer_least=min(answer_most, requests * least_tokens),
        questions=questions,
    )


def apply_seen(run: Forecast, seen: SeenAnswers | None, in_flight: int) -> Forecast:
    """Return the forecast of answers, or judgements, that resemble those that were seen.

    Args:
        run: a forecast without them.
        seen: stored answers like these; None if there are too few.
        in_flight: maximum number of concurrent requests.
    """
    if seen is None or not run.requests:
        return run
    corrections = round(run.questions * seen.corrections)
    prompt_tokens = run.prompt_tokens
    if corrections:
        # The second request repeats the first with the faulty reply.
        prompt_tokens = round(seen.prompt_tokens.mean * run.questions)
    return replace(
        run,
        requests=run.requests + corrections,
        prompt_tokens=prompt_tokens,
        seen=seen.count,
        answer_seen=seen.completion_tokens.predict_more(run.questions),
        seconds_seen=seen.predict_seconds(run.questions, in_flight),
        corrections=corrections,
    )


def _estimate_answer_tokens(answers: Sequence[float], requests: int, thinks: bool) -> int | None:
    if requests == 0:
        return 0
    if thinks or not answers:
        return None
    return round(sum(answers) / len(answers) * requests)


def estimate_seconds(run: Forecast, pace: Pace | None) -> Range | None:
    """Return the duration of the run; None if neither answers were seen nor the server was timed.

    The end is infinite if the server did not finish its trial in time.
    """
    if run.seconds_seen is not None:
        return run.seconds_seen
    if pace is None:
        return None
    least = pace.seconds(run.requests, run.prompt_tokens, run.answers.low)
    if pace.at_least:
        return Range(least, math.inf)
    most = pace.seconds(run.requests, run.prompt_tokens, run.answers.high)
    return Range(least / _TRIAL_ERROR, most * _TRIAL_ERROR)


def describe_forecast(run: Forecast, pace: Pace | None, prices: Prices | None) -> list[str]:
    """Return lines for the user that describe the forecast of one run."""
    if not run.requests and not run.not_fitting:
        return ["nothing is left to ask"]
    lines = _describe_size(run)
    seconds = estimate_seconds(run, pace)
    if seconds is not None:
        basis = f"as in {run.seen:,} answers seen"
        if run.seconds_seen is None and pace is not None:
            basis = f"from a trial of the server with {pace.in_flight} concurrent questions"
        lines.append(f"{_describe_seconds(seconds)}, {basis}")
    cost = estimate_cost(run, pace, prices)
    if cost is not None:
        lines += describe_cost_range([cost])
    return lines


def describe_total(
    forecasts: Sequence[Forecast],
    paces: Sequence[Pace | None],
    prices: Sequence[Prices | None],
    lanes: Sequence[Sequence[int]] = (),
) -> list[str]:
    """Return lines for the user that describe the total of several runs.

    Time and cost are omitted unless they are known for every run.

    Args:
        forecasts: the forecast of each run.
        paces: the pace of each run's server.
        prices: the prices of each run's server.
        lanes: positions of the runs that are carried out one after another, by lanes that are worked off at once; if
            empty, all runs are carried out one after another.
    """
    if not any(run.requests or run.not_fitting for run in forecasts):
        return ["nothing is left to ask"]
    lines = _describe_size(_add_forecasts(forecasts))
    times: list[Range] = []
    costs: list[CostRange] = []
    for run, pace, run_prices in zip(forecasts, paces, prices, strict=True):
        seconds = estimate_seconds(run, pace)
        if seconds is not None:
            times.append(seconds)
        cost = estimate_cost(run, pace, run_prices)
        if cost is not None:
            costs.append(cost)
    if len(times) == len(forecasts):
        lines.append(_describe_lanes(times, lanes or [range(len(times))]))
    if len(costs) == len(forecasts):
        lines += describe_cost_range(costs)
    return lines


def _describe_lanes(times: Sequence[Range], lanes: Sequence[Sequence[int]]) -> str:
    """Return the time until the slowest lane has ended."""
    sums = [sum((times[run] for run in lane), start=Range(0.0, 0.0)) for lane in lanes]
    total = Range(max(each.low for each in sums), max(each.high for each in sums))
    at_once = f", with {len(lanes)} servers asked at once" if len(lanes) > 1 else ""
    return _describe_seconds(total) + at_once


def _add_forecasts(forecasts: Sequence[Forecast]) -> Forecast:
    is_seen = [run.seen > 0 for run in forecasts if run.requests]
    answers = sum((run.answers for run in forecasts), start=Range(0.0, 0.0))
    return Forecast(
        requests=sum(run.requests for run in forecasts),
        prompt_tokens=sum(run.prompt_tokens for run in forecasts),
        counted=sum(run.counted for run in forecasts),
        answer_most=round(answers.high),
        answer_expected=_add_known([run.answer_expected for run in forecasts]),
        shortened=sum(run.shortened for run in forecasts),
        not_fitting=sum(run.not_fitting for run in forecasts),
        bounded=all(run.bounded for run in forecasts),
        answer_least=round(answers.low),
        seen=sum(run.seen for run in forecasts),
        answer_seen=answers,
        corrections=_add_known([run.corrections for run in forecasts]),
        questions=sum(run.questions for run in forecasts),
        partly_seen=any(is_seen) and not all(is_seen),
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
    requests = format_count(run.requests, "request")
    if run.corrections:
        requests += f" with about {format_count(run.corrections, 'correction')}"
    lines = [
        f"{requests}, about {run.prompt_tokens:,} tokens in ({basis})",
        _describe_answers(run),
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


def _describe_answers(run: Forecast) -> str:
    """Return the tokens of all answers with their basis."""
    low, high = round(run.answers.low), round(run.answers.high)
    tokens = f"{low:,} to {high:,} tokens out" if low < high else f"{high:,} tokens out"
    if run.partly_seen:
        return f"{tokens}, as in {run.seen:,} answers seen, and as allowed where none were seen"
    if run.seen:
        return f"{tokens}, as in {run.seen:,} answers seen"
    if run.answer_expected is not None:
        return f"{tokens}: answers as long as the reference answers, or as long as allowed"
    return f"{tokens}: answers as short as possible, or as long as allowed"


def describe_times(label: str, seconds: Range | None) -> list[str]:
    """Return a line with the duration of work, or [] if it is not known."""
    return [] if seconds is None else [f"{label} {_describe_seconds(seconds)}"]


def _describe_seconds(seconds: Range) -> str:
    if math.isinf(seconds.high):
        return f"more than {format_duration(seconds.low)} (the server did not finish its trial in time)"
    return f"takes {format_range_s(seconds.low, seconds.high)}"


def estimate_cost(run: Forecast, pace: Pace | None, prices: Prices | None) -> CostRange | None:
    """Return the lowest and the highest expected cost of a run; None without prices."""
    if prices is None:
        return None
    seconds = estimate_seconds(run, pace)
    if seconds is not None and math.isinf(seconds.high):
        seconds = None
    low = compute_cost(
        prices,
        prompt_tokens=run.prompt_tokens,
        completion_tokens=run.answers.low,
        seconds=None if seconds is None else seconds.low,
    )
    high = compute_cost(
        prices,
        prompt_tokens=run.prompt_tokens,
        completion_tokens=run.answers.high,
        seconds=None if seconds is None else seconds.high,
    )
    return CostRange(low, high)
