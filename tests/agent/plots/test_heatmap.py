"""A heatmap: numbers and shades."""

import re
from xml.etree import ElementTree

from agent.plots.heatmap import heatmap
from tests.agent.plots.summaries import ORDINARY, SVG, chart, summary, texts


def test_a_heatmap_has_a_number_for_each_result_and_none_for_what_is_not_there():
    drawn = heatmap(ORDINARY)
    words = texts(drawn.markup("h"))
    assert [word for word in words if re.fullmatch(r"\d\.\d\d", word)] == [
        "0.90",
        "0.50",
        "0.30",
        "0.75",
    ]
    assert "mts_dialog: a/good 0.75, b/fair no result" in drawn.description


def lightness(colour: str) -> float:
    red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_cells_are_read_without_colour_and_their_numbers_stand_out():
    found = chart(*(summary("x", f"m{n:03}", n / 100) for n in range(101)))
    root = ElementTree.fromstring(heatmap(found).markup("h"))
    cells = [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}rect") is not None]
    shades = [lightness(cell.find(f"{SVG}rect").attrib["fill"]) for cell in cells]  # type: ignore[union-attr]
    letters = [lightness(cell.find(f"{SVG}text").attrib["fill"]) for cell in cells]  # type: ignore[union-attr]
    assert len(shades) == 101
    assert shades == sorted(shades, reverse=True)
    for one, other in zip(shades, letters, strict=True):
        assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 4.5
