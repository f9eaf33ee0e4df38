"""The texts that the Spanish model is trained from: their places are right, and the same seed gives the same."""

import random
from pathlib import Path

import pytest

from agent.redaction.models.model import shipped_model
from agent.redaction.models.network import read_network
from benchmarks.redaction_training.spanish import (
    HARMLESS,
    IDENTIFYING,
    Writer,
    examples,
    generator_digest,
    ordinary_words,
    read_corpus,
)

_TEXT = "Nombre: Ximena.\nVive en Tafalla desde 2011; su madre, sana. Varón de 40 años.\n"
_MARKS = (
    ("Ximena", "NOMBRE_SUJETO_ASISTENCIA"),
    ("Tafalla", "TERRITORIO"),
    ("2011", "FECHAS"),
    ("Varón", "SEXO_SUJETO_ASISTENCIA"),
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    lines = [
        f"T{number}\t{label} {_TEXT.index(value)} {_TEXT.index(value) + len(value)}\t{value}"
        for number, (value, label) in enumerate(_MARKS, 1)
    ]
    (tmp_path / "S0001.txt").write_text(_TEXT, encoding="utf-8")
    (tmp_path / "S0001.ann").write_text(
        "\n".join([*lines, "#1\tAnnotatorNotes T1\tx"]), encoding="utf-8"
    )
    return tmp_path


def test_a_corpus_as_published_is_read_with_its_places(corpus: Path) -> None:
    [(text, spans)] = read_corpus(corpus)

    assert [(text[start:end], entity) for start, end, entity in spans] == [
        ("Ximena", "NAME"),
        ("Tafalla", "LOCATION"),
        ("2011", "DATE"),
    ]


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.ann"):
        read_corpus(tmp_path)


def test_other_names_are_put_where_the_old_ones_stood(corpus: Path) -> None:
    [example] = read_corpus(corpus)
    writer = Writer(random.Random(4))

    varied = [writer.otherwise(example) for _ in range(40)]

    assert len({text for text, _ in varied}) > 20
    for text, spans in varied:
        assert text.startswith("Nombre: ")
        assert text.endswith("su madre, sana. Varón de 40 años.\n")
        assert text[spans[0][0] :].startswith(text[spans[0][0] : spans[0][1]] + ".\nVive en ")


def test_made_up_texts_mark_what_their_slots_were_filled_with() -> None:
    writer = Writer(random.Random(5))
    for template in (*HARMLESS, *IDENTIFYING):
        text, spans = writer.expand(template)
        assert "{" not in text
        assert all(0 <= start < end <= len(text) for start, end, _ in spans)
        assert bool(spans) == (template in IDENTIFYING)


@pytest.mark.full
def test_the_same_seed_gives_the_same_texts(corpus: Path) -> None:
    assert examples(corpus, 3)[:300] == examples(corpus, 3)[:300]
    assert examples(corpus, 3)[2:50] != examples(corpus, 4)[2:50]


def test_the_shipped_model_was_made_by_this_generator() -> None:
    folder = shipped_model("es")
    assert folder is not None
    made = read_network(folder).meta.made
    assert made["generator"] == generator_digest(int(str(made["seed"])))


def test_every_made_up_place_has_a_name_and_no_bare_prefix() -> None:
    writer = Writer(random.Random(6))
    assert {"Villa", "San ", "Puebla de ", "La "}.isdisjoint({writer.place() for _ in range(400)})


def test_the_network_is_not_told_of_every_ordinary_word_and_of_no_name(corpus: Path) -> None:
    texts = [("el dolor cede con reposo y la tos con agua xymena", [(43, 49, "NAME")])] * 3

    told = [ordinary_words(texts, random.Random(seed)) for seed in range(20)]

    assert any("dolor" in words for words in told)
    assert any("dolor" not in words for words in told)
    assert not any("xymena" in words for words in told)
