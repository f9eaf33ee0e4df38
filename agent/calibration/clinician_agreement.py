"""Measure how well clinicians agree with each other and with juries, judges and text-overlap metrics. Pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent.calibration.ratings import OVERALL, Grader, RatingTable
from agent.statistics.agreement import NO_ICC, Icc, Ratings, estimate_icc_gain, estimate_mean_icc
from agent.statistics.resampling import MIN_UNITS

CLINICIANS = "clinicians"
# Minimum number of answers that both graders of a pair must have graded for the pair to count. With fewer answers,
# chance would dominate the estimate.
MIN_ANSWERS = 10
_Pair = tuple[int, int]  # indexes of two columns


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One comparison on one criterion: a mean over pairs of clinicians, or over pairs of a clinician and `who`.

    A pair is weighted by the number of answers that both of its graders graded, and does not count if there are fewer
    than MIN_ANSWERS.

    Attributes:
        criterion: name of the criterion, or OVERALL.
        who: the grader that is compared with clinicians, or CLINICIANS for clinicians among themselves.
        kind: "clinician", "jury", "judge" or "metric", depending on `who`.
        n: number of answers that were graded by both graders of at least one counted pair.
        units: number of patients or documents to which these answers belong.
        pairs: for each counted pair, the number of answers that both graders graded.
        left_out: the same number for each pair that has too few such answers to count.
        absolute: ICC(2,1), absolute agreement; has no value for a metric, because metrics use another scale.
        standardised: ICC(3,1) of z scores, which does not depend on the scale; for one pair, Pearson's correlation.
        mean: ICC(3,k) of z scores.
        above: the agreement (`standardised`) of `who` with each of two clinicians, minus the agreement of these two
            with each other, over the answers that all three graded.
        above_n: number of answers from which `above` was computed.
        needed: number of units required for an interval of the requested width, extrapolated from the width of the
            present interval; None if there is no interval.
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
        """A description of `who` relative to clinicians, based on the interval of `above`."""
        if self.above.high is not None and self.above.high < 0:
            return "below clinicians"
        if self.above.low is not None and self.above.low > 0:
            return "above clinicians"
        return "cannot tell"


@dataclass(frozen=True, slots=True)
class _PairsInCommon:
    """For each pair, the number of answers that both graders graded. Pairs with too few are in `left_out`."""

    counted: dict[_Pair, int]
    left_out: dict[_Pair, int]


def compare_graders(table: RatingTable, width: float) -> Iterator[AgreementFigure]:
    """Yield every comparison, per criterion and overall: clinicians among themselves, then each other grader.

    Args:
        table: the ratings of one sample.
        width: target width of the interval for `needed`, above 0 and below 2.
    """
    clinicians = table.list_columns("clinician")
    clinician_pairs = list(combinations(clinicians, 2))
    criteria = table.criteria
    if len(criteria) > 1:
        # With a single criterion, the mean over criteria would repeat it.
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
    """Return the criteria on which a grader gave every answer the same grade, by grader.

    Such grades have no z scores.
    """
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
        # Metrics and clinicians use different scales.
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
    """Return the number of units required for this width: a width shrinks with the square root of the number."""
    if icc.low is None or icc.high is None:
        return None
    ratio = (icc.high - icc.low) / width
    return max(MIN_UNITS, math.ceil(units * ratio**2))


def _find_common_answers(ratings: Ratings, groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the indexes of the rows that every grader of at least one group graded."""
    return [
        number
        for number, row in enumerate(ratings)
        if any(_has_all(row, columns) for columns in groups)
    ]


def _has_all(row: Sequence[float | None], columns: Sequence[int]) -> bool:
    return all(row[column] is not None for column in columns)


def _count_common_answers(ratings: Ratings, columns: Sequence[int]) -> int:
    return len(_find_common_answers(ratings, [columns]))
