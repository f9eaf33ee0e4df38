"""Months and days without a year. More examples are in examples.py."""

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.rules.en.bare_dates import find_bare_dates


def found_in(text: str) -> list[str]:
    deadline = Deadline()
    deadline.start(60)
    return [text[start:end] for _, start, end in find_bare_dates(text, deadline)]


def test_numbers_without_a_deciding_word_are_a_date_beside_other_dates():
    assert found_in("boots size 7/9") == []
    assert found_in("seen 3/14/2022; boots size 7/9") == ["7/9"]


def test_the_nearest_word_decides():
    assert found_in("BiPAP started on 12/5") == ["12/5"]
    assert found_in("seen on BiPAP 12/5") == []
    assert found_in("blood type O neg, rhogam 11/26") == ["11/26"]
    assert found_in("strength was only 4/5, pain was said to be 3/10") == []


def test_a_range_with_a_hyphen_is_no_date():
    assert found_in("seen 12-2 for same") == ["12-2"]
    assert found_in("seen 2-3 times") == []


def test_a_text_past_its_time_is_not_passed_as_searched():
    with pytest.raises(TimeoutError):
        list(find_bare_dates("seen 3/14", Deadline()))
