"""A dot plot: values, intervals, and what has no score."""

from xml.etree import ElementTree

import pytest

from agent.plots.dots import draw_dot_plot
from tests.agent.plots.summaries import ORDINARY, SVG, texts


def test_a_dot_stands_at_its_value_and_a_band_spans_its_interval():
    root = ElementTree.fromstring(draw_dot_plot(ORDINARY).markup("d"))
    at = [float(dot.attrib["cx"]) for dot in root.iter(f"{SVG}circle")]
    assert at == [300 + 0.9 * 410, 300 + 0.5 * 410, 300 + 0.3 * 410, 300 + 0.75 * 410]
    bands = [rect for rect in root.iter(f"{SVG}rect") if rect.attrib["class"] == "plot-band"]
    first = bands[0].attrib
    assert (float(first["x"]), float(first["width"])) == (
        pytest.approx(300 + 0.85 * 410),
        pytest.approx(0.1 * 410),
    )
    words = texts(draw_dot_plot(ORDINARY).markup("d"))
    assert "0.900 (0.850 to 0.950), n 40" in words
    assert "4.00 (3.80 to 4.20), n 40" in words  # a jury's on its own scale, and drawn at its share
    assert "no score" in words
    hollow = [dot for dot in root.iter(f"{SVG}circle") if dot.attrib["class"] == "plot-hollow"]
    assert len(hollow) == 1
