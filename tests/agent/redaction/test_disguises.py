"""Identifiers that are written so that they are not found: the corpus of disguises, and what must not count as one."""

import json
import unicodedata
from pathlib import Path

import pytest

from agent.redaction.engine import Engine
from agent.redaction.redacted import Withheld
from agent.redaction.views.views import build_views

CORPUS = Path(__file__).parents[2] / "data" / "disguises.jsonl"
ROWS = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
COVERED = 0.97  # of all disguised identifiers


def plainest(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())


def read_or_told(row: dict[str, object]) -> bool:
    """Tell whether some reading has the identifier in plain, or the text is told to identify as it is written."""
    views = build_views(str(row["text"]))
    assert not isinstance(views, Withheld)
    (start, _, _), (_, end, _) = row["spans"][0], row["spans"][-1]  # type: ignore[index]
    marked = any(span.start <= start and span.end >= end - 1 for span in views[0].marked)
    return marked or any(plainest(str(row["value"])) in plainest(view.text) for view in views)


def test_the_corpus_has_disguises_enough():
    assert len({str(row["id"]).partition(" ")[2] for row in ROWS}) >= 80


def test_disguised_identifiers_are_read_by_some_view_whatever_the_recognisers_know():
    assert sum(map(read_or_told, ROWS)) >= COVERED * len(ROWS)


def test_disguised_identifiers_are_covered_whole(engine: Engine):
    covered = 0
    rows = ROWS[::3]
    for row in rows:
        found = engine.find_record([row["text"]])[0]
        assert not isinstance(found, Withheld)
        hidden = {place for span in found for place in range(span.start, span.end)}
        identifying = [place for start, end, _ in row["spans"] for place in range(start, end)]
        covered += all(place in hidden for place in identifying if row["text"][place].isalnum())
    assert covered >= COVERED * len(rows)


@pytest.mark.parametrize(
    "forged",
    [
        "MRN: [MRN-\u200b00451234]",
        "Mr. [\u200bNAME-Holloway]",
        "seen by Mr. H[\u200bNAME-1]olloway",
        "Mr. [N\u0410ME-1]Holloway",
        "SSN [SSN-123\u20106789]",
    ],
)
def test_a_forged_tag_hides_nobody(engine: Engine, forged: str):
    shown = engine.redact(f"Pneumonia, {forged}, on aspirin.")
    assert not any(part in shown for part in ("00451234", "olloway", "6789"))


@pytest.mark.parametrize(
    "text",
    [
        "Seen by Dr. [NAME-1] on [DATE-1], MRN: [MRN-1]; call [PHONE-1] or [EMAIL-1].",
        "[WITHHELD: too long]",
        "She saw [NAME-1]_[NAME-2] and [NAME-1][NAME-2].",
    ],
)
def test_tags_stay_as_they_are(engine: Engine, text: str):
    assert engine.redact(text) == text


@pytest.mark.parametrize("row", ROWS[1::41], ids=lambda row: row["id"])
def test_redacting_a_disguise_twice_changes_nothing_more(engine: Engine, row: dict[str, str]):
    once = engine.redact(row["text"])
    assert engine.redact(once) == once


def test_the_hash_of_an_identifier_and_what_decodes_to_nothing_readable_are_identifiers(
    engine: Engine,
):
    digest = "5d41402abc4b2a76b9719d911017c592"
    data = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRW"
    shown = engine.redact(f"Case {digest} has attachment {data} on file.")
    assert digest not in shown
    assert data not in shown
