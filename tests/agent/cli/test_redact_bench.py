"""`intramural redact bench`: what is measured of redaction, and models that are admitted as they were measured."""

import json
from pathlib import Path
from typing import get_args

import pytest
import spacy

from agent.redaction.policy.policy import OtherModel
from tests.agent.cli.jsonl import read, written
from tests.agent.redaction.models.other.tiny_onnx import write_folder
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
    made.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "zarwik"}])
    made.to_disk(tmp_path / "rules")
    ours = (Path(__file__).parents[3] / "policies/redaction/hipaa_safe_harbor.yaml").read_text()
    (tmp_path / "ours.yaml").write_text(
        f"{ours}\nmodels: [{{kind: spacy, path: {tmp_path / 'rules'}}}]\n"
    )
    source = written(tmp_path / "in.jsonl", {"text": "potassium normal, zarwik was seen"})
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
        {"text": "MRN: 00451234, zarwik", "spans": [[5, 13, "MRN"], [15, 21, "NAME"]]},
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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "expected either --gold or --plain"),
        (("--gold", "gold.jsonl", "--plain", "plain.txt"), "expected either --gold or --plain"),
        (("--plain", "plain.txt", "--admit"), "there is nothing to admit"),
        (("--plain", "plain.txt", "--against", "strict"), "--against cannot be combined with"),
        (
            ("--gold", "gold.jsonl", "--engine", "onnx:a", "--against", "strict"),
            "--against cannot be combined with",
        ),
        (("--gold", "gold.jsonl", "--against", "tea:pot"), "models.0.kind: Input should be"),
        (("--gold", "gold.jsonl", "--against", "Tea"), "'Tea' is not the name of a redaction policy"),
        (("--gold", "gold.jsonl", "--against", "tea.yaml"), "tea.yaml cannot be read"),
        (("--plain", "wrong.jsonl"), 'wrong.jsonl: row 1: expected {"text": "..."}'),
        (("--plain", "empty.txt"), "there is no text to measure"),
    ],
)  # fmt: skip
def test_options_that_do_not_belong_together_are_refused(
    tmp_path: Path, options: tuple[str, ...], said: str
):
    written(tmp_path / "gold.jsonl", {"text": "gout", "spans": []})
    (tmp_path / "plain.txt").write_text("gout")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "wrong.jsonl").write_text('{"note": "Holloway"}')
    done = intramural("redact", "bench", *options, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert said in done.stderr
    assert "Holloway" not in done.stderr


def test_what_is_taken_from_harmless_texts_is_counted_by_kind_and_never_shown(tmp_path: Path):
    (tmp_path / "plain.txt").write_text("Seen by Dr. Holloway.\n\nPotassium 4.1 mmol/L today.\n")
    done = intramural("redact", "bench", "--plain", "plain.txt", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    values = {row["measure"]: row["value"] for row in json.loads(done.stdout)}
    assert values["tags per 1,000 harmless words"] == pytest.approx(1000 / 8)
    assert values["tags per 1,000 harmless words, NAME"] == pytest.approx(1000 / 8)
    assert values["texts touched"] == 0.5
    assert values["options, numbers or units changed"] == 0
    assert values["texts withheld"] == 0
    assert "Holloway" not in done.stdout + done.stderr


@pytest.mark.full
def test_two_engines_are_compared_by_the_texts_that_they_leave_clean(tmp_path: Path):
    write_folder(tmp_path / "tiny")
    gold = written(
        tmp_path / "gold.jsonl",
        {"text": "potassium normal, xochitl", "spans": [[18, 25, "NAME"]]},
        {"text": "MRN: 00451234", "spans": [[5, 13, "MRN"]]},
        {"text": "gout", "spans": []},
    )
    bench = ("redact", "bench", "--gold", gold, "--format", "json", "--against", "onnx:tiny")
    done = intramural(*bench, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["engine"] for row in rows} == {
        "hipaa_safe_harbor",
        "onnx:tiny",
        "hipaa_safe_harbor / onnx:tiny",
    }
    values = {row["measure"]: row for row in rows if "/" in row["engine"]}
    assert values["texts clean with both"]["n"] == 2
    counts = [row["value"] for measure, row in values.items() if measure.startswith("texts clean")]
    assert sum(counts) == 2
    assert values["texts clean only with hipaa_safe_harbor"]["value"] == 0
    assert 0 < values["p of McNemar's exact test"]["value"] <= 1
    assert "of 2 texts with identifiers, 0 clean only with hipaa_safe_harbor" in done.stderr


def test_the_help_names_every_kind_of_model_and_what_is_measured(tmp_path: Path):
    help_text = " ".join(intramural("redact", "bench", "--help", cwd=tmp_path).stdout.split())
    kinds = get_args(OtherModel.model_fields["kind"].annotation)
    assert [kind for kind in kinds if kind not in help_text] == []
    for words in ("--plain FILE", "--against ENGINE", "McNemar's exact test", "strict|readable"):
        assert words in help_text
