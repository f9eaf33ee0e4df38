"""Draw a dot plot as text, for a terminal."""

from agent.plots.charts import Chart, Point

STRIP = 41  # characters per scale
LABEL = 36
LEGEND = "o {what}, - its 95 % interval, . its range if all unscored answers were wrong or right; | ends of the scale."


def draw_plain_plot(chart: Chart) -> str:
    """Draw each benchmark's models below each other, on the metric's whole scale."""
    width = 0
    for panel in chart.panels:
        for point in panel.points:
            width = max(width, min(LABEL, len(point.label)))
    lines = [chart.title]
    for panel in chart.panels:
        lines += ["", f"{panel.title}  {panel.metric}  {panel.ends[0]} to {panel.ends[1]}"]
        for point in panel.points:
            label = _shorten(point.label, width)
            lines.append(f"  {label:{width}}  |{_draw_strip(point)}|  {point.said}")
    lines += ["", LEGEND.format(what=chart.what)]
    return "\n".join(lines) + "\n"


def _draw_strip(point: Point) -> str:
    letters = [" "] * STRIP
    _fill_range(letters, point.least, point.most, ".")
    _fill_range(letters, point.low, point.high, "-")
    if point.value is not None:
        letters[_find_letter(point.value)] = "o"
    return "".join(letters)


def _fill_range(letters: list[str], low: float | None, high: float | None, letter: str) -> None:
    if low is None or high is None:
        return
    for number in range(_find_letter(low), _find_letter(high) + 1):
        letters[number] = letter


def _find_letter(share: float) -> int:
    return min(STRIP - 1, max(0, round(share * (STRIP - 1))))


def _shorten(label: str, width: int) -> str:
    if len(label) <= width:
        return label
    return label[: width - 1] + "~"
