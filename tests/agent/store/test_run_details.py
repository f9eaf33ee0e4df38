"""Details of runs: what earlier versions kept loads unchanged, and a damaged record names the key."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.errors import StoreError
from agent.store import KeptData, KeptJury, KeptMetric, RunDetails, RunOrigin
from agent.store.run_details import read_details, write_details
from agent.vocabulary import AnswerParser, Judge, Scale

EARLIER_STORE = (
    Path(__file__).parents[2] / "data" / "versions" / "56f8cdc" / "site" / "store" / "site.sqlite3"
)
JURY = {
    "judges": [["site/a", "maker/a", ""]],
    "quorum": None,
    "scale": [0, 10],
    "criteria": {"clarity": "Is it clear?"},
    "fields": {"clarity": ["explanation"]},
    "prompt": "",
    "gold_shown": True,
}


def test_runs_of_an_earlier_version_are_written_as_they_were_read():
    with sqlite3.connect(f"file:{EARLIER_STORE}?mode=ro&immutable=1", uri=True) as database:
        stored = [details for (details,) in database.execute("SELECT details FROM runs")]
    assert len(stored) >= 4
    assert [write_details(read_details(details)) for details in stored] == stored
    assert all(
        read_details(details).lacking == {"answer_mode", "plan", "reading_version"}
        for details in stored
    )


def test_details_are_written_with_every_key_that_earlier_versions_read():
    details = RunDetails(
        data=KeptData(attested=True),
        metrics=(KeptMetric(name="jury_score", scoring="helm", jury=KeptJury()),),
        free_arguments=(),
        parser=AnswerParser("json", "answer"),
        origin=RunOrigin(kind="helm"),
    )
    assert read_details(write_details(details)) == details
    assert json.loads(write_details(details))["parser"] == {
        "kind": "json",
        "field": "answer",
        "pattern": "",
    }
    labels = RunDetails(parser=AnswerParser("label", labels=(("0", "true"), ("1",))))
    assert read_details(write_details(labels)) == labels
    assert json.loads(write_details(labels))["parser"]["labels"] == [["0", "true"], ["1"]]
    assert "origin" not in RunDetails().to_json()
    assert RunDetails().to_json()["sampled"] is None


def test_a_jury_is_read_and_written_as_it_is_kept():
    jury = KeptJury.from_json(JURY)
    assert jury.judges == (Judge("site/a", "maker/a"),)
    assert (jury.scale, jury.fields) == (Scale(0, 10), {"clarity": ("explanation",)})
    assert json.dumps(jury.to_json()) == json.dumps(JURY)


def test_a_seat_without_seed_and_temperature_is_written_as_earlier_versions_did():
    plain = KeptJury(judges=(Judge("site/a", "maker/a", "a"),))
    assert plain.to_json()["judges"] == [["site/a", "maker/a", "a"]]
    seeded = replace(
        plain,
        judges=(
            Judge("site/a", "maker/a", seed=7),
            Judge("site/a", "maker/a", seed=8, temperature=0.5),
            Judge("site/a", "maker/a", temperature=1.0),
        ),
    )
    assert seeded.to_json()["judges"] == [
        ["site/a", "maker/a", "", 7],
        ["site/a", "maker/a", "", 8, 0.5],
        ["site/a", "maker/a", "", None, 1.0],
    ]
    assert KeptJury.from_json(json.loads(json.dumps(seeded.to_json()))) == seeded


@pytest.mark.parametrize("seat", [["a", "b"], ["a", "b", "", 1, 0.5, 2], ["a", "b", "", "1"]])
def test_a_damaged_seat_is_refused(seat):
    with pytest.raises(StoreError, match="judges"):
        KeptJury.from_json({"judges": [seat]})


def test_a_key_that_is_lacking_stays_away_until_its_field_has_a_value():
    details = RunDetails.from_json({"sampled": None, "data": {"instances": 3}})
    assert {"plan", "unit_named", "scoring"} <= details.lacking
    assert details.to_json() == {"sampled": None, "data": {"instances": 3}}
    assert replace(details, plan="p", unit="patient").to_json() == {
        "unit": "patient",
        "sampled": None,
        "plan": "p",
        "data": {"instances": 3},
    }


def test_imported_runs_of_early_versions_have_a_list_for_no_parts():
    assert RunDetails.from_json({"parts": []}).parts == {}


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ([], "the record is not an object"),
        ({"colour": "red"}, "colour is unknown"),
        ({"display_name": 3}, "display_name is not a text"),
        ({"unit_named": 1}, "unit_named is not true or false"),
        ({"sampled": True}, "sampled is not a whole number"),
        ({"sampled": 2.5}, "sampled is not a whole number"),
        ({"temperature": "0"}, "temperature is not a number"),
        ({"scoring": "theirs"}, "scoring is none of intramural, helm, both"),
        ({"scoring": ["helm"]}, "scoring is none of"),
        ({"stop": "###"}, "stop is not a list"),
        ({"arguments": {"ward": 1}}, r"arguments\.ward is not a text"),
        ({"data": {"instances": "many"}}, r"data\.instances is not a whole number"),
        ({"metrics": [{"low": 0}]}, r"metrics\[0\]\.name is missing"),
        (
            {"metrics": [{"name": "m", "options": {"stemmer": 3}}]},
            r"metrics\[0\]\.options\.stemmer is not",
        ),
        (
            {"metrics": [{"name": "m", "jury": {"judges": [["a"]]}}]},
            r"metrics\[0\]\.jury\.judges\[0\] is not a list",
        ),
        (
            {"metrics": [{"name": "m", "jury": {"scale": [0, "x"]}}]},
            r"jury\.scale\[1\] is not a number",
        ),
        ({"parser": {"kind": "text"}}, "parser is not an object of kind, field, pattern"),
        ({"origin": {"kind": None}}, r"origin\.kind is not a text"),
    ],
)
def test_a_damaged_or_foreign_record_names_the_key(record: Any, named: str):
    with pytest.raises(StoreError, match=named):
        read_details(json.dumps(record))


def test_a_record_that_is_no_json_is_damaged():
    with pytest.raises(StoreError, match="are not JSON"):
        read_details('{"stop": [')


def test_a_message_does_not_quote_values_or_long_keys():
    with pytest.raises(StoreError) as caught:
        read_details(json.dumps({"x\n" * 500: "Anna Kowalska"}))
    assert len(str(caught.value)) < 250
    assert "Kowalska" not in str(caught.value)


def test_a_private_benchmark_has_the_sites_own_data_unless_it_is_the_shipped_sample():
    own = RunDetails(access="private", data=KeptData(known="unknown"))
    assert own.has_own_data
    assert not replace(own, data=KeptData(known="invented")).has_own_data
    assert not replace(own, access="gated").has_own_data
    assert replace(own, access="public", data=KeptData(own=True)).has_own_data
