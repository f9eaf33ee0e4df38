"""Every state and every refusal has words for people, with what to do."""

from dataclasses import replace

import pytest

from agent.delivery.outbox import State, Submission
from agent.delivery.state_words import STATE_WORDS, explain_state
from protocol.errors import Code


@pytest.fixture
def submission(approved: list[Submission]) -> Submission:
    return approved[0]


def test_every_state_has_a_name_and_a_meaning():
    assert set(STATE_WORDS) == set(State)
    names = [words.name for words in STATE_WORDS.values()]
    assert len(set(names)) == len(names)
    unfinished = {State.PREPARED, State.APPROVED, State.SENT, State.VOID}
    for state, words in STATE_WORDS.items():
        assert words.meaning.endswith(".")
        assert bool(words.next_step) == (state in unfinished)


def test_each_refusal_has_its_code_a_reason_or_not_and_something_to_do(submission: Submission):
    for code in Code:
        refused = replace(submission, state=State.REFUSED, refusal=code.value)
        words = explain_state(refused)
        assert code.value in words.meaning
        assert words.next_step


def test_a_refusal_of_a_later_protocol_is_shown_by_its_code(submission: Submission):
    refused = replace(submission, state=State.REFUSED, refusal="invented_tomorrow")
    words = explain_state(refused)
    assert "code invented_tomorrow" in words.meaning
    assert words.next_step


def test_other_states_are_explained_by_the_table(submission: Submission):
    for state in set(State) - {State.REFUSED}:
        assert explain_state(replace(submission, state=state)) is STATE_WORDS[state]
