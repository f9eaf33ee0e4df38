"""An answer that breaks off in a list of the options' letters chooses none of them."""

import pytest

from agent.reading.choice import extract_option

OPTIONS = ("Glycopyrrolate", "Benztropine", "Levodopa", "Dantrolene")


@pytest.mark.parametrize(
    "answer",
    [
        "A. Glycopyrrolate\nB. Benztropine\nC",
        "A. Glycopyrrolate\nB. Benztropine\nC.",
        "(A) Glycopyrrolate\n(B) Benztropine\n(C",
        "A. Glycopyrrolate\nB. Benztropine\nC. Levodopa\nD",
        "Answer the following questions based on the letter of the best option (A, B",
        "Answer with the letter of the best option (A, B, C or",
    ],
)
def test_the_letter_of_the_next_item_is_not_read(answer: str) -> None:
    assert extract_option(answer, OPTIONS) is None


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("A. Glycopyrrolate\nB. Benztropine\nC. Levodopa\nD. Dantrolene\nC", 2),
        ("A. Glycopyrrolate\nB. Benztropine\nAnswer: C", 2),
        ("A. Glycopyrrolate\nB. Benztropine\nA", 0),
        ("Letter of the best option (A, B, C or D): C", 2),
        ("The best option is (B", 1),
    ],
)
def test_a_letter_behind_a_whole_list_is_read(answer: str, option: int) -> None:
    assert extract_option(answer, OPTIONS) == option
