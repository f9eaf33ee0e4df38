"""How a jury did its work: seats filled, repairs, failures, criteria, and the score without judges of the family."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.jury.family import same_family
from agent.jury.seats import least_verdicts, seat_names
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
    own = frozenset(place for place, judge in enumerate(judges) if same_family(judge.model_name, model))
    asked = 0
    counts = [_Count() for _ in judges]
    criteria: dict[str, list[tuple[bytes, float]]] = {criterion: [] for criterion in jury.criteria}
    without: list[tuple[bytes, float]] = []
    for unit, score, seats in answers:
        if not seats and score != Reason.NOT_JUDGED:
            continue
        asked += 1
        valid = [seat for seat in seats if seat.grades is not None]
        given = {seat.seat: seat for seat in seats}
        for place, count in enumerate(counts):
            count.add(given.get(place))
        if isinstance(score, str):
            continue
        for criterion, found in criteria.items():
            grades = [seat.grades[criterion] for seat in valid if seat.grades and criterion in seat.grades]
            if grades:
                found.append((unit, sum(grades) / len(grades)))
        others = [seat for seat in valid if seat.seat not in own]
        if 2 * len(others) > len(judges) - len(own):
            without.append((unit, _mean([_mean(list((seat.grades or {}).values())) for seat in others])))
    within = metric.low, metric.high
    each = tuple(count.summary for count in counts)
    faults = sum((count.faults for count in counts), Counter[str]())
    return JurySummary(
        seat_names(judges),
        least_verdicts(len(judges), jury.quorum),
        seats=asked * len(judges),
        filled=sum(one.filled for one in each),
        repaired=sum(one.repaired for one in each),
        faults=_in_order(faults),
        criteria={name: estimate_mean(found, binary=False, within=within) for name, found in criteria.items()},
        family=tuple(sorted(own)),
        itself=tuple(place for place, judge in enumerate(judges) if judge.model_name == model),
        each=each,
        without_family=estimate_mean(without, binary=False, within=within) if 0 < len(own) < len(judges) else None,
    )


@dataclass(slots=True)
class _Count:
    """What one judge's seats came to so far."""

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

    @property
    def summary(self) -> JudgeSummary:
        mean = _mean(self.grades) if self.grades else None
        return JudgeSummary(len(self.grades), self.repaired, _in_order(self.faults), mean)


def _in_order(faults: Mapping[str, int]) -> dict[str, int]:
    return {str(reason): count for reason, count in sorted(faults.items())}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
