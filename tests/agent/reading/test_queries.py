"""Queries and abstentions in the ways models write them: read where a person would, else unread."""

from pathlib import Path

import pytest

from agent.reading.queries import RULES, find_query, read_query
from tests.agent.reading.test_answer_styles import unescaped

# Each line: the query ("null": the answer abstains, "-": it is unread), and the answer.
LINES = Path(__file__).with_name("query_styles.tsv").read_text("utf-8").splitlines()
STYLES = [tuple(map(unescaped, line.split("\t"))) for line in LINES if not line.startswith("# ")]


def fold(query: str) -> str:
    return " ".join(query.rstrip("; \n").split())


@pytest.mark.parametrize(("query", "answer"), STYLES)
def test_the_query_in_an_answer(query, answer):
    found = find_query(answer)
    assert fold("-" if found is None else found or "null") == fold(query)


def test_the_styles_are_many_and_different():
    assert len(STYLES) >= 200
    assert len({answer for _, answer in STYLES}) == len(STYLES)


@pytest.mark.parametrize(
    ("answer", "words", "rule"),
    [
        ("select a from b;", "select a from b;", "whole answer"),
        ("Use `select a from b` here.", "select a from b", "code"),
        ("The query is select a from b; It is short.", "select a from b;", "query in text"),
        ('{"sql": "select a from b"}', '"select a from b"', "JSON field"),
        ("No table holds this.\n\nAnswer: null", "Answer: null", "abstention"),
    ],
)
def test_a_reading_shows_the_words_that_state_the_query(answer, words, rule):
    reading = read_query(answer)
    assert reading is not None
    assert answer[reading.start : reading.end].strip() == words
    assert (reading.rule in RULES, reading.rule) == (True, rule)


@pytest.mark.parametrize(("rule", "example"), [(rule, text) for rule, (_, text) in RULES.items()])
def test_each_rule_reads_its_example(rule, example):
    reading = read_query(example)
    assert reading is not None
    assert reading.rule == rule


def test_two_alternatives_without_a_choice_are_unread():
    first, second = "select a from b;", "select c from d;"
    assert find_query(f"```sql\n{first}\n```\nor\n```sql\n{second}\n```") is None
    assert find_query(f"Draft:\n```sql\n{first}\n```\nFinal:\n```sql\n{second}\n```") == second
