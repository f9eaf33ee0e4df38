"""Every language's phrases: complete, read as their examples say, and never misled by their traps."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.reading.choice import extract_option, read_option
from agent.reading.languages import LANGUAGES, find_languages, load_language, phrases

FOLDER = Path(phrases.__file__ or "").parent
LENGTH = 20_000  # characters
LISTS = (
    *("states", "finals", "calls_right", "calls_wrong", "denies", "conditions", "because"),
    *("leads", "option_words", "and_words", "or_words", "retracts"),
)
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


@pytest.mark.parametrize("code", LANGUAGES)
def test_each_example_is_found_by_words_of_its_language(code):
    for example in load_language(code).examples:
        codes = {language.code for language in find_languages(example.answer)}
        assert code in codes, example.answer


def test_english_answers_look_like_no_other_language():
    for answer in (
        "The correct option is B; the alternative, C, is also a probable solution.",
        "Final answer: B. Pardon the moment of doubt, I just want to correct a letter or an item.",
        "The exact definition is beyond the question, so come to the point: B plus a correction.",
    ):
        assert find_languages(answer) == ()


def test_accents_may_be_missing_in_long_words_only():
    italian = load_language("it").options
    assert extract_option("La soluzione è la B perche manca il fattore.", italian) == 1
    assert extract_option("La risposta e la B sono diverse.", italian) is None


def test_the_words_of_a_related_language_do_not_disturb():
    # "se" is a condition in Portuguese, but not in Spanish.
    spanish = load_language("es").options
    assert extract_option("La alternativa correcta es B, ya que se trata de anemia.", spanish) == 1


def test_phrases_are_loaded_with_the_first_answer_and_not_before():
    program = (
        "from agent.reading.choice import extract_option; from agent.reading.languages import phrases;"
        "assert phrases.load_language.cache_info().currsize == 0;"
        "extract_option('The answer is B.', ('a', 'b'));"
        "assert phrases.load_language.cache_info().currsize == len(phrases.LANGUAGES)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("code", LANGUAGES)
def test_reading_is_fast_whatever_phrase_repeats(code):
    language = load_language(code)
    answers = [item.answer for item in (*language.examples, *language.traps)]
    for piece in [*answers, answers[0].split(" ")[0], answers[0].replace("B", "B, C ")]:
        for text in (piece + " ", piece.rstrip(".。!?؟।")):
            repeated = (text * LENGTH)[:LENGTH]
            before = time.process_time()
            extract_option(repeated, language.options)
            assert time.process_time() - before < 2, piece


def test_every_data_file_is_a_known_language():
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(LANGUAGES)


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_page_on_scoring_names_each_language(code):
    page = Path(__file__).parents[4] / "docs" / "scoring.md"
    assert load_language(code).name in page.read_text("utf-8")


def test_a_wrong_file_is_named_with_its_keys(tmp_path, monkeypatch):
    text = (FOLDER / "es.yaml").read_text("utf-8").replace("denies:", "denys:", 1)
    (tmp_path / "es.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(phrases, "_FOLDER", tmp_path)
    with pytest.raises(ConfigError, match=r"es\.yaml: denys: unknown key"):
        phrases.load_language.__wrapped__("es")


def test_phrases_without_a_native_speakers_check_say_so():
    unchecked = [code for code in LANGUAGES if not load_language(code).is_checked]
    for code in unchecked:
        first_line = (FOLDER / f"{code}.yaml").read_text("utf-8").splitlines()[0]
        assert "Not checked by a native speaker" in first_line
