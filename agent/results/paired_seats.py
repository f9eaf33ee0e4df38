"""Score two answers by the judges of a jury that graded both, so that empty seats favour neither. Pure."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent.store import Seat


@dataclass(frozen=True, slots=True)
class SharedScores:
    """The scores of two answers by the same judges."""

    a: float
    b: float


def list_filled_seats(seats: Sequence[Seat]) -> frozenset[int]:
    """Return the numbers of the seats with a valid verdict."""
    return frozenset(seat.seat for seat in seats if seat.grades)


def score_by_judges(seats: Sequence[Seat], judges: Collection[int]) -> float:
    """Return the mean of these judges' mean grades. All their seats must be filled."""
    means = []
    for seat in seats:
        if seat.seat in judges and seat.grades:
            means.append(math.fsum(seat.grades.values()) / len(seat.grades))
    return math.fsum(means) / len(means)


def score_by_shared_judges(
    seats_a: Sequence[Seat], seats_b: Sequence[Seat], judges: Collection[int], least: int = 1
) -> SharedScores | None:
    """Return both answers' scores by those `judges` that graded both; None if fewer than `least` of them did."""
    shared = list_filled_seats(seats_a) & list_filled_seats(seats_b) & frozenset(judges)
    if len(shared) < max(1, least):
        return None
    return SharedScores(a=score_by_judges(seats_a, shared), b=score_by_judges(seats_b, shared))
