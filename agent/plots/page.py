"""Write the drawings of a leaderboard to one SVG file, below each other."""

from agent.plots.charts import Chart
from agent.plots.costs import CostChart
from agent.plots.dots import draw_dot_plot
from agent.plots.heatmap import heatmap
from agent.plots.scatter import draw_scatter
from agent.plots.svg import Drawing, element

MARGIN = 20


def render_svg(chart: Chart, costs: CostChart | None = None) -> bytes:
    """Return an SVG file with all drawings of the leaderboard. The same values always give the same bytes."""
    drawings = {"dots": draw_dot_plot(chart), "heatmap": heatmap(chart)}
    described = "A dot plot of each benchmark's models, then a heatmap of benchmarks by models"
    if costs is not None:
        drawings["costs"] = draw_scatter(costs)
        described += ", then the models by score and cost"
    parts = []
    width, y = 0.0, float(MARGIN)
    for name, drawing in drawings.items():
        place = f"translate({MARGIN} {y:.2f})"
        parts.append(element("g", drawing.markup(name), transform=place))
        width = max(width, drawing.width)
        y += drawing.height + MARGIN
    whole = Drawing(width + 2 * MARGIN, y, chart.title, f"{described}.", parts)
    return (whole.markup("all", "group", alone=True) + "\n").encode()
