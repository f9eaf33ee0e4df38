"""The rules by which an answer's option is read, with a description and an example each."""

from dataclasses import dataclass

from agent.reading import json_answers


@dataclass(frozen=True, slots=True)
class OptionRule:
    """A rule of reading.

    Attributes:
        name: a short phrase that is shown with a reading.
        description: one sentence for the documentation.
        example: an answer that is read by this rule. B is "Vitamin B12 injection".
    """

    name: str
    description: str
    example: str


WHOLE_ANSWER = OptionRule(
    "whole answer",
    "The whole answer is a letter, an option's text, both, or a reply such as \"It doesn't.\" for no.",
    "**B**",
)
FINAL_ANSWER = OptionRule(
    "final answer",
    r"The option is marked as final: `\boxed{B}`, `<answer>B</answer>`.",
    "Final answer: B",
)
STATED_ANSWER = OptionRule(
    "stated answer",
    "A sentence states the answer or draws the conclusion, or a program returns it.",
    "The ileum absorbs it, so the answer is B.",
)
FIRST_LINE = OptionRule(
    "first line",
    "The first line or sentence is an option, perhaps with a reason.",
    "B\n\nThe ileum absorbs it. Aspirin (A) is no vitamin.",
)
LAST_LINE = OptionRule(
    "last line", "The last line or sentence is an option.", "Not A, not C, not D. B."
)
CALLED_CORRECT = OptionRule(
    "called correct", "A sentence calls an option correct or best.", "Option B is correct."
)
COMMENTED_OPTIONS = OptionRule(
    "commented options",
    "The options are commented on one by one: one is correct, ticked or rated highest.",
    "A) wrong B) correct C) wrong D) wrong",
)
NAMED_IN_SENTENCE = OptionRule(
    "named in a sentence",
    "A sentence proposes an option by its text, and no other option is proposed.",
    "The patient should receive a vitamin B12 injection.",
)
OPTION_WORDS = OptionRule(
    "words of one option",
    "A short answer or the conclusion has words that only one option has.",
    "An injection of B12.",
)
NAMED_BY_POSITION = OptionRule(
    "named by position",
    "The answer calls the option by its position in the list: (ii), the second one.",
    "The second option.",
)
JSON_FIELD = OptionRule(json_answers.JSON_FIELD, *json_answers.RULES[json_answers.JSON_FIELD])

RULES = (
    JSON_FIELD,
    WHOLE_ANSWER,
    FINAL_ANSWER,
    STATED_ANSWER,
    FIRST_LINE,
    LAST_LINE,
    CALLED_CORRECT,
    COMMENTED_OPTIONS,
    NAMED_IN_SENTENCE,
    OPTION_WORDS,
    NAMED_BY_POSITION,
)
