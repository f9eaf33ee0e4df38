"""Describe what runs were forecast to take after their first answers, beside what they took. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.catalog.deployments import Prices
from agent.inference.live_forecast import WorkTaken
from agent.io.wording import format_range_s
from agent.results.usage import (
    Cost,
    compute_cost,
    format_duration,
    format_total_cost,
)
from agent.runs.forecast.cost_range import CostRange, format_cost_range
from agent.statistics.prediction import Range

PricesByName = Mapping[str, Prices | None]


@dataclass(frozen=True, slots=True)
class _PricedWork:
    """The cost of one server's work as it was forecast, and as it arose."""

    forecast: CostRange
    actual: Cost


def describe_taken(
    label: str, lanes: Iterable[Sequence[WorkTaken]], prices: PricesByName
) -> list[str]:
    """Return a line with the forecast and the actual time of this work, and one with the costs; [] without a forecast.

    Args:
        label: what was forecast, to begin the lines.
        lanes: pieces of work that were done one after another, by the lanes that were worked off at once. Those with
            too few answers for a forecast are left out.
        prices: by the name of the deployment.
    """
    known = [_select_forecast(works) for works in lanes]
    times = [_add_seconds(works) for works in known if works]
    if not times:
        return []
    # The slowest lane ends the work.
    low = max(expected.low for expected, _ in times)
    high = max(expected.high for expected, _ in times)
    took = max(seconds for _, seconds in times)
    lines = [f"{label}: forecast {format_range_s(low, high)}, took {format_duration(took)}"]
    lines += describe_costs_taken(label, [work for works in known for work in works], prices)
    return lines


def _select_forecast(works: Sequence[WorkTaken]) -> list[WorkTaken]:
    return [work for work in works if work.forecast is not None]


def _add_seconds(works: Sequence[WorkTaken]) -> tuple[Range, float]:
    """Return the forecast and the actual time of pieces of work that were done one after another."""
    expected = Range(0.0, 0.0)
    for work in works:
        assert work.forecast is not None
        expected += work.forecast.seconds
    return expected, sum(work.seconds for work in works)


def describe_costs_taken(
    label: str, works: Sequence[WorkTaken], prices: PricesByName
) -> Iterator[str]:
    """Yield a line with the forecast and the actual costs if they are known for every server."""
    costs: list[_PricedWork] = []
    for work in _select_forecast(works):
        priced = _price_work(work, prices)
        if priced is None:
            return
        costs += priced
    actual = format_total_cost([cost.actual for cost in costs])
    if not costs or not actual:
        return
    expected = format_cost_range([cost.forecast for cost in costs])
    yield f"{label}: cost forecast {expected}, was {actual}"


def _price_work(work: WorkTaken, prices: PricesByName) -> list[_PricedWork] | None:
    """Return the costs by server; None unless each has prices. Tokens that were not counted have no cost."""
    assert work.forecast is not None
    seconds = work.forecast.seconds
    costs: list[_PricedWork] = []
    for name in work.servers:
        server_prices = prices.get(name)
        if server_prices is None:
            return None
        tokens = work.forecast.tokens.get(name)
        if name not in work.prompt_tokens:
            tokens = None
        low = compute_cost(
            server_prices,
            prompt_tokens=None if tokens is None else tokens.prompt.low,
            completion_tokens=None if tokens is None else tokens.completion.low,
            seconds=seconds.low,
        )
        high = compute_cost(
            server_prices,
            prompt_tokens=None if tokens is None else tokens.prompt.high,
            completion_tokens=None if tokens is None else tokens.completion.high,
            seconds=seconds.high,
        )
        actual = compute_cost(
            server_prices,
            prompt_tokens=None if tokens is None else work.prompt_tokens[name],
            completion_tokens=None if tokens is None else work.completion_tokens[name],
            seconds=work.seconds,
        )
        costs.append(_PricedWork(CostRange(low, high), actual))
    return costs
