"""The letters of options stay, and initials before family names are still taken."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.views.option_letters import hide_option_letters


@pytest.mark.parametrize(
    "text",
    [
        "Which is best? A. Aspirin B. Clopidogrel C. Warfarin D. Heparin",
        "Which?\nA. Aspirin\nB. Clopidogrel\nC. Apo E\nD. Tell the attending",
        "Select the answer:\nA. yes\nB. no\nC. maybe",
    ],
)
def test_options_stay(engine: Engine, text: str):
    assert engine.redact(text) == text


def test_the_letter_of_a_stated_answer_stays_before_a_title(engine: Engine):
    shown = engine.redact("The answer is B. Mr. Miller should receive aspirin.")
    assert shown == "The answer is B. [NAME-1] should receive aspirin."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Seen by A. Smith and B. Jones.", ("Smith", "Jones")),
        ("Which doctors? A. Smith B. Jones C. Szczepanik", ("Smith", "Jones", "Szczepanik")),
        ("Who of the following? A. Margaret Holloway B. John Smith", ("Holloway", "Smith", "John")),
        ("Referring doctors:\nA. Zellweger\nB. Szczepanik", ("Zellweger", "Szczepanik")),
    ],
)
def test_names_after_initials_are_taken(engine: Engine, text: str, names: tuple[str, ...]):
    redacted = engine.redact(text)
    assert [name for name in names if name in redacted] == []


def test_the_text_keeps_its_length():
    text = "Which? A. x B. y\nWhich? A. z B. w, by A. Smith"
    hidden = hide_option_letters(text)
    assert len(hidden) == len(text)
    assert hidden == "Which? 1) x 2) y\nWhich? 1) z 2) w, by A. Smith"
