"""F1 of words, by SQuAD's rule and by upstream's."""

import pytest

from agent.metrics import score
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored


def free(*golds: str, multiple_choice=False) -> Instance:
    references = tuple(
        Reference(gold, i == 0 or not multiple_choice) for i, gold in enumerate(golds)
    )
    return Instance("1", "1", (Message("user", "?"),), references, multiple_choice)


@pytest.mark.parametrize(
    ("answer", "gold", "ours", "helm"),
    [
        ("acute renal failure", "acute renal failure", 1.0, 1.0),
        ("The acute renal failure.", "acute renal failure", 1.0, 1.0),
        ("renal failure", "acute renal failure", 2 * 2 / 5, 1.0 / (0.5 / 1 + 0.5 / (2 / 3))),
        ("sepsis", "acute renal failure", 0.0, 0.0),
        ("pain pain pain pain", "pain", 2 * 1 / 5, 1.0),  # upstream counts a word once
        ("very very ill", "very very ill", 1.0, 1.0),
        ("1.5 mg", "15 mg", 0.5, 1.0),  # upstream drops the point
        ("...", "pain", 0.0, 0.0),
    ],
)
def test_overlap_of_words(answer, gold, ours, helm):
    assert score("f1_score", answer, free(gold)) == pytest.approx(ours)
    assert score("f1_score", answer, free(gold), "helm") == pytest.approx(helm)


def test_the_best_of_several_right_answers_counts():
    assert score("f1_score", "kidney failure", free("acute renal failure", "kidney failure")) == 1.0


def test_a_letter_stands_for_its_option():
    instance = free("acute renal failure", "sepsis", multiple_choice=True)
    assert score("f1_score", "The answer is A.", instance) == 1.0
    assert score("f1_score", "no idea", instance) == Unscored(Reason.UNPARSED)
    assert score("f1_score", "A", instance, "helm") == 1.0


def test_a_gold_without_words_is_no_gold():
    assert score("f1_score", "x", free("...")) == Unscored(Reason.NO_REFERENCE)
    assert score("f1_score", "", free("pain")) == Unscored(Reason.EMPTY)
    assert score("f1_score", "", free("pain"), "helm") == 0.0
