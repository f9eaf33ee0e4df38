"""Billing codes: the three figures of a note."""

from agent.metrics import score
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored

FIGURES = ("precision", "recall", "f1")


def note(*golds: str) -> Instance:
    return Instance(
        "1", "1", (Message("user", "?"),), tuple(Reference(gold, True) for gold in golds)
    )


def figures(answer: str, gold: str, scoring="intramural"):
    return [score(f"mimiciv_billing_code_{name}", answer, note(gold), scoring) for name in FIGURES]


def test_precision_recall_and_f1_of_one_note():
    assert figures("I10, J18.9, E11.9", "I10,E119,N186,S72001A") == [2 / 3, 2 / 4, 2 * 2 / 7]
    assert figures("S72.001A", "S72001A") == [1.0, 1.0, 1.0]
    assert figures("I10, I10, I10", "I10") == [1.0, 1.0, 1.0]


def test_an_answer_without_a_code_finds_none_and_has_no_precision():
    assert figures("Nothing to bill.", "I10") == [Unscored(Reason.UNPARSED), 0.0, 0.0]
    assert figures(" ", "I10") == [Unscored(Reason.EMPTY)] * 3
    assert figures("I10", " ") == [Unscored(Reason.NO_REFERENCE)] * 3


def test_upstream_cuts_codes_at_the_first_letter_and_counts_vitamins():
    assert figures("S72.002B", "S72.001A", "helm") == [
        1.0,
        1.0,
        1.0,
    ]  # another hip, another encounter
    assert figures("S72.002B", "S72.001A") == [0.0, 0.0, 0.0]
    assert figures("M1A.0110, C7B.00", "M1A.0110,C7B.00", "helm") == [0.0, 0.0, 0.0]
    assert figures("i10", "I10", "helm") == [0.0, 0.0, 0.0]
    assert figures("I10. Low vitamin B12 and T4.", "I10", "helm") == [1 / 3, 1.0, 0.5]
    assert figures("I10. Low vitamin B12 and T4.", "I10") == [1.0, 1.0, 1.0]
    assert figures("", "I10", "helm") == [0.0, 0.0, 0.0]
