"""Names alone in texts that are typed in haste: any word of no list, in any place of a line."""

from collections.abc import Iterator

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.rules.en.unlisted_names import find_unlisted_names

LINES = (
    "bed 4 {} ok after abx, sats 96 on 2l, obs q4h",
    "1400 {} did the dressing, wound clean, no ooze\n1500 tol diet, up to chair w/ 1",
    "keys w/ {}, cd check ok, fridge temp ok, no falls overnight",
    "pt says he will call {} re the ride home. not eating much, mood low",
    "refused meds x2, {} aware and will retry after lunch",
)
NAMES = ("bukola", "nowak", "eze-martin", "jorge", "o'shaughnessy", "wanjiru", "tadeusz")


def find(text: str) -> Iterator[str]:
    deadline = Deadline()
    deadline.start(60)
    for _, start, end in find_unlisted_names(text, deadline):
        yield text[start:end]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("line", LINES)
def test_a_name_in_a_hasty_line_is_found_wherever_it_stands(line: str, name: str):
    assert name in list(find(line.format(name)))


@pytest.mark.parametrize("line", LINES)
def test_nothing_else_in_a_hasty_line_is_a_name(line: str):
    assert list(find(line.format("she"))) == []


def test_a_town_after_a_preposition_is_a_place():
    deadline = Deadline()
    deadline.start(60)
    text = "drives in from the farm, lives near kvitfjell, no car at present, on foot"
    assert [
        (entity, text[start:end]) for entity, start, end in find_unlisted_names(text, deadline)
    ] == [("LOCATION", "kvitfjell")]


def test_an_initial_and_a_listed_name_beside_it_belong_to_the_name():
    assert "rutkowski w" in list(
        find("rutkowski w  0730 tkr, npo after mn, consent signed, bloods ok")
    )


def test_prose_with_capitals_is_not_read():
    text = (
        "The patient was seen by the team. She is comfortable with bukola at the bedside. No pain."
    )
    assert list(find(text)) == []


def test_a_text_in_another_language_is_not_read():
    assert (
        list(find("pasientens ektefelle kommer imorgen klokka ti, hun har medisinene hjemme")) == []
    )


def test_an_answer_of_few_words_is_not_read():
    assert list(find("is zorblaxol safe with milk")) == []
