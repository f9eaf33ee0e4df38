"""The generated texts: what they may hold, and that none was taken from a test corpus."""

import importlib
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.redaction.models.model import shipped_model
from agent.redaction.models.network import read_network
from agent.redaction.models.train import Example

faker = pytest.importorskip("faker", reason="training needs faker: pip install -e '.[train]'")

english = importlib.import_module("benchmarks.redaction_training.english")
english_model = importlib.import_module("benchmarks.redaction_training.english_model")
shapes = importlib.import_module("benchmarks.redaction_training.shapes")
shorthand = importlib.import_module("benchmarks.redaction_training.shorthand")

_CORPORA = Path(__file__).parents[1] / "data" / "deid"
_RUN = 11  # words; a shared run this long would have been copied


@pytest.fixture(scope="module")
def generated() -> list[Example]:
    return [*english.examples(seed=5, count=3_000), *english.examples(6, 2_000, share_of_shapes=1)]


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[a-z']+", text.lower())
    yield from (tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


@pytest.mark.full
def test_no_sentence_of_a_test_corpus_stands_in_the_training_text(generated: list[Example]) -> None:
    corpus = {
        run
        for path in _CORPORA.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        for run in _runs(json.loads(line)["text"])
    }
    assert len(corpus) > 3_000
    shared = {run for text, _ in generated for run in _runs(text)} & corpus
    assert not shared


def test_no_template_has_words_of_a_test_corpus() -> None:
    bare = [
        " ".join(re.findall(r"[a-z']+", re.sub(r"\{\w+\}|[\[\]|]", " ", template).lower()))
        for template in (
            *english.CLINICAL,
            *english.EVERYDAY,
            *shorthand.CLINICAL,
            *shorthand.DICTATION,
            *shorthand.HARMLESS,
            *shapes.HARMLESS,
            *shapes.IDENTIFYING,
            *shapes.QUESTIONS,
            *shapes.OPTIONS,
            *shapes.TURNS,
            *shapes.TURNS_WITH_PEOPLE,
            *shapes.TRIAGE,
        )
    ]
    for path in _CORPORA.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            text = row["text"]
            for start, end, _ in reversed(row["spans"]):
                text = text[:start] + " " + text[end:]
            sentence = " ".join(re.findall(r"[a-z']+", text.lower()))
            assert len(sentence) < 25 or not any(sentence in template for template in bare)


@pytest.mark.full
def test_places_are_where_they_say_and_hold_something(generated: list[Example]) -> None:
    seen = set()
    for text, spans in generated:
        ends = 0
        for start, end, kind in spans:
            assert ends <= start < end <= len(text)
            assert text[start:end] == text[start:end].strip() != ""
            ends = end
            seen.add(kind)
    assert seen == set(english.KINDS)
    assert sum(not spans for _, spans in generated) > len(generated) / 10


@pytest.mark.full
def test_the_same_seed_gives_the_same_texts() -> None:
    assert (
        list(english.examples(9, 20))
        == list(english.examples(9, 20))
        != list(english.examples(8, 20))
    )


@pytest.mark.full
def test_the_shipped_model_was_made_by_this_generator() -> None:
    folder = shipped_model("en")
    assert folder is not None
    made = read_network(folder).meta.made
    if made["faker"] != faker.VERSION:
        pytest.skip("another version of faker draws other names")
    assert made["generator"] == english.generator_digest(
        english_model.SEED, english_model.SHAPES, english_model.DOCUMENTS
    )
    assert (made["seed"], made["steps"]) == (english_model.SEED, english_model.STEPS)
    assert read_network(folder).meta.shape == english_model.SHAPE
    assert read_network(folder).meta.bounds == english_model.BOUNDS


@pytest.mark.full
def test_every_line_of_shorthand_can_be_filled() -> None:
    writer = english._Writer(random.Random(1))
    for line in (*shorthand.CLINICAL, *shorthand.DICTATION):
        assert "".join(text for text, _ in writer.expand(line)).strip()
    assert not [line for line in shorthand.HARMLESS if any(kind for _, kind in writer.expand(line))]


def test_no_common_name_is_an_ordinary_word_because_something_is_sold_under_it() -> None:
    added = (
        set(english.ordinary_words())
        - set(english._list("ordinary_english"))
        - set(english._list("medical_english"))
    )
    assert {"kelly", "hamilton", "baxter", "gleason"}.isdisjoint(added)
    assert {"xarelto", "ozempic", "lbbb"} <= added


def test_choices_nest_and_slots_are_found() -> None:
    assert english.parsed("a [b|c [d|]] {name}|")[-2] == "|"
    with pytest.raises(ValueError, match="never closed"):
        english.parsed("a [b")


def test_an_identifier_that_an_author_wrote_is_marked_with_its_kind() -> None:
    writer = english._Writer(random.Random(1))
    template = "Seen by {NAME=Odalys Ferrer} [at|in] {clock}, {DATE=the 9th}."
    pieces = writer.expand(template)
    assert [piece for piece in pieces if piece[1]] == [
        ("Odalys Ferrer", "NAME"),
        ("the 9th", "DATE"),
    ]
    with pytest.raises(ValueError, match="unknown kind"):
        english.parsed("Seen by {PERSON=Odalys Ferrer}.")


def test_institutions_stand_in_each_others_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = ("To {FACILITY=Elm House}.", "From {FACILITY=Ward Nightingale} to {NAME=Jo}.")
    monkeypatch.setattr(english, "DOCUMENTS", documents)
    english.list_written.cache_clear()
    writer = english._Writer(random.Random(1))
    seen = {writer.expand(documents[1])[1] for _ in range(50)}
    english.list_written.cache_clear()
    assert seen == {("Elm House", "FACILITY"), ("Ward Nightingale", "FACILITY")}
