"""Macro and micro F1 of a whole run, over classes and over sets of labels."""

import pytest

from agent.errors import BenchmarkError
from agent.metrics import Labelled, MetricUse, compute_figure, read_labels, score
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored

MACRO, MICRO = "classification_macro_f1", "classification_micro_f1"
SETS = {"delimiter": ","}


def free(*golds: str, unit: str = "p1") -> Instance:
    return Instance(
        "1", unit, (Message("user", "?"),), tuple(Reference(gold, True) for gold in golds)
    )


def choice(gold: str) -> Instance:
    options = ("yes", "no", "unsure")
    references = tuple(Reference(option, option == gold) for option in options)
    return Instance("1", "p1", (Message("user", "?"),), references, multiple_choice=True)


def run(pairs, use, scoring="intramural"):
    read = [read_labels(use, answer, instance, scoring) for answer, instance in pairs]
    return compute_figure(use, [one for one in read if not isinstance(one, Unscored)], scoring)


def classes(gold: str, given: str) -> list[tuple[str, Instance]]:
    return [(answer, free(text)) for text, answer in zip(gold.split(), given.split(), strict=True)]


def test_macro_f1_weighs_classes_alike_and_micro_f1_answers():
    pairs = classes("a b b b", "a b b a")  # a: 2*1/(1+2), b: 2*2/(3+2)
    assert run(pairs, MACRO) == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert run(pairs, MICRO) == 0.75


def test_a_class_that_is_never_given_scores_nothing():
    assert run(classes("a b", "a a"), MACRO) == pytest.approx((2 / 3 + 0) / 2)


def test_a_class_that_is_never_gold_is_no_class_but_the_answer_is_wrong():
    pairs = classes("a b", "a z")
    assert run(pairs, MACRO) == 0.5
    assert run(pairs, MICRO) == 0.5
    # Upstream forgets the wrong label in micro F1: 2 * 1 / (2 + 1).
    assert run(pairs, MICRO, "helm") == pytest.approx(2 / 3)


def test_classes_are_read_without_case_and_marks():
    assert run([("**Pneumonia.**", free("pneumonia"))], MICRO) == 1.0


def test_of_several_right_classes_one_is_enough():
    assert read_labels(MICRO, "flu", free("influenza", "flu")).gold == {"flu"}
    assert read_labels(MICRO, "cold", free("influenza", "flu")).gold == {"influenza"}


def test_the_letters_of_options_are_classes():
    pairs = [
        ("The answer is A.", choice("yes")),
        ("(B)", choice("no")),
        ("I cannot tell", choice("no")),
    ]
    assert run(pairs, MACRO) == 1.0  # the third is unparsed: it has no label and is not counted
    assert read_labels(MACRO, *pairs[2]) == Unscored(Reason.UNPARSED)
    assert read_labels(MACRO, " ", choice("no")) == Unscored(Reason.EMPTY)
    # Upstream: "The answer is A.", "(B)" and the third are three classes of their own.
    assert run(pairs, MACRO, "helm") == 0.0


def test_of_one_gold_class_upstream_counts_two():
    answers = classes("no no no no", "no no no yes")
    assert (run(answers, MACRO), run(answers, MICRO)) == (pytest.approx(6 / 7), 0.75)
    assert run(answers, MACRO, "helm") == pytest.approx(3 / 7)  # the class "another" is never gold
    assert run(answers, MICRO, "helm") == 0.75  # the accuracy
    assert run(answers[:3], MACRO, "helm") == 1.0


def test_sets_of_labels():
    use = MetricUse(MICRO, SETS)
    pairs = [("sepsis, anaemia", free("Sepsis,Anaemia")), ("- Asthma\n- COPD", free("asthma"))]
    assert read_labels(use, *pairs[0]) == Labelled(
        "p1", frozenset({"sepsis", "anaemia"}), frozenset({"sepsis", "anaemia"})
    )
    assert run(pairs, use) == pytest.approx(2 * 3 / (3 + 4))
    assert run(pairs, MetricUse(MACRO, SETS)) == 1.0
    # Upstream leaves the gold text whole.
    assert run(pairs[:1], use, "helm") == 0.0
    assert run([("Sepsis,Anaemia", free("Sepsis", "Anaemia"))], use, "helm") == 1.0


def test_labels_carry_the_unit_to_resample_by():
    assert read_labels(MICRO, "a", free("a", unit="p7")).unit == "p7"


def test_a_run_without_any_labelled_answer_has_no_figure():
    assert compute_figure(MACRO, []) == Unscored(Reason.NO_REFERENCE)
    assert read_labels(MACRO, "a", free()) == Unscored(Reason.NO_REFERENCE)


def test_no_single_answer_has_a_figure_of_the_whole_run():
    with pytest.raises(BenchmarkError, match="whole run"):
        score(MACRO, "a", free("a"))
    with pytest.raises(BenchmarkError, match="not a metric of the whole run"):
        read_labels("exact_match", "a", free("a"))
    with pytest.raises(BenchmarkError, match="not a metric of the whole run"):
        compute_figure("exact_match", [])
