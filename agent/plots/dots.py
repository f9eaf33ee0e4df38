"""Dot plots with intervals, grouped by benchmark."""

from agent.plots.charts import Chart, Panel, Point
from agent.plots.svg import ACCENT, PAPER, Drawing, clean, element, rectangle, shorten, text

WIDTH, LABELS, SCALE, GAP = 980, 300, 410, 16
ROW, HEAD, FOOT, TOP, BOTTOM = 22, 30, 26, 44, 34
LEGEND = (
    "Dot: {what}. Broad band: 95 % interval. Thin line: the {what} if all unscored answers were wrong or right. "
    "Hollow: not a language model."
)


def render_dots_svg(chart: Chart) -> bytes:
    """Return an SVG file with only the dot plot. The same values always give the same bytes."""
    return (draw_dot_plot(chart).markup("dots", alone=True) + "\n").encode()


def draw_dot_plot(chart: Chart) -> Drawing:
    """Draw a panel for each benchmark, with its models below each other."""
    height = TOP + sum(map(_measure_panel, chart.panels)) + BOTTOM
    parts = [text(0, 22, shorten(chart.title, WIDTH), size=16, font_weight=650)]
    y = float(TOP)
    for panel in chart.panels:
        parts += _draw_panel(panel, y)
        y += _measure_panel(panel)
    parts.append(text(0, height - 12, LEGEND.format(what=chart.what), kind="quiet", size=12))
    return Drawing(WIDTH, height, chart.title, _describe(chart), parts)


def _describe(chart: Chart) -> str:
    sentences = []
    for panel in chart.panels:
        points = "; ".join(f"{point.label} {point.said}" for point in panel.points)
        sentences.append(f"{panel.title}, {panel.metric}: {points}")
    return ". ".join(sentences)


def _measure_panel(panel: Panel) -> float:
    return HEAD + ROW * len(panel.points) + FOOT


def _draw_panel(panel: Panel, y: float) -> list[str]:
    foot = y + HEAD + ROW * len(panel.points)
    about = shorten(panel.metric, WIDTH - LABELS)
    parts = [
        text(0, y + 18, shorten(panel.title, LABELS), font_weight=650),
        text(LABELS, y + 18, about, kind="quiet", size=12),
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        top = y + HEAD - 4
        parts.append(
            rectangle(
                _scale_to_pixels(share) - 0.5, top, width=1, height=foot - y - HEAD + 4, kind="line"
            )
        )
    for number, point in enumerate(panel.points):
        parts += _draw_point(point, y + HEAD + ROW * (number + 0.5))
    parts.append(
        text(_scale_to_pixels(0), foot + 14, panel.ends[0], kind="quiet", anchor="middle", size=11)
    )
    parts.append(
        text(_scale_to_pixels(1), foot + 14, panel.ends[1], kind="quiet", anchor="middle", size=11)
    )
    return parts


def _draw_point(point: Point, y: float) -> list[str]:
    parts = [_draw_label(point.label, y)]
    if point.low is not None and point.high is not None:
        x = _scale_to_pixels(point.low)
        width = max(
            2.0, _scale_to_pixels(point.high) - x
        )  # an interval of zero width stays visible
        parts.append(rectangle(x, y - 4, width, height=8, kind="band"))
    if point.least is not None and point.most is not None:
        x = _scale_to_pixels(point.least)
        parts.append(
            rectangle(x, y - 0.75, _scale_to_pixels(point.most) - x, height=1.5, kind="quiet")
        )
    if point.value is not None:
        parts.append(_draw_dot(_scale_to_pixels(point.value), y, hollow=point.baseline))
    words_x = LABELS + SCALE + GAP
    words = shorten(point.said, WIDTH - words_x)
    parts.append(text(words_x, y + 4, words, kind="quiet" if point.value is None else "ink"))
    return parts


def _draw_label(label: str, y: float) -> str:
    shown = shorten(label, LABELS - GAP)
    drawn = text(0, y + 4, shown)
    if shown == label:
        return element("g", drawn)
    return element("g", element("title", clean(label)), drawn)


def _draw_dot(x: float, y: float, *, hollow: bool) -> str:
    return element(
        "circle",
        cx=x,
        cy=y,
        r=4.5,
        class_="plot-hollow" if hollow else "plot-dot",
        fill=PAPER if hollow else ACCENT,
        stroke=ACCENT,
        stroke_width=1.5,
    )


def _scale_to_pixels(share: float) -> float:
    return LABELS + min(1.0, max(0.0, share)) * SCALE
