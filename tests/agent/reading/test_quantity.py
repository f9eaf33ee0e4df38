"""The quantity that a question asks for, and the names that answers give it."""

import csv
from pathlib import Path

import pytest

from agent.reading.quantity import find_quantity

SAMPLE = Path(__file__).parents[3] / "benchmarks/medcalc_bench/sample/test_data.csv"


def list_questions() -> list[str]:
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        return sorted({row["Question"] for row in csv.DictReader(file)})


@pytest.mark.parametrize("question", list_questions())
def test_every_question_of_the_sample_asks_for_a_known_quantity(question: str):
    quantity = find_quantity(question)
    assert quantity is not None
    if "date" in question:
        assert quantity.kind == "date"
    if "gestational age" in question:
        assert quantity.kind == "duration"


def test_a_question_about_an_unlisted_quantity_names_it():
    quantity = find_quantity("What is the patient's Barthel Activity Index (BAI)?")
    assert quantity is not None
    for name in ("Barthel activity index", "BAI"):
        assert quantity.names.search(name)


def test_no_question_asks_for_nothing():
    assert find_quantity("") is None
    assert find_quantity("Patient note. " * 1_000) is None


def test_the_longest_name_counts():
    quantity = find_quantity("What is the patient's anion gap in terms of mEq/L?")
    assert quantity is not None
    names = quantity.find_names("The albumin-corrected anion gap and the anion gap")
    assert [name.is_asked for name in names] == [False, True]
