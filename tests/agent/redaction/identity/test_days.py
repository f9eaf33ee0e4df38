"""Days in running text."""

import pytest

from agent.redaction.identity.days import WrittenDay, find_days
from agent.redaction.identity.words import split_words


def list_days(text: str) -> list[WrittenDay]:
    return list(find_days(text, split_words(text)))


@pytest.mark.parametrize("text", ["{} March 2022", "March {} 2022"])
def test_a_number_of_thousands_of_digits_beside_a_month_is_no_day(text: str) -> None:
    assert len(list_days(text.format("14"))) == 1
    assert all(day.end - day.start < 20 for day in list_days(text.format("1" * 5_000)))
