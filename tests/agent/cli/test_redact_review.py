"""A reviewer goes through a sample at the terminal: marks are kept sealed, every text shown is in the audit log."""

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.redact_review import review
from agent.redaction.engine import Engine, open_engine
from agent.site.directory import Site, create_site
from tests.agent.service.filled_site import FilledSite, case

NAMES = ("Rosalind Achterberg", "Ottoline Vanbrugh", "Peregrine Ashdown")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return open_engine("hipaa_safe_harbor")


@pytest.fixture(autouse=True)
def opened_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening the engine takes a second."""
    monkeypatch.setattr("agent.redaction.engine.open_engine", lambda *_: engine)


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    filled = FilledSite(create_site(tmp_path / "site", "Elm"))
    cases = [
        case(
            n, prompt=f"Dr. {name}, MRN: 0045123{n}, uses Zzyx lotion.", answer="yes", references=()
        )
        for n, name in enumerate(NAMES)
    ]
    filled.add(cases)
    filled.add(cases, entry="pubmed_qa:model=other/model")
    return filled


def call(site: Site, *words: str, typed: str = "") -> Result:
    return CliRunner().invoke(review, list(words), obj=site, input=typed)


def new(site: Site, *words: str) -> Result:
    return call(site, "new", "spring", "--suite", "november", *words)


def test_a_review_from_sample_to_recall(filled: FilledSite, tmp_path: Path):
    site = filled.site
    made = new(site, "--seed", "1")
    assert made.exit_code == 0, made.exception
    assert (
        "3 texts of 3 records" in made.output
    )  # one of two models' answers, and "yes" nobody need read
    marked = call(site, "mark", "spring", typed="2\nDEVICE: zzyx lotion\n\n" + "\n\n" * 3 + "q\n")
    assert re.search(r"\[1 NAME: Dr\. \w+ \w+\]", marked.output) or re.search(
        r"\[1 NAME: \w+ \w+\]", marked.output
    )
    assert "1 mark added" in marked.output
    report = call(site, "report", "spring", "--format", "json")
    rows = {row["entity"]: row for row in json.loads(report.stdout)}
    assert rows["DEVICE"]["missed"] == 1
    assert rows["MRN"]["wrong"] == 1
    assert rows["NAME"]["missed"] == 0
    assert rows["NAME"]["recall"] == 1.0
    assert rows["NAME"]["low"] < 1
    out = tmp_path / "gold.jsonl"
    assert call(site, "gold", "spring", "--out", str(out)).exit_code == 0
    assert out.stat().st_mode & 0o777 == 0o600
    gold = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    first = {label: row["text"][start:end] for row in gold for start, end, label in row["spans"]}
    assert first["DEVICE"] == "Zzyx lotion"


def test_whoever_stops_goes_on_where_it_was(filled: FilledSite):
    new(filled.site)
    stopped = call(filled.site, "mark", "spring", typed="q\n")
    assert "0 of 3 texts reviewed" in stopped.output
    assert "Text 1 of 3" in call(filled.site, "mark", "spring", typed="q\n").output


def test_what_is_typed_wrongly_is_asked_again(filled: FilledSite):
    new(filled.site)
    said = call(
        filled.site, "mark", "spring", "--again", "1", typed="7\nx\n\nWrzesniewski\nq\n"
    ).output
    if "[1 " in said:
        assert "Give numbers from 1 to" in said
    assert "The text does not contain this" in said


def test_every_text_shown_is_in_the_audit_log_and_none_is_in_the_clear(filled: FilledSite):
    new(filled.site)
    call(filled.site, "mark", "spring", typed="q\n")
    with filled.site.store() as store:
        events = [(event.event, event.detail) for event in store.audit.read_events()]
    assert ("reveal", f"review name=spring item=1 uid={os.getuid()}") in events
    assert ("reveal", f"review name=spring item=2 uid={os.getuid()}") not in events
    kept = b"".join(
        path.read_bytes() for path in filled.site.directory.rglob("*") if path.is_file()
    )
    assert not [name for name in NAMES if name.split()[1].encode() in kept]


def test_a_purge_takes_the_texts_and_leaves_the_figures(filled: FilledSite, tmp_path: Path):
    site = filled.site
    new(site)
    call(site, "mark", "spring", "--again", "1", typed="\n\n\n")
    with site.store() as store:
        store.purge(0)
        assert all(text.content is None for text in store.reviews.read_texts("spring"))
    assert call(site, "report", "spring").exit_code == 0
    assert "2 texts purged before review" in call(site, "mark", "spring").output
    assert call(site, "gold", "spring", "--out", str(tmp_path / "gold")).exit_code != 0


@pytest.mark.parametrize(
    "words", [("report", "spring"), ("mark", "autumn"), ("gold", "autumn", "--out", "x")]
)
def test_what_is_not_there_is_said(filled: FilledSite, words: tuple[str, ...]):
    new(filled.site)
    said = str(call(filled.site, *words).exception)
    assert (
        "no text of review spring has been reviewed" in said
        or "unknown review autumn (existing: spring)" in said
    )


def test_a_name_twice_a_bad_name_and_an_empty_suite_are_refused(filled: FilledSite):
    new(filled.site)
    assert "a review named spring already exists" in str(new(filled.site).exception)
    assert "letters, digits" in str(
        call(filled.site, "new", "../x", "--suite", "november").exception
    )
    assert "there is no suite" in str(call(filled.site, "new", "a", "--suite", "none").exception)


def test_a_deleted_review_is_gone(filled: FilledSite):
    new(filled.site)
    assert "spring" in call(filled.site, "list").output
    assert call(filled.site, "delete", "spring").exit_code == 0
    with filled.site.store() as store:
        assert store.reviews.read_all() == []
        assert store.reviews.read_texts("spring") == []


def test_control_characters_of_a_text_do_not_reach_the_terminal(filled: FilledSite):
    filled.add([case(9, prompt="Plain \x1b[2J words", references=())], suite="other")
    with filled.site.store() as store:
        store.reviews.keep(
            "odd", {"policy": "p", "records": 1}, [(1, {"text": "a\x1b[2Jb", "found": []})]
        )
    shown = CliRunner().invoke(review, ["mark", "odd"], obj=filled.site, input="q\n", color=False)
    assert "\x1b[2J" not in shown.output
