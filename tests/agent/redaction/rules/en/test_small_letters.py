"""Names and towns typed without capitals, where only a name or a town can stand."""

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.rules.en.small_letters import find_in_small_letters


def found_in(text: str) -> list[tuple[str, str]]:
    deadline = Deadline()
    deadline.start(60)
    return [
        (entity, text[start:end]) for entity, start, end in find_in_small_letters(text, deadline)
    ]


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("seen by dr szczepanik today", "NAME", "szczepanik"),
        ("her daughter xochitl drove", "NAME", "xochitl"),
        ("patient: ivo szczepanik, 45", "NAME", "ivo szczepanik"),
        ("dictated by szczepanik, MD", "NAME", "szczepanik"),
        ("she lives in kvitfjell now", "LOCATION", "kvitfjell"),
    ],
)
def test_a_word_of_no_list_is_found_where_only_a_name_or_town_can_stand(
    text: str, entity: str, value: str
):
    assert (entity, value) in found_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "seen by dr today",
        "her daughter called about the fever",
        "patient: stable, afebrile",
        "she lives in pain",
        "nurse gave metoprolol",
        "the word szczepanik stands alone",
    ],
)
def test_words_of_the_field_and_words_without_a_cue_stay(text: str):
    assert found_in(text) == []


def test_a_text_past_its_time_is_not_passed_as_searched():
    with pytest.raises(TimeoutError):
        list(find_in_small_letters("seen by dr szczepanik", Deadline()))
