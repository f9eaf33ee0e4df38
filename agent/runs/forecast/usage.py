"""What a run's answers cost, in tokens, time and money: lines for a person. Pure; what nobody says stays unknown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from agent.catalog.deployments import Prices
from agent.io.wording import format_count
from agent.store import Usage

_MILLION = 1_000_000
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount in a currency, and what it is made of.

    Attributes:
        tokens: by prices a token; None where there are none, or the tokens are not known.
        gpu_hours: by the rate of the GPUs and the time; None where there is none, or the time is not known.
    """

    currency: str
    tokens: float | None
    gpu_hours: float | None


def compute_cost(
    prices: Prices, *, prompt_tokens: float | None, completion_tokens: float | None, seconds: float | None
) -> Cost:
    """Return what so many tokens and so much wall time cost; None for what is not known."""
    by_tokens = by_hours = None
    prompt, completion = prices.per_million_prompt_tokens, prices.per_million_completion_tokens
    if prompt is not None and completion is not None and prompt_tokens is not None and completion_tokens is not None:
        by_tokens = (prompt * prompt_tokens + completion * completion_tokens) / _MILLION
    if prices.gpu_hour_rate is not None and prices.gpus is not None and seconds is not None:
        by_hours = prices.gpu_hour_rate * prices.gpus * seconds / _HOUR_S
    return Cost(prices.currency, by_tokens, by_hours)


def describe_usage(usage: Usage, prices: Prices | None, *, all_asked_now: bool) -> list[str]:
    """Return what the answers of one run took and cost.

    Args:
        usage: of the run's answers, also of those that an earlier run had brought.
        prices: of its deployment.
        all_asked_now: none of the answers was there before, so that tokens and time belong together.
    """
    if not usage.answers:
        return []
    retries = usage.attempts - usage.answers
    parts = [
        f"{usage.answers:,} answers",
        f"{usage.attempts:,} requests ({retries:,} retries)",
        f"{usage.prompt_tokens:,} tokens in",
        f"{usage.completion_tokens:,} tokens out",
        f"{format_duration(usage.asked_seconds)} of asking",
    ]
    if all_asked_now and usage.asked_seconds and not usage.uncounted:
        parts.append(f"{usage.completion_tokens / usage.asked_seconds:,.1f} tokens/s out")
    lines = [", ".join(parts)]
    if usage.uncounted:
        lines.append(f"answers whose tokens the server did not count: {usage.uncounted:,}; the sums are without them")
    if usage.shortened:
        lines.append(f"prompts shortened to fit: {usage.shortened:,}, by {usage.left_out_tokens:,} tokens in all")
    if prices is not None:
        lines.append(f"cost: {_cost_of(usage, prices)}")
    return lines


def describe_judge_usage(name: str, usage: Usage, prices: Prices | None, seconds: float) -> list[str]:
    """Return what the judgements of one judge took and cost.

    Args:
        name: the judge's deployment.
        usage: of its judgements, also of those that were there before; `Usage.answers` counts them.
        prices: of the deployment.
        seconds: wall time that judging took now; 0 where this judge was not asked. GPU hours are known of it alone.
    """
    lines = [
        f"judge {name}: {format_count(usage.answers, 'judgement')}, {format_count(usage.attempts, 'request')}, "
        f"{usage.prompt_tokens:,} tokens in, {usage.completion_tokens:,} tokens out, "
        f"{format_duration(usage.answer_seconds / usage.answers)} each"
    ]
    if usage.uncounted:
        lines.append(f"judgements whose tokens the server did not count: {usage.uncounted:,}; without them")
    if prices is None:
        return lines
    found = compute_usage_cost(replace(usage, asked_seconds=seconds), prices)
    assert found is not None
    if found.tokens is not None:
        lines.append(f"judge {name}: cost {format_cost(Cost(found.currency, found.tokens, None))}")
    if found.gpu_hours is not None and seconds:
        hours = format_cost(Cost(found.currency, None, found.gpu_hours))
        lines.append(f"judge {name}: cost at most {hours}, for the {format_duration(seconds)} of judging now")
    return lines


def total_usage(usages: Sequence[Usage]) -> Usage:
    """Return the sum; what two runs share counts in both."""
    return Usage(*(sum(getattr(one, field.name) for one in usages) for field in fields(Usage)))


def _cost_of(usage: Usage, prices: Prices) -> str:
    found = compute_usage_cost(usage, prices)
    assert found is not None
    unknown = (
        ""
        if usage.uncounted == 0 or prices.per_million_prompt_tokens is None
        else "by tokens unknown, as some are not counted"
    )
    return "; ".join(part for part in (format_cost(found), unknown) if part)


def compute_usage_cost(usage: Usage, prices: Prices | None) -> Cost | None:
    """Return what the answers of a run cost; None without prices, or without answers."""
    if prices is None or not usage.answers:
        return None
    counted = usage.uncounted == 0
    return compute_cost(
        prices,
        prompt_tokens=usage.prompt_tokens if format_count else None,
        completion_tokens=usage.completion_tokens if format_count else None,
        seconds=usage.asked_seconds,
    )


def format_total_cost(costs: Sequence[Cost | None]) -> str:
    """Say what several runs cost together; empty unless it is known of each, in one currency and by the same kinds."""
    known = [one for one in costs if one is not None]
    kinds = {(one.currency, one.tokens is None, one.gpu_hours is None) for one in known}
    if len(known) < len(costs) or len(kinds) != 1:
        return ""
    tokens, hours = [one.tokens for one in known], [one.gpu_hours for one in known]
    return format_cost(Cost(known[0].currency, _sum(tokens), _sum(hours)))


def _sum(amounts: Sequence[float | None]) -> float | None:
    there = [amount for amount in amounts if amount is not None]
    return sum(there) if there else None


def format_cost(found: Cost) -> str:
    """Say an amount with what it is made of; empty when nothing is known."""
    parts = []
    if found.tokens is not None:
        parts.append(f"{_amount(found.tokens)} {found.currency} by tokens")
    if found.gpu_hours is not None:
        parts.append(f"{_amount(found.gpu_hours)} {found.currency} by GPU hours")
    return ", ".join(parts)


def _amount(value: float) -> str:
    if value >= 1 or value == 0:
        return f"{value:,.2f}"
    return f"{value:.{max(4, 1 - math.floor(math.log10(value)))}f}"  # two digits that say something


def format_duration(seconds: float) -> str:
    """Say a time in the two units that matter: 8.4 s, 3 min 20 s, 5 h 12 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR_S:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
