"""The rules of the baselines read a prompt's form and answer in the form asked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.inference.baseline_rules import RULES, answer, read_prompt
from tests.agent.inference.baseline_prompts import CHOICE, QUANTITY, SENTENCES, TEXT


@pytest.mark.parametrize(
    ("prompt", "task"),
    [(CHOICE, "choice"), (SENTENCES, "sentence"), (QUANTITY, "quantity"), (TEXT, "text")],
)
def test_a_prompt_is_known_by_its_form(prompt, task):
    assert read_prompt(prompt).task == task


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("baseline/first-choice", ["A", "CORRECT", "54", "[doctor] good morning."]),
        ("baseline/retrieval", ["B", "2 He is given insulin glargine.", "1.2"]),
        ("baseline/lead", ["C", "0 A man has had fever and cough for two days.", "54"]),
    ],
)
def test_each_rule_answers_in_the_form_asked_for(model, expected):
    assert [answer(model, prompt) for prompt in (CHOICE, SENTENCES, QUANTITY, TEXT)][
        : len(expected)
    ] == expected


def test_a_list_in_a_note_is_no_choice():
    prompt = "Summarise.\nPlan:\nA. rest\nThe patient P. agrees.\nSummary:"
    assert read_prompt(prompt).task == "text"


def test_the_last_options_count_when_examples_come_first():
    prompt = (
        "Pick.\nQuestion: one\nA. x\nB. y\nAnswer: A\n\nQuestion: two\nA. u\nB. v\nC. w\nAnswer:"
    )
    assert read_prompt(prompt).options == ("u", "v", "w")


@settings(deadline=None)
@given(st.text(), st.sampled_from(sorted(RULES)), st.none() | st.integers())
def test_any_prompt_gets_the_same_answer_twice(prompt, model, seed):
    assert answer(model, prompt, seed=seed) == answer(model, prompt, seed=seed)


def test_random_draws_every_option_about_as_often():
    drawn = [answer("baseline/random", CHOICE, seed=seed) for seed in range(300)]
    assert set(drawn) == {"A", "B", "C"}
    assert min(drawn.count(letter) for letter in "ABC") > 60
