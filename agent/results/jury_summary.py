"""Summarise a jury: filled, corrected and empty seats, criteria, and the score without judges of the model's family."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.jury.family import is_same_family
from agent.jury.seats import count_needed_verdicts, name_seats
from agent.statistics.intervals import Mean, estimate_mean
from agent.store import KeptMetric, Seat
from agent.vocabulary import Reason

JudgedAnswer = tuple[
    bytes, float | str, Sequence[Seat]
]  # (unit, score or the reason for having none, seats)


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """Summary of one judge's seats over the answers that its jury was asked about.

    Attributes:
        filled, repaired, faults: as in `JurySummary`, for this judge.
        mean: mean of the judge's verdicts, each of which is the mean of its grades. Includes verdicts on answers
            without a quorum; None if there are no verdicts.
    """

    filled: int
    repaired: int
    faults: Mapping[str, int]
    mean: float | None


@dataclass(frozen=True, slots=True)
class JurySummary:
    """Summary of one jury over the answers that it was asked about, on the jury's own scale.

    Attributes:
        judges: names of the seats, in order.
        quorum: number of valid verdicts that an answer needs for a score; None if not known.
        seats: number of answers that can be judged, times the number of judges.
        filled: number of seats with a valid verdict.
        repaired: number of filled seats whose judge was asked to correct its first reply.
        faults: number of seats without a verdict, by reason. Seats that have not been asked yet are `not_judged`.
        criteria: mean over answers of the valid seats' grades, by criterion.
        family: numbers, from 0, of the seats whose judges are of the judged model's family.
        itself: numbers of the seats whose judge is the judged model itself.
        each: summary of each seat's judge, in order.
        without_family: score by the other judges only, more than half of whom must have given a verdict; None if no
            judge is of the family, or all are.
    """

    judges: tuple[str, ...]
    quorum: int | None
    seats: int
    filled: int
    repaired: int
    faults: Mapping[str, int]
    criteria: Mapping[str, Mean]
    family: tuple[int, ...] = ()
    itself: tuple[int, ...] = ()
    each: tuple[JudgeSummary, ...] = ()
    without_family: Mean | None = None

    @property
    def begun(self) -> bool:
        """Whether any judge was asked."""
        return self.filled > 0 or any(reason != Reason.NOT_JUDGED for reason in self.faults)

    @property
    def of_family(self) -> list[str]:
        """Names of the judges of the judged model's family."""
        return [self.judges[seat] for seat in self.family]


def summarise_jury(
    metric: KeptMetric, model: str, answers: Iterable[JudgedAnswer]
) -> JurySummary | None:
    """Summarise a jury's seats over instances.

    Args:
        metric: a metric graded by a jury.
        model: the model whose answers are judged.
        answers: one for each instance of the run. Those that no jury can be asked about have a reason and no seats.

    Returns:
        The summary, or None if the metric has no judges.
    """
    jury, judges = metric.jury, metric.judges
    if jury is None or not judges:
        return None
    family = tuple(
        seat for seat, judge in enumerate(judges) if is_same_family(judge.model_name, model)
    )
    tally = _JuryTally(len(judges), jury.criteria, family)
    for unit, score, seats in answers:
        if seats or score == Reason.NOT_JUDGED:
            tally.add(unit, score, seats)
    scale = (metric.low, metric.high)
    criteria = {}
    for criterion, scores in tally.criteria.items():
        criteria[criterion] = estimate_mean(scores, binary=False, within=scale)
    without_family = None
    if 0 < len(family) < len(judges):
        without_family = estimate_mean(tally.without_family, binary=False, within=scale)
    summaries = tuple(judge.summarise() for judge in tally.judges)
    return JurySummary(
        judges=name_seats(judges),
        quorum=count_needed_verdicts(len(judges), jury.quorum),
        seats=tally.answers * len(judges),
        filled=sum(judge.filled for judge in summaries),
        repaired=sum(judge.repaired for judge in summaries),
        faults=tally.count_faults(),
        criteria=criteria,
        family=family,
        itself=tuple(seat for seat, judge in enumerate(judges) if judge.model_name == model),
        each=summaries,
        without_family=without_family,
    )


class _JuryTally:
    """Collects counts and scores of one jury's seats, answer by answer.

    Attributes:
        answers: number of answers that the jury can be asked about.
        judges: the tally of each seat.
        criteria: (unit, mean grade from the valid seats) for every scored answer, by criterion.
        without_family: (unit, score by the judges outside the model's family) for every answer that has one.
    """

    def __init__(self, judges: int, criteria: Iterable[str], family: Collection[int]) -> None:
        self.answers = 0
        self.judges = [_JudgeTally() for _ in range(judges)]
        self.criteria: dict[str, list[tuple[bytes, float]]] = {
            criterion: [] for criterion in criteria
        }
        self.without_family: list[tuple[bytes, float]] = []
        self._family = family

    def add(self, unit: bytes, score: float | str, seats: Sequence[Seat]) -> None:
        """Add one answer with the seats that have been asked about it."""
        self.answers += 1
        seats_by_number = {seat.seat: seat for seat in seats}
        for number, judge in enumerate(self.judges):
            judge.add(seats_by_number.get(number))
        if isinstance(score, str):
            return
        for criterion, scores in self.criteria.items():
            grades = [
                seat.grades[criterion] for seat in seats if seat.grades and criterion in seat.grades
            ]
            if grades:
                scores.append((unit, _compute_mean(grades)))
        self._add_without_family(unit, seats)

    def _add_without_family(self, unit: bytes, seats: Sequence[Seat]) -> None:
        means = []
        for seat in seats:
            if seat.grades is not None and seat.seat not in self._family:
                means.append(_compute_mean(list(seat.grades.values())))
        strangers = len(self.judges) - len(self._family)
        if 2 * len(means) > strangers:
            self.without_family.append((unit, _compute_mean(means)))

    def count_faults(self) -> dict[str, int]:
        """Return the number of faults over all seats, by reason."""
        faults: Counter[str] = Counter()
        for judge in self.judges:
            faults.update(judge.faults)
        return _sort_faults(faults)


@dataclass(slots=True)
class _JudgeTally:
    """Counts of one judge's seats."""

    repaired: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    grades: list[float] = field(default_factory=list)  # mean grade of each filled seat

    def add(self, seat: Seat | None) -> None:
        if seat is None:
            self.faults[Reason.NOT_JUDGED] += 1
        elif seat.grades is None:
            self.faults[seat.reason or ""] += 1
        else:
            self.repaired += seat.repaired
            self.grades.append(_compute_mean(list(seat.grades.values())))

    def summarise(self) -> JudgeSummary:
        return JudgeSummary(
            filled=len(self.grades),
            repaired=self.repaired,
            faults=_sort_faults(self.faults),
            mean=_compute_mean(self.grades) if self.grades else None,
        )


def _sort_faults(faults: Mapping[str, int]) -> dict[str, int]:
    return {str(reason): count for reason, count in sorted(faults.items())}


def _compute_mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
