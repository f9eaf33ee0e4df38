"""Draw a heatmap of benchmarks by models, with a number in each cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.plots.charts import Chart, Grid
from agent.plots.svg import LETTER, PAPER, Drawing, clean, element, rectangle, shorten, text

LABELS, CELL, ROW, TOP, BOTTOM = 300, 58, 26, 44, 54
SLANT = 40  # degrees by which the models' names are rotated
RISE, REACH = 0.643, 0.766  # sine and cosine of SLANT
MIN_WIDTH = 640
MAX_LETTERS = 34
LIGHT, DARK = (0xF0, 0xF4, 0xF7), (0x0B, 0x4A, 0x60)
BLACK, WHITE_FROM = "#000000", 0.7  # text has a contrast of 4.5 to 1 on every shade
LEGEND = "From 0, the lowest value of each metric, to 1, the highest. Empty: no result."


def heatmap(chart: Chart) -> Drawing:
    """Draw the grid; darker cells are better."""
    grid = chart.grid
    names = [shorten(column, MAX_LETTERS * LETTER) for column in grid.columns]
    longest = max((len(name) for name in names), default=0) * LETTER
    width = max(MIN_WIDTH, LABELS + CELL * len(names) + longest * REACH)
    rise = 14 + longest * RISE
    top = TOP + rise
    height = top + ROW * len(grid.rows) + BOTTOM
    title = f"{chart.title}: benchmarks by models"
    parts = [
        text(0, 22, shorten(title, width), size=16, font_weight=650),
        *_draw_column_names(names, grid, top - 8),
        *_draw_rows(grid, top),
        *_draw_key(height),
    ]
    return Drawing(width, height, title, _describe(chart), parts)


def _draw_column_names(names: Sequence[str], grid: Grid, y: float) -> list[str]:
    """Draw the names of the models above the columns. `names` are shortened to fit."""
    parts = []
    for number, (name, column) in enumerate(zip(names, grid.columns, strict=True)):
        x = LABELS + CELL * (number + 0.5)
        parts.append(_draw_column_name(name, column, x, y))
    return parts


def _draw_rows(grid: Grid, top: float) -> list[str]:
    """Draw the name and the cells of each benchmark."""
    parts = []
    for number, (row, cells) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        y = top + ROW * number
        row_name = text(0, y + 17, shorten(row, LABELS - 12))
        parts.append(element("g", element("title", clean(row)), row_name))
        for column_number, value in enumerate(cells):
            parts.append(_draw_cell(LABELS + CELL * column_number, y, value))
    return parts


def _draw_column_name(name: str, column: str, x: float, y: float) -> str:
    turned = text(x, y, name, transform=f"rotate(-{SLANT} {x:.2f} {y:.2f})")
    return element("g", element("title", clean(column)), turned)


def _draw_cell(x: float, y: float, value: float | None) -> str:
    if value is None:
        return rectangle(x + CELL / 2 - 6, y + ROW / 2 - 0.5, 12, 1, kind="line")
    colours = _shade(value)
    return element(
        "g",
        element("rect", x=x + 1, y=y + 1, width=CELL - 2, height=ROW - 2, fill=colours.cell),
        element(
            "text",
            f"{value:.2f}",
            x=x + CELL / 2,
            y=y + 17,
            font_size=13,
            text_anchor="middle",
            fill=colours.letters,
        ),
    )


def _draw_key(height: float) -> list[str]:
    steps = []
    for step in range(11):
        colour = _shade(step / 10).cell
        steps.append(
            element("rect", x=LABELS + 20 * step, y=height - 40, width=20, height=12, fill=colour)
        )
    return [
        text(0, height - 30, "0 to 1", kind="quiet", size=12),
        *steps,
        text(0, height - 10, LEGEND, kind="quiet", size=12),
    ]


@dataclass(frozen=True, slots=True)
class _Colours:
    """The colours of a cell and of the text in it."""

    cell: str
    letters: str


def _shade(value: float) -> _Colours:
    """Return the colours of a cell. Higher values are evenly darker, and the text contrasts with the cell."""
    share = min(1.0, max(0.0, value))
    parts = [round(light + share * (dark - light)) for light, dark in zip(LIGHT, DARK, strict=True)]
    cell = "#" + "".join(f"{part:02x}" for part in parts)
    return _Colours(cell, letters=PAPER if share > WHITE_FROM else BLACK)


def _describe(chart: Chart) -> str:
    grid = chart.grid
    sentences = []
    for row, cells in zip(grid.rows, grid.cells, strict=True):
        results = []
        for model, value in zip(grid.columns, cells, strict=True):
            results.append(f"{model} no result" if value is None else f"{model} {value:.2f}")
        sentences.append(f"{row}: {', '.join(results)}")
    return ". ".join(sentences)
