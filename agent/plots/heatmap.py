"""A heatmap of benchmarks by models, each cell with its number."""

from agent.plots.charts import Chart
from agent.plots.svg import LETTER, PAPER, Drawing, clean, element, rectangle, shortened, text

LABELS, CELL, ROW, TOP, BOTTOM = 300, 58, 26, 44, 54
SLANT = 40  # degrees that the models' names rise
RISE, REACH = 0.643, 0.766  # its sine and cosine
LEAST = 640
MOST_LETTERS = 34
LIGHT, DARK = (0xF0, 0xF4, 0xF7), (0x0B, 0x4A, 0x60)
BLACK, WHITE_FROM = "#000000", 0.7  # letters have a contrast of 4.5 to 1 on every shade
LEGEND = "From 0, the lowest of each metric, to 1, its highest. Empty: no result."


def heatmap(chart: Chart) -> Drawing:
    """Draw the grid: the darker the better."""
    grid = chart.grid
    names = [shortened(column, MOST_LETTERS * LETTER) for column in grid.columns]
    rise = 14 + max((len(column) for column in names), default=0) * LETTER * RISE
    run = max((len(column) for column in names), default=0) * LETTER * REACH
    width = max(LEAST, LABELS + CELL * len(names) + run)
    top = TOP + rise
    height = top + ROW * len(grid.rows) + BOTTOM
    title = f"{chart.title}: benchmarks by models"
    parts = [text(0, 22, shortened(title, width), size=16, font_weight=650)]
    for place, (shown, column) in enumerate(zip(names, grid.columns, strict=True)):
        x, y = LABELS + CELL * (place + 0.5), top - 8
        turned = text(x, y, shown, transform=f"rotate(-{SLANT} {x:.2f} {y:.2f})")
        parts.append(element("g", element("title", clean(column)), turned))
    for place, (row, cells) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        y = top + ROW * place
        parts.append(element("g", element("title", clean(row)), text(0, y + 17, shortened(row, LABELS - 12))))
        parts += [_cell(LABELS + CELL * at, y, value) for at, value in enumerate(cells)]
    parts += _key(height)
    return Drawing(width, height, title, _description(chart), parts)


def _cell(x: float, y: float, value: float | None) -> str:
    if value is None:
        return rectangle(x + CELL / 2 - 6, y + ROW / 2 - 0.5, 12, 1, kind="line")
    fill, letters = _shade(value)
    return element(
        "g",
        element("rect", x=x + 1, y=y + 1, width=CELL - 2, height=ROW - 2, fill=fill),
        element("text", f"{value:.2f}", x=x + CELL / 2, y=y + 17, font_size=13, text_anchor="middle", fill=letters),
    )


def _key(height: float) -> list[str]:
    steps = [
        element("rect", x=LABELS + 20 * step, y=height - 40, width=20, height=12, fill=_shade(step / 10)[0])
        for step in range(11)
    ]
    return [
        text(0, height - 30, "0 to 1", kind="quiet", size=12),
        *steps,
        text(0, height - 10, LEGEND, kind="quiet", size=12),
    ]


def _shade(value: float) -> tuple[str, str]:
    """Return a cell's colour and that of its letters: lightness falls evenly, and letters stand out from it."""
    share = min(1.0, max(0.0, value))
    red, green, blue = (round(light + share * (dark - light)) for light, dark in zip(LIGHT, DARK, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}", PAPER if share > WHITE_FROM else BLACK


def _description(chart: Chart) -> str:
    grid = chart.grid
    words = (
        f"{row}: "
        + ", ".join(
            f"{model} {'no result' if value is None else f'{value:.2f}'}"
            for model, value in zip(grid.columns, cells, strict=True)
        )
        for row, cells in zip(grid.rows, grid.cells, strict=True)
    )
    return ". ".join(words)
