"""Summarise a jury's work: seats filled, repairs, failures, criteria, and the score without judges of the family."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.jury.family import is_same_family
from agent.jury.seats import count_needed_verdicts, name_seats
from agent.statistics.intervals import Mean, estimate_mean
from agent.store import KeptMetric, Seat
from agent.vocabulary import Reason

JudgedAnswer = tuple[bytes, float | str, Sequence[Seat]]  # (unit, score or reason why there is none, what seats gave)


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """One judge's seats over the answers that its jury was asked about.

    Attributes:
        filled, repaired, faults: as of the whole jury.
        mean: of the judge's verdicts, each the mean of its grades; also of answers that have no score for want of a
            quorum. None without a verdict.
    """

    filled: int
    repaired: int
    faults: Mapping[str, int]
    mean: float | None


@dataclass(frozen=True, slots=True)
class JurySummary:
    """One jury over the answers that it was asked about, on the jury's own scale.

    Attributes:
        judges: a name for each seat, in order.
        quorum: seats that must have given a valid verdict for an answer to have a score; None where that is not known.
        seats: answers that can be judged, times judges.
        filled: seats that gave a valid verdict.
        repaired: filled seats whose judge was asked to mend its first reply.
        faults: why seats gave none: word -> seats. Seats that nobody was asked for yet are `not_judged`.
        criteria: criterion -> the mean of what the valid seats gave, answer by answer.
        family: seats, from 0, whose judges are of the judged model's family.
        itself: those of them whose judge is the judged model.
        each: what each seat's judge did, in order.
        without_family: the score from the other judges alone, more than half of whom must have given a verdict; None
            where no judge is of the family, or all are.
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
        """The judges of the judged model's family, by name."""
        return [self.judges[seat] for seat in self.family]


def summarise_jury(metric: KeptMetric, model: str, answers: Iterable[JudgedAnswer]) -> JurySummary | None:
    """Summarise a jury's seats over instances.

    Args:
        metric: one that a jury gives.
        model: the one whose answers are judged.
        answers: one an instance of the run; those that no jury can be asked about have a reason and no seats.

    Returns:
        None where the metric has no judges.
    """
    jury, judges = metric.jury, metric.judges
    if jury is None or not judges:
        return None
    family = frozenset(seat for seat, judge in enumerate(judges) if is_same_family(judge.model_name, model))
    asked = 0
    tallies = [_JudgeTally() for _ in judges]
    criteria: dict[str, list[tuple[bytes, float]]] = {criterion: [] for criterion in jury.criteria}
    without_family: list[tuple[bytes, float]] = []
    for unit, score, seats in answers:
        if not seats and score != Reason.NOT_JUDGED:
            continue
        asked += 1
        seats_by_number = {seat.seat: seat for seat in seats}
        for number, tally in enumerate(tallies):
            tally.add(seats_by_number.get(number))
        if isinstance(score, str):
            continue
        for criterion, scores in criteria.items():
            grades = [seat.grades[criterion] for seat in seats if seat.grades and criterion in seat.grades]
            if grades:
                scores.append((unit, _mean(grades)))
        strangers = [seat for seat in seats if seat.grades is not None and seat.seat not in family]
        if 2 * len(strangers) > len(judges) - len(family):
            means = [_mean(list((seat.grades or {}).values())) for seat in strangers]
            without_family.append((unit, _mean(means)))
    each = tuple(tally.summarise() for tally in tallies)
    faults = sum((tally.faults for tally in tallies), Counter[str]())
    within = metric.low, metric.high
    some_are_family = 0 < len(family) < len(judges)
    return JurySummary(
        judges=name_seats(judges),
        quorum=count_needed_verdicts(len(judges), jury.quorum),
        seats=asked * len(judges),
        filled=sum(judge.filled for judge in each),
        repaired=sum(judge.repaired for judge in each),
        faults=_sort_faults(faults),
        criteria={name: estimate_mean(scores, binary=False, within=within) for name, scores in criteria.items()},
        family=tuple(sorted(family)),
        itself=tuple(seat for seat, judge in enumerate(judges) if judge.model_name == model),
        each=each,
        without_family=estimate_mean(without_family, binary=False, within=within) if some_are_family else None,
    )


@dataclass(slots=True)
class _JudgeTally:
    """Counts of one judge's seats."""

    repaired: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    grades: list[float] = field(default_factory=list)  # a mean for each filled seat

    def add(self, seat: Seat | None) -> None:
        if seat is None:
            self.faults[Reason.NOT_JUDGED] += 1
        elif seat.grades is None:
            self.faults[seat.reason or ""] += 1
        else:
            self.repaired += seat.repaired
            self.grades.append(_mean(list(seat.grades.values())))

    def summarise(self) -> JudgeSummary:
        return JudgeSummary(
            filled=len(self.grades),
            repaired=self.repaired,
            faults=_sort_faults(self.faults),
            mean=_mean(self.grades) if self.grades else None,
        )


def _sort_faults(faults: Mapping[str, int]) -> dict[str, int]:
    return {str(reason): count for reason, count in sorted(faults.items())}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
