"""Exact matches of texts and of options: the right rule and upstream's."""

import pytest

from agent.metrics import score
from agent.vocabulary import Reason, Unscored
from tests.agent.metrics.asked import CHOICE, free


@pytest.mark.parametrize(
    ("metric", "answer", "expected"),
    [
        ("exact_match", "Yes", 1.0),
        ("exact_match", "  Yes\n", 1.0),
        ("exact_match", "yes", 0.0),
        ("exact_match", "Yes.", 0.0),
        ("quasi_exact_match", "the YES.", 1.0),
        ("quasi_exact_match", "yes it is", 0.0),
        ("prefix_exact_match", "Yes, it is", 1.0),
        ("prefix_exact_match", "yes, it is", 0.0),
        ("quasi_prefix_exact_match", "yes, it is", 1.0),
        ("quasi_prefix_exact_match", "no, yes", 0.0),
    ],
)
@pytest.mark.parametrize("scoring", ["intramural", "helm"])
def test_free_text_matches_as_upstream_does(metric, answer, expected, scoring):
    assert score(metric, answer, free("Yes"), scoring) == expected


@pytest.mark.parametrize(
    ("metric", "gold", "answer", "ours", "helm"),
    [
        ("quasi_prefix_exact_match", "A", "anything", 0.0, 1.0),
        ("quasi_prefix_exact_match", "A", "A", 1.0, 1.0),
        ("quasi_prefix_exact_match", "A", "A patient", 0.0, 1.0),
        ("quasi_prefix_exact_match", "+", "anything", 0.0, 1.0),
        ("quasi_prefix_exact_match", "+", "+", 1.0, 1.0),
        ("quasi_prefix_exact_match", "no", "north", 0.0, 1.0),
        ("quasi_prefix_exact_match", "no", "No, it is not", 1.0, 1.0),
        ("quasi_prefix_exact_match", "5", "50 mg", 0.0, 1.0),
        ("quasi_prefix_exact_match", "5", "5% glucose", 0.0, 1.0),
        ("quasi_prefix_exact_match", "5", "5 mg", 1.0, 1.0),
        ("quasi_prefix_exact_match", "-5", "5 mmol/L", 0.0, 1.0),
        ("prefix_exact_match", "5", "50 mg", 0.0, 1.0),
        ("prefix_exact_match", "5", "5.2 mg", 0.0, 1.0),
        ("prefix_exact_match", "5", "5 mg", 1.0, 1.0),
        ("prefix_exact_match", "no", "north", 0.0, 1.0),
        ("prefix_exact_match", "no", "no-one", 0.0, 1.0),
        ("prefix_exact_match", "no", "no, because", 1.0, 1.0),
        ("quasi_exact_match", "A", "the", 0.0, 1.0),
        ("quasi_exact_match", "A", "a.", 1.0, 1.0),
        ("quasi_exact_match", "+", "-", 0.0, 1.0),
        ("quasi_exact_match", "1.5", "15", 0.0, 1.0),
        ("quasi_exact_match", "1,500", "1500", 1.0, 1.0),
        ("quasi_exact_match", "-5", "5", 0.0, 1.0),
        ("quasi_exact_match", "-5", "−5", 1.0, 0.0),
        ("quasi_exact_match", "5%", "5", 0.0, 1.0),
        ("quasi_exact_match", "5 %", "5%", 1.0, 1.0),
        ("quasi_exact_match", "<5", ">5", 0.0, 1.0),
        ("quasi_exact_match", "1/2", "12", 0.0, 1.0),
        ("quasi_exact_match", "O+", "O-", 0.0, 1.0),
        ("quasi_exact_match", "O-", "o-.", 1.0, 1.0),
        ("quasi_exact_match", "Hepatitis A", "hepatitis", 0.0, 1.0),
        ("quasi_exact_match", "hepatitis A virus", "Hepatitis a virus", 1.0, 1.0),
        ("quasi_exact_match", "COVID-19", "covid 19", 0.0, 0.0),
        ("quasi_exact_match", "COVID-19", "Covid19", 1.0, 1.0),
        ("quasi_exact_match", "5 mg", "“5 mg.”", 1.0, 0.0),
    ],
)
def test_numbers_signs_and_letters_are_no_mere_punctuation(metric, gold, answer, ours, helm):
    assert score(metric, answer, free(gold)) == ours
    assert score(metric, answer, free(gold), "helm") == helm


def test_any_of_several_right_answers_counts():
    assert score("exact_match", "No", free("Yes", "No")) == 1.0
    assert score("exact_match", "No", free("Yes", wrong=("No",))) == 0.0


@pytest.mark.parametrize(
    ("answer", "ours", "helm"),
    [
        ("B", 1.0, 1.0),
        (" B ", 1.0, 1.0),
        ("A", 0.0, 0.0),
        ("C", 1.0, 1.0),  # the same text as the right option
        ("b", 1.0, 0.0),
        ("B.", 1.0, 0.0),
        ("Answer: B", 1.0, 0.0),
        ("D", Unscored(Reason.UNPARSED), 0.0),
        ("I would rather not say", Unscored(Reason.UNPARSED), 0.0),
        ("", Unscored(Reason.EMPTY), 0.0),
        ("  \n", Unscored(Reason.EMPTY), 0.0),
    ],
)
def test_multiple_choice_by_our_rule_and_by_upstreams(answer, ours, helm):
    for name in ("exact_match", "quasi_exact_match"):
        assert score(name, answer, CHOICE) == ours
        assert score(name, answer, CHOICE, "helm") == helm
