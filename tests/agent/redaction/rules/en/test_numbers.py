"""Numbers of people, records, contracts, vehicles and devices."""

import pytest

from tests.agent.redaction.rules.en.examples import SAFE_HARBOR, find_leaked, list_examples


@pytest.mark.parametrize(
    "example",
    list_examples(
        "SSN", "MRN", "ENCOUNTER", "ACCOUNT", "PLAN", "LICENSE", "VEHICLE", "DEVICE", "ID"
    ),
)
def test_an_identifier_among_words_is_found_whole(example: str):
    assert find_leaked(example, SAFE_HARBOR) == ""
