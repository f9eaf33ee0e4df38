"""The value that is shown for an answer is the value that was scored, and it stands where the reading says."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from agent.metrics import METRICS, WHOLE_TEXT, read_answer, read_labels, score
from agent.reading import note_verdicts, numbers, queries
from agent.reading.choice import RULES as CHOICE_RULES
from agent.reading.reading import Reading
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored
from tests.agent.metrics.asked import CHOICE, free
from tests.agent.reading.test_answer_styles import CORPUS, OPTIONS, unescaped

DATA = Path(__file__).parents[2] / "data"
NOTE = "\n".join(f"{number} The dose is {number * 5} mg." for number in range(12))
SCORED_BY_VALUE = [name for name, spec in METRICS.items() if spec.read is not None]


def closed(texts: tuple[str, ...], right: int = 1) -> Instance:
    references = [Reference(text, index == right) for index, text in enumerate(texts)]
    return Instance("1", "1", (Message("user", "?"),), tuple(references), multiple_choice=True)


def calculated(category: str, low: str, high: str, gold: str) -> Instance:
    extra = {"category": category, "lower_limit": low, "upper_limit": high}
    return Instance("1", "1", (Message("user", "?"),), (Reference(gold, True),), extra=extra)


CALCULATED = (
    calculated("risk", "5", "5", "5"),
    calculated("lab", "20", "30", "25.2"),
    calculated("date", "01/01/2010", "01/01/2020", "03/04/2014"),
    calculated(
        "date", "('14 weeks', '0 days')", "('15 weeks', '0 days')", "('14 weeks', '2 days')"
    ),
)
CHECKED_NOTE = Instance("1", "1", (Message("user", NOTE),), (Reference("10 It is 5 mg.", True),))
VALUES = ("5", "25.2 mL/min", "It is 03/04/2014.", "14 weeks, 2 days", "14w2d", "no idea", "5 or 6")
CODES = (
    "E11.9 (DM); I10 (HTN)",
    "vitamin B12",
    "The codes are I10, E119 and N186.",
    "0DJ08ZZ",
    "**s72.001a**",
)


def read_styles(name: str) -> list[str]:
    """Return the answers of a corpus whose lines hold what is read, a tab and the answer."""
    lines = (Path(__file__).parents[1] / "reading" / name).read_text("utf-8").splitlines()
    return [unescaped(line.split("\t")[1]) for line in lines if not line.startswith("# ")]


def iter_cases() -> list[tuple[str, str, Instance]]:
    """Return (beginning of the metrics' names, answer, instance) of every corpus of answer styles."""
    cases = [("choice", answer, closed(OPTIONS[question])) for question, _, answer in CORPUS]
    cases += [("choice", rule.example, closed(OPTIONS["drugs"])) for rule in CHOICE_RULES]
    with (DATA / "med_mcqa/gpt-35-turbo-16k_medrag32.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cases.append(("choice", row["answer_tail"], closed(("w", "x", "y", "z"))))
    examples = [example for _, example in numbers.RULES.values()]
    for answer in (*VALUES, *examples):
        cases += [("medcalc", answer, instance) for instance in CALCULATED]
    verdicts = [example for _, example in note_verdicts.RULES.values()]
    with (DATA / "medec/verdicts.csv").open(encoding="utf-8") as file:
        verdicts += [" ".join(row) for row in csv.reader(file)][:200]
    for answer in (
        *verdicts,
        *read_styles("verdict_styles.tsv"),
        "The note contains an error.",
        "Sentences 9 and 10 are wrong.",
    ):
        cases.append(("medec", answer, CHECKED_NOTE))
    cases += [("mimiciv", answer, free("E119, I10")) for answer in CODES]
    cases += [("choice", answer, free("Rest", "rest")) for answer in ("  Rest.\n", "No rest")]
    return cases


CASES = iter_cases()


def list_metrics(family: str) -> list[str]:
    if family == "choice":
        return [
            name
            for name in SCORED_BY_VALUE
            if not name.startswith(("medcalc", "medec", "mimiciv", "ehr"))
        ]
    return [name for name in SCORED_BY_VALUE if name.startswith(family)]


def compute(metric: str, answer: str, instance: Instance) -> object:
    if METRICS[metric].fn is None:
        return read_labels(metric, answer, instance)
    return score(metric, answer, instance)


def test_the_query_that_is_run_is_the_query_that_is_shown(database):
    extra = {"database": str(database), "is_impossible": "false", "value": "{}"}
    instance = replace(free("select name from drug"), extra=extra)
    answers = [example for _, example in queries.RULES.values()]
    answers += read_styles("query_styles.tsv")
    answers += ["select null", "```sql\nselect name from drug;\n```", "no query", "drop table drug"]
    for answer in answers:
        for metric in list_metrics("ehr_sql"):
            reading, value = read_answer(metric, answer, instance), score(metric, answer, instance)
            if isinstance(reading, Unscored):
                assert value == reading
                continue
            assert score(metric, reading.value, instance) == value, (metric, answer, reading)
            assert 0 <= reading.start < reading.end <= len(answer)


@pytest.mark.full
@pytest.mark.parametrize("family", ["choice", "medcalc", "medec", "mimiciv"])
def test_the_score_is_that_of_the_value_read_and_the_span_lies_in_the_answer(family):
    read = 0
    for case_family, answer, instance in CASES:
        if case_family != family:
            continue
        for metric in list_metrics(family):
            reading, value = (
                read_answer(metric, answer, instance),
                compute(metric, answer, instance),
            )
            if isinstance(reading, Unscored):
                assert value == reading, (metric, answer)
                continue
            read += 1
            assert compute(metric, reading.value, instance) == value, (metric, answer, reading)
            assert 0 <= reading.start < reading.end <= len(answer)
            assert reading.rule
    assert read > 10


@pytest.mark.parametrize("metric", METRICS)
def test_a_blank_answer_is_empty_whatever_the_metric(metric):
    assert read_answer(metric, " \n", CHOICE) == Unscored(Reason.EMPTY)


@pytest.mark.parametrize("metric", ["rouge_l", "BERTScore-F", "jury_score", "f1_score"])
def test_a_text_is_read_whole(metric):
    assert read_answer(metric, "\n Rest. ", free("Rest")) == Reading("Rest.", 2, 7, WHOLE_TEXT)


def test_the_span_shows_the_words_that_state_the_value():
    answer = "Weight = 80 kg.\n\n**Final answer:** 25.2 mL/min"
    reading = read_answer("medcalc_bench_accuracy", answer, CALCULATED[1])
    assert isinstance(reading, Reading)
    assert answer[reading.start : reading.end].startswith("25.2")
    answer = "Principal: **E11.9** diabetes, then I10."
    codes = read_answer("mimiciv_billing_code_f1", answer, free("I10"))
    assert isinstance(codes, Reading)
    assert answer[codes.start : codes.end] == "E11.9"


def test_a_value_without_a_single_sentence_answers_only_the_question_about_the_note():
    answer = "The note contains an error."
    flag = read_answer("medec_error_flag_accuracy", answer, CHECKED_NOTE)
    assert isinstance(flag, Reading)
    assert flag.value == "INCORRECT"
    unread = read_answer("medec_error_sentence_accuracy", answer, CHECKED_NOTE)
    assert unread == Unscored(Reason.UNPARSED)


def test_codes_that_are_not_named_are_shown_as_none():
    reading = read_answer("mimiciv_billing_code_recall", "vitamin B12", free("I10"))
    assert isinstance(reading, Reading)
    assert reading.value == "none"
