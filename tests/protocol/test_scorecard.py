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


def bent_benchmark(place: int, **fields: Any) -> dict[str, Any]:
    return {
        **VALUE,
        "benchmarks": [{**b, **fields} if i == place else b for i, b in enumerate(BENCHMARKS)],
    }


def without_field(table: str, name: str) -> dict[str, Any]:
    rows = [{key: value for key, value in row.items() if key != name} for row in VALUE[table]]
    return {**VALUE, table: rows}


PANEL = {
    "id": "panel",
    "seats": "openai/gpt-4o-2024-05-13 meta/llama-3.3-70b-instruct anthropic/claude-3-7-sonnet-20250219",
    "rubric": "ab" * 32,
    "quorum": 2,
}


def with_jury(*juries: dict[str, Any]) -> dict[str, Any]:
    return {**bent_cell(5, jury="panel"), "juries": list(juries)}


def test_a_scorecard_with_a_jury_comes_out_as_it_went_in():
    card = parse_scorecard(with_jury(PANEL))
    assert card.to_json() == with_jury(PANEL)
    assert card.jury_of(card.cells[5]) == card.juries[0]
    assert card.jury_of(card.cells[0]) is None


def test_another_judge_quorum_or_rubric_is_another_scorecard():
    others = [
        PANEL,
        {**PANEL, "quorum": 3},
        {**PANEL, "rubric": "cd" * 32},
        {**PANEL, "seats": "judge/a judge/b"},
    ]
    assert len({parse_scorecard(with_jury(jury)).digest for jury in others}) == 4


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
    "display-name-empty": {
        **VALUE,
        "benchmarks": [{**BENCHMARKS[0], "display_name": ""}, BENCHMARKS[1]],
    },
    "definition-in-capitals": {
        **VALUE,
        "benchmarks": [{**BENCHMARKS[0], "definition": "AB" * 32}, BENCHMARKS[1]],
    },
    "subcategory-missing": without_field("benchmarks", "subcategory"),
    "size-missing": without_field("benchmarks", "units"),
    "size-beyond-the-scale": bent_benchmark(0, units=1_000_001),
    "size-of-a-private-benchmark": bent_benchmark(1, units=10_000),
    "juries-missing": {name: value for name, value in VALUE.items() if name != "juries"},
    "a-cell-without-its-jury": bent_cell(0, jury="panel"),
    "a-jury-without-a-cell": {**VALUE, "juries": [PANEL]},
    "a-jury-twice": with_jury(PANEL, PANEL),
    "a-jury-without-seats": with_jury({**PANEL, "seats": "", "quorum": 0}),
    "a-jury-with-an-empty-seat": with_jury({**PANEL, "seats": "judge/a  judge/b"}),
    "a-jury-of-ten": with_jury({**PANEL, "seats": " ".join(["judge"] * 10), "quorum": 6}),
    "a-quorum-of-half": with_jury({**PANEL, "quorum": 1}),
    "a-quorum-beyond-the-seats": with_jury({**PANEL, "quorum": 4}),
    "a-rubric-that-is-no-digest": with_jury({**PANEL, "rubric": "accuracy"}),
    "a-jury-called-none": with_jury({**PANEL, "id": "none"}),
    "D67-script-as-judge": with_jury({**PANEL, "seats": "<script> b c"}),
    "a-subgroup-with-another-jury": {**bent_cell(2, jury="panel"), "juries": [PANEL]},
}


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in FAULTS.items()])
def test_a_bad_scorecard_is_refused(value: object):
    with refused(Code.SCHEMA):
        parse_scorecard(value)
