"""Numbers, dates and durations over a corpus of answer styles: nothing clear is missed, nothing is guessed."""

import datetime
from pathlib import Path

import pytest

from agent.reading.numbers import find_date, find_days, find_number
from tests.agent.reading.test_answer_styles import unescaped

FIND = {"number": find_number, "date": find_date, "days": find_days}


def corpus() -> list[tuple[str, str, str]]:
    lines = Path(__file__).with_name("number_styles.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    return [(kind, expected, unescaped(answer)) for kind, expected, answer in rows]


CORPUS = corpus()
STATED = [row for row in CORPUS if row[1] != "-"]
UNREAD = [row for row in CORPUS if row[1] == "-"]


@pytest.mark.parametrize(("kind", "expected", "answer"), STATED)
def test_the_value_that_an_answer_states_is_not_missed(kind, expected, answer):
    value = datetime.date.fromisoformat(expected) if kind == "date" else float(expected)
    assert FIND[kind](answer) == value


@pytest.mark.parametrize(("kind", "_", "answer"), UNREAD)
def test_an_answer_that_states_none_or_several_is_not_guessed(kind, _, answer):
    assert FIND[kind](answer) is None


def test_the_corpus_says_nothing_twice():
    assert len({(kind, answer) for kind, _, answer in CORPUS}) == len(CORPUS)
