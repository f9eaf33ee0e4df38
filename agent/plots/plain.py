"""A dot plot in plain letters, for a terminal."""

from agent.plots.charts import Chart, Point

STRIP = 41  # letters of a scale
LABEL = 36
LEGEND = "o {what}, - its 95 % interval, . where it could be were all unscored wrong or right; scales end to end."


def draw_plain_plot(chart: Chart) -> str:
    """Draw each benchmark's models below each other, on the metric's whole scale."""
    width = min(LABEL, max((len(point.label) for panel in chart.panels for point in panel.points), default=0))
    lines = [chart.title]
    for panel in chart.panels:
        lines += ["", f"{panel.title}  {panel.metric}  {panel.ends[0]} to {panel.ends[1]}"]
        lines += [f"  {_cut(point.label, width):{width}}  |{_strip(point)}|  {point.said}" for point in panel.points]
    return "\n".join([*lines, "", LEGEND.format(what=chart.what)]) + "\n"


def _strip(point: Point) -> str:
    letters = [" "] * STRIP
    for low, high, letter in ((point.least, point.most, "."), (point.low, point.high, "-")):
        if low is not None and high is not None:
            for place in range(_place(low), _place(high) + 1):
                letters[place] = letter
    if point.value is not None:
        letters[_place(point.value)] = "o"
    return "".join(letters)


def _place(share: float) -> int:
    return min(STRIP - 1, max(0, round(share * (STRIP - 1))))


def _cut(label: str, width: int) -> str:
    return label if len(label) <= width else label[: width - 1] + "~"
