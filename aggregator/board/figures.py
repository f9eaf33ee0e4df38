"""Formatting of figures: in the metric's own range, with the number of digits that their precision supports."""

from datetime import date
from functools import cache

from protocol.scorecard import Cell


def in_range(thousandths: int | None, cell: Cell) -> str:
    """Format thousandths of a metric's range as a number in that range; "" for None.

    The result has three decimals if the range has width 1, otherwise two, rounded half up in integer arithmetic.
    """
    if thousandths is None:
        return ""
    width = cell.high - cell.low
    decimals = 3 if width == 1 else 2
    unit = 10**decimals
    scaled = (2 * thousandths * width * unit + 1000) // 2000 + cell.low * unit
    return _decimal(scaled, decimals)


def roughly(units: int) -> str:
    """Format a number of units with two significant digits, about the precision of its published range."""
    unit = 10 ** max(0, len(str(units)) - 2)
    return f"{(2 * units + unit) // (2 * unit) * unit:,}"


def rate(thousandths: int | None) -> str:
    """Format a win rate with three decimals; a dash for None."""
    return "–" if thousandths is None else _decimal(thousandths, 3)


def _decimal(scaled: int, decimals: int) -> str:
    sign, scaled = ("-" if scaled < 0 else ""), abs(scaled)
    return f"{sign}{scaled // 10**decimals}.{scaled % 10**decimals:0{decimals}d}"


@cache
def iso_date(day: int) -> str:
    """Format days since 1970-01-01 as an ISO 8601 date."""
    return date.fromordinal(date(1970, 1, 1).toordinal() + day).isoformat()
