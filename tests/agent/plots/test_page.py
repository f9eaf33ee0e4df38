"""Drawings on one page: the same each time, told to who does not see them, and of any width."""

import re
from xml.etree import ElementTree

from agent.plots.dots import draw_dot_plot
from agent.plots.page import render_svg
from tests.agent.plots.summaries import ORDINARY, SVG


def test_the_same_figures_give_the_same_bytes_and_nothing_is_fetched():
    assert render_svg(ORDINARY) == render_svg(ORDINARY)
    drawn = render_svg(ORDINARY).decode()
    assert re.findall(r"https?://[^\"]+", drawn) == ["http://www.w3.org/2000/svg"] * 3
    assert "url(" not in drawn
    assert "@import" not in drawn
    ids = re.findall(r' id="([^"]+)"', drawn)
    assert len(ids) == len(set(ids)) == 6


def test_who_does_not_see_a_drawing_is_told_its_name_and_figures():
    root = ElementTree.fromstring(render_svg(ORDINARY))
    for drawn in root.iter(f"{SVG}svg"):
        title, described = drawn.find(f"{SVG}title"), drawn.find(f"{SVG}desc")
        assert title is not None
        assert described is not None
        assert drawn.attrib["aria-labelledby"] == title.attrib["id"]
        assert drawn.attrib["aria-describedby"] == described.attrib["id"]
    assert "a/good 0.900 (0.850 to 0.950), n 40" in draw_dot_plot(ORDINARY).description


def test_a_file_in_a_narrow_window_shrinks_and_loses_nothing_at_its_right():
    root = ElementTree.fromstring(render_svg(ORDINARY))
    assert root.attrib["viewBox"].startswith("0 0 ")
    assert "width" not in root.attrib
    assert "height" not in root.attrib
