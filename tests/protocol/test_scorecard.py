"""Scorecards: what the central team may register."""

from typing import Any

import pytest

from protocol.errors import Code
from protocol.scorecard import parse_scorecard
from tests.protocol.world import RETIRED, SCORECARD, refused

VALUE: dict[str, Any] = SCORECARD.to_json()
BENCHMARKS, CELLS = VALUE["benchmarks"], VALUE["cells"]


def bent_cell(place: int, **fields: Any) -> dict[str, Any]:
    return {**VALUE, "cells": [{**c, **fields} if i == place else c for i, c in enumerate(CELLS)]}


def test_a_scorecard_comes_out_as_it_went_in():
    assert parse_scorecard(VALUE) == SCORECARD
    assert SCORECARD.digest != RETIRED.digest


def test_keys_groups_and_margins():
    assert [cell.key for cell in SCORECARD.cells][2] == "ward/exact_match/sex.female"
    assert SCORECARD.group_keys == ("exam", "ward", "ward/sex.female", "ward/sex.male", "notes")
    assert SCORECARD.margins("ward") == (("ward/sex.female", "ward/sex.male"),)
    assert SCORECARD.margins("exam") == ()
    assert [cell.metric for cell in SCORECARD.cells_of("ward")] == ["exact_match", "rouge_l"]


FAULTS: dict[str, object] = {
    "not-an-object": [],
    "extra-field": {**VALUE, "note": "x"},
    "D65-name": {**VALUE, "name": "../x"},
    "version-0": {**VALUE, "version": 0},
    "no-cells": {**VALUE, "cells": []},
    "too-many-cells": {**VALUE, "cells": CELLS * 200},
    "cell-twice": {**VALUE, "cells": [*CELLS, CELLS[0]]},
    "benchmark-twice": {**VALUE, "benchmarks": [*BENCHMARKS, BENCHMARKS[0]]},
    "cell-of-no-benchmark": {**VALUE, "benchmarks": BENCHMARKS[1:]},
    "benchmark-without-cell": {**VALUE, "cells": CELLS[1:]},
    "two-access-levels": bent_cell(1, access="gated"),
    "subgroup-without-the-whole": {**VALUE, "cells": [CELLS[0], *CELLS[2:]]},
    "subgroup-with-another-range": bent_cell(2, high=5),
    "unknown-access": bent_cell(0, access="open"),
    "range-upside-down": bent_cell(0, low=1, high=0),
    "empty-range": bent_cell(0, low=1, high=1),
    "binary-is-a-number": bent_cell(0, binary=1),
    "two-variables-in-a-subgroup": bent_cell(2, subgroup="sex.female.old"),
    "subgroup-without-variable": bent_cell(2, subgroup="female"),
    "D67-script-in-an-id": bent_cell(0, metric="<script>"),
    "D62-newline-in-an-id": bent_cell(0, metric="exact_match\n"),
    "display-name-empty": {**VALUE, "benchmarks": [{**BENCHMARKS[0], "display_name": ""}, BENCHMARKS[1]]},
    "definition-in-capitals": {**VALUE, "benchmarks": [{**BENCHMARKS[0], "definition": "AB" * 32}, BENCHMARKS[1]]},
}


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in FAULTS.items()])
def test_a_bad_scorecard_is_refused(value: object):
    with refused(Code.SCHEMA):
        parse_scorecard(value)
