"""Measure how far clinicians agree with each other, and jury, judges and word metrics with them. Pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent.calibration.ratings import OVERALL, Grader, RatingTable
from agent.statistics.agreement import NO_ICC, Icc, Ratings, estimate_icc_gain, estimate_mean_icc
from agent.statistics.resampling import MIN_UNITS

CLINICIANS = "clinicians"
# Answers in common, from which a pair of graders counts. The chance in smaller pairs would outweigh all others.
MIN_ANSWERS = 10
_Pair = tuple[int, int]  # numbers of two columns


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One comparison on one criterion: a mean over pairs, each clinician with another or with `who`.

    A pair weighs as many as it has answers in common, and counts from MIN_ANSWERS on.

    Attributes:
        criterion: or OVERALL.
        who: CLINICIANS for clinicians among themselves, else the grader that is compared with them.
        kind: of `who`.
        n: answers that at least one of the pairs that count graded both.
        units: patients or documents behind them.
        pairs: answers in common of each pair that counts.
        left_out: the same of pairs with some answers in common, but too few to count.
        absolute: ICC(2,1), absolute agreement; none for a metric, whose scale is another.
        standardised: ICC(3,1) of z scores, which is the same on any scale: of a pair, Pearson's correlation.
        mean: ICC(3,k) of z scores.
        above: by how much `standardised` of `who` with the two of a pair of clinicians is above theirs with each other,
            over the answers that all three graded.
        above_n: answers behind `above`.
        needed: units for an interval of the requested width, by the width of this one; None without an interval.
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
        if self.above.low is not None and self.above.low > 0:
            return "above clinicians"
        return "cannot tell"


@dataclass(frozen=True, slots=True)
class _PairsInCommon:
    """Pairs of graders with the number of answers that both graded: those that count, and those with too few."""

    counted: dict[_Pair, int]
    left_out: dict[_Pair, int]


def compare_graders(table: RatingTable, width: float) -> Iterator[AgreementFigure]:
    """Yield every comparison: per criterion and overall, clinicians first, then each grader beside them.

    Args:
        table: of one sample.
        width: of the interval that `needed` is to reach, above 0 and below 2.
    """
    clinicians = table.list_columns("clinician")
    clinician_pairs = list(combinations(clinicians, 2))
    criteria = table.criteria
    if len(criteria) > 1:
        # With one criterion the mean over criteria is that criterion.
        criteria = (*criteria, OVERALL)
    for criterion in criteria:
        if clinician_pairs:
            yield _compare_pairs(
                table,
                criterion,
                Grader(CLINICIANS, "clinician"),
                clinician_pairs,
                above=NO_ICC,
                above_n=0,
                width=width,
            )
        ratings = table.values[criterion]
        for column in table.list_columns("jury", "judge", "metric"):
            trios = [(first, second, column) for first, second in clinician_pairs]
            trios = [trio for trio in trios if _count_common_answers(ratings, trio) >= MIN_ANSWERS]
            pairs_of_trios = [(first, second) for first, second, _ in trios]
            yield _compare_pairs(
                table,
                criterion,
                table.graders[column],
                [(clinician, column) for clinician in clinicians],
                above=estimate_icc_gain(ratings, column, pairs_of_trios, units=table.units),
                above_n=len(_find_common_answers(ratings, trios)),
                width=width,
            )


def find_constant_graders(table: RatingTable) -> dict[str, list[str]]:
    """Return the graders with the same grade for every answer, and on which criteria; these have no z scores."""
    constant: dict[str, list[str]] = {}
    for column, grader in enumerate(table.graders):
        for criterion in table.criteria:
            grades = [row[column] for row in table.values[criterion] if row[column] is not None]
            if len(grades) >= MIN_ANSWERS and len(set(grades)) == 1:
                constant.setdefault(grader.name, []).append(criterion)
    return constant


def _compare_pairs(
    table: RatingTable,
    criterion: str,
    grader: Grader,
    pairs: Sequence[_Pair],
    *,
    above: Icc,
    above_n: int,
    width: float,
) -> AgreementFigure:
    ratings = table.values[criterion]
    in_common = _count_pairs(ratings, pairs)
    counted = list(in_common.counted)
    answers = _find_common_answers(ratings, counted)
    units = len({table.units[answer] for answer in answers})
    standardised = estimate_mean_icc(ratings, counted, "ICC3", units=table.units, standardised=True)
    if grader.kind == "metric":
        # The scale of a metric is not that of the clinicians.
        absolute = NO_ICC
        needed = _estimate_units_needed(standardised, units, width)
    else:
        absolute = estimate_mean_icc(ratings, counted, "ICC2", units=table.units)
        needed = _estimate_units_needed(absolute, units, width)
    return AgreementFigure(
        criterion=criterion,
        who=grader.name,
        kind=grader.kind,
        n=len(answers),
        units=units,
        pairs={_name_pair(table, pair): count for pair, count in in_common.counted.items()},
        left_out={_name_pair(table, pair): count for pair, count in in_common.left_out.items()},
        absolute=absolute,
        standardised=standardised,
        mean=estimate_mean_icc(ratings, counted, "ICC3k", units=table.units, standardised=True),
        above=above,
        above_n=above_n,
        needed=needed,
    )


def _count_pairs(ratings: Ratings, pairs: Sequence[_Pair]) -> _PairsInCommon:
    in_common = _PairsInCommon({}, {})
    for pair in pairs:
        count = _count_common_answers(ratings, pair)
        if count >= MIN_ANSWERS:
            in_common.counted[pair] = count
        elif count:
            in_common.left_out[pair] = count
    return in_common


def _name_pair(table: RatingTable, pair: _Pair) -> str:
    return " and ".join(table.graders[column].name for column in pair)


def _estimate_units_needed(icc: Icc, units: int, width: float) -> int | None:
    """Return how many units give an interval of this width: widths shrink with the root of their number."""
    if icc.low is None or icc.high is None:
        return None
    ratio = (icc.high - icc.low) / width
    return max(MIN_UNITS, math.ceil(units * ratio**2))


def _find_common_answers(ratings: Ratings, groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers of the rows that every grader of at least one group graded."""
    return [
        number
        for number, row in enumerate(ratings)
        if any(_has_all(row, columns) for columns in groups)
    ]


def _has_all(row: Sequence[float | None], columns: Sequence[int]) -> bool:
    return all(row[column] is not None for column in columns)


def _count_common_answers(ratings: Ratings, columns: Sequence[int]) -> int:
    return len(_find_common_answers(ratings, [columns]))
