"""Answers that loop, repeat or attack: reading them takes no longer than reading any other of their length."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.metrics.exact import normalise
from agent.reading.choice import extract_option
from agent.reading.note_verdicts import find_verdict
from agent.reading.numbers import find_date, find_days, find_number
from agent.reading.queries import find_query
from agent.reading.words import plain_words, words_without_articles

LENGTH = 40_000  # characters
HOSTILE = {
    "white space": (" ", "\n", "A ", "\u3000"),
    "brackets": ("(", "{", "\\boxed{", "\\boxed{ ", "\\boxed{\\text{"),
    "marks": ("*", "~~a", "_", "# ", "<a", "=", "-", "- ", ". "),
    "digits": (
        "1",
        "111,",
        "1.",
        "1/",
        "1 /",
        "10^",
        "1 x 10 ^ ",
        "1e",
        "a1.",
        "= 1\n",
        "1 out of 1 ",
    ),
    "letters": (
        "A. ",
        "A, ",
        "A/",
        "(A) ",
        "A is ",
        "A is correct. ",
        "A is correct, ",
        "A. yes\n",
        "option A, ",
    ),
    "answers": (
        "answer is",
        "answer: ",
        "the answer is A, which is ",
        "ans: ",
        "final answer: A ",
        "I choose ",
    ),
    "results": (
        "(1) ",
        "= (1",
        "1; ",
        "| 1 ",
        "{'a': ",
        '{"a": 1, ',
        "1 answer: x ",
        "answer: maximum 1 ",
        "score is 1, so 2 ",
        "1 point for a, ",
        "a: 1\n",
        "1 = 2 ",
        "1 (2 or 3) ",
    ),
    "fillers": (
        "clearly ",
        "most likely ",
        "so, ",
        "i think that ",
        "not ",
        "can be ",
        "wait ",
        "unless ",
    ),
    "verdicts": (
        "sentence ",
        "sentence 1 ",
        "1 and ",
        "1 A\n",
        "correct ",
        "0 errors found in the ",
    ),
    "queries": (
        "select ",
        "select a, ",
        "select [",
        "```sql\n",
        "with a as (",
        '{"sql": "',
        "-- ",
        "answer is null, ",
    ),
    "words of options": (
        "thiazide",
        "thiazide ",
        "thiazide. ",
        "a-",
        "a-b ",
        "5 ",
        "5.",
        "so thiazide, ",
        "option 2 ",
        "A ✗\n",
        "A, ",
        "five ",
    ),
    "times": (
        "1 week ",
        "1 to ",
        "1 or more ",
        "1/1/2020 ",
        "jan 1 ",
        "total is ",
        "score of 1 maximum ",
    ),
}


def read_letter(text: str) -> int | None:
    return extract_option(text, ("yes", "no", "a long option, with commas; and more " * 4))


def read_words(text: str) -> int | None:
    return extract_option(
        text, ("Thiazide diuretic", "Loop diuretic", "5 mg", "Methyl-malonic acid")
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize("pieces", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "read",
    [
        read_letter,
        read_words,
        find_number,
        find_date,
        find_days,
        find_verdict,
        find_query,
        normalise,
        plain_words,
        words_without_articles,
    ],
    ids=[
        "letter",
        "words_of_options",
        "number",
        "date",
        "days",
        "verdict",
        "query",
        "helm_words",
        "words",
        "articles",
    ],
)
def test_reading_is_fast_whatever_repeats(read, pieces):
    for piece in pieces:
        text = (piece * LENGTH)[: LENGTH - 1] + "x"
        before = time.process_time()
        read(text)
        assert time.process_time() - before < 1, repr(
            piece
        )  # 0.08 s at most; the margin is for a busy machine


def test_an_opened_box_and_many_spaces():
    for read in (read_letter, find_number, find_date, find_days):
        before = time.process_time()
        read("The answer is \\boxed{" + " " * (LENGTH - 100))
        read("answer is" + " " * (LENGTH - 100) + "x")
        assert time.process_time() - before < 1


@given(st.lists(st.text(max_size=12), max_size=6).map("\n".join))
@example("ßeta\nßeta\nßeta blocker")  # the capital of "ß" has two characters
@example("\ufb01x\n\u0149a\n\u0130.")
def test_no_answer_is_an_error(answer: str):
    extract_option(answer, ("Aspirin", "Heparin", "ß", "None"))
    find_verdict(answer, {0: "The dose is 5 mg."})
    for read in (find_number, find_date, find_days, find_query):
        read(answer)
