"""The public benchmarks: what is pinned, the plain tables, and the official files where they are at hand."""

import importlib.util
import json
import re

import pytest

from agent.catalog.parser_choice import choose_parser
from agent.datasets.load import load_instances, locate_dataset
from agent.metrics import JUDGED, METRICS, extract, score
from agent.vocabulary import Reason, Unscored
from tests.agent.datasets.sources.public import (
    BENCHMARKS,
    OFFICIAL,
    PUBLIC,
    gold,
    load,
    problem,
    prompt,
)

NOT_FETCHED = {
    "mtsamples_replicate",
    "mtsamples_procedures",
    "med_dialog",
}  # folders of files; no known digest


@pytest.mark.parametrize("id_", PUBLIC)
def test_every_file_that_is_fetched_is_pinned_by_commit_and_digest(id_):
    for file in PUBLIC[id_].files:
        assert bool(file.url) == (id_ not in NOT_FETCHED)
        for version in file.known if file.url else ():
            assert re.fullmatch(
                r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/.+", version.url
            )
            assert version.rows is not None


def test_the_invented_samples_come_out_of_their_script_again(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location(
        "make_invented_public", BENCHMARKS / "make_invented_public.py"
    )
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.HERE = tmp_path
    script.make_reports("mtsamples_replicate", script.REPORTS)
    script.make_reports("mtsamples_procedures", script.PROCEDURES)
    for make in (
        script.make_medbullets,
        script.make_medication_qa,
        script.make_med_dialog,
        script.make_medi_qa,
    ):
        make()
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert len(made) > 20
    for path in made:
        assert (tmp_path / path).read_bytes() == (BENCHMARKS / path).read_bytes(), path
    assert "medbullets_op5.csv" in capsys.readouterr().out


def test_medbullets_cells_span_lines_and_every_letter_can_be_right():
    made = load("medbullets")
    assert {gold(instance) for instance in made} == set("ABCDE")
    assert "thyroid.\n\nWhich" in prompt(made[0])
    assert all(
        "invented." not in prompt(instance) for instance in made
    )  # the explanation stays out


@pytest.mark.parametrize(("old", "new"), [("lab", "lab test"), ("dosage", "dosage conversion")])
def test_medcalcs_versions_spell_categories_differently_and_are_scored_alike(old, new, tmp_path):
    text = (BENCHMARKS / "medcalc_bench/sample/test_data.csv").read_text("utf-8")
    changed = re.sub(rf",{old},(decimal|integer|date)", rf",{new},\1", text)
    assert changed.count(f",{new},") >= 15
    path = tmp_path / "test_data.csv"
    path.write_text(changed, encoding="utf-8")
    dataset = locate_dataset(PUBLIC["medcalc_bench"], None, {"data_path": str(path)})
    assert dataset.known == "unknown"
    assert "not a version" in dataset.problems[0]
    for instance in load_instances(PUBLIC["medcalc_bench"], dataset):
        assert score("medcalc_bench_accuracy", gold(instance), instance) == 1.0


def test_meddialogs_subset_is_asked_for_and_decides_the_file(tmp_path):
    for subset in ("healthcaremagic", "icliniq"):
        (tmp_path / subset).mkdir()
        (tmp_path / subset / "test.json").write_text(
            json.dumps({"data": [{"src": subset, "tgt": "s"}]})
        )
    assert [prompt(i).count("icliniq") for i in load("med_dialog", tmp_path, subset="icliniq")] == [
        1
    ]
    assert "one of healthcaremagic, icliniq" in problem("med_dialog", tmp_path)
    assert "did you mean" in problem("med_dialog", tmp_path, subset="icliniqq").lower()
    assert (len(load("med_dialog")), len(load("med_dialog", subset="icliniq"))) == (4, 3)


COUNTS = {
    "pubmed_qa": ("official", "ori_pqal.json", 1000),
    "head_qa": (
        "unknown",
        "test_HEAD_EN.json",
        2675,
    ),  # cut to the test split; the whole file gives the same
    "medec": ("official", "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv", 597),
    "race_based_med": ("official", "41746_2023_939_MOESM1_ESM.docx", 167),
    "aci_bench": ("unknown", "", 80),  # two of its three files
    "med_mcqa": ("official", "dev.json", 4183),
    "medcalc_bench": ("official", "test_data.csv", 1047),
    "med_qa": ("unknown", "phrases_no_exclude_test.first200.jsonl", 200),
    "medhallu": ("unknown", "pqa_labeled.first200.jsonl", 400),
}


UNITS = {
    "medec": 310,
    "race_based_med": 11,
    "medcalc_bench": 612,
    "medhallu": 200,
}  # others: each its own
needs_official_files = pytest.mark.skipif(
    not (OFFICIAL / "pubmed_qa").is_dir(), reason="needs the official files"
)


@pytest.mark.full
@needs_official_files
@pytest.mark.parametrize("id_", COUNTS)
def test_the_official_files_give_the_official_counts_and_their_gold_scores_one(id_):
    known, name, count = COUNTS[id_]
    benchmark = PUBLIC[id_]
    dataset = locate_dataset(benchmark, None, {"data_path": str(OFFICIAL / id_ / name)})
    instances = load_instances(benchmark, dataset)
    assert (dataset.known, len(instances)) == (known, count)
    assert len({instance.unit for instance in instances}) == UNITS.get(id_, count)
    parser = choose_parser(benchmark)
    for use in benchmark.metrics:
        # Judges and the optional encoder are not here, and a text is no more than alike itself by ROUGE.
        if (
            use.name not in JUDGED
            and not use.optional
            and not use.name.startswith("rouge")
            and METRICS[use.name].fn
        ):
            assert all(score(use, extract(parser, gold(i)), i) == 1.0 for i in instances)


@pytest.mark.full
@needs_official_files
def test_ehrsqls_1117_questions_of_which_362_have_no_answer(tmp_path):
    official = OFFICIAL / "ehr_sql/eicu"
    for source in (
        official / "valid.json",
        official / "eicu.sql",
        BENCHMARKS / "ehr_sql/invented_sample/eicu.sqlite",
    ):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    dataset = locate_dataset(PUBLIC["ehr_sql"], None, {"data_path": str(tmp_path)})
    assert (dataset.known, dataset.versions) == ("unknown", ("v1.0",))  # the database is another
    instances = load_instances(PUBLIC["ehr_sql"], dataset)
    assert len(instances) == 1117
    assert sum(instance.extra["is_impossible"] == "true" for instance in instances) == 362
    scores = {
        score("ehr_sql_execution_accuracy", gold(instance), instance) for instance in instances
    }
    assert scores == {
        1.0,
        Unscored(Reason.NO_REFERENCE),
    }  # most published queries find nothing in an invented database
