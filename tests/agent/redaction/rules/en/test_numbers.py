"""Numbers of people, records, contracts, vehicles and devices."""

import pytest

from tests.agent.redaction.rules.en.examples import (
    SAFE_HARBOR,
    find_leaked,
    find_taken,
    list_examples,
    list_harmless,
)


@pytest.mark.parametrize(
    "example",
    list_examples(
        "SSN", "MRN", "ENCOUNTER", "ACCOUNT", "PLAN", "LICENSE", "VEHICLE", "DEVICE", "ID"
    ),
)
def test_an_identifier_among_words_is_found_whole(example: str):
    assert find_leaked(example, SAFE_HARBOR) == ""


@pytest.mark.parametrize("text", list_harmless("ID", "VEHICLE"))
def test_values_doses_and_words_stay(text: str):
    assert find_taken(text, SAFE_HARBOR) == []
