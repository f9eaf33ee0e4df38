"""Compute and describe the tokens, time and cost of a run's answers. Pure. Unknown parts are reported as unknown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from agent.catalog.deployments import Prices
from agent.inference.closed_questions import TEXT_MODES
from agent.io.wording import format_count
from agent.store import Usage
from agent.vocabulary import AnswerMode

_MILLION = 1_000_000
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost in a currency, as two separate parts.

    Attributes:
        tokens: cost by token prices; None if there are no prices or the number of tokens is not known.
        gpu_hours: cost by GPU time; None if there is no hourly rate or the time is not known.
    """

    currency: str
    tokens: float | None
    gpu_hours: float | None


def compute_cost(
    prices: Prices,
    *,
    prompt_tokens: float | None,
    completion_tokens: float | None,
    seconds: float | None,
) -> Cost:
    """Return the cost of these tokens and this wall-clock time. Unknown numbers are None."""
    by_tokens = None
    if prompt_tokens is not None and completion_tokens is not None:
        by_tokens = _price_tokens(prices, prompt_tokens, completion_tokens)
    by_hours = None
    if prices.gpu_hour_rate is not None and prices.gpus is not None and seconds is not None:
        by_hours = prices.gpu_hour_rate * prices.gpus * seconds / _HOUR_S
    return Cost(prices.currency, by_tokens, by_hours)


def _price_tokens(prices: Prices, prompt_tokens: float, completion_tokens: float) -> float | None:
    prompt_price = prices.per_million_prompt_tokens
    completion_price = prices.per_million_completion_tokens
    if prompt_price is None or completion_price is None:
        return None
    return (prompt_price * prompt_tokens + completion_price * completion_tokens) / _MILLION


def describe_usage(
    usage: Usage,
    prices: Prices | None,
    *,
    all_asked_now: bool,
    answer_mode: AnswerMode = "generate",
) -> list[str]:
    """Return lines with the tokens, time and cost of the answers of one run.

    Args:
        usage: usage of all the run's answers, including those obtained by an earlier run.
        prices: prices of its deployment.
        all_asked_now: whether all answers were obtained now, so that tokens and time refer to the same answers.
        answer_mode: the run's way of asking.
    """
    if not usage.answers:
        return []
    requests = f"{usage.attempts:,} requests"
    if answer_mode not in TEXT_MODES:
        # One request for each answer, unless it was repeated.
        requests += f" ({usage.attempts - usage.answers:,} retries)"
    parts = [
        f"{usage.answers:,} answers",
        requests,
        f"{usage.prompt_tokens:,} tokens in",
        f"{usage.completion_tokens:,} tokens out",
        f"{format_duration(usage.asked_seconds)} spent asking",
    ]
    if all_asked_now and usage.asked_seconds and not usage.uncounted:
        parts.append(f"{usage.completion_tokens / usage.asked_seconds:,.1f} tokens/s out")
    lines = [", ".join(parts)]
    if usage.uncounted:
        lines.append(
            f"answers whose tokens the server did not count, not in the totals: {usage.uncounted:,}"
        )
    if usage.shortened:
        lines.append(
            f"prompts shortened to fit: {usage.shortened:,}, by {usage.left_out_tokens:,} tokens in total"
        )
    if prices is not None:
        lines.append(f"cost: {_describe_cost(usage, prices)}")
    return lines


def describe_judge_usage(
    name: str, usage: Usage, prices: Prices | None, seconds: float
) -> list[str]:
    """Return lines with the tokens, time and cost of one judge's judgements.

    Args:
        name: name of the judge's deployment.
        usage: usage of all its judgements, including earlier ones; `Usage.answers` is their number.
        prices: prices of the deployment.
        seconds: wall-clock time of the judging now, or 0 if this judge was not asked. GPU hours are computed from it.
    """
    lines = [
        f"judge {name}: {format_count(usage.answers, 'judgement')}, "
        f"{format_count(usage.attempts, 'request')}, "
        f"{usage.prompt_tokens:,} tokens in, "
        f"{usage.completion_tokens:,} tokens out, "
        f"{format_duration(usage.answer_seconds / usage.answers)} each"
    ]
    if usage.uncounted:
        lines.append(
            f"judgements whose tokens the server did not count, not in the totals: {usage.uncounted:,}"
        )
    if prices is None:
        return lines
    cost = compute_usage_cost(replace(usage, asked_seconds=seconds), prices)
    assert cost is not None
    if cost.tokens is not None:
        lines.append(f"judge {name}: cost {format_cost(replace(cost, gpu_hours=None))}")
    if cost.gpu_hours is not None and seconds:
        hours = format_cost(replace(cost, tokens=None))
        lines.append(
            f"judge {name}: cost at most {hours}, for the {format_duration(seconds)} of judging now"
        )
    return lines


def total_usage(usages: Sequence[Usage]) -> Usage:
    """Return the sum of every field. Answers shared by two runs count in both."""
    totals = {}
    for field in fields(Usage):
        totals[field.name] = sum(getattr(usage, field.name) for usage in usages)
    return Usage(**totals)


def _describe_cost(usage: Usage, prices: Prices) -> str:
    cost = compute_usage_cost(usage, prices)
    assert cost is not None
    parts = []
    amounts = format_cost(cost)
    if amounts:
        parts.append(amounts)
    if usage.uncounted and prices.per_million_prompt_tokens is not None:
        parts.append("tokens unknown, because some were not counted")
    return "; ".join(parts)


def compute_usage_cost(usage: Usage, prices: Prices | None) -> Cost | None:
    """Return the cost of a run's answers, or None if there are no prices or no answers."""
    if prices is None or not usage.answers:
        return None
    all_counted = usage.uncounted == 0
    return compute_cost(
        prices,
        prompt_tokens=usage.prompt_tokens if all_counted else None,
        completion_tokens=usage.completion_tokens if all_counted else None,
        seconds=usage.asked_seconds,
    )


def format_total_cost(costs: Sequence[Cost | None]) -> str:
    """Return the total cost of several runs as text.

    The text is empty unless every cost is known, and all have the same currency and the same parts.
    """
    currencies: set[str] = set()
    token_amounts: list[float] = []
    hour_amounts: list[float] = []
    for cost in costs:
        if cost is None:
            return ""
        currencies.add(cost.currency)
        if cost.tokens is not None:
            token_amounts.append(cost.tokens)
        if cost.gpu_hours is not None:
            hour_amounts.append(cost.gpu_hours)
    parts_differ = len(token_amounts) not in (0, len(costs)) or len(hour_amounts) not in (
        0,
        len(costs),
    )
    if len(currencies) != 1 or parts_differ:
        return ""
    total = Cost(
        currency=currencies.pop(),
        tokens=sum(token_amounts) if token_amounts else None,
        gpu_hours=sum(hour_amounts) if hour_amounts else None,
    )
    return format_cost(total)


def format_cost(cost: Cost) -> str:
    """Return the parts of a cost as text; empty if neither is known."""
    parts = []
    if cost.tokens is not None:
        parts.append(f"{format_amount(cost.tokens)} {cost.currency} by tokens")
    if cost.gpu_hours is not None:
        parts.append(f"{format_amount(cost.gpu_hours)} {cost.currency} by GPU hours")
    return ", ".join(parts)


def format_amount(value: float) -> str:
    """Return an amount with two decimals or, below 1, with at least two significant digits."""
    if value >= 1 or value == 0:
        return f"{value:,.2f}"
    leading_zeros = -1 - math.floor(math.log10(value))
    decimals = max(4, leading_zeros + 2)  # at least two significant digits
    return f"{value:.{decimals}f}"


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units: 8.4 s, 3 min 20 s, 5 h 12 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR_S:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
