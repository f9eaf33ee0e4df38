"""How far clinicians agree with each other, and jury, judges and word metrics with them. Pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent.calibration.ratings import OVERALL, Grader, RatingTable
from agent.statistics.agreement import NO_ICC, Icc, Ratings, estimate_icc_gain, estimate_mean_icc
from agent.statistics.resampling import FEWEST_UNITS

CLINICIANS = "clinicians"
FEWEST_ANSWERS = 10  # that graders have in common; what fewer say would drown the rest
_Pairs = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One comparison on one criterion: a mean over pairs, each clinician with another or with `who`.

    A pair weighs as many as it has answers in common, and counts from FEWEST_ANSWERS on.

    Attributes:
        criterion: or OVERALL.
        who: CLINICIANS for those among themselves, else the grader that is set beside them.
        kind: of `who`.
        n: answers that at least one of the pairs that count graded both.
        units: patients or documents behind them.
        pairs: answers in common of each pair that counts.
        left_out: the same of pairs that have too few to count, and have some.
        absolute: ICC(2,1), absolute agreement; none for a metric, whose scale is another.
        standardised: ICC(3,1) of z scores, which does not mind scales: of a pair, Pearson's correlation.
        mean: ICC(3,k) of z scores.
        above: by how much `standardised` of `who` with the two of a pair of clinicians is above theirs with each other,
            over the answers that all three graded.
        above_n: answers that are in it.
        needed: units that an interval of the wanted width takes, by the width of this one; None where there is none.
    """

    criterion: str
    who: str
    kind: str
    n: int
    units: int
    pairs: dict[str, int]
    left_out: dict[str, int]
    absolute: Icc
    standardised: Icc
    mean: Icc
    above: Icc
    above_n: int
    needed: int | None

    @property
    def words(self) -> str:
        """Say where `who` stands beside clinicians, by the interval of `above`."""
        if self.above.high is not None and self.above.high < 0:
            return "below clinicians"
        return "above clinicians" if self.above.low is not None and self.above.low > 0 else "cannot tell"


def figures(table: RatingTable, width: float) -> Iterator[AgreementFigure]:
    """Yield every comparison: per criterion and overall, clinicians first, then who is set beside them.

    Args:
        table: of one sample.
        width: of the interval that `needed` is to reach, above 0 and below 2.
    """
    clinicians = table.columns("clinician")
    pairs = list(combinations(clinicians, 2))
    # With one criterion the mean over criteria is that criterion.
    for criterion in (*table.criteria, OVERALL) if len(table.criteria) > 1 else table.criteria:
        if pairs:
            yield _figure(table, criterion, Grader(CLINICIANS, "clinician"), pairs, NO_ICC, 0, width)
        for place in table.columns("jury", "judge", "metric"):
            ratings = table.values[criterion]
            both = [pair for pair in pairs if _common(ratings, (*pair, place)) >= FEWEST_ANSWERS]
            above = estimate_icc_gain(ratings, place, both, units=table.units)
            rows = _rows(ratings, [(*pair, place) for pair in both])
            beside = [(clinician, place) for clinician in clinicians]
            yield _figure(table, criterion, table.graders[place], beside, above, len(rows), width)


def one_grade(table: RatingTable) -> dict[str, list[str]]:
    """Return who gave every answer the same: grader -> criteria. They have no z scores and are no part of those."""
    found: dict[str, list[str]] = {}
    for place, grader in enumerate(table.graders):
        for criterion in table.criteria:
            given = [row[place] for row in table.values[criterion] if row[place] is not None]
            if len(given) >= FEWEST_ANSWERS and len(set(given)) == 1:
                found.setdefault(grader.name, []).append(criterion)
    return found


def _figure(
    table: RatingTable, criterion: str, who: Grader, pairs: _Pairs, above: Icc, above_n: int, width: float
) -> AgreementFigure:
    ratings = table.values[criterion]
    common = {pair: _common(ratings, pair) for pair in pairs}
    kept = [pair for pair, n in common.items() if n >= FEWEST_ANSWERS]
    rows = _rows(ratings, kept)
    units = len({table.units[place] for place in rows})
    absolute = NO_ICC if who.kind == "metric" else estimate_mean_icc(ratings, kept, "ICC2", units=table.units)
    standardised = estimate_mean_icc(ratings, kept, "ICC3", units=table.units, standardised=True)
    names = {pair: " and ".join(table.graders[place].name for place in pair) for pair in pairs}
    return AgreementFigure(
        criterion,
        who.name,
        who.kind,
        len(rows),
        units,
        {names[pair]: common[pair] for pair in kept},
        {names[pair]: n for pair, n in common.items() if 0 < n < FEWEST_ANSWERS},
        absolute,
        standardised,
        estimate_mean_icc(ratings, kept, "ICC3k", units=table.units, standardised=True),
        above,
        above_n,
        _needed(standardised if who.kind == "metric" else absolute, units, width),
    )


def _needed(seen: Icc, units: int, width: float) -> int | None:
    """Return how many units give an interval of this width: widths shrink with the root of their number."""
    if seen.low is None or seen.high is None:
        return None
    return max(FEWEST_UNITS, math.ceil(units * ((seen.high - seen.low) / width) ** 2))


def _rows(ratings: Ratings, groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the places of answers that all of at least one group graded."""
    return [
        place
        for place, row in enumerate(ratings)
        if any(all(row[column] is not None for column in columns) for columns in groups)
    ]


def _common(ratings: Ratings, columns: Sequence[int]) -> int:
    return len(_rows(ratings, [columns]))
