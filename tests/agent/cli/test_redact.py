"""`intramural redact` as users and accidents call it: what is written, what is said, and with which exit code."""

import io
import os
import sys
from pathlib import Path

import pytest

from agent.cli.redact import WITHHELD_BECAUSE
from agent.redaction.redacted import Withheld
from tests.agent.cli.jsonl import read, written
from tests.agent.terminal import intramural

ROWS = [
    {"id": "a", "text": "Mr. Jonas Holloway, MRN: 4471209, has gout."},
    {"id": "b", "text": "What is the dose of metformin?"},
]


def test_a_file_is_redacted_for_its_owner_alone_and_what_was_not_looked_at_is_said(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", *ROWS)
    done = intramural(
        "redact", "jsonl", source, "--field", "text", "--out", "out.jsonl", "--spans", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "out.jsonl") == [
        {
            "id": "a",
            "text": "[NAME-1], MRN: [MRN-1], has gout.",
            "spans": [[0, 18, "NAME"], [25, 32, "MRN"]],
        },
        {**ROWS[1], "spans": []},
    ]
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600
    assert "2 rows: 2 identifiers in 1 of them" in done.stderr
    assert "2 rows have other fields, written unchanged" in done.stderr
    assert "Holloway" not in done.stderr + done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_what_is_withheld_is_reported_and_an_error_when_nothing_else_is_left(tmp_path: Path):
    lost = {"text": "Holloway " * 250_000}, {"text": "Holl\x00oway"}
    every = intramural(
        "redact",
        "jsonl",
        written(tmp_path / "lost.jsonl", *lost),
        "--field",
        "text",
        "--out",
        "none",
        cwd=tmp_path,
    )
    assert every.returncode == 5
    assert "Every row has a withheld field" in every.stderr
    assert "A line that is no JSON object" in every.stderr
    source = written(tmp_path / "in.jsonl", ROWS[0], *lost)
    done = intramural(
        "redact", "jsonl", source, "--field", "text", "--out", "out.jsonl", cwd=tmp_path
    )
    assert done.returncode == 0
    assert [row["text"] for row in read(tmp_path / "out.jsonl")[1:]] == [
        "[WITHHELD: too long]",
        "[WITHHELD: undecodable]",
    ]
    assert (
        "2 fields were withheld (1 too long, 1 undecodable); the first rows with one: 2, 3"
        in done.stderr
    )
    assert "Holloway" not in done.stderr


def test_a_file_that_cannot_be_redacted_to_its_end_leaves_what_was_there(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", *ROWS * 50, {"note": "Mr. Holloway"})
    (tmp_path / "out.jsonl").write_text("as it was")
    done = intramural(
        "redact", "jsonl", source, "--field", "text", "--out", "out.jsonl", cwd=tmp_path
    )
    assert done.returncode == 5
    assert "row 101: has no field text" in done.stderr
    assert "Holloway" not in done.stderr
    assert (tmp_path / "out.jsonl").read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "in.jsonl"), "--out is the input file"),
        (("--out", "."), "not a regular file"),
        (("--out", "o", "--dead-letters", "in.jsonl"), "in the place of the input or output"),
        (("--out", "o", "--dead-letters", "o"), "in the place of the input or output"),
        (("--out", "o", "--field", "text"), "must all name different fields"),
        (("--out", "o", "--identifiers", "text"), "must all name different fields"),
        (("--out", "o", "--policy", "strict", "--level", "strict"), "--level and --policy"),
        (("--out", "o", "--policy", "none"), "redaction policy none"),
        (("--out", "o", "--language", "xx"), "xx"),
        (("--out", "none/o"), "none"),
    ],
)
def test_contradictions_are_refused_before_anything_is_written(
    tmp_path: Path, words: tuple[str, ...], said: str
):
    source = written(tmp_path / "in.jsonl", *ROWS)
    before = source.read_bytes()
    done = intramural("redact", "jsonl", source, "--field", "text", *words, cwd=tmp_path)
    assert done.returncode in (2, 5, 8)
    assert said in done.stderr
    assert source.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "in.jsonl")
    done = intramural(
        "redact", "jsonl", "in.jsonl", "--field", "text", "--out", "out.jsonl", cwd=tmp_path
    )
    assert done.returncode != 0
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("typed", "shown", "code"),
    [
        (b"Mr. Holloway has gout.\n", "[NAME-1] has gout.\n", 0),
        (b"", "", 0),
        (b"Mr. Holl\xffoway", "[WITHHELD: undecodable]\n", 5),
        (b"Holloway " * 250_000, "[WITHHELD: too long]\n", 5),
    ],
    ids=["text", "nothing", "no UTF-8", "too long"],
)
def test_standard_input_is_one_text(
    typed: bytes, shown: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed)))
    done = intramural("redact", "text", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (shown, code)
    assert "Holl" not in done.stderr


def test_a_field_of_identifiers_that_no_row_has_is_a_mistake_of_the_command(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", {"text": "gout", "who": {"NAME": ["Anna Kowalski"]}})
    words = ("redact", "jsonl", source, "--field", "text", "--out", "out.jsonl", "--identifiers")
    mistyped = intramural(*words, "whoo", cwd=tmp_path)
    assert (mistyped.returncode, "no row has the field whoo" in mistyped.stderr) == (5, True)
    assert not (tmp_path / "out.jsonl").exists()
    assert intramural(*words, "who", cwd=tmp_path).returncode == 0


def test_a_site_that_is_named_gives_its_policy_and_its_key(tmp_path: Path):
    assert intramural("init", "site", "--site-name", "Larkfield", cwd=tmp_path).returncode == 0
    source = written(tmp_path / "in.jsonl", *ROWS)
    settings = tmp_path / "site/site.yaml"
    settings.write_text(settings.read_text() + "\nredaction_policy: ours.yaml\n")
    ours = (Path(__file__).parents[3] / "policies/redaction/hipaa_safe_harbor.yaml").read_text()
    (tmp_path / "site/ours.yaml").write_text(ours + "\noperators: {default: surrogate}\n")
    shown = []
    for out in ("one.jsonl", "two.jsonl"):
        words = ("redact", "jsonl", source, "--field", "text", "--out", out)
        done = intramural("--site", "site", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        shown.append(read(tmp_path / out)[0]["text"])
    assert shown[0] == shown[1]
    assert "[" not in str(shown[0])
    assert "Holloway" not in str(shown[0])
    done = intramural(
        "--site", "site", *words[:-1], "tags.jsonl", "--level", "default", cwd=tmp_path
    )
    assert read(tmp_path / "tags.jsonl")[0]["text"] == "[NAME-1], MRN: [MRN-1], has gout."


def test_a_folder_that_is_no_site_is_not_taken_for_one(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", *ROWS)
    done = intramural(
        "--site", "none", "redact", "jsonl", source, "--field", "text", "--out", "o", cwd=tmp_path
    )
    assert done.returncode in (2, 8)
    assert not (tmp_path / "o").exists()


def test_every_reason_to_withhold_a_text_has_a_sentence():
    assert set(WITHHELD_BECAUSE) == set(Withheld)
