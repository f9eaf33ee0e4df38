"""A claim about a note: what an answer states, and where. Pure."""

from dataclasses import dataclass

NO_ERROR = -1
SOME_ERROR = -2
"""The verdict that there is an error in a sentence that is not named, or in several sentences."""

RULES = {
    "whole answer": ("The answer has the form that was asked for.", "10 The dose is 5 mg."),
    "submission line": (
        "A line has the form of the official submission: note, flag, sentence, correction.",
        'ms-test-0 1 10 "The dose is 5 mg."',
    ),
    "field": (
        "A field of a JSON object, an element or a line of keys and values states the verdict.",
        '{"error_flag": 1, "error_sentence_id": 10}',
    ),
    "final answer": ("The verdict follows words that announce the answer.", "Answer: CORRECT"),
    "line": (
        "A line has the form that was asked for, with reasoning before or after it.",
        "The dose is ten times too high.\n\n10 The dose is 5 mg.",
    ),
    "stated verdict": (
        "A sentence says that the note is correct, or which sentence is wrong.",
        "The error is in sentence 10.",
    ),
    "quoted sentence": (
        "The answer quotes or corrects a sentence of the note without its number.",
        'The error is "The dose is 50 mg."',
    ),
}
"""The rules by name, each with its meaning and an example."""


CONTRADICTION = -3
"""The verdict of fields that contradict each other."""


@dataclass(frozen=True, slots=True)
class VerdictClaim:
    """A statement about the note, from `start` to `end`.

    Attributes:
        verdict: NO_ERROR, SOME_ERROR or the number of the wrong sentence.
        rule: the rule that found it.
        is_final: whether it has the form of an answer, and is not a part of the reasoning.
    """

    verdict: int
    start: int
    end: int
    rule: str
    is_final: bool
