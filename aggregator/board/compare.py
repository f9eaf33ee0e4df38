"""Two models side by side on the benchmarks that both have figures for. Pure."""

from dataclasses import dataclass

from aggregator.board.figures import in_range
from aggregator.board.page_model import CardView, Column, Figure, ModelView, footnotes, view_figure


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """One benchmark. `difference` is second minus first in the metric's own range, empty without both figures.

    Attributes:
        verdict: which figure is higher, and whether their intervals overlap.
        leader: 1, 2, or 0 where neither leads.
    """

    column: Column
    first: Figure
    second: Figure
    difference: str
    verdict: str
    leader: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """All benchmarks, and how often each model leads."""

    lines: tuple[ComparedLine, ...]
    first_leads: int
    second_leads: int
    apart: int  # of the benchmarks with both figures, those whose intervals do not overlap
    both: int


def compare_models(card: CardView, first: ModelView, second: ModelView) -> Comparison:
    """Compare the main figures of two models."""
    marks = footnotes(card)
    lines = []
    apart = both = 0
    for column in card.columns:
        key = column.cell.key
        one = view_figure(first.row.cells[key], column.cell, marks)
        other = view_figure(second.row.cells[key], column.cell, marks)
        if not (one.has_value and other.has_value):
            lines.append(ComparedLine(column, one, other, "", "", 0))
            continue
        both += 1
        is_apart = _are_apart(one, other)
        apart += is_apart
        leader = 0 if one.value == other.value else (1 if one.value > other.value else 2)
        verdict = "intervals apart" if is_apart else "intervals overlap"
        lines.append(ComparedLine(column, one, other, _write_difference(one, other, column), verdict, leader))
    return Comparison(
        lines=tuple(lines),
        first_leads=sum(line.leader == 1 for line in lines),
        second_leads=sum(line.leader == 2 for line in lines),
        apart=apart,
        both=both,
    )


def _are_apart(one: Figure, other: Figure) -> bool:
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low > other.high or other.low > one.high


def _write_difference(one: Figure, other: Figure, column: Column) -> str:
    """Write second minus first with its sign; the range's lower end drops out of a difference."""
    cell = column.cell
    thousandths = other.value - one.value
    size = in_range(abs(thousandths), cell) if cell.low == 0 else _shift(abs(thousandths), cell.high - cell.low)
    return f"{'−' if thousandths < 0 else '+'}{size}"


def _shift(thousandths: int, width: int) -> str:
    return f"{thousandths * width / 1000:.2f}"
