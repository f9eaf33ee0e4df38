"""The drawing of score by cost can be read without seeing it, and holds hostile names."""

from xml.etree import ElementTree

import pytest

from agent.plots.costs import CostChart, CostPoint
from agent.plots.scatter import WIDTH, draw_scatter
from tests.agent.plots.summaries import SVG, texts


def chart(*points: tuple[str, float, float]) -> CostChart:
    built = tuple(CostPoint(*point[:1], *point[1:], baseline=False, best=True) for point in points)
    return CostChart(
        "Suite s", "EUR per 1,000 answers, by token prices", "Over 1 benchmark.", built
    )


def positions(drawn: str) -> list[float]:
    return [float(dot.get("cx", "")) for dot in ElementTree.fromstring(drawn).iter(f"{SVG}circle")]


def test_the_description_says_every_value():
    drawing = draw_scatter(chart(("a/good", 2.0, 0.9), ("b/fair", 0.5, 0.6)))
    assert drawing.description == (
        "Score by EUR per 1,000 answers, by token prices: a/good 0.900 for 2.00; b/fair 0.600 for 0.5000. "
        "Over 1 benchmark."
    )
    said = texts(drawing.markup("costs"))
    assert {"1  a/good", "2  b/fair", "0.900 for 2.00"} <= set(said)


@pytest.mark.parametrize(
    ("costs", "is_logarithmic"),
    [((1.0, 2.0), False), ((0.01, 30.0), True), ((0.0, 30.0), False), ((0.0, 0.0), False)],
)
def test_far_apart_costs_stay_apart_and_in_the_plane(
    costs: tuple[float, float], is_logarithmic: bool
):
    drawn = draw_scatter(chart(("a", costs[0], 0.5), ("b", costs[1], 0.5))).markup("costs")
    first, second = positions(drawn)
    assert 0 < first <= second < WIDTH
    assert ("each line ten times" in drawn) == is_logarithmic


def test_a_model_whose_name_is_markup_is_drawn_as_text():
    drawn = draw_scatter(chart(('<script>"&', 1.0, 0.5), ("b" * 300, 2.0, 0.4))).markup("costs")
    ElementTree.fromstring(drawn)
    assert "<script" not in drawn
