"""Bad inputs E: well-formed, rightly signed results that say what they must not."""

from dataclasses import replace
from typing import Any

import pytest

from protocol import merkle
from protocol.disclosure import check_result
from protocol.errors import Code
from protocol.policy import bucket_of, bucket_range, grid_step
from protocol.registry import RegisteredScorecard
from protocol.scorecard import Scorecard
from protocol.statements import build_statement
from tests.protocol.world import (
    HISTORY,
    NOTES,
    OTHER_AGENT,
    OTHER_ENROLMENT,
    OTHER_SITE,
    OTHER_STEWARD,
    REGISTRY,
    RESULT,
    RETIRED,
    SCORECARD,
    STRICT,
    STRICTER,
    WARD,
    cell,
    digest_of,
    refused,
    registry,
    result,
    signed,
    submission,
    submit,
)

ALL, FEMALE, MALE = "ward/exact_match", "ward/exact_match/sex.female", "ward/exact_match/sex.male"
NO_SUBGROUPS: dict[str, Any] = {
    "groups": {"ward/sex.female": 0, "ward/sex.male": 0},
    "cells": {FEMALE: -1, MALE: -1},
}


def whole_only(n: int, value: int, **cells: int) -> dict[str, Any]:
    """The ward's total alone, of n units; its other figures suppressed."""
    return {
        "groups": {**NO_SUBGROUPS["groups"], "ward": bucket_of(n)},
        "cells": {**NO_SUBGROUPS["cells"], ALL: value, **cells},
    }


FAULTS: dict[str, tuple[dict[str, Any], Code]] = {
    "E72-unknown-scorecard": ({"scorecard": "00" * 32}, Code.UNKNOWN_SCORECARD),
    "E72-unknown-model": ({"model": "00" * 32}, Code.UNKNOWN_MODEL),
    "E72-unknown-agent": ({"agent": "00" * 32}, Code.UNKNOWN_AGENT),
    "E72-unknown-policy": ({"policy": "00" * 32}, Code.UNKNOWN_POLICY),
    "E72-unknown-dataset": ({"data": {"ward": "00" * 32}}, Code.UNKNOWN_DATASET),
    "E73-retired-scorecard": ({"scorecard": RETIRED.digest}, Code.RETIRED_SCORECARD),
    "E76-extra-cell": ({"cells": {"exam/f1": 5}}, Code.WRONG_CELLS),
    "E76-extra-group": ({"groups": {"clinic": 5}}, Code.WRONG_CELLS),
    "E76-extra-spread": ({"spreads": {"ward/exact_match": 5}}, Code.WRONG_CELLS),
    "E76-extra-data": ({"data": {"clinic": "none"}}, Code.WRONG_CELLS),
    "E77-not-on-the-grid": ({"cells": {ALL: 725}}, Code.OFF_GRID),
    "E78-group-below-the-threshold": (whole_only(10, 500), Code.BELOW_THRESHOLD),
    "E78-figure-of-no-units": (whole_only(0, 720), Code.BELOW_THRESHOLD),
    "E78-code-of-no-units": (whole_only(0, -3), Code.BELOW_THRESHOLD),
    "E78-public-figure-of-no-units": ({"groups": {"exam": 0}}, Code.WRONG_VALUE),
    "E78-units-but-nothing-run": (
        {"cells": {"exam/exact_match": -2}, "outcome": "partial"},
        Code.WRONG_GROUPS,
    ),
    "E79-subgroup-larger-than-the-whole": (
        {"groups": {"ward/sex.female": bucket_of(300)}, "cells": {FEMALE: 740}},
        Code.WRONG_GROUPS,
    ),
    "E79-subgroups-exceed-the-whole": (
        {"groups": {"ward/sex.female": bucket_of(130)}, "cells": {FEMALE: 700}},
        Code.WRONG_GROUPS,
    ),
    "E79-subgroups-of-a-withheld-whole": (
        {"groups": {"ward": 0}, "cells": {ALL: -1}},
        Code.WRONG_GROUPS,
    ),
    "E80-one-subgroup-withheld": (
        {"groups": {"ward/sex.female": 0}, "cells": {FEMALE: -1}},
        Code.OPEN_MARGIN,
    ),
    "E80-one-subgroups-size-withheld-beside-no-figure": (
        {
            "groups": {"ward/sex.female": bucket_of(180), "ward/sex.male": 0},
            "cells": {FEMALE: -1, MALE: -1},
        },
        Code.OPEN_MARGIN,
    ),
    "E80-one-subgroups-figure-withheld": ({"cells": {FEMALE: -1}}, Code.OPEN_MARGIN),
    "E80-one-subgroup-coded": ({"cells": {FEMALE: -4}}, Code.OPEN_MARGIN),
    "E80-whole-withheld-beside-its-parts": ({"cells": {ALL: -1}}, Code.OPEN_MARGIN),
    "E81-100-percent": (whole_only(200, 1000), Code.EXTREME_VALUE),
    "E81-0-percent": (whole_only(200, 0), Code.EXTREME_VALUE),
    "E81-0-percent-of-a-mean": ({"cells": {"notes/rouge_l": 0}}, Code.EXTREME_VALUE),
    "E81-few-failures": (whole_only(200, 960), Code.SMALL_COUNT),
    "E81-few-successes": (whole_only(200, 40), Code.SMALL_COUNT),
    "E81-neither-side-can-reach-the-threshold": (whole_only(12, 500), Code.SMALL_COUNT),
    "E82-finer-than-n-allows": (whole_only(100, 720), Code.OFF_GRID),
    "E-exception-without-terms": ({"approval": "exception"}, Code.NO_EXCEPTIONS),
    "E72-no-dataset-of-a-protected-figure": ({"data": {"ward": "none"}}, Code.UNKNOWN_DATASET),
    "E72-dataset-of-a-public-figure": ({"data": {"exam": digest_of(WARD)}}, Code.WRONG_DATASET),
    "E72-dataset-of-another-benchmark": ({"data": {"ward": digest_of(NOTES)}}, Code.WRONG_DATASET),
    "E72-dataset-of-a-benchmark-that-was-not-run": (
        {
            "groups": {"notes": 0},
            "cells": {"notes/rouge_l": -2},
            "spreads": {"notes/rouge_l": -1},
            "outcome": "partial",
        },
        Code.WRONG_DATASET,
    ),
    "E78-more-units-than-the-dataset-has": (
        {"groups": {"ward": bucket_of(20_000)}},
        Code.WRONG_GROUPS,
    ),
    "E-second-metric-of-a-group": (
        {"cells": {"ward/rouge_l": 640}, "spreads": {"ward/rouge_l": 12}},
        Code.TOO_MANY_METRICS,
    ),
    "E-second-metric-of-a-group-coded": ({"cells": {"ward/rouge_l": -3}}, Code.TOO_MANY_METRICS),
    "E83-everything-suppressed": (
        whole_only(0, -1)
        | {
            "outcome": "partial",
            "groups": {"exam": 0, "ward": 0, "notes": 0, **NO_SUBGROUPS["groups"]},
            "cells": {"exam/exact_match": -2, ALL: -1, FEMALE: -1, MALE: -1, "notes/rouge_l": -1},
            "spreads": {"notes/rouge_l": -1},
        },
        Code.NOTHING_PUBLISHED,
    ),
    "E84-below-the-sites-own-stricter-policy": ({"policy": STRICTER.digest}, Code.BELOW_THRESHOLD),
    "E86-root-of-no-records": ({"scores_root": merkle.root([]).hex()}, Code.WRONG_ROOT),
    "E-public-figure-suppressed": ({"cells": {"exam/exact_match": -1}}, Code.WRONG_VALUE),
    "E-public-figure-coded": ({"cells": {"exam/exact_match": -4}}, Code.WRONG_VALUE),
    "E-spread-beside-a-suppressed-figure": ({"cells": {"notes/rouge_l": -1}}, Code.WRONG_VALUE),
    "E-spread-0-of-a-protected-figure": ({"spreads": {"notes/rouge_l": 0}}, Code.WRONG_VALUE),
    "E-complete-without-a-benchmark": (
        {"groups": {"exam": 0}, "cells": {"exam/exact_match": -2}},
        Code.WRONG_OUTCOME,
    ),
}


@pytest.mark.parametrize(
    ("changes", "code"), [pytest.param(*case, id=name) for name, case in FAULTS.items()]
)
def test_a_result_that_says_what_it_must_not_is_refused(changes: dict[str, Any], code: Code):
    with refused(code):
        submit(submission(**changes))


@pytest.mark.parametrize("name", ["groups", "cells", "spreads", "data"])
def test_E76_a_missing_entry_is_refused(name: str):
    shorter = dict(list(getattr(RESULT, name).items())[1:])
    with refused(Code.WRONG_CELLS):
        submit(signed(build_statement(replace(RESULT, **{name: shorter}))))


def test_E76_the_cells_of_another_scorecard_are_refused():
    other = Scorecard("other", 1, (SCORECARD.benchmarks[0],), (cell("exam", "f1", binary=False),))
    both = registry(
        scorecards=dict(
            sorted({**REGISTRY.scorecards, other.digest: RegisteredScorecard(other)}.items())
        )
    )
    with refused(Code.WRONG_CELLS):
        submit(submission(scorecard=other.digest), both)


def test_E80_two_withheld_groups_of_three_must_hide_enough_units():
    ages = ("age.child", "age.adult", "age.old")
    card = Scorecard(
        "ages",
        1,
        (SCORECARD.benchmarks[1],),
        (cell("ward", "f1"), *(cell("ward", "f1", age) for age in ages)),
    )

    def check(total: int, adults: int) -> None:
        check_result(
            replace(
                RESULT,
                data={"ward": "none"},
                groups={
                    "ward": bucket_of(total),
                    "ward/age.child": 0,
                    "ward/age.adult": bucket_of(adults),
                    "ward/age.old": 0,
                },
                cells={
                    "ward/f1": 500,
                    "ward/f1/age.child": -1,
                    "ward/f1/age.adult": 500,
                    "ward/f1/age.old": -1,
                },
                spreads={},
            ),
            card,
            STRICT,
        )

    check(total=100, adults=50)
    with refused(Code.OPEN_MARGIN):  # 46 to 50 less 46 to 50 hides at most 4
        check(total=50, adults=50)


ALLOWED: dict[str, dict[str, Any]] = {
    "public-0-percent-of-3-units": {
        "groups": {"exam": bucket_of(3)},
        "cells": {"exam/exact_match": 0},
    },
    "public-100-percent": {"cells": {"exam/exact_match": 1000}},
    "public-off-the-grid": {"cells": {"exam/exact_match": 333}},
    "public-not-run": {
        "groups": {"exam": 0},
        "cells": {"exam/exact_match": -2},
        "outcome": "partial",
    },
    "both-subgroups-withheld": NO_SUBGROUPS,
    "both-subgroups-coded": {"cells": {FEMALE: -3, MALE: -4}},
    "a-run-that-stopped-early": {"outcome": "partial"},
    "low-coded-whole": whole_only(200, -3),
    "spread-withheld": {"spreads": {"notes/rouge_l": -1}},
    "just-enough-failures": whole_only(200, 920),
}


@pytest.mark.parametrize(
    "changes", [pytest.param(changes, id=name) for name, changes in ALLOWED.items()]
)
def test_what_the_rules_allow_is_accepted(changes: dict[str, Any]):
    assert submit(submission(**changes)).site == RESULT.header.site


def test_E84_the_stricter_of_both_policies_decides_whichever_is_the_floor():
    strict_floor = registry(policy_floor=STRICTER.digest)
    with refused(Code.BELOW_THRESHOLD):
        submit(submission(policy=STRICT.digest), strict_floor)
    large_notes = whole_only(300, 720)
    large_notes["groups"]["notes"] = bucket_of(300)
    assert submit(submission(policy=STRICTER.digest, **large_notes), strict_floor)


def by_other_site(changes: dict[str, Any]) -> bytes:
    header = {"site": OTHER_SITE, "prev": OTHER_ENROLMENT}
    return signed(
        build_statement(result(header, scores_root="77" * 32, **changes)),
        OTHER_AGENT,
        OTHER_STEWARD,
    )


LARGE: dict[str, Any] = {
    "groups": {
        "ward": bucket_of(7000),
        "ward/sex.female": bucket_of(3000),
        "ward/sex.male": bucket_of(4000),
    },
    "cells": {ALL: 712, FEMALE: 702, MALE: 722},
}


def test_E86_the_score_root_of_another_site_is_refused():
    with refused(Code.WRONG_ROOT):
        submit(submission(), history=replace(HISTORY, roots={RESULT.scores_root}))


def test_E87_a_copied_result_is_refused():
    first = submit(submission(**LARGE))
    assert first.figures is not None
    with refused(Code.COPIED_RESULT):
        submit(by_other_site(LARGE), history=replace(HISTORY, figures={first.figures}))
    changed = {**LARGE, "cells": {**LARGE["cells"], ALL: 713}}
    assert (
        submit(by_other_site(changed), history=replace(HISTORY, figures={first.figures})).figures
        != first.figures
    )


def test_E87_few_or_public_figures_may_agree_by_chance():
    first = submit(submission())
    assert first.figures is None
    assert submit(by_other_site({})).site == OTHER_SITE


SIZED = replace(
    SCORECARD, benchmarks=(replace(SCORECARD.benchmarks[0], units=500), *SCORECARD.benchmarks[1:])
)
WITH_SIZE = registry(scorecards={SIZED.digest: RegisteredScorecard(SIZED)})


def test_E78_a_group_larger_than_the_published_dataset_is_refused():
    def send(units: int) -> None:
        submit(submission(scorecard=SIZED.digest, groups={"exam": bucket_of(units)}), WITH_SIZE)

    send(500)
    for units in (600, 999_999):
        with refused(Code.WRONG_GROUPS):
            send(units)


def test_E78_a_bucket_that_holds_the_size_of_the_dataset_is_accepted():
    fewest, most = bucket_range(bucket_of(500))
    assert fewest < 500 < most
    submit(submission(scorecard=SIZED.digest, groups={"exam": bucket_of(most)}), WITH_SIZE)


def test_the_large_example_is_fine_enough_to_tell_copies():
    steps = [grid_step(bucket_range(bucket)[0], STRICT) for bucket in LARGE["groups"].values()]
    assert steps == [1, 2, 2]
