"""Drawings hold whatever names hold."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.plots.dots import draw_dot_plot
from agent.plots.heatmap import heatmap
from agent.plots.page import render_svg
from agent.plots.plain import draw_plain_plot
from tests.agent.plots.summaries import SVG, chart, summary

HOSTILE = [
    "</text><script>alert(1)</script>",
    '" onload="alert(1)',
    "]]><!ENTITY x SYSTEM 'file:///etc/passwd'>",
    "\x00\x1b[2J\x0b\ufffe",
    "\ud800lone",
    "a" * 5000,
    "\u202egnp.exe",
    "&lt;b&gt; &amp;",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_holds_markup_is_text_in_every_drawing(name: str):
    found = chart(summary(name, name, 0.5), summary(name, "b", 0.4, unscored=30))
    for drawn in (
        draw_dot_plot(found).markup("d"),
        heatmap(found).markup("h"),
        render_svg(found).decode(),
    ):
        root = ElementTree.fromstring(drawn)
        assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
            *("svg", "g", "text", "rect", "circle", "title", "desc")
        }
        assert not any(
            key.startswith("on") or "href" in key or key == "style"
            for one in root.iter()
            for key in one.attrib
        )


@given(st.text(max_size=60), st.floats(0, 1), st.integers(0, 100))
def test_any_name_and_value_gives_well_formed_drawings(name: str, value: float, unscored: int):
    found = chart(summary(name, name, value, unscored=unscored), summary("x", name, None))
    ElementTree.fromstring(render_svg(found))
    assert draw_plain_plot(found).endswith("\n")
