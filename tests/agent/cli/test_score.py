"""`intramural score` of a benchmark that lies anywhere, by its YAML file, as run entries take it."""

import csv
import io
import json
from pathlib import Path

import pytest

from agent.catalog.new_benchmark import write_new_benchmark
from tests.agent.runs.suites import answers_file
from tests.agent.terminal import Done, intramural

ROOT = Path(__file__).parents[3]
BY_FILE = (
    "own",
    "own/benchmark.yaml",
    "medhelm_configurable_benchmark:config_path=own/benchmark.yaml",
)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write_new_benchmark("mine", "jury", tmp_path / "own")
    answers_file(
        tmp_path / "a.jsonl", {"1": "Pneumonia.", "2": "Fracture.", "3": "Blood pressure 128/82."}
    )
    return tmp_path


def scored(here: Path, benchmark: str, *words: str) -> Done:
    return intramural("score", benchmark, *words, cwd=here)


@pytest.mark.parametrize("benchmark", BY_FILE)
def test_it_is_scored_on_the_data_that_it_names_or_on_other(here: Path, benchmark: str):
    words = ("--answers", "a.jsonl", "--format", "json")
    done = scored(here, benchmark, *words)
    assert done.returncode == 0, done.stderr
    rows = {row["metric"]: row for row in json.loads(done.stdout)}
    assert rows["rouge_l"]["n"] == 3
    assert rows["jury_score"]["unscored_reasons"] == {"not_judged": 3}
    other = here / "other, and longer.csv"
    other.write_text((here / "own/data.csv").read_text() + "4,A note.,A summary.\n")
    done = scored(here, benchmark, "--data", other.name, *words)
    assert {row["metric"]: row["n"] + row["unscored"] for row in json.loads(done.stdout)}[
        "rouge_l"
    ] == 4, done.stderr


@pytest.mark.parametrize("benchmark", BY_FILE)
def test_what_its_judges_are_asked_elsewhere_is_written(here: Path, benchmark: str):
    done = scored(here, benchmark, "--answers", "a.jsonl", "--write-judge-prompts", "p.jsonl")
    assert done.returncode == 0, done.stderr
    assert len((here / "p.jsonl").read_text().splitlines()) == 3


def test_a_file_that_is_not_there_and_data_that_is_not_named_are_told(here: Path):
    absent = scored(here, "own/demo.yaml", "--answers", "a.jsonl")
    assert (absent.returncode, "there is no file own/demo.yaml" in absent.stderr) == (2, True)
    unnamed = scored(here, "med_qa", "--answers", "a.jsonl")
    assert (
        unnamed.returncode,
        "med_qa needs the data that its answers refer to" in unnamed.stderr,
    ) == (
        2,
        True,
    )
    assert "--data" in unnamed.stderr


def test_an_own_metric_without_a_site_asks_for_the_site(here: Path):
    definition = here / "own/benchmark.yaml"
    text = definition.read_text()
    first = "  - name: jury_score"
    assert first in text
    definition.write_text(text.replace(first, f"  - name: own/dose\n{first}"))
    done = scored(here, "own", "--answers", "a.jsonl")
    assert done.returncode == 3
    assert "own/dose is a metric of a site's own, and there is no site here" in done.stderr
    assert "Give --site" in done.stderr


def test_a_jury_that_is_named_without_its_judgements_is_refused_whatever_else_is_asked_for(
    here: Path,
):
    (here / "judges.yaml").write_text("judges: []\n")
    done = scored(
        here,
        BY_FILE[0],
        "--answers",
        "a.jsonl",
        "--write-judge-prompts",
        "p.jsonl",
        "--judges",
        "judges.yaml",
    )
    assert done.returncode == 2
    assert "give both" in done.stderr
    assert not (here / "p.jsonl").exists()


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_benchmark_that_is_read_by_labels_is_shown_in_every_form(here: Path, form: str):
    data = ROOT / "benchmarks/medhallu/sample/pqa_labeled.jsonl"
    template = intramural(
        "score", "medhallu", "--data", data, "--write-template", "empty.jsonl", cwd=here
    )
    assert template.returncode == 0, template.stderr
    lines = [json.loads(line) for line in (here / "empty.jsonl").read_text().splitlines()]
    filled = [json.dumps(line | {"answer": "Hallucinated."}) for line in lines]
    (here / "answers.jsonl").write_text("\n".join(filled))
    done = intramural(
        *("score", "medhallu", "--data", data, "--answers", "answers.jsonl", "--format", form),
        cwd=here,
    )
    assert done.returncode == 0, done.stderr
    assert "0.5" in done.stdout
    if form == "csv":
        (row,) = csv.DictReader(io.StringIO(done.stdout))
        assert row["parser"] == "label 0 1"


@pytest.mark.parametrize(
    ("answer", "words", "mean"),
    [
        ('{"hallucinated": true, "why": "It is true that ..."}', ("hallucinated",), 0.5),
        ('{"hallucinated": "difficult"}', ("hallucinated",), None),
    ],
)
def test_the_labels_of_a_benchmark_are_read_in_another_field(
    here: Path, answer: str, words: tuple[str, ...], mean: float | None
):
    data = ROOT / "benchmarks/medhallu/sample/pqa_labeled.jsonl"
    template = ("score", "medhallu", "--data", data, "--write-template", "empty.jsonl")
    assert intramural(*template, cwd=here).returncode == 0
    lines = [json.loads(line) for line in (here / "empty.jsonl").read_text().splitlines()]
    filled = {line["instance_id"]: answer for line in lines}
    answers_file(here / "answers.jsonl", filled)
    done = intramural(
        *("score", "medhallu", "--data", data, "--answers", "answers.jsonl", "--format", "json"),
        *("--answer-field", *words),
        cwd=here,
    )
    (row,) = json.loads(done.stdout)
    assert (row["mean"], row["unscored"]) == (mean, 0 if mean else len(lines))
