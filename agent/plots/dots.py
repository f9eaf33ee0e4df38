"""Dot plots with intervals, grouped by benchmark."""

from agent.plots.charts import Chart, Panel, Point
from agent.plots.svg import ACCENT, PAPER, Drawing, clean, element, rectangle, shortened, text

WIDTH, LABELS, SCALE, GAP = 980, 300, 410, 16
ROW, HEAD, FOOT, TOP, BOTTOM = 22, 30, 26, 44, 34
LEGEND = (
    "Dot: {what}. Broad band: 95 % interval. Thin line: where the {what} could be, were all unscored wrong or right. "
    "Hollow: no language model."
)


def render_dots_svg(chart: Chart) -> bytes:
    """Return an SVG file with nothing but the dot plot: the same bytes for the same figures."""
    return (draw_dot_plot(chart).markup("dots", alone=True) + "\n").encode()


def draw_dot_plot(chart: Chart) -> Drawing:
    """Draw a panel for each benchmark, its models below each other."""
    height = TOP + sum(map(_height, chart.panels)) + BOTTOM
    parts = [text(0, 22, shortened(chart.title, WIDTH), size=16, font_weight=650)]
    y = float(TOP)
    for panel in chart.panels:
        parts += _panel(panel, y)
        y += _height(panel)
    parts.append(text(0, height - 12, LEGEND.format(what=chart.what), kind="quiet", size=12))
    return Drawing(WIDTH, height, chart.title, _description(chart), parts)


def _description(chart: Chart) -> str:
    words = (
        f"{panel.title}, {panel.metric}: " + "; ".join(f"{point.label} {point.said}" for point in panel.points)
        for panel in chart.panels
    )
    return ". ".join(words)


def _height(panel: Panel) -> float:
    return HEAD + ROW * len(panel.points) + FOOT


def _panel(panel: Panel, y: float) -> list[str]:
    foot = y + HEAD + ROW * len(panel.points)
    about = shortened(panel.metric, WIDTH - LABELS)
    parts = [
        text(0, y + 18, shortened(panel.title, LABELS), font_weight=650),
        text(LABELS, y + 18, about, kind="quiet", size=12),
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(rectangle(_x(share) - 0.5, y + HEAD - 4, 1, foot - y - HEAD + 4, kind="line"))
    for place, point in enumerate(panel.points):
        parts += _point(point, y + HEAD + ROW * (place + 0.5))
    parts.append(text(_x(0), foot + 14, panel.ends[0], kind="quiet", anchor="middle", size=11))
    parts.append(text(_x(1), foot + 14, panel.ends[1], kind="quiet", anchor="middle", size=11))
    return parts


def _point(point: Point, y: float) -> list[str]:
    label = shortened(point.label, LABELS - GAP)
    whole = [element("title", clean(point.label))] if label != point.label else []
    parts = [element("g", *whole, text(0, y + 4, label))]
    if point.low is not None and point.high is not None:
        parts.append(rectangle(_x(point.low), y - 4, max(2.0, _x(point.high) - _x(point.low)), 8, kind="band"))
    if point.least is not None and point.most is not None:
        parts.append(rectangle(_x(point.least), y - 0.75, _x(point.most) - _x(point.least), 1.5, kind="quiet"))
    if point.value is not None:
        kind, fill = ("hollow", PAPER) if point.baseline else ("dot", ACCENT)
        at = {"cx": _x(point.value), "cy": y, "r": 4.5}
        parts.append(element("circle", **at, class_=f"plot-{kind}", fill=fill, stroke=ACCENT, stroke_width=1.5))
    said = shortened(point.said, WIDTH - LABELS - SCALE - GAP)
    return [*parts, text(LABELS + SCALE + GAP, y + 4, said, kind="quiet" if point.value is None else "ink")]


def _x(share: float) -> float:
    return LABELS + min(1.0, max(0.0, share)) * SCALE
