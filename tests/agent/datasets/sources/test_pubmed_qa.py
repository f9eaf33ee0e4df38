"""PubMedQA: an article's labelled sections, a line each."""

import csv
import io
import json
from pathlib import Path

from agent.catalog.benchmark import survey_benchmarks
from agent.datasets.load import iter_instances, locate_dataset
from agent.datasets.readers.table import Problems
from agent.datasets.sources.pubmed_qa import COLUMNS, read_pubmed_qa, read_test_ids

PREDICTIONS = Path(__file__).parents[3] / "data/pubmed_qa/human_predictions.csv"


def test_sections_are_shown_with_their_labels_and_a_wrong_article_hides_no_other():
    article = {
        "QUESTION": "Does it help?",
        "LABELS": ["BACKGROUND", "MAIN RESULTS"],
        "CONTEXTS": ["Nobody knows.", "It did."],
        "final_decision": "yes",
        "LONG_ANSWER": "It helps.",
    }
    problems = Problems("ori_pqal.json")
    table = read_pubmed_qa(
        io.StringIO(json.dumps({"7": {**article, "LABELS": []}, "8": article})), problems
    )
    (row,) = table.rows
    assert tuple(row.cells) == COLUMNS
    assert row.cells["context"] == "Background. Nobody knows.\nMain Results. It did."
    assert (row.where, row.cells["pmid"], row.cells["final_decision"]) == ("article 2", "8", "yes")
    assert problems.messages == [
        "ori_pqal.json: article 1: LABELS and CONTEXTS are not two lists of the same length"
    ]


def test_the_official_test_questions_are_those_that_the_published_annotators_answered():
    with PREDICTIONS.open(newline="", encoding="utf-8") as file:
        answered = {row["pmid"] for row in csv.DictReader(file)}
    assert len(read_test_ids()) == 500
    assert read_test_ids() == answered


def test_split_test_selects_the_official_test_questions_and_nothing_else_changes(tmp_path: Path):
    article = {
        "QUESTION": "Does it help?",
        "LABELS": ["RESULTS"],
        "CONTEXTS": ["It did."],
        "final_decision": "yes",
        "LONG_ANSWER": "It helps.",
    }
    official = min(read_test_ids())
    path = tmp_path / "ori_pqal.json"
    path.write_text(json.dumps({"1": article, official: article, "2": article}), "utf-8")
    benchmark = survey_benchmarks()[0]["pubmed_qa"]
    ids = {}
    for split in ({}, {"split": "test"}):
        dataset = locate_dataset(benchmark, None, {"data_path": str(path), **split})
        assert dataset.arguments == split
        ids[len(split)] = [instance.id for instance in iter_instances(benchmark, dataset)]
    assert ids == {0: ["1", official, "2"], 1: [official]}
