"""Rows of a file, as users and accidents write them: nested, broken, too deep, with more in them than was named."""

import json
from typing import Any

import pytest

from agent.errors import RedactionError
from agent.redaction.engine import Engine
from agent.redaction.files.rows import RowTally, RowTask, redact_rows

TEXT = RowTask(("text",))


def redacted(engine: Engine, task: RowTask, *rows: object) -> tuple[list[Any], RowTally]:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    written, tally = redact_rows(lines, 1, task, engine)
    assert len(written) == len(lines)
    return [json.loads(line) for line in written], tally


def test_texts_keys_and_numbers_of_a_nested_field_are_cleared_together(engine: Engine):
    field = {
        "messages": [{"role": "user", "content": "Mr. Jonas Holloway, MRN: 4471209, has gout."}],
        "Holloway": {"mrn": 4471209, "age": 54, "alive": True, "score": None},
    }
    (row,), tally = redacted(engine, TEXT, {"text": field})
    shown = json.dumps(row)
    assert "Holloway" not in shown
    assert "4471209" not in shown
    assert row["text"]["messages"][0]["role"] == "user"
    assert row["text"]["[NAME-1]"].pop("mrn").startswith("[")
    assert row["text"]["[NAME-1]"] == {"age": 54, "alive": True, "score": None}
    assert tally.identifiers == 4


def test_keys_that_are_the_same_after_clearing_are_all_kept(engine: Engine):
    field = {"Mr. Jonas Holloway": 1, "Mr. Holloway": 2, "MR. HOLLOWAY": 3}
    (row,), _ = redacted(engine, TEXT, {"text": field})
    assert sorted(row["text"].values()) == [1, 2, 3]
    assert "HOLLOWAY" not in json.dumps(row).upper()


def test_rows_that_are_none_are_withheld_where_they_stand_and_counted(engine: Engine):
    rows = [
        {"text": "Mr. Holloway has gout."},
        b"\xff\xfe\x00junk",
        b"Mr. Holloway, no JSON",
        b"[" * 100_000,
        b'{"text": ' + b"9" * 10_000 + b"}",
        ["Mr. Holloway"],
        {"text": "Mr. \x00Holloway"},
        {"text": "gout"},
    ]
    written, tally = redacted(engine, TEXT, *rows)
    assert [row["text"] for row in written] == [
        "[NAME-1] has gout.",
        *["[WITHHELD: undecodable]"] * 6,
        "gout",
    ]
    assert tally.withheld == {"undecodable": 6}
    assert tally.first_withheld == [2, 3, 4, 5, 6, 7]
    assert tally.rows == len(rows)


def test_a_byte_order_mark_is_no_part_of_the_first_row(engine: Engine):
    assert redacted(engine, TEXT, b'\xef\xbb\xbf{"text": "gout"}')[0] == [{"text": "gout"}]


def test_places_are_of_the_original_text(engine: Engine):
    text = "Fever of 38.5 \u00b0C \U0001f912, Mr. Holloway, MRN: 4471209."
    (row,), tally = redacted(
        engine, RowTask(("text",), spans=True), {"id": 7, "text": text, "spans": [[0, 1, "GOLD"]]}
    )
    assert tally.rows_with_spans == 1  # which the command says
    assert row["text"] == "Fever of 38.5 \u00b0C \U0001f912, [NAME-1], MRN: [MRN-1]."
    assert [(text[start:end], entity) for start, end, entity in row["spans"]] == [
        ("Mr. Holloway", "NAME"),
        ("4471209", "MRN"),
    ]


def test_a_withheld_text_is_taken_whole_and_several_fields_have_places_each(engine: Engine):
    task = RowTask(("a", "b"), spans=True)
    (row,), _ = redacted(engine, task, {"a": "Mr. \x00H", "b": "Mr. Holloway", "c": None})
    assert row["spans"] == {"a": [[0, 6, "WITHHELD"]], "b": [[0, 12, "NAME"]]}


@pytest.mark.parametrize(
    ("others", "left"),
    [
        ("keep", {"id": "Holloway-1", "n": 4471209}),
        ("redact", {}),
        ("drop", {}),
    ],
)
def test_the_other_fields_are_kept_cleared_or_left_out_as_asked(
    engine: Engine, others: Any, left: dict[str, Any]
):
    row = {"id": "Holloway-1", "text": "Mr. Holloway, MRN: 4471209", "n": 4471209}
    (written,), tally = redacted(engine, RowTask(("text",), others=others), row)
    assert written["text"] == "[NAME-1], MRN: [MRN-1]"
    assert {key: value for key, value in written.items() if key in left} == left
    assert (
        ("Holloway" in json.dumps(written))
        == ("4471209" in json.dumps(written))
        == (others == "keep")
    )
    assert ("n" in written) == (others != "drop")
    assert tally.unchecked_rows == (others == "keep")
    assert list(written) == [key for key in row if key in written]


def test_what_a_row_says_of_its_people_is_searched_and_never_written(engine: Engine):
    row = {
        "text": "brzezicka called again about gout",
        "people": {"NAME": ["Brzezicka"], "MRN": 4471209},
    }
    (written,), _ = redacted(engine, RowTask(("text",), identifiers="people"), row)
    assert written == {"text": "[NAME-1] called again about gout"}


@pytest.mark.parametrize(
    "people", ["Holloway", {"HOLLOWAY": ["x"]}, {"NAME": [["Holloway"]]}, {"NAME": {"a": "b"}}]
)
def test_a_row_whose_people_cannot_be_understood_stops_all_and_is_not_quoted(
    engine: Engine, people: object
):
    with pytest.raises(RedactionError, match="row 1: people: expected") as caught:
        redacted(
            engine, RowTask(("text",), identifiers="people"), {"text": "gout", "people": people}
        )
    assert "holloway" not in f"{caught.value}{caught.value.advice}".lower()


@pytest.mark.parametrize("patient", [None, "", True, ["Holloway"]])
def test_a_row_that_names_no_patient_stops_all_where_one_is_needed(engine: Engine, patient: object):
    with pytest.raises(RedactionError, match="row 1: patient: expected") as caught:
        redacted(engine, RowTask(("text",), unit="patient"), {"text": "gout", "patient": patient})
    assert "Holloway" not in str(caught.value)


def test_a_mistyped_field_stops_all_and_the_row_is_not_quoted(engine: Engine):
    with pytest.raises(RedactionError, match="row 2: has no field text") as caught:
        redacted(engine, TEXT, {"text": "gout"}, {"txet": "Mr. Holloway"})
    assert "Holloway" not in f"{caught.value}{caught.value.advice}"
    assert caught.value.__cause__ is None


def test_half_of_a_surrogate_pair_elsewhere_in_a_row_does_not_stop_the_others(engine: Engine):
    (row,), _ = redacted(engine, TEXT, b'{"id": "\\ud800", "text": "gout"}')
    assert row == {"id": "\ud800", "text": "gout"}


def test_an_empty_text_and_none_at_all_stay_what_they_are(engine: Engine):
    written, tally = redacted(engine, TEXT, {"text": ""}, {"text": None})
    assert written == [{"text": ""}, {"text": None}]
    assert not tally.withheld
