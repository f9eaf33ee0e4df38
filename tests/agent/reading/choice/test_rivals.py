"""Answers that name an option and then grant another one, or take it back: a careful person asks back."""

import pytest

from agent.reading.choice import extract_option

OPTIONS = ("Aspirin", "Clopidogrel", "Heparin", "Warfarin")


@pytest.mark.parametrize(
    "rest",
    [
        "It could be B as well",
        "B is also possible.",
        "However, clopidogrel is equally correct.",
        "Or B.",
        "Alternatively, B.",
        "Or is it B?",
        "That was an error.",
        "This is wrong.",
        "(Withdrawn.)",
    ],
)
def test_an_answer_that_is_weakened_is_unread(rest):
    assert extract_option(f"The answer is A. {rest}", OPTIONS) is None


@pytest.mark.parametrize(
    "rest",
    [
        "It could be B in pregnancy.",
        "B could also be right, but the clot is old.",
        "It could not be B.",
        "It could be A only.",
        "Heparin may be given later.",
        "It may be dangerous to give heparin.",
    ],
)
def test_an_answer_with_a_remark_on_another_case_is_read(rest):
    assert extract_option(f"The answer is A. {rest}", OPTIONS) == 0
