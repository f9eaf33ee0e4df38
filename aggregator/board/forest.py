"""Coordinates of forest plots: one model's figure at every named site, with the merged figure below. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from aggregator.board.figures import in_range
from aggregator.merge.board_model import MergedCell, SiteFigure, SiteResult, State
from aggregator.merge.site_figures import SiteFigures
from protocol.scorecard import Cell

WIDTH, LEFT, RIGHT, LINE = 760, 230, 560, 24
LABEL_LENGTH = 30  # characters that fit to the left of the plot


@dataclass(frozen=True, slots=True)
class ForestLine:
    """One site. x positions are in the plot's own units; `x` is None for a figure known only as an interval."""

    label: str
    figures: str
    y: float
    x_low: float | None
    x: float | None
    x_high: float | None
    half: float  # half the side of the square, which shows the site's weight


@dataclass(frozen=True, slots=True)
class Forest:
    """A plot and its description in words.

    Attributes:
        more: Number of named sites that are not drawn.
        diamond, prediction: Corners of the merged figure's diamond and ends of the prediction
            interval; empty and None if there is none.
    """

    title: str
    text: str
    height: int
    lines: tuple[ForestLine, ...]
    merged: ForestLine | None
    diamond: str
    prediction: tuple[float, float, float] | None
    ticks: tuple[tuple[float, str], ...]
    more: int
    axis_y: float


def draw_forest(
    name: str, results: Sequence[SiteResult], cell: Cell, merged: MergedCell, *, limit: int
) -> Forest | None:
    """Lay out one model's figures of one cell. Return None if no named site has a figure.

    Args:
        name: The model's name, for the title.
        results: The results of named sites.
        cell: The cell to draw.
        merged: The merged figure over all sites.
        limit: Maximum number of sites drawn; those with the largest weights are kept.
    """
    with_figure = []
    for result in results:
        weight = _weigh(result, cell.key)
        if weight is not None:
            with_figure.append((-weight, result.site, result))
    if not with_figure:
        return None
    heaviest = sorted(with_figure, key=lambda entry: entry[:2])[:limit]
    drawn = sorted(
        (entry[2] for entry in heaviest),
        key=lambda result: (result.site_name.casefold(), result.site),
    )
    lines = []
    for number, result in enumerate(drawn):
        lines.append(_draw_site(result, cell, LINE * (number + 1)))
    y = LINE * (len(drawn) + 1) + 10.0
    summary, diamond, prediction = _draw_merged(merged, cell, y)
    words = [f"{line.label}: {line.figures}" for line in [*lines, *([summary] if summary else [])]]
    axis_y = y + 22
    return Forest(
        title=f"{name}: figure of each site that publishes under its name",
        text="; ".join(words),
        height=int(axis_y + 26),
        lines=tuple(lines),
        merged=summary,
        diamond=diamond,
        prediction=prediction,
        ticks=_ticks(cell),
        more=len(with_figure) - len(drawn),
        axis_y=axis_y,
    )


def _weigh(result: SiteResult, key: str) -> int | None:
    """Return the site's weight in the cell; None if it has no figure."""
    figures = result.figures
    if isinstance(figures, SiteFigures):
        return figures.weight_of(key)  # computing all 250 intervals to draw only 25 sites is slow
    return None if figures[key].low is None else figures[key].weight_percent


def _x(thousandths: int) -> float:
    return round(LEFT + (RIGHT - LEFT) * thousandths / 1000, 1)


def _draw_site(result: SiteResult, cell: Cell, y: float) -> ForestLine:
    figure = result.figures[cell.key]
    return ForestLine(
        label=_shorten(result.site_name),
        figures=_write(figure, cell),
        y=y,
        x_low=None if figure.low is None else _x(figure.low),
        x=None if figure.value is None else _x(figure.value),
        x_high=None if figure.high is None else _x(figure.high),
        half=round(2.5 + 0.55 * figure.weight_percent**0.5, 1),
    )


def _write(figure: SiteFigure, cell: Cell) -> str:
    interval = f"{in_range(figure.low, cell)} to {in_range(figure.high, cell)}"
    if figure.value is None:
        word = "low" if figure.state is State.LOW_CODED else "high"
        return f"{word} (coded), {interval}"
    return f"{in_range(figure.value, cell)} ({interval})"


def _draw_merged(
    merged: MergedCell, cell: Cell, y: float
) -> tuple[ForestLine | None, str, tuple[float, float, float] | None]:
    if merged.value is None or merged.low is None or merged.high is None:
        return None, "", None
    low, middle, high = _x(merged.low), _x(merged.value), _x(merged.high)
    diamond = f"{low},{y} {middle},{y - 6} {high},{y} {middle},{y + 6}"
    prediction = None
    if merged.prediction_low is not None and merged.prediction_high is not None:
        prediction = _x(merged.prediction_low), _x(merged.prediction_high), y + 12
    hidden = merged.sites - merged.named_sites
    label = "All sites" if not hidden else f"All sites, {hidden} pooled"
    interval = f"{in_range(merged.low, cell)} to {in_range(merged.high, cell)}"
    line = ForestLine(
        label, f"{in_range(merged.value, cell)} ({interval})", y, low, middle, high, 0
    )
    return line, diamond, prediction


def _shorten(name: str) -> str:
    return name if len(name) <= LABEL_LENGTH else name[: LABEL_LENGTH - 1] + "…"


def _ticks(cell: Cell) -> tuple[tuple[float, str], ...]:
    width = cell.high - cell.low
    return tuple(
        (_x(part), f"{cell.low + width * part / 1000:g}") for part in (0, 250, 500, 750, 1000)
    )
