"""Options and codes that are never the right answer: what they cost by our rules, and by HELM's."""

import pytest

from agent.metrics import compute_figure, read_labels, score
from agent.vocabulary import Instance, Message, Reference

MACRO = "classification_macro_f1"
OPTIONS = ("yes", "no", "unsure")


def choice(gold: str) -> Instance:
    references = tuple(Reference(option, option == gold) for option in OPTIONS)
    return Instance("1", "p1", (Message("user", "?"),), references, multiple_choice=True)


def test_an_option_that_is_never_right_is_no_class_of_ours():
    pairs = [("A", choice("yes")), ("C", choice("no")), ("C", choice("no")), ("B", choice("no"))]
    read = [read_labels(MACRO, answer, instance) for answer, instance in pairs]
    # A: 2*1/(1+1); B: 2*1/(3+1); C has no class, but each C is a B that was not found.
    assert compute_figure(MACRO, read) == pytest.approx((1 + 0.5) / 2)


def test_billing_takes_only_right_references_for_gold_and_helm_takes_them_all():
    references = (Reference("I10", True), Reference("E11.9", False))
    note = Instance("1", "1", (Message("user", "?"),), references)
    assert score("mimiciv_billing_code_recall", "I10", note) == 1.0
    assert score("mimiciv_billing_code_precision", "E11.9", note) == 0.0
    assert score("mimiciv_billing_code_recall", "I10", note, "helm") == 0.5
    assert score("mimiciv_billing_code_precision", "E11.9", note, "helm") == 1.0
