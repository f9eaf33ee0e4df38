"""An attacker of figures: answers that the server cut off are scored as if they had stated a result."""

import csv
import sqlite3
from pathlib import Path

import pytest

from agent.metrics import MetricUse
from agent.reading.reading import Reading
from agent.scoring.measures import Rules
from agent.scoring.readings import read_response
from agent.scoring.score import score_response
from agent.vocabulary import AnswerParser, Instance, Message, Reason, Reference, Response, Unscored

SAMPLE = Path(__file__).parents[3] / "benchmarks/medcalc_bench/sample/test_data.csv"
CUTS = (40, 60, 80, 95)  # percent of an explanation that the server lets through

NUMBER = "medcalc_bench_accuracy"
FLAG = "medec_error_flag_accuracy"
SENTENCE = "medec_error_sentence_accuracy"
QUERY = "ehr_sql_total_predicted_answerable"

NOTE = "0 A man has fever.\n1 He coughs.\n2 The dose is 50 mg.\n" + "\n".join(
    f"{number} He rested on day {number}." for number in range(3, 12)
)


def make_number(gold: str = "25.3", category: str = "lab") -> Instance:
    extra = {"category": category, "lower_limit": gold, "upper_limit": gold}
    return Instance("1", "1", (Message("user", "?"),), (Reference(gold, True),), extra=extra)


def make_note() -> Instance:
    return Instance("1", "1", (Message("user", NOTE),), (Reference("2 The dose is 5 mg.", True),))


def make_query() -> Instance:
    extra = {"database": "none.sqlite", "is_impossible": "false"}
    gold = (Reference("select a from b", True),)
    return Instance("1", "1", (Message("user", "?"),), gold, extra=extra)


def make_choice() -> Instance:
    options = (Reference("Aspirin", False), Reference("Heparin", False), Reference("Iron", True))
    return Instance("1", "1", (Message("user", "?"),), options, multiple_choice=True)


def score(
    metric: str,
    instance: Instance,
    answer: str,
    finish: str = "length",
    parser: AnswerParser | None = None,
    scoring: str = "intramural",
) -> float | Unscored:
    """Score one answer, and check that it is shown as read if and only if it has a score."""
    rules = Rules.of((MetricUse(metric),), scoring, parser or AnswerParser("text"), "l")  # type: ignore[arg-type]
    response = Response(answer, "", finish, None, None, 0.0)  # type: ignore[arg-type]
    (measured,) = score_response(rules, instance, response)
    assert isinstance(measured.value, float | Unscored)
    for shown in read_response(rules, instance, response):
        if isinstance(measured.value, Unscored):
            assert shown.reading == measured.value
        else:
            assert isinstance(shown.reading, Reading)
    return measured.value


def list_cut_explanations(percent: int) -> list[tuple[Instance, str]]:
    with SAMPLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cut: list[tuple[Instance, str]] = []
    for row in rows:
        instance = make_number(row["Ground Truth Answer"], row["Category"])
        instance.extra.update(  # type: ignore[attr-defined]
            lower_limit=row["Lower Limit"], upper_limit=row["Upper Limit"]
        )
        explanation = row["Ground Truth Explanation"]
        cut.append((instance, explanation[: len(explanation) * percent // 100]))
    return cut


@pytest.mark.parametrize("percent", CUTS)
def test_no_explanation_that_was_cut_off_is_scored_by_its_last_number(percent: int):
    explanations = list_cut_explanations(percent)
    scores = [score(NUMBER, instance, text) for instance, text in explanations]
    assert set(scores) == {Unscored(Reason.LENGTH)}


def test_explanations_that_end_by_themselves_are_scored():
    explanations = list_cut_explanations(100)
    scores = [score(NUMBER, instance, text, "stop") for instance, text in explanations]
    assert set(scores) == {1.0}


@pytest.mark.parametrize("percent", CUTS)
@pytest.mark.parametrize("finish", ["stop", "other"])
def test_an_answer_is_read_as_a_whole_if_it_is_unknown_whether_it_was_cut_off(
    percent: int, finish: str
):
    explanations = list_cut_explanations(percent)
    scores = [score(NUMBER, instance, text, finish) for instance, text in explanations]
    assert Unscored(Reason.LENGTH) not in scores
    if percent >= 80:
        assert 0.0 in scores


@pytest.mark.parametrize(
    "answer",
    [
        "The answer is 25.3 mL/min. This means that the",
        "The weight is 80 kg.\n\n**Final answer:** 25.3 mL/min\n\nThis is a",
        "Final answer: 25.3\n",
        "Weight = 80 kg, so\n$$\\boxed{25.3}$$",
        "25.3 mL/min\n\nThe patient weighs 80 kg, and the",
        "25.3 mL/mi",
        "**25.3 mL/min**",
        "The answer is 25.3 mL/min",
        '{"answer": 25.3, "explanation": "The weight is',
        '{"answer": "25.3 mL/min", "explanation": "The',
        "<answer>25.3</answer> The",
    ],
)
def test_a_result_that_was_stated_before_the_cut_stands(answer: str):
    assert score(NUMBER, make_number(), answer) == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "25",
        "25.",
        "25.3",
        "**25.3**",
        "25,",
        "The answer is 25",
        "The answer is 25.",
        "The answer is 5 to",
        "The answer is 1.5 or",
        "Final answer: 4 points for age plus",
        "Final answer: 25.3 × 1",
        "The patient's weight is 80 kg. The",
        "The weight is 80 kg.",
        "The estimated clearance is 25.3 mL/min",
        "BMI = 80 / 1.6^2 = 31.25. The patient's height",
        "The score is increased by 1, making the current total 2. The patient is",
        "80 / 1.6^2 = 31.25",
        '{"answer": 25',
        '{"answer": "25.',
        "First, the weight is needed, which the",
    ],
)
def test_a_number_that_the_cut_may_have_changed_is_no_result(answer: str):
    assert score(NUMBER, make_number(), answer) == Unscored(Reason.LENGTH)


def test_a_date_or_duration_that_may_be_cut_is_no_result():
    date = make_number("03/04/2020", "date")
    assert score(NUMBER, date, "Final answer: 03/04/20") == Unscored(Reason.LENGTH)
    assert score(NUMBER, date, "Final answer: 03/04/2020\n\nThe last") == 1.0
    weeks = make_number("('14 weeks', '2 days')", "date")
    assert score(NUMBER, weeks, "Final answer: 14 weeks") == Unscored(Reason.LENGTH)
    assert score(NUMBER, weeks, "Final answer: 14 weeks, 2 days. The") == 1.0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"result": "25.3 mL/min", "reason": "The', 1.0),
        ('{"result": 25.3}', 1.0),
        ('{"result": "25.3 mL/min', 1.0),
        ('{"result": 25', Unscored(Reason.LENGTH)),
        ('{"reason": "The weight is 80', Unscored(Reason.LENGTH)),
    ],
)
def test_a_field_that_the_parser_selects_may_be_cut_too(answer: str, expected: float | Unscored):
    parser = AnswerParser("json", "result")
    assert score(NUMBER, make_number(), answer, parser=parser) == expected


@pytest.mark.parametrize("answer", ["C", "C.", "Iron", "The answer is C. It", "C) Iron is a"])
def test_an_option_of_one_token_is_an_answer(answer: str):
    assert score("exact_match", make_choice(), answer) == 1.0


def test_an_unread_option_keeps_its_reason():
    expected = Unscored(Reason.UNPARSED)
    assert score("exact_match", make_choice(), "Let us see. Aspirin is") == expected


def test_a_text_is_compared_as_far_as_it_goes():
    instance = Instance("1", "1", (Message("user", "?"),), (Reference("Rest and", True),))
    assert score("f1_score", instance, "Rest and") == 1.0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("CORRECT", 0.0),
        ("Answer: 2 The dose is", 1.0),
        ("The error is in sentence 2. The dose should", 1.0),
        ("Sentence 2 is wrong because the", 1.0),
        ('{"error_flag": 1, "error_sentence_id": 2, "corr', 1.0),
        ("2 The dose is 5 mg.\n\nThis", 1.0),
        ("2", Unscored(Reason.LENGTH)),
        ("The error is in sentence 1", Unscored(Reason.LENGTH)),
        ('{"error_flag": 1, "error_sentence_id": 1', Unscored(Reason.LENGTH)),
        ("The note is correct", Unscored(Reason.LENGTH)),
        ("2 The dose is 5", Unscored(Reason.LENGTH)),
        (
            "Let me go through the note.\n0 A man has fever.\n1 He coughs.\n2 The dose",
            Unscored(Reason.LENGTH),
        ),
        ("Let me read the note.", Unscored(Reason.LENGTH)),
    ],
)
def test_a_verdict_stands_if_more_text_follows_it(answer: str, expected: float | Unscored):
    assert score(SENTENCE, make_note(), answer) == expected


def test_a_stated_error_has_a_flag_even_if_its_sentence_is_not_named():
    answer = "The note contains an error, namely"
    assert score(FLAG, make_note(), answer) == 1.0
    assert score(SENTENCE, make_note(), answer) == Unscored(Reason.LENGTH)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("SELECT a FROM b;", 1.0),
        ("```sql\nSELECT a FROM b\n```", 1.0),
        ("```sql\nSELECT a FROM b;", 1.0),
        ("SELECT a FROM b\n\nThis query", 1.0),
        ('{"sql": "SELECT a FROM b"', 1.0),
        ("null", 0.0),
        ("The question cannot be answered with these tables, because", 0.0),
        ("SELECT a FROM b", Unscored(Reason.LENGTH)),
        ('{"sql": "SELECT a FROM \\"b\\"', Unscored(Reason.LENGTH)),
        ("SELECT a FROM b WHERE c = 'asp", Unscored(Reason.LENGTH)),
        ("```sql\nSELECT a FROM b\n", Unscored(Reason.LENGTH)),
        ("```sql\n-- First, the patients", Unscored(Reason.LENGTH)),
        ("The question cannot be answered", Unscored(Reason.LENGTH)),
        (
            "```sql\nSELECT a FROM b;\n```\nThat needs a join:\n```sql\nSELECT c FROM",
            Unscored(Reason.LENGTH),
        ),
    ],
)
def test_a_query_stands_if_it_has_an_end(answer: str, expected: float | Unscored):
    assert score(QUERY, make_query(), answer) == expected


def test_a_reason_of_the_question_comes_before_that_of_the_answer(tmp_path: Path):
    unknown = make_number("25.3", "unknown category")
    assert score(NUMBER, unknown, "25") == Unscored(Reason.NO_REFERENCE)
    sqlite3.connect(tmp_path / "empty.sqlite").close()
    extra = {"database": str(tmp_path / "empty.sqlite"), "is_impossible": "true"}
    gold = (Reference("null", True),)
    impossible = Instance("1", "1", (Message("user", "?"),), gold, extra=extra)
    rules = Rules.of(
        (MetricUse("ehr_sql_recall_answerable"),), "intramural", AnswerParser("text"), "l"
    )
    response = Response("SELECT a FROM b", "", "length", None, None, 0.0)
    (measured,) = score_response(rules, impossible, response)
    assert measured.value == Unscored(Reason.NOT_APPLICABLE)


def test_helms_rules_score_what_was_written():
    assert score(NUMBER, make_number("25.3", "physical"), "25.3", scoring="helm") == 1.0
