"""Every language's phrases: complete, read as their examples say, and never misled by their traps."""

import re
import sys
from pathlib import Path

import pytest

from agent.reading.choice import extract_option, read_option
from agent.reading.languages import LANGUAGES, load_language

LISTS = ("states", "calls_right", "calls_wrong", "denies", "conditions", "because", "and_words")
LANGUAGE_OF_ANSWER = [
    (code, item)
    for code in LANGUAGES
    for item in (*load_language(code).examples, *load_language(code).traps)
]


@pytest.mark.parametrize(
    ("code", "item"),
    LANGUAGE_OF_ANSWER,
    ids=[f"{code}-{item.answer[:40]}" for code, item in LANGUAGE_OF_ANSWER],
)
def test_examples_and_traps_are_read_as_their_file_says(code, item):
    options = load_language(code).options
    option = extract_option(item.answer, options)
    assert (None if option is None else "ABCDE"[option]) == item.letter
    reading = read_option(item.answer, options)
    assert (reading.value if reading else None) == item.letter


@pytest.mark.parametrize("code", LANGUAGES)
def test_each_file_is_complete(code):
    language = load_language(code)
    assert len(language.examples) >= 10
    assert len(language.traps) >= 5
    assert all(example.letter for example in language.examples)
    assert any(trap.letter is None for trap in language.traps)
    assert len(language.options) == 4
    for name in LISTS:
        assert getattr(language, name) != "(?!)", name
    for name in ("states", "calls_right", "retracts", "sure"):
        re.compile(getattr(language, name))


def test_every_data_file_is_a_known_language():
    folder = Path(sys.modules["agent.reading.languages.phrases"].__file__ or "").parent
    assert {path.stem for path in folder.glob("*.yaml")} == set(LANGUAGES)
