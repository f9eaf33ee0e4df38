"""MedCalc's scoring by category, by our rule and by upstream's."""

import csv
import json
from pathlib import Path

import pytest

from agent.metrics import score
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored


def row(category: str, gold: str, low: str = "", high: str = "") -> Instance:
    extra = {"category": category, "lower_limit": low or gold, "upper_limit": high or gold}
    return Instance("1", "1", (Message("user", "?"),), (Reference(gold, True),), extra=extra)


@pytest.mark.parametrize(
    "category", ["lab", "lab test", "physical", "dosage", "dosage conversion", "Lab"]
)
def test_limits_are_inclusive_in_every_spelling_of_a_category(category):
    instance = row(category, "100", "95", "105")
    assert [
        score("medcalc_bench_accuracy", a, instance)
        for a in ("95", "105 mmHg", "100.0", "94.99", "106")
    ] == [
        1.0,
        1.0,
        1.0,
        0.0,
        0.0,
    ]


def test_negative_limits_may_be_the_other_way_round():
    assert score("medcalc_bench_accuracy", "-2.0", row("lab", "-2", "-1.9", "-2.1")) == 1.0


@pytest.mark.parametrize("category", ["risk", "severity", "diagnosis"])
def test_scores_are_equal_as_numbers_and_not_as_text(category):
    instance = row(category, "5")
    assert score("medcalc_bench_accuracy", "5.0", instance) == 1.0
    assert score("medcalc_bench_accuracy", "The score is 5.", instance) == 1.0
    assert score("medcalc_bench_accuracy", "6", instance) == 0.0
    assert score("medcalc_bench_accuracy", "5.0", instance, "helm") == 0.0
    assert score("medcalc_bench_accuracy", "5", instance, "helm") == 1.0


def test_durations_and_dates_have_their_limits_too():
    weeks = row("date", "('14 weeks', '2 days')")
    assert score("medcalc_bench_accuracy", "14 weeks and 2 days", weeks) == 1.0
    assert score("medcalc_bench_accuracy", "14 weeks", weeks) == 0.0
    assert score("medcalc_bench_accuracy", "14 weeks and 2 days", weeks, "helm") == 0.0
    day = row("date", "09/23/2014")
    assert score("medcalc_bench_accuracy", "2014-09-23", day) == 1.0
    assert score("medcalc_bench_accuracy", "09/24/2014", day) == 0.0
    assert score("medcalc_bench_accuracy", "2014-09-23", day, "helm") == 0.0


@pytest.mark.parametrize("category", ["lab", "risk", "date"])
def test_a_refusal_is_unscored_and_not_wrong(category):
    gold = "09/23/2014" if category == "date" else "5"
    assert score("medcalc_bench_accuracy", "I cannot say.", row(category, gold)) == Unscored(
        Reason.UNPARSED
    )
    assert score("medcalc_bench_accuracy", "I cannot say.", row(category, gold), "helm") == 0.0


def test_a_category_that_nobody_knows_has_no_rule():
    assert score("medcalc_bench_accuracy", "5", row("astrology", "5")) == Unscored(
        Reason.NO_REFERENCE
    )


def test_upstream_scores_lab_and_dosage_zero_whatever_the_answer():
    assert score("medcalc_bench_accuracy", "100", row("lab", "100", "95", "105"), "helm") == 0.0
    assert score("medcalc_bench_accuracy", "100", row("dosage", "100", "95", "105"), "helm") == 0.0
    assert (
        score("medcalc_bench_accuracy", "100", row("physical", "100", "95", "105"), "helm") == 1.0
    )
    assert (
        score("medcalc_bench_accuracy", "100 mg", row("physical", "100", "95", "105"), "helm")
        == 0.0
    )


SAMPLE = Path(__file__).parents[3] / "benchmarks/medcalc_bench/sample/test_data.csv"
ARRANGEMENTS = {
    "explanation, then the value": "{explanation}\n\n{gold}",
    "explanation, then a sentence": "{explanation}\nThe answer is {gold}.",
    "explanation, then a label": "{explanation}\n**Answer: {gold}**",
    "value, then the explanation": "{gold}\n\n{explanation}",
    "sentence, then the explanation": "The answer is {gold}. {explanation}",
    "explanation alone": "{explanation}",
}


def read_sample() -> list[dict[str, str]]:
    with SAMPLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def make_instance(columns: dict[str, str]) -> Instance:
    limits = columns["Lower Limit"], columns["Upper Limit"]
    return row(columns["Category"], columns["Ground Truth Answer"], *limits)


@pytest.mark.parametrize("arrangement", ARRANGEMENTS.values(), ids=ARRANGEMENTS)
def test_the_published_answer_is_read_beside_the_published_explanation(arrangement):
    for columns in read_sample():
        explanation, gold = columns["Ground Truth Explanation"], columns["Ground Truth Answer"]
        answer = arrangement.format(explanation=explanation, gold=gold)
        scored = score("medcalc_bench_accuracy", answer, make_instance(columns))
        assert scored == 1.0, columns["Row Number"]


def test_the_published_answer_is_read_from_the_output_format_of_the_dataset():
    for columns in read_sample():
        explanation, gold = columns["Ground Truth Explanation"], columns["Ground Truth Answer"]
        fields = {"step_by_step_thinking": explanation, "answer": gold}
        for answer in (json.dumps(fields), str(fields)):
            scored = score("medcalc_bench_accuracy", answer, make_instance(columns))
            assert scored == 1.0, columns["Row Number"]
