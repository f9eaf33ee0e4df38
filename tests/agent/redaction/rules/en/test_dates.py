"""Days and ages, however they are written."""

import pytest

from tests.agent.redaction.rules.en.examples import (
    SAFE_HARBOR,
    find_leaked,
    find_taken,
    list_examples,
    list_harmless,
)


@pytest.mark.parametrize("example", list_examples("DATE", "AGE"))
def test_an_identifier_among_words_is_found_whole(example: str):
    assert find_leaked(example, SAFE_HARBOR) == ""


@pytest.mark.parametrize("text", list_harmless("DATE", "AGE"))
def test_scores_doses_and_values_stay(text: str):
    assert find_taken(text, SAFE_HARBOR) == []


STRICTER = {
    "RELATIVE_DATE": (
        "«two weeks ago»",
        "«yesterday»",
        "«last Monday»",
        "seen «3 days prior»",
        "on «Tuesday morning»",
        "«next month»",
        "in «six weeks»",
        "for the «past 2 years»",
        "«POD 3»",
        "«the day before yesterday»",
        "«tomorrow»",
        "«this fall»",
    ),
    "AGE_BELOW_90": (
        "a «45»-year-old man",
        "«67»yoM",
        "aged «34»",
        "a «6»-week-old infant",
        "in her «forties»",
        "turned «21»",
        "age: «5»",
        "a «forty-five» year old",
        "an «octogenarian»",
        "«18» months old",
        "her «40th» birthday",
    ),
}


@pytest.mark.parametrize(
    ("entity", "example"), [(e, x) for e, examples in STRICTER.items() for x in examples]
)
def test_the_strict_level_also_takes(entity: str, example: str):
    assert find_leaked(example, [entity]) == ""
