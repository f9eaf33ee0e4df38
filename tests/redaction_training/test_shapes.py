"""Texts in the shapes of prompts, dialogues and triage: which of them identify somebody."""

import importlib
import random

import pytest

pytest.importorskip("faker", reason="training needs faker: pip install -e '.[train]'")

english = importlib.import_module("benchmarks.redaction_training.english")
shapes = importlib.import_module("benchmarks.redaction_training.shapes")


@pytest.fixture(scope="module")
def writer():
    return english._Writer(random.Random(1))


@pytest.mark.full
def test_harmless_lines_identify_nobody(writer):
    lines = (*shapes.HARMLESS, *shapes.QUESTIONS, *shapes.OPTIONS, *shapes.TURNS)
    assert not [line for line in lines if any(kind for _, kind in writer.expand(line))]


@pytest.mark.full
def test_every_other_line_identifies_somebody_at_least_sometimes(writer):
    for line in (*shapes.IDENTIFYING, *shapes.TRIAGE, *shapes.TURNS_WITH_PEOPLE):
        pieces = [piece for _ in range(30) for piece in writer.expand(line)]
        harmless = line.startswith(("pt c/o", "{age}[m|f] {symptom}", "{short}"))
        assert harmless or any(kind for _, kind in pieces), line


@pytest.mark.full
def test_triage_is_written_in_small_letters(writer):
    for _ in range(30):
        assert all(text == text.lower() for text, kind in writer._shapes._write_triage() if kind)


@pytest.mark.full
def test_options_identify_nobody(writer):
    for _ in range(30):
        assert not any(kind for _, kind in writer._shapes._write_options())
