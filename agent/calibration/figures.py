"""How far clinicians agree with each other, and jury, judges and word metrics with them. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent.calibration.ratings import OVERALL, Grader, RatingTable
from agent.statistics.agreement import NO_ICC, Icc, Ratings, icc_difference, items_needed, mean_icc

CLINICIANS = "clinicians"
_Pairs = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One comparison on one criterion: a mean over pairs, each clinician with another or with `who`.

    Attributes:
        criterion: or OVERALL.
        who: CLINICIANS for those among themselves, else the grader that is set beside them.
        kind: of `who`.
        n: answers that at least one of the pairs graded both.
        units: patients or documents behind them.
        absolute: ICC(2,1), absolute agreement; none for a metric, whose scale is another.
        standardised: ICC(3,1) of z scores, which does not mind scales: of a pair, Pearson's correlation.
        mean: ICC(3,k) of z scores.
        above: `standardised` less that of the clinicians among themselves on the same answers.
        needed: answers that an interval of the wanted width takes; None where there is no figure to plan from.
    """

    criterion: str
    who: str
    kind: str
    n: int
    units: int
    absolute: Icc
    standardised: Icc
    mean: Icc
    above: Icc
    needed: int | None


def figures(table: RatingTable, width: float) -> Iterator[Figure]:
    """Yield every comparison: per criterion and overall, clinicians first, then who is set beside them.

    Args:
        table: of one sample.
        width: of the interval that `needed` is to reach, above 0 and below 2.
    """
    clinicians = table.columns("clinician")
    pairs = list(combinations(clinicians, 2))
    # With one criterion the mean over criteria is that criterion.
    for criterion in (*table.criteria, OVERALL) if len(table.criteria) > 1 else table.criteria:
        ratings = table.values[criterion]
        if pairs:
            yield _figure(criterion, Grader(CLINICIANS, "clinician"), table, ratings, pairs, [], width)
        for place in table.columns("jury", "judge", "metric"):
            beside = [(place, clinician) for clinician in clinicians]
            yield _figure(criterion, table.graders[place], table, ratings, beside, pairs, width)


def _figure(
    criterion: str, who: Grader, table: RatingTable, ratings: Ratings, pairs: _Pairs, others: _Pairs, width: float
) -> Figure:
    rows = [place for place, row in enumerate(ratings) if _graded(row, pairs)]
    kept = [ratings[place] for place in rows]
    units = [table.units[place] for place in rows]
    absolute = NO_ICC if who.kind == "metric" else mean_icc(kept, pairs, "ICC2", units=units)
    standardised = mean_icc(kept, pairs, "ICC3", units=units, standardised=True)
    above = icc_difference(kept, pairs, others, "ICC3", units=units, standardised=True) if others else NO_ICC
    planned = standardised.value if who.kind == "metric" else absolute.value
    return Figure(
        criterion,
        who.name,
        who.kind,
        len(rows),
        len(set(units)),
        absolute,
        standardised,
        mean_icc(kept, pairs, "ICC3k", units=units, standardised=True),
        above,
        None if planned is None else items_needed(min(1.0, planned), 2, width),
    )


def _graded(row: Sequence[float | None], pairs: _Pairs) -> bool:
    return any(row[one] is not None and row[other] is not None for one, other in pairs)
