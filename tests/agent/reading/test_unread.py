"""Why an answer was not read is said in words that a person understands."""

import time

import pytest

from agent.reading import unread
from agent.reading.choice import extract_option
from agent.reading.unread import KINDS, classify_unread
from agent.vocabulary import AnswerParser, Reason
from tests.agent.reading.test_answer_styles import CORPUS, OPTIONS

LETTER, JSON = AnswerParser("option_letter"), AnswerParser("json", field="answer")
DRUGS = OPTIONS["drugs"]
ASKED = {
    unread.CUT_OFF: (Reason.LENGTH, LETTER, "option"),
    unread.EMPTY: (Reason.EMPTY, LETTER, "option"),
    unread.WITHHELD: (Reason.CONTENT_FILTER, LETTER, "option"),
    unread.NO_MATCH: (Reason.UNPARSED, AnswerParser("pattern", pattern="([01])"), "text"),
    unread.UNCLEAR_PART: (
        Reason.UNPARSED,
        AnswerParser("pattern", pattern="Answer: (.)"),
        "option",
    ),
    unread.NO_LABEL: (
        Reason.UNPARSED,
        AnswerParser("label", labels=(("0", "true"), ("1",))),
        "text",
    ),
    unread.SEVERAL_VALUES: (Reason.UNPARSED, LETTER, "number"),
    unread.NO_VALUE: (Reason.UNPARSED, LETTER, "number"),
    unread.NO_VERDICT: (Reason.UNPARSED, LETTER, "verdict"),
    unread.UNCLEAR_QUERY: (Reason.UNPARSED, LETTER, "query"),
    unread.NO_QUERY: (Reason.UNPARSED, LETTER, "query"),
    unread.NO_CODES: (Reason.UNPARSED, LETTER, "codes"),
    unread.OTHER: (Reason.UNPARSED, LETTER, "text"),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_example_of_every_kind_is_unread_and_of_that_kind(kind):
    reason, parser, value = ASKED.get(kind, (Reason.UNPARSED, LETTER, "option"))
    example = kind.example or "?"
    assert classify_unread(reason, example, parser, value, DRUGS) == kind
    if value == "option" and reason == Reason.UNPARSED and parser == LETTER:
        assert extract_option(example, DRUGS) is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("A and C", unread.SEVERAL_OPTIONS),
        ("A patient needs rest.", unread.NO_OPTION),
        ("I cannot choose between A and C.", unread.REFUSAL),
        ('{"answer": "E"}', unread.BEYOND_OPTIONS),
        ('{"answer": "A, C"}', unread.SEVERAL_OPTIONS),
        ('{"answer": null}', unread.UNCLEAR_FIELD),
        ("The answer is not C.", unread.UNCLEAR_OPTION),
        ("dose\n" * 40, unread.REPETITION),
    ],
)
def test_an_answer_about_options_has_the_kind_that_a_person_would_name(answer, kind):
    assert classify_unread(Reason.UNPARSED, answer, LETTER, "option", DRUGS) == kind


def test_json_without_the_parsers_field_is_told_from_an_answer_without_json():
    json, text = '{"verdict": "yes"}', "It is hallucinated."
    assert classify_unread(Reason.UNPARSED, json, JSON, "text") == unread.NO_FIELD
    assert classify_unread(Reason.UNPARSED, text, JSON, "text") == unread.NO_MATCH


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ('{"verdict": null}', unread.UNCLEAR_FIELD),
        ('{"verdict": 2}', unread.UNCLEAR_FIELD),
        ('{"verdict": "Aspirin Z"}', unread.UNCLEAR_FIELD),
        ('{"Verdict": "A"}', unread.NO_FIELD),
        ('{"answer": "A"}', unread.NO_FIELD),
        ("The verdict is out.", unread.NO_MATCH),
    ],
)
def test_a_named_field_without_an_answer_is_told_from_a_missing_field(answer, kind):
    parser = AnswerParser("json", field="verdict")
    assert classify_unread(Reason.UNPARSED, answer, parser, "option", DRUGS) == kind


def test_names_are_unique_and_no_unread_style_lacks_a_kind():
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    for question, expected, answer in CORPUS:
        if expected == "-":
            kind = classify_unread(Reason.UNPARSED, answer, LETTER, "option", OPTIONS[question])
            assert kind is not unread.OTHER


@pytest.mark.parametrize(
    "part",
    ["ab" * 3, "{", '"answer": ', "select with ", "A or ", "I can't ", "\n", "The answer is A "],
)
def test_a_hostile_answer_takes_no_longer_than_others(part):
    answer = part * (200_000 // len(part))
    for value in ("option", "number", "query", "verdict"):
        began = time.process_time()
        classify_unread(Reason.UNPARSED, answer, LETTER, value, DRUGS)
        assert time.process_time() - began < 2
