"""Rounding the spread over pooled sites, so that no site's figure can be derived from it. Pure.

A merged value is an equation in the contributing sites' figures. Any other published number that
depends on their spread is a further equation, and three equations determine three figures. The
fewer the pooled sites, the more coarsely such numbers are rounded.
"""

from dataclasses import replace

from aggregator.merge.board_model import MergedCell, Ranges
from aggregator.merge.site_cell import RANGE

SPREAD_SITES = 6
"""Number of pooled sites with a value from which their spread is rounded to hundredths. With fewer
sites it is rounded to tenths or omitted.
"""

TENTH, HUNDREDTH = 100, 10  # thousandths


def coarsen_cell(merged: MergedCell, *, is_few: bool) -> MergedCell:
    """Round the values of a cell that depend on the spread over sites, if pooled sites contribute.

    Args:
        merged: The exact figures.
        is_few: Whether fewer than SPREAD_SITES pooled sites contribute to a figure that must not
            reveal theirs.
    """
    if is_few:
        return _coarsen_few(merged)
    leave_one_out_low, leave_one_out_high = _coarse_shift(
        merged.value, merged.leave_one_out_low, merged.leave_one_out_high, HUNDREDTH
    )
    return replace(
        merged,
        low=_down(merged.low),
        high=_up(merged.high),
        average=_to_hundredth(merged.average),
        average_low=_down(merged.average_low),
        average_high=_up(merged.average_high),
        tau=_up(merged.tau),
        i2_percent=_to_hundredth(merged.i2_percent),
        prediction_low=_down(merged.prediction_low),
        prediction_high=_up(merged.prediction_high),
        leave_one_out_low=leave_one_out_low,
        leave_one_out_high=leave_one_out_high,
    )


def _coarsen_few(merged: MergedCell) -> MergedCell:
    """Keep only two numbers that depend on the spread over a few pooled sites: the widths, in tenths, of the interval
    and of the leave-one-out range.

    Ends that are rounded separately would provide two further equations.
    """
    low, high = _coarse_shift(merged.value, merged.low, merged.high, TENTH)
    leave_one_out_low, leave_one_out_high = _coarse_shift(
        merged.value, merged.leave_one_out_low, merged.leave_one_out_high, TENTH
    )
    return replace(
        merged,
        low=low,
        high=high,
        average=None,
        average_low=None,
        average_high=None,
        tau=None,
        i2_percent=None,
        prediction_low=None,
        prediction_high=None,
        leave_one_out_low=leave_one_out_low,
        leave_one_out_high=leave_one_out_high,
    )


def coarsen_ranges(ranges: Ranges, fewest: int) -> Ranges:
    """Round the ranges of a row outwards. With few sites, a draw often contains only one, whose figure becomes the end.

    Args:
        ranges: The exact ranges.
        fewest: Lowest number of pooled sites with a value that contribute to any figure of the
            table that must not reveal theirs.
    """
    if fewest < SPREAD_SITES:
        return replace(
            ranges,
            win_rate_low=_down(ranges.win_rate_low, TENTH),
            win_rate_high=_up(ranges.win_rate_high, TENTH),
            macro_average_low=None,
            macro_average_high=None,
        )
    return replace(
        ranges,
        win_rate_low=_down(ranges.win_rate_low),
        win_rate_high=_up(ranges.win_rate_high),
        macro_average_low=_down(ranges.macro_average_low),
        macro_average_high=_up(ranges.macro_average_high),
    )


def _coarse_shift(
    value: int | None, low: int | None, high: int | None, step: int
) -> tuple[int | None, int | None]:
    """Return a range around a value as value ± largest shift, rounded up to a whole step."""
    if value is None or low is None or high is None:
        return None, None
    shift = max(value - low, high - value, 1)
    shift = -(-shift // step) * step
    return max(0, value - shift), min(RANGE, value + shift)


def _down(thousandths: int | None, step: int = HUNDREDTH) -> int | None:
    return None if thousandths is None else thousandths // step * step


def _up(thousandths: int | None, step: int = HUNDREDTH) -> int | None:
    return None if thousandths is None else -(-thousandths // step) * step


def _to_hundredth(number: int | None) -> int | None:
    return None if number is None else (2 * number + HUNDREDTH) // (2 * HUNDREDTH) * HUNDREDTH
