"""Draw models by cost and score, with a numbered list of the models beside the plane."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.plots.costs import CostChart, CostPoint, describe_point
from agent.plots.svg import ACCENT, PAPER, Drawing, clean, element, rectangle, shorten, text
from agent.results.usage import format_amount

WIDTH, PLANE, TOP, LEFT, DEPTH, BOTTOM = 980, 520, 60, 44, 320, 92
LIST, ROW = LEFT + PLANE + 40, 22
_LOGARITHMIC_FROM = (
    10  # ratio of the highest to the lowest cost from which the scale is logarithmic
)
LEGEND = (
    "Up is better, left is cheaper. The line joins models that no other beats in score at the same or a lower cost. "
    "Hollow: not a language model."
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The horizontal scale: the share of the plane at which a cost lies, and the costs that are labelled."""

    place: Callable[[float], float]
    ticks: tuple[float, ...]


def draw_scatter(chart: CostChart) -> Drawing:
    """Draw a dot for each model: its score above its cost."""
    height = max(TOP + DEPTH, TOP + ROW * len(chart.points)) + BOTTOM
    scale = _build_scale([point.cost for point in chart.points])
    title = f"{chart.title}: score by cost"
    parts = [
        text(0, 22, shorten(title, WIDTH), size=16, font_weight=650),
        text(WIDTH, 44, "score for cost", kind="quiet", anchor="end", size=12),
        text(0, 44, "Score from 0 to 1, mean of normalised floors", kind="quiet", size=12),
        *_draw_axes(chart, scale),
        *_draw_frontier(chart.points, scale),
    ]
    for number, point in enumerate(chart.points, start=1):
        parts += _draw_point(number, point, scale)
        parts.append(_draw_entry(number, point))
    parts += [
        text(0, height - 30, shorten(chart.basis, WIDTH), kind="quiet", size=12),
        text(0, height - 12, LEGEND, kind="quiet", size=12),
    ]
    return Drawing(WIDTH, height, title, _describe(chart), parts)


def _describe(chart: CostChart) -> str:
    points = "; ".join(f"{point.label} {describe_point(point)}" for point in chart.points)
    return f"Score by {chart.unit}: {points}. {chart.basis}"


def _build_scale(costs: Sequence[float]) -> _Scale:
    low, high = min(costs), max(costs)
    if low > 0 and high / low >= _LOGARITHMIC_FROM:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        decades = tuple(10.0**power for power in range(first, last + 1))
        return _Scale(lambda cost: (math.log10(cost) - first) / (last - first), decades)
    end = _round_up(high) if high > 0 else 1.0
    return _Scale(lambda cost: cost / end, tuple(end * step / 4 for step in range(5)))


def _round_up(cost: float) -> float:
    """Return the next number that is 1, 1.5, 2, 3, 4, 6, 8 or 10 times a power of ten."""
    unit = 10.0 ** math.floor(math.log10(cost))
    return next(unit * step for step in (1, 1.5, 2, 3, 4, 6, 8, 10) if unit * step >= cost)


def _draw_axes(chart: CostChart, scale: _Scale) -> list[str]:
    foot = TOP + DEPTH
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _find_y(share)
        parts.append(rectangle(LEFT, y - 0.5, PLANE, 1, kind="line"))
        parts.append(text(LEFT - 8, y + 4, f"{share:g}", kind="quiet", anchor="end", size=11))
    for tick in scale.ticks:
        x = _find_x(scale.place(tick))
        parts.append(rectangle(x - 0.5, TOP, 1, DEPTH + 4, kind="line"))
        parts.append(
            text(x, foot + 18, format_amount(tick), kind="quiet", anchor="middle", size=11)
        )
    kind = " (each line ten times the one before)" if _is_logarithmic(scale) else ""
    parts.append(text(LEFT + PLANE / 2, foot + 38, f"{chart.unit}{kind}", anchor="middle", size=12))
    return parts


def _is_logarithmic(scale: _Scale) -> bool:
    return scale.ticks[0] > 0


def _draw_frontier(points: Sequence[CostPoint], scale: _Scale) -> list[str]:
    """Draw the line through the models that no other beats."""
    best = sorted((point for point in points if point.best), key=lambda point: point.cost)
    if len(best) < 2:
        return []
    corners = " ".join(
        f"{_find_x(scale.place(point.cost)):.2f},{_find_y(point.score):.2f}" for point in best
    )
    return [
        element(
            "polyline",
            points=corners,
            fill="none",
            class_="plot-frontier",
            stroke=ACCENT,
            stroke_width=1.5,
            stroke_dasharray="5 4",
        )
    ]


def _draw_point(number: int, point: CostPoint, scale: _Scale) -> list[str]:
    x, y = _find_x(scale.place(point.cost)), _find_y(point.score)
    dot = element(
        "circle",
        element("title", clean(f"{point.label} {describe_point(point)}")),
        cx=x,
        cy=y,
        r=5,
        class_="plot-hollow" if point.baseline else "plot-dot",
        fill=PAPER if point.baseline else ACCENT,
        stroke=ACCENT,
        stroke_width=1.5,
    )
    return [dot, text(x + 8, y - 6, str(number), size=12, font_weight=650)]


def _draw_entry(number: int, point: CostPoint) -> str:
    y = TOP + ROW * (number - 0.5)
    words = f"{number}  {point.label}"
    name = text(LIST, y + 4, shorten(words, WIDTH - LIST - 150))
    said = text(WIDTH, y + 4, describe_point(point), kind="quiet", anchor="end", size=12)
    return element("g", element("title", clean(point.label)), name, said)


def _find_x(share: float) -> float:
    return LEFT + min(1.0, max(0.0, share)) * PLANE


def _find_y(share: float) -> float:
    return TOP + (1 - min(1.0, max(0.0, share))) * DEPTH
