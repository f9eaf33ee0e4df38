"""The words around a mention: denied, doubted, made conditional or taken back."""

import pytest

from agent.reading.statements import is_conditional, is_denied, is_qualified, is_taken_back


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The answer is B", False),
        ("It is not B", True),
        ("It is not A, so B", False),
        ("It is not A. It is B", False),
        ("If fever is present, B", True),
        ("It is wrong to say: the answer is B", True),
        ("It is not true, as some say, that B", True),
        ("I would rule out A and B" + " " * 500 + "B", False),  # too far away
    ],
)
def test_the_clause_before_a_mention_may_deny_it(text: str, denied: bool):
    assert is_denied(text, text.rindex("B")) is denied


@pytest.mark.parametrize(
    ("rest", "qualified", "conditional", "taken_back"),
    [
        (".", False, False, False),
        (", but C is possible too.", True, False, False),
        (". But C is rarer.", False, False, False),
        (" unless the patient is allergic.", True, True, False),
        (", only if there is fever.", True, True, False),
        (". Wait, it is C.", False, False, True),
        (". Wait for the results.", False, False, False),
        (". I misread the question.", False, False, True),
    ],
)
def test_what_follows_a_mention(rest: str, qualified: bool, conditional: bool, taken_back: bool):
    text = f"B{rest}"
    assert (is_qualified(text, 1), is_conditional(text, 1), is_taken_back(text, 1)) == (
        qualified,
        conditional,
        taken_back,
    )
