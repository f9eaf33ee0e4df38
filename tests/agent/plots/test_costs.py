"""Models by cost and score: over the same benchmarks, in one unit, and not at all where nothing can be compared."""

import pytest

from agent.plots.costs import CostChart, build_cost_chart
from agent.results.efficiency import Efficiency
from agent.results.summarize import RunSummary
from agent.results.usage import Cost
from tests.agent.plots.summaries import summary


def took(
    tokens: int, euros: float | None = None, *, hours: float | None = None, currency: str = "EUR"
) -> Efficiency:
    """Ten answers."""
    cost = None if euros is None and hours is None else Cost(currency, euros, hours)
    return Efficiency(10, tokens, 0, 1.0, cost)


def draw(*rows: tuple[RunSummary, Efficiency | None]) -> CostChart | None:
    return build_cost_chart([row for row, _ in rows], [taken for _, taken in rows], "Suite s")


def test_score_and_cost_are_means_over_the_shared_benchmarks():
    chart = draw(
        (summary("x", "a", 0.9), took(100, 4.0)),
        (summary("y", "a", 0.5), took(100, 2.0)),
        (summary("x", "b", 0.5), took(100, 1.0)),
        (summary("y", "b", 0.3), took(100, 1.0)),
        (summary("x", "c", 0.4), took(100, 2.0)),
        (summary("y", "c", 0.2), took(100, 2.0)),
        (summary("z", "a", 0.0), took(100, 90.0)),
        (summary("z", "b", 0.0), took(100, 90.0)),
        (summary("x", "paper", 0.99), None),
    )
    assert chart is not None
    assert chart.unit == "EUR per 1,000 answers, by token prices"
    points = [(p.label, round(p.score, 6), round(p.cost, 6), p.best) for p in chart.points]
    assert points == [("a", 0.7, 300, True), ("b", 0.4, 100, True), ("c", 0.3, 200, False)]
    assert chart.basis == (
        "Over 2 benchmarks with comparable results, each with the same weight. Not shown, because costs or shared "
        "benchmarks are missing: paper."
    )


@pytest.mark.parametrize(
    ("first", "second", "unit"),
    [
        (took(100, 1.0, hours=2.0), took(200, 1.0), "EUR per 1,000 answers, by token prices"),
        (took(100, hours=2.0), took(200, hours=1.0), "EUR per 1,000 answers, by GPU hours"),
        (took(100, 1.0), took(200, hours=1.0), "tokens per answer, prompt included"),
        (took(100, 1.0), took(200, 1.0, currency="USD"), "tokens per answer, prompt included"),
        (took(100, 1.0), took(200), "tokens per answer, prompt included"),
    ],
)
def test_costs_that_are_not_known_in_one_currency_are_counted_in_tokens(
    first: Efficiency, second: Efficiency, unit: str
):
    chart = draw((summary("x", "a", 0.9), first), (summary("x", "b", 0.5), second))
    assert chart is not None
    assert chart.unit == unit
    if unit.startswith("tokens"):
        assert [point.cost for point in chart.points] == [10, 20]


def test_a_model_that_shares_no_benchmark_with_the_others_does_not_empty_the_chart():
    chart = draw(
        (summary("x", "a", 0.9), took(100)),
        (summary("x", "b", 0.5), took(100)),
        (summary("y", "a", 0.9), took(100)),
        (summary("y", "b", 0.5), took(100)),
        (summary("z", "b", 0.5), took(100)),
        (summary("z", "c", 0.5), took(100)),
    )
    assert chart is not None
    assert [point.label for point in chart.points] == ["a", "b"]
    assert chart.basis.endswith("missing: c.")


def test_one_model_or_no_costs_give_no_chart():
    assert draw() is None
    assert draw((summary("x", "a", 0.9), took(100))) is None
    assert draw((summary("x", "a", 0.9), None), (summary("x", "b", 0.5), None)) is None
    assert draw((summary("x", "a", 0.9), took(9)), (summary("y", "b", 0.5), took(9))) is None
