"""Answers of the corpus are cut off at several places: few readings of the parts that are left are wrong."""

from dataclasses import replace

import pytest

from agent.metrics import read_answer
from agent.reading.cut_off import is_stated_before_cut
from agent.reading.reading import Reading, ValueKind
from agent.reading.thoughts import build_response
from agent.vocabulary import Instance, Message, Reference
from tests.agent.reading.corpus import READERS, Answer, load_corpus

CUTS = (25, 50, 75, 90)  # percent of an answer that the server lets through
FAMILIES: dict[str, tuple[str, ValueKind]] = {
    "numbers": ("medcalc_bench_accuracy", "number"),
    "medec": ("medec_error_flag_accuracy", "verdict"),
    "sql": ("ehr_sql_execution_accuracy", "query"),
}
MAX_WRONG = {"numbers": 0.01, "medec": 0.027, "sql": 0.04}
"""Largest share of cut answers read as another value.

A whole query may be followed by a correction that was cut, and a verdict by another one that contradicts it.
"""

MAX_LEFT = 0.6
"""Largest share of the wrong readings of cut answers that may be left."""


def make_instance(answer: Answer) -> Instance:
    gold = {"date": "01/02/2020", "duration": "('1 weeks', '2 days')"}.get(answer.context, "1")
    category = "date" if answer.context == "duration" else answer.context
    return Instance(
        id="1",
        unit="1",
        messages=(Message("user", answer.context),),
        references=(Reference(gold, correct=True),),
        extra={"category": category, "lower_limit": "0", "upper_limit": "0"},
    )


def list_cut_answers(family: str) -> list[Answer]:
    cut: list[Answer] = []
    for answer in load_corpus():
        if answer.family != family or answer.part != "development":
            continue
        for percent in CUTS:
            # A thought that is cut off is set apart, and so no part of the answer.
            text = build_response(answer.answer[: len(answer.answer) * percent // 100]).text
            if text.strip():
                cut.append(replace(answer, answer=text))
    return cut


def states_other(value: str, gold: str) -> bool:
    """Return whether a value is another one. A verdict that names no sentence says less than one that does."""
    if value == "error ?" and gold.startswith("error "):
        return False
    return value != gold


@pytest.mark.parametrize("family", FAMILIES)
def test_few_answers_that_were_cut_off_are_read_as_another_value(family: str):
    metric, kind = FAMILIES[family]
    answers = list_cut_answers(family)
    wrong_before = 0
    wrong = 0
    for answer in answers:
        reading = read_answer(metric, answer.answer, make_instance(answer))
        if not isinstance(reading, Reading):
            continue
        is_wrong = states_other(READERS[family](answer, answer.answer), answer.gold)
        wrong_before += is_wrong
        wrong += is_wrong and is_stated_before_cut(reading, kind, answer.answer)
    assert wrong <= MAX_WRONG[family] * len(answers)
    assert wrong <= MAX_LEFT * wrong_before


@pytest.mark.parametrize("kind", ["option", "codes", "text"])
def test_other_kinds_of_values_always_stand(kind: ValueKind):
    assert is_stated_before_cut(Reading("C", 0, 1, "whole answer"), kind, "C")
