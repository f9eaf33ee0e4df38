"""What was read is shown for the answer as it was stored: with its parser, its rules and its reasons."""

import pytest

from agent.metrics import MetricUse
from agent.reading.reading import Reading
from agent.reading.thoughts import build_response
from agent.scoring.measures import Rules
from agent.scoring.readings import read_response
from agent.scoring.score import score_response
from agent.vocabulary import AnswerParser, Failure, Instance, Message, Reason, Reference, Unscored

QUESTION = Instance(
    "1",
    "1",
    (Message("user", "?"),),
    (Reference("Aspirin", False), Reference("Heparin", True)),
    multiple_choice=True,
)
LETTER = AnswerParser("option_letter")
JSON = AnswerParser("json", field="verdict")
PATTERN = AnswerParser("pattern", pattern=r"Result: (.+)")


def read(answer: str | Failure, parser: AnswerParser = LETTER, scoring: str = "both"):
    rules = Rules.of([MetricUse("exact_match"), MetricUse("f1_score")], scoring, parser, "")
    result = answer if isinstance(answer, Failure) else build_response(answer)
    readings = {each.measure.name: each.reading for each in read_response(rules, QUESTION, result)}
    scores = {each.measure.name: each.value for each in score_response(rules, QUESTION, result)}
    for name, reading in readings.items():
        assert isinstance(reading, Unscored) is isinstance(scores[name], Unscored)
    assert readings["exact_match"] == readings["f1_score"]
    return readings["exact_match"]


def test_the_span_of_a_field_or_match_is_its_place_in_the_whole_answer():
    answer = 'I think so.\n```json\n{"verdict": "Answer: B, surely"}\n```'
    reading = read(answer, JSON)
    assert isinstance(reading, Reading)
    assert answer[reading.start : reading.end].strip(' "') in "Answer: B, surely"
    assert answer.index("Answer") <= reading.start < reading.end <= answer.index("surely") + 6
    assert (reading.value, reading.rule.split(",")[0]) == ("B", "field of the parser")
    answer = "Result: A\nNo.\nResult: **B**\n"
    reading = read(answer, PATTERN)
    assert isinstance(reading, Reading)
    assert "B" in answer[reading.start : reading.end]
    assert reading.start > answer.index("No.")
    assert reading.rule == "pattern of the parser, whole answer"


def test_a_field_that_is_a_list_is_shown_with_the_place_of_the_list():
    answer = '{"verdict": [ "B" ]}'
    rules = Rules.of([MetricUse("exact_match")], "intramural", JSON, "")
    (measured,) = read_response(rules, QUESTION, build_response(answer))
    assert isinstance(measured.reading, Reading)
    assert answer[measured.reading.start : measured.reading.end] == '[ "B" ]'


@pytest.mark.parametrize(
    ("answer", "parser", "reason"),
    [
        (" ", LETTER, Reason.EMPTY),
        ("<think>Perhaps A", LETTER, Reason.LENGTH),
        ("<think>A</think> I cannot say.", LETTER, Reason.UNPARSED),
        ("B", JSON, Reason.UNPARSED),
        (Failure(Reason.TIMEOUT), LETTER, Reason.TIMEOUT),
    ],
)
def test_an_answer_that_is_not_read_has_the_reason_of_its_score(answer, parser, reason):
    assert read(answer, parser) == Unscored(reason)


def test_helms_rules_compare_the_text_and_show_no_reading():
    rules = Rules.of([MetricUse("exact_match")], "helm", LETTER, "")
    assert list(read_response(rules, QUESTION, build_response("B"))) == []
