"""Write both drawings to one SVG file: the dot plot, with the heatmap below it."""

from agent.plots.charts import Chart
from agent.plots.dots import draw_dot_plot
from agent.plots.heatmap import heatmap
from agent.plots.svg import Drawing, element

MARGIN = 20


def render_svg(chart: Chart) -> bytes:
    """Return an SVG file with all drawings of the leaderboard. The same values always give the same bytes."""
    dots, grid = draw_dot_plot(chart), heatmap(chart)
    parts = [
        element("g", dots.markup("dots"), transform=f"translate({MARGIN} {MARGIN})"),
        element(
            "g",
            grid.markup("heatmap"),
            transform=f"translate({MARGIN} {dots.height + 2 * MARGIN:.2f})",
        ),
    ]
    width, height = max(dots.width, grid.width) + 2 * MARGIN, dots.height + grid.height + 3 * MARGIN
    described = "A dot plot of each benchmark's models, then a heatmap of benchmarks by models."
    return (
        Drawing(width, height, chart.title, described, parts).markup("all", "group", alone=True)
        + "\n"
    ).encode()
