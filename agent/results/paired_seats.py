"""Two answers before one jury: graded by the judges that graded both, so that an empty seat favours nobody. Pure."""

import math
from collections.abc import Collection, Sequence

from agent.store import Seat


def filled(seats: Sequence[Seat]) -> frozenset[int]:
    """Return the seats that gave a valid verdict."""
    return frozenset(seat.seat for seat in seats if seat.grades)


def score_by(seats: Sequence[Seat], who: Collection[int]) -> float:
    """Return the mean over these seats, all filled, of each one's mean grade."""
    means = [math.fsum(seat.grades.values()) / len(seat.grades) for seat in seats if seat.seat in who and seat.grades]
    return math.fsum(means) / len(means)


def scores_by_both(
    one: Sequence[Seat], other: Sequence[Seat], judges: Collection[int], least: int = 1
) -> tuple[float, float] | None:
    """Return both answers' scores by those of `judges` who gave both a verdict; None where they are under `least`."""
    who = filled(one) & filled(other) & frozenset(judges)
    return (score_by(one, who), score_by(other, who)) if len(who) >= max(1, least) else None
