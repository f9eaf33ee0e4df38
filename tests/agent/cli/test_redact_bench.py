"""`intramural redact bench`: what is measured of redaction, and models that are admitted as they were measured."""

import json
from pathlib import Path

import pytest
import spacy

from tests.agent.cli.jsonl import read, written
from tests.agent.terminal import intramural


@pytest.mark.full
def test_a_measurement_says_recall_by_kind_what_else_is_taken_and_what_it_costs(tmp_path: Path):
    gold = written(
        tmp_path / "gold.jsonl",
        {"text": "Mr. Holloway, MRN: 4471209", "spans": [[0, 12, "PERSON"], [19, 26, "RECORD"]]},
        {"text": "the dose was given", "spans": [[4, 8, "CODE"]]},
        {"text": "gout", "spans": []},
    )
    done = intramural("redact", "bench", "--gold", gold, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = {row["measure"]: row for row in json.loads(done.stdout)}
    assert {
        name: figures[name]["value"] for name in ("core recall, PERSON", "core recall, RECORD")
    } == {
        "core recall, PERSON": 1,
        "core recall, RECORD": 1,
    }
    assert figures["core recall, CODE"]["value"] == 0
    assert figures["core recall"]["value"] == pytest.approx(2 / 3)
    assert 0 < figures["core recall"]["low"] < 2 / 3 < figures["core recall"]["high"] < 1
    assert figures["full recall"]["value"] <= figures["core recall"]["value"]
    assert (figures["texts clean"]["value"], figures["over-redaction"]["value"]) == (0.5, 0)
    assert figures["kchar a second of CPU"]["value"] > 0
    assert 0 < figures["s to the first text"]["value"] < 60


@pytest.mark.parametrize(
    "row",
    ["[]", '{"text": "Holloway"}', '{"text": "Holloway", "spans": [[0, 99, "NAME"]]}', "Holloway"],
)
def test_gold_that_is_none_is_named_by_row_and_not_quoted(tmp_path: Path, row: str):
    (tmp_path / "gold.jsonl").write_text('{"text": "gout", "spans": []}\n' + row)
    done = intramural("redact", "bench", "--gold", "gold.jsonl", cwd=tmp_path)
    assert done.returncode == 5
    assert "gold.jsonl: row 2: expected" in done.stderr
    assert "Holloway" not in done.stderr


@pytest.mark.full
def test_a_model_that_is_none_is_refused(tmp_path: Path):
    gold = written(tmp_path / "gold.jsonl", {"text": "gout", "spans": []})
    for engine in ("no:folder", "spacy:folder"):
        done = intramural("redact", "bench", "--gold", gold, "--engine", engine, cwd=tmp_path)
        assert done.returncode == 5


@pytest.mark.full
def test_models_of_a_policy_are_measured_admitted_and_then_used(tmp_path: Path):
    made = spacy.blank("en")
    made.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "kettle"}])
    made.to_disk(tmp_path / "rules")
    ours = (Path(__file__).parents[3] / "policies/redaction/hipaa_safe_harbor.yaml").read_text()
    (tmp_path / "ours.yaml").write_text(
        f"{ours}\nmodels: [{{kind: spacy, path: {tmp_path / 'rules'}}}]\n"
    )
    source = written(tmp_path / "in.jsonl", {"text": "potassium normal, kettle was seen"})
    words = (
        "redact",
        "jsonl",
        source,
        "--field",
        "text",
        "--out",
        "out.jsonl",
        "--policy",
        "ours.yaml",
    )
    refused = intramural(*words, cwd=tmp_path)
    assert (
        refused.returncode,
        "have not been measured in their current state" in refused.stderr,
    ) == (5, True)
    gold = written(
        tmp_path / "gold.jsonl",
        {"text": "MRN: 00451234, kettle", "spans": [[5, 13, "MRN"], [15, 21, "NAME"]]},
    )
    bench = ("redact", "bench", "--gold", gold, "--policy", "ours.yaml", "--format", "json")
    measured = intramural(*bench, "--admit", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    cores = {
        row["engine"]: row["value"]
        for row in json.loads(measured.stdout)
        if row["measure"] == "core recall"
    }
    assert cores["in its place"] == 1.0
    assert cores["intramural"] <= 1.0
    assert intramural(*words, cwd=tmp_path).returncode == 0
    assert read(tmp_path / "out.jsonl")[0]["text"] == "potassium normal, [NAME-1] was seen"


def test_nothing_is_admitted_beside_the_packages_own_model(tmp_path: Path):
    gold = written(tmp_path / "gold.jsonl", {"text": "gout", "spans": []})
    done = intramural("redact", "bench", "--gold", gold, "--admit", cwd=tmp_path)
    assert (done.returncode, "there is nothing to admit" in done.stderr) == (5, True)
