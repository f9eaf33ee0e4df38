"""How a jury did its work: seats filled, repairs, failures, criteria, and the score without judges of the family."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.jury.family import same_family
from agent.statistics.intervals import Mean, mean_with_interval
from agent.store import Seat
from agent.vocabulary import Reason

JudgedAnswer = tuple[bytes, float | str, Sequence[Seat]]  # (unit, score or reason why there is none, what seats gave)


@dataclass(frozen=True, slots=True)
class JurySummary:
    """One jury over the answers that it was asked about, on the jury's own scale.

    Attributes:
        judges: a short name for each seat, in order.
        seats: answers that can be judged, times judges.
        filled: seats that gave a valid verdict.
        repaired: filled seats whose judge was asked to mend its first reply.
        faults: why seats gave none: word -> seats. Seats that nobody was asked for yet are `not_judged`.
        criteria: criterion -> the mean of what the valid seats gave, answer by answer.
        family: seats, from 0, whose judges are of the judged model's family.
        itself: those of them whose judge is the judged model.
        without_family: the score from the other judges alone, more than half of whom must have given a verdict; None
            where no judge is of the family, or all are.
    """

    judges: tuple[str, ...]
    seats: int
    filled: int
    repaired: int
    faults: Mapping[str, int]
    criteria: Mapping[str, Mean]
    family: tuple[int, ...] = ()
    itself: tuple[int, ...] = ()
    without_family: Mean | None = None

    @property
    def of_family(self) -> list[str]:
        """The judges of the judged model's family, by name."""
        return [self.judges[seat] for seat in self.family]


def jury_summary(kept: Mapping[str, Any], model: str, answers: Iterable[JudgedAnswer]) -> JurySummary | None:
    """Summarise a jury's seats over instances.

    Args:
        kept: what a run keeps of the metric, with its jury.
        model: the one whose answers are judged.
        answers: one an instance of the run; those that no jury can be asked about have a reason and no seats.

    Returns:
        None where the metric has no judges.
    """
    judges = kept["jury"]["judges"]
    if not judges:
        return None
    own = frozenset(place for place, (_, judge, _) in enumerate(judges) if same_family(judge, model))
    filled = repaired = asked = 0
    faults: Counter[str] = Counter()
    criteria: dict[str, list[tuple[bytes, float]]] = {criterion: [] for criterion in kept["jury"]["criteria"]}
    without: list[tuple[bytes, float]] = []
    for unit, score, seats in answers:
        if not seats and score != Reason.NOT_JUDGED:
            continue
        asked += 1
        valid = [seat for seat in seats if seat.grades is not None]
        filled += len(valid)
        repaired += sum(seat.repaired for seat in valid)
        faults.update(seat.reason or "" for seat in seats if seat.grades is None)
        if lacking := len(judges) - len(seats):
            faults[Reason.NOT_JUDGED] += lacking
        if isinstance(score, str):
            continue
        for criterion, found in criteria.items():
            grades = [seat.grades[criterion] for seat in valid if seat.grades and criterion in seat.grades]
            if grades:
                found.append((unit, sum(grades) / len(grades)))
        others = [seat for seat in valid if seat.seat not in own]
        if 2 * len(others) > len(judges) - len(own):
            without.append((unit, _mean([_mean(list((seat.grades or {}).values())) for seat in others])))
    within = kept["low"], kept["high"]
    return JurySummary(
        seat_names(judges),
        seats=asked * len(judges),
        filled=filled,
        repaired=repaired,
        faults={str(reason): count for reason, count in sorted(faults.items())},
        criteria={name: mean_with_interval(found, binary=False, within=within) for name, found in criteria.items()},
        family=tuple(sorted(own)),
        itself=tuple(place for place, (_, judge, _) in enumerate(judges) if judge == model),
        without_family=mean_with_interval(without, binary=False, within=within) if 0 < len(own) < len(judges) else None,
    )


def seat_names(judges: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return what to call each seat of the judges that a run keeps; seats of one judge are numbered."""
    plain = [name or model for _, model, name in judges]
    seen: Counter[str] = Counter()
    names = []
    for name in plain:
        seen[name] += 1
        names.append(f"{name} ({seen[name]})" if plain.count(name) > 1 else name)
    return tuple(names)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
