"""Answers whose question is known: the value of the quantity asked for is read, values of other quantities are not."""

import datetime
from pathlib import Path

import pytest

from agent.reading.numbers import find_date, find_days, find_number, read_number
from tests.agent.reading.test_answer_styles import unescaped

FIND = {"number": find_number, "date": find_date, "days": find_days}
STROKE = "What is the patient's CHA2DS2-VASc Score?"
HOSTILE = 20_000  # characters; longer answers are read without the question


def load_styles() -> list[tuple[str, str, str, str]]:
    lines = Path(__file__).with_name("number_questions.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    return [
        (kind, expected, question, unescaped(answer)) for kind, expected, question, answer in rows
    ]


STYLES = load_styles()
STATED = [row for row in STYLES if row[1] != "-"]
UNREAD = [row for row in STYLES if row[1] == "-"]


@pytest.mark.parametrize(("kind", "expected", "question", "answer"), STATED)
def test_the_value_stated_for_the_quantity_is_read(kind, expected, question, answer):
    value = datetime.date.fromisoformat(expected) if kind == "date" else float(expected)
    assert FIND[kind](answer, question) == value


@pytest.mark.parametrize(("kind", "_", "question", "answer"), UNREAD)
def test_a_value_of_something_else_is_not_read(kind, _, question, answer):
    assert FIND[kind](answer, question) is None


def test_the_reading_stands_where_the_value_does():
    answer = "For this woman I make the **CHA₂DS₂-VASc** score 3. Her HAS-BLED score is 2."
    reading = read_number(answer, STROKE)
    assert reading is not None
    assert (reading.value, answer[reading.start : reading.end]) == ("3", "3")


@pytest.mark.parametrize(
    "pattern",
    [
        "CHA2DS2-VASc ",
        "CHA2DS2-VASc is ",
        "CHA2DS2-VASc score of 3 or ",
        "the HAS-BLED of 2, ",
        "no -> 1\n",
        "(1) ",
        "a : = ",
        "CHA2DS2-VASc (",
        "> 3\n",
    ],
)
def test_a_hostile_answer_is_read_in_linear_time(pattern: str):
    read_number(pattern * (HOSTILE // len(pattern)), STROKE)
