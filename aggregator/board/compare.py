"""Side-by-side comparison of two models on the benchmarks for which both have figures. Pure."""

from dataclasses import dataclass

from aggregator.board.figures import in_range
from aggregator.board.page_model import CardView, Column, Figure, ModelView, footnotes, view_figure


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """One benchmark. `difference` is second minus first in the metric's own range, or empty unless both have figures.

    Attributes:
        verdict: Which figure is higher, and whether their intervals overlap.
        leader: 1 or 2 for the higher figure; 0 if they are equal or one is missing.
    """

    column: Column
    first: Figure
    second: Figure
    difference: str
    verdict: str
    leader: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison over all benchmarks, with the number on which each model leads."""

    lines: tuple[ComparedLine, ...]
    first_leads: int
    second_leads: int
    apart: int  # benchmarks on which the two intervals do not overlap
    both: int


def compare_models(card: CardView, first: ModelView, second: ModelView) -> Comparison:
    """Compare the main figures of two models."""
    marks = footnotes(card)
    lines = []
    apart = both = 0
    for column in card.columns:
        key = column.cell.key
        shown_first = view_figure(first.row.cells[key], column.cell, marks)
        shown_second = view_figure(second.row.cells[key], column.cell, marks)
        if not (shown_first.has_value and shown_second.has_value):
            lines.append(ComparedLine(column, shown_first, shown_second, "", "", 0))
            continue
        both += 1
        is_apart = _are_apart(shown_first, shown_second)
        apart += is_apart
        leader = (
            0
            if shown_first.value == shown_second.value
            else (1 if shown_first.value > shown_second.value else 2)
        )
        verdict = "intervals apart" if is_apart else "intervals overlap"
        lines.append(
            ComparedLine(
                column,
                shown_first,
                shown_second,
                _write_difference(shown_first, shown_second, column),
                verdict,
                leader,
            )
        )
    return Comparison(
        lines=tuple(lines),
        first_leads=sum(line.leader == 1 for line in lines),
        second_leads=sum(line.leader == 2 for line in lines),
        apart=apart,
        both=both,
    )


def _are_apart(shown_first: Figure, shown_second: Figure) -> bool:
    if (
        shown_first.low is None
        or shown_first.high is None
        or shown_second.low is None
        or shown_second.high is None
    ):
        return False
    return shown_first.low > shown_second.high or shown_second.low > shown_first.high


def _write_difference(shown_first: Figure, shown_second: Figure, column: Column) -> str:
    """Return the signed difference, second minus first. The lower end of the range cancels out."""
    cell = column.cell
    thousandths = shown_second.value - shown_first.value
    size = (
        in_range(abs(thousandths), cell)
        if cell.low == 0
        else _shift(abs(thousandths), cell.high - cell.low)
    )
    return f"{'−' if thousandths < 0 else '+'}{size}"


def _shift(thousandths: int, width: int) -> str:
    return f"{thousandths * width / 1000:.2f}"
