"""docs/scoring.md names every metric and every fault, and its figures are true of the data in the repository."""

import csv
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from agent.datasets.readers.table import Problems
from agent.datasets.sources.medec import read_medec
from agent.metrics import METRICS, score
from agent.metrics.ehr_sql import NOW, is_empty_result, repair_query
from agent.metrics.read_only_sql import run_query
from agent.vocabulary import Instance, Message, Reference, Unscored
from tests.parity.faults import FAULTS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/scoring.md").read_text("utf-8")
DATA = ROOT / "tests/data"


def fault(name: str) -> str:
    (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.MULTILINE)
    return row


def instance(*references: Reference, multiple_choice: bool = False, **extra: str) -> Instance:
    return Instance("1", "1", (Message("user", "?"),), references, multiple_choice, extra)


def percent(scores: list[float | Unscored]) -> float:
    return 100 * sum(s for s in scores if not isinstance(s, Unscored)) / len(scores)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ehr_sql_folder() -> Path:
    folder = Path(os.environ["INTRAMURAL_OFFICIAL_DATA"], "ehr_sql")
    return next(place for place in (folder, folder / "eicu") if (place / "valid.json").is_file())


def test_every_metric_is_on_the_page_with_its_range():
    for name, spec in METRICS.items():
        (row,) = [
            line
            for line in PAGE.splitlines()
            if line.startswith("| `") and f"`{name}`" in line.split("|")[1]
        ]
        assert (
            row.split("|")[2].strip() == f"{spec.low} {'or' if spec.binary else 'to'} {spec.high}"
        )


def test_every_fault_that_explains_a_difference_is_on_the_page_and_no_other():
    section = PAGE.partition("## What differs from HELM")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE)
    assert sorted(listed) == sorted(FAULTS)


def test_the_size_of_medcalcs_faults():
    made = [
        instance(
            Reference(row["Ground Truth Answer"], True),
            category=row["Category"],
            lower_limit=row["Lower Limit"],
            upper_limit=row["Upper Limit"],
        )
        for row in rows("medcalc_bench/answers.csv")
    ]
    upstream = [score("medcalc_bench_accuracy", i.references[0].text, i, "helm") for i in made]
    assert (
        f"{upstream.count(0.0)} of {len(made):,} rows: a perfect model scores {percent(upstream):.1f} %"
        in fault("medcalc-categories")
    )
    scores = [i for i in made if i.extra["category"] in {"risk", "severity", "diagnosis"}]
    golds = [i.references[0].text for i in scores]
    decimals = [gold if "." in gold else f"{gold}.0" for gold in golds]
    assert all(
        score("medcalc_bench_accuracy", d, i) == 1 for d, i in zip(decimals, scores, strict=True)
    )
    rejected = [
        score("medcalc_bench_accuracy", d, i, "helm") for d, i in zip(decimals, scores, strict=True)
    ].count(0.0)
    assert f"All {len(scores)} rows" in fault("medcalc-bare-value")
    assert f"{rejected} of them reject" in fault("medcalc-bare-value")
    swapped = [
        i for i in made if "/" not in i.extra["lower_limit"] and "(" not in i.extra["lower_limit"]
    ]
    assert all(float(i.extra["lower_limit"]) <= float(i.extra["upper_limit"]) for i in swapped)
    assert f"None of the {len(made):,} rows" in fault("medcalc-swapped-limits")


def test_the_size_of_medecs_faults():
    with (DATA / "medec/verdicts.csv").open(newline="", encoding="utf-8") as file:
        golds = [row.cells["gold"] for row in read_medec(file, Problems("verdicts.csv")).rows]
    made = [(gold, instance(Reference(gold, True))) for gold in golds]
    upstream = [score("medec_error_sentence_accuracy", gold, i, "helm") for gold, i in made]
    wrong, found = upstream.count(0.0), percent(upstream)
    assert f"{wrong} of {len(golds)} notes: a perfect model scores {found:.1f} %" in fault(
        "medec-sentence"
    )
    stopped = [
        score("medec_error_flag_accuracy", re.sub("^CORRECT$", "CORRECT.", g), i, "helm")
        for g, i in made
    ]
    assert f"{golds.count('CORRECT')} of {len(golds)} notes are correct" in fault("medec-bare-word")
    assert f"a perfect model scores {percent(stopped):.1f} %" in fault("medec-bare-word")


def test_the_size_of_the_bare_letter_rule_on_real_answers():
    outputs = rows("med_mcqa/gpt-35-turbo-16k_medrag32.csv")
    made = [
        (
            row["answer_tail"],
            instance(
                *(Reference(f"option {o}", o == row["right"]) for o in "ABCD"), multiple_choice=True
            ),
        )
        for row in outputs
    ]
    upstream = [score("exact_match", answer, i, "helm") for answer, i in made]
    ours = [score("exact_match", answer, i) for answer, i in made]
    read = [s for s in ours if not isinstance(s, Unscored)]
    assert f"{len(outputs):,} real answers" in fault("bare-letter")
    assert f"HELM {percent(upstream) / 100:.3f}." in fault("bare-letter")
    figures = (
        f"{sum(read) / len(read):.3f} over n {len(read):,} with floor {sum(read) / len(ours):.3f}"
    )
    assert f"without the options' texts {figures}" in fault("bare-letter")


@pytest.mark.skipif(
    not os.environ.get("INTRAMURAL_OFFICIAL_DATA"), reason="needs the official files"
)
def test_the_size_of_ehrsqls_faults():
    path = ehr_sql_folder() / "valid.json"
    questions = json.loads(path.read_text("utf-8"))
    answerable = [question["query"] for question in questions if not question["is_impossible"]]
    impossible = len(questions) - len(answerable)
    assert f"{impossible} of {len(questions):,} questions" in fault("sql-unanswerable")
    database = str(path.parent / "eicu.sqlite")
    without = instance(Reference("null", True), is_impossible="true", value="{}", database=database)
    helm = [
        score("ehr_sql_execution_accuracy", answer, without, "helm")
        for answer in ("", "null", "No query.")
    ]
    assert helm == [1.0, 0.0, 0.0]
    changed = sum(repair_query(query) != query for query in answerable)
    assert f"{changed} of {len(answerable)} answerable" in fault("sql-as-published")
    clock = sum("current_time" in query or "'now'" in query for query in answerable)
    assert f"{clock} of {len(answerable)} answerable" in fault("sql-clock")


@pytest.mark.skipif(
    not os.environ.get("INTRAMURAL_OFFICIAL_DATA"), reason="needs the official files"
)
def test_how_much_of_ehrsql_the_public_database_can_tell_apart():
    folder = ehr_sql_folder()
    kinds: Counter[str] = Counter()
    for name in ("valid.json", "test.json"):
        for question in json.loads((folder / name).read_text("utf-8")):
            if question["is_impossible"]:
                kinds["impossible"] += 1
                continue
            rows = tuple(
                run_query(folder / "eicu.sqlite", repair_query(question["query"]), now=NOW).rows
            )
            kinds["something" if not is_empty_result(rows) else str(rows)] += 1
    answerable = kinds.total() - kinds["impossible"]
    text = " ".join(PAGE.split())
    assert f"Of the {answerable:,} answerable questions" in text
    found = (
        f"no row in {kinds['()']:,}, zero in {kinds['((0,),)']} and NULL in {kinds['((None,),)']}"
    )
    assert (
        f"{found}, so that {kinds['something']} are left in addition to the {kinds['impossible']}"
        in text
    )
