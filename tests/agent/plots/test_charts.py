"""Drawings that hold whatever names hold, that anybody can read, and that are the same each time."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.plots.charts import Chart, build_chart
from agent.plots.dots import draw_dot_plot
from agent.plots.heatmap import heatmap
from agent.plots.page import render_svg
from agent.plots.plain import draw_plain_plot
from agent.results.summarize import MetricSummary, RunSummary
from agent.statistics.intervals import Mean
from agent.store import Run, RunDetails
from agent.vocabulary import Reason

SVG = "{http://www.w3.org/2000/svg}"


def summary(
    benchmark: str,
    model: str,
    value: float | None,
    *,
    low: float = 0,
    high: float = 1,
    unscored: int = 0,
    deployment: str = "d",
    entry: str = "",
    mute: bool = False,
) -> RunSummary:
    details = RunDetails(language_model=not mute)
    run = Run("r", "s", f"{benchmark}:model={model}{entry}", benchmark, model, deployment, details, "ended", 0, 0)
    half = 0.05 * (high - low)
    interval = (None, None) if value is None else (max(low, value - half), min(high, value + half))
    mean = Mean(0 if value is None else 40, 40, value, *interval, "bca")
    return RunSummary(run, (MetricSummary("m", "Metric", low, high, mean, {Reason.UNPARSED: unscored}),))


def chart(*summaries: RunSummary) -> Chart:
    return build_chart(summaries, "Suite s")


ORDINARY = chart(
    summary("pubmed_qa", "a/good", 0.9),
    summary("pubmed_qa", "b/fair", 0.5, unscored=20),
    summary("pubmed_qa", "baseline/first", 0.3, mute=True),
    summary("pubmed_qa", "c/dead", None),
    summary("mts_dialog", "a/good", 4.0, low=1, high=5),
)


def texts(drawn: str) -> list[str]:
    return [found.text or "" for found in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def test_a_dot_stands_at_its_value_and_a_band_spans_its_interval():
    root = ElementTree.fromstring(draw_dot_plot(ORDINARY).markup("d"))
    at = [float(dot.attrib["cx"]) for dot in root.iter(f"{SVG}circle")]
    assert at == [300 + 0.9 * 410, 300 + 0.5 * 410, 300 + 0.3 * 410, 300 + 0.75 * 410]
    bands = [rect for rect in root.iter(f"{SVG}rect") if rect.attrib["class"] == "plot-band"]
    first = bands[0].attrib
    assert (float(first["x"]), float(first["width"])) == (pytest.approx(300 + 0.85 * 410), pytest.approx(0.1 * 410))
    words = texts(draw_dot_plot(ORDINARY).markup("d"))
    assert "0.900 (0.850 to 0.950), n 40" in words
    assert "4.00 (3.80 to 4.20), n 40" in words  # a jury's on its own scale, and drawn at its share
    assert "no score" in words
    hollow = [dot for dot in root.iter(f"{SVG}circle") if dot.attrib["class"] == "plot-hollow"]
    assert len(hollow) == 1


def test_a_heatmap_has_a_number_for_each_result_and_none_for_what_is_not_there():
    drawn = heatmap(ORDINARY)
    words = texts(drawn.markup("h"))
    assert [word for word in words if re.fullmatch(r"\d\.\d\d", word)] == ["0.90", "0.50", "0.30", "0.75"]
    assert "mts_dialog: a/good 0.75, b/fair no result" in drawn.description


def test_models_of_several_deployments_and_parts_of_a_benchmark_have_cells_of_their_own():
    grid = chart(
        summary("x", "a", 0.1, deployment="one"),
        summary("x", "a", 0.2, deployment="two"),
        summary("y", "b", 0.3, entry=",c=1"),
        summary("y", "b", 0.4, entry=",c=2"),
    ).grid
    assert grid.columns == ("a (one)", "a (two)", "b")
    assert grid.rows == ("x", "y c=1", "y c=2")
    assert grid.cells == ((0.1, 0.2, None), (None, None, 0.3), (None, None, 0.4))


def lightness(colour: str) -> float:
    red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
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
    for drawn in (draw_dot_plot(found).markup("d"), heatmap(found).markup("h"), render_svg(found).decode()):
        root = ElementTree.fromstring(drawn)
        assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
            *("svg", "g", "text", "rect", "circle", "title", "desc")
        }
        assert not any(
            key.startswith("on") or "href" in key or key == "style" for one in root.iter() for key in one.attrib
        )


@given(st.text(max_size=60), st.floats(0, 1), st.integers(0, 100))
def test_any_name_and_value_gives_well_formed_drawings(name: str, value: float, unscored: int):
    found = chart(summary(name, name, value, unscored=unscored), summary("x", name, None))
    ElementTree.fromstring(render_svg(found))
    assert draw_plain_plot(found).endswith("\n")


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


def test_a_plot_in_the_terminal_fits_120_columns_and_is_plain():
    plain = draw_plain_plot(ORDINARY)
    assert plain.isascii()
    assert max(map(len, plain.splitlines())) <= 120
    line = next(line for line in plain.splitlines() if "a/good" in line)
    strip = line.partition("|")[2].partition("|")[0]
    assert strip == " " * 34 + "--o--" + "  "
    bounded = next(line for line in plain.splitlines() if "b/fair" in line)
    assert ".....--o--....." in bounded  # 20 of 60 unscored: from 0.333 to 0.667


def test_a_file_in_a_narrow_window_shrinks_and_loses_nothing_at_its_right():
    root = ElementTree.fromstring(render_svg(ORDINARY))
    assert root.attrib["viewBox"].startswith("0 0 ")
    assert "width" not in root.attrib
    assert "height" not in root.attrib
