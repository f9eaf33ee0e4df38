"""Answers that nobody who wrote rules has seen are read as two people read them, at least as often as stated here."""

import json

import pytest

from tests.agent.reading.corpus import (
    CORPUS,
    PAGE,
    UNREAD,
    load_corpus,
    measure,
    read,
    write_gold,
    write_page,
)

ANSWERS = load_corpus()
UNSEEN = [answer for answer in ANSWERS if answer.part == "unseen"]
MIN_SHARES = {
    "choice": (0.997, 0.99),
    "yesno": (0.997, 0.99),
    "digit": (0.997, 0.99),
    "numbers": (0.997, 0.97),
    "medec": (0.997, 0.99),
    "sql": (0.997, 0.99),
}
"""Lowest precision and recall by family on the last answers: what is reached, less a little."""


def test_much_of_the_corpus_is_written_in_many_forms():
    written = sum(answer.source == "written" for answer in ANSWERS)
    assert len(ANSWERS) >= 1_500
    assert 0.3 * len(ANSWERS) < written < 0.7 * len(ANSWERS)


def test_the_gold_is_what_both_readers_read_and_otherwise_nothing():
    for path in sorted(CORPUS.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            first, second = (_normalise(reading) for reading in row["readers"])
            assert row["gold"] == UNREAD or _normalise(row["gold"]) == first == second, row["id"]


def _normalise(reading: str) -> str:
    try:
        return f"{float(reading.replace(',', '')):.4g}"
    except ValueError:
        return "".join(reading.split()).rstrip(";")


@pytest.mark.parametrize(
    ("query", "other"),
    [
        ("-- all drugs\nSELECT a\n  FROM b;", "SELECT a FROM b"),
        ("(SELECT a FROM b);", "SELECT a FROM b"),
        ("SELECT a FROM b WHERE c &lt; 1", "SELECT a FROM b WHERE c < 1"),
        ("SELECT /* one */ a FROM b", "SELECT a FROM b"),
    ],
)
def test_queries_that_a_database_reads_alike_are_compared_as_equal(query: str, other: str):
    assert write_gold("sql", query) == write_gold("sql", other)


@pytest.mark.parametrize(
    ("query", "other"),
    [
        ("SELECT a FROM b WHERE c = '--x'", "SELECT a FROM b WHERE c = '"),
        ("(SELECT a FROM b) UNION (SELECT c FROM d)", "SELECT a FROM b) UNION (SELECT c FROM d"),
        ("SELECT a FROM b WHERE c = '(x)'", "SELECT a FROM b WHERE c = 'x'"),
    ],
)
def test_queries_that_differ_in_more_than_comments_and_marks_differ(query: str, other: str):
    assert write_gold("sql", query) != write_gold("sql", other)


MIN_SHARES_OF_ALL = {
    "choice": (0.998, 0.95),
    "yesno": (0.998, 0.975),
    "digit": (0.999, 0.96),
    "numbers": (0.999, 0.965),
    "medec": (0.997, 0.975),
    "sql": (0.999, 0.985),
}
"""The same on all answers, on most of which the rules were improved. The goals are 0.997 and 0.95 in each family.

Two answers with a repeated question, one that contradicts its reasoning, and one with a number beyond the note are read
although both readers, or one of them, would ask back.
"""


@pytest.mark.parametrize("family", sorted(MIN_SHARES_OF_ALL))
def test_answers_on_which_the_rules_were_improved_stay_read(family: str):
    answers = [answer for answer in ANSWERS if answer.family == family]
    tally = measure(answers)[family]
    precision, recall = MIN_SHARES_OF_ALL[family]
    misread = [(answer.gold, value) for answer, value in tally.misread if value != UNREAD]
    assert tally.precision >= precision, misread
    assert tally.recall >= recall


@pytest.mark.skipif(not UNSEEN, reason="all answers of the corpus have been opened")
@pytest.mark.parametrize("family", sorted(MIN_SHARES))
def test_unseen_answers_are_read_as_people_read_them(family: str):
    tally = measure([answer for answer in UNSEEN if answer.family == family])[family]
    precision, recall = MIN_SHARES[family]
    misread = [(answer.gold, value) for answer, value in tally.misread if value != UNREAD]
    assert tally.precision >= precision, misread
    assert tally.recall >= recall


@pytest.mark.parametrize("family", ["choice", "yesno"])
def test_no_real_output_is_read_as_another_option(family: str):
    real = [answer for answer in ANSWERS if answer.family == family and answer.source == "real"]
    tally = measure(real)[family]
    misread = [answer for answer, value in tally.misread if value != UNREAD]
    assert [answer.gold for answer in misread if answer.gold != UNREAD] == []
    # In four the answer field has a letter, and the reasoning before it says that no option is right.
    assert len(misread) <= 4
    assert tally.recall >= 0.99


def test_a_reader_that_takes_the_last_letter_is_caught():
    def take_last_letter(answer):
        letters = [letter for letter in answer.answer if letter in "ABCD"]
        return letters[-1] if letters else UNREAD

    lettered = [answer for answer in ANSWERS if answer.family == "choice"]
    assert measure(lettered, reader=take_last_letter)["choice"].precision < 0.9
    assert measure(lettered, reader=read)["choice"].precision > 0.98


def test_the_figures_on_the_page_are_those_of_the_unseen_answers():
    page = PAGE.read_text("utf-8")
    assert write_page(page) == page
