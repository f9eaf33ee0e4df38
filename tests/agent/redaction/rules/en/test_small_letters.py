"""Names and towns typed without capitals, where only a name or a town can stand."""

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.rules.en.small_letters import find_in_small_letters
from tests.agent.redaction.rules.en.examples import RULES


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
        ("son tuan cc sob x2d", "NAME", "tuan"),
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
        "pt afebrile, pt ambulating w walker, pt extubated",
        "per ortho ok for wbat, per protocol, per diem, per lpf",
        "friend called ems, rn aware, np to see, tech paged",
        "mom reports fever, dad deployed, uncle had mi",
        "given by ems, done by ir, told to return",
        "user interface, user reports, log in to",
    ],
)
def test_words_of_the_field_and_words_without_a_cue_stay(text: str):
    assert found_in(text) == []


def test_a_text_past_its_time_is_not_passed_as_searched():
    with pytest.raises(TimeoutError):
        list(find_in_small_letters("seen by dr szczepanik", Deadline()))


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("ekg shown to wojcik. duoneb", "NAME", "wojcik"),
        ("taken by lupita", "NAME", "lupita"),
        ("tell marek its not", "NAME", "marek"),
        ("scrub dwayne / rec", "NAME", "dwayne"),
        ("vasc reg hamish aware", "NAME", "hamish"),
        ("pt nguyen thi bich ngoc 67f bib", "NAME", "nguyen thi bich ngoc"),
        ("registry upload, user ijorgens, ip", "ID", "ijorgens"),
        ("by neighbour fathima bi. Consent", "NAME", "fathima bi"),
        ("intubated by olumide without issue", "NAME", "olumide"),
        ("d/w szczepanik ok", "NAME", "szczepanik"),
    ],
)
def test_a_word_of_no_list_after_a_role_or_an_act_is_found(text: str, entity: str, value: str):
    found = [
        (result.entity_type, text[result.start : result.end])
        for result in RULES.analyze(text, [entity])
    ]
    assert (entity, value) in found


@pytest.mark.parametrize(
    "text",
    [
        "pt afebrile, pt ambulating w walker, pt extubated",
        "per ortho ok for wbat, per protocol, per diem, per lpf",
        "friend called ems, rn aware, np to see, tech paged",
        "mom reports fever, dad deployed, uncle had mi",
        "given by ems, done by ir, told to return",
        "user interface, user reports, log in to",
    ],
)
def test_shorthand_after_a_role_or_an_act_stays(text: str):
    assert RULES.analyze(text, ["NAME", "ID"]) == []
