"""A cost that is known only as an interval. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.results.usage import Cost, format_amount


@dataclass(frozen=True, slots=True)
class CostRange:
    """The lowest and the highest cost, in one currency and with the same parts."""

    low: Cost
    high: Cost


def describe_cost_range(costs: Sequence[CostRange]) -> list[str]:
    """Return a line with the sum of costs; [] if they differ in currency or parts, or if no part is known."""
    total = format_cost_range(costs)
    return [f"costs {total}"] if total else []


def format_cost_range(costs: Sequence[CostRange]) -> str:
    """Return the sum of costs as intervals; "" if they differ in currency or parts, or if no part is known."""
    kinds = {
        (cost.low.currency, cost.low.tokens is None, cost.low.gpu_hours is None) for cost in costs
    }
    if len(kinds) != 1:
        return ""
    low, high = _add([cost.low for cost in costs]), _add([cost.high for cost in costs])
    parts: list[str] = []
    if low.tokens is not None and high.tokens is not None:
        parts.append(f"{_format_amounts(low.tokens, high.tokens)} {low.currency} by tokens")
    if low.gpu_hours is not None and high.gpu_hours is not None:
        amounts = _format_amounts(low.gpu_hours, high.gpu_hours)
        parts.append(f"{amounts} {low.currency} by GPU hours")
    return ", ".join(parts)


def _add(costs: Sequence[Cost]) -> Cost:
    """Return the sum of costs of one currency with the same parts."""
    tokens = [cost.tokens for cost in costs if cost.tokens is not None]
    hours = [cost.gpu_hours for cost in costs if cost.gpu_hours is not None]
    return Cost(costs[0].currency, sum(tokens) if tokens else None, sum(hours) if hours else None)


def _format_amounts(low: float, high: float) -> str:
    amounts = [format_amount(low), format_amount(high)]
    return f"about {amounts[0]}" if amounts[0] == amounts[1] else " to ".join(amounts)
