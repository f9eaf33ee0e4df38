"""HEAD-QA: exams in JSON, whose numbers may be texts."""

import io
import json

import pytest

from agent.datasets.readers.table import Problems
from agent.datasets.sources.head_qa import read_head_qa
from agent.errors import BenchmarkError
from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.public import gold, load, problem


def test_head_qas_right_option_is_found_whether_numbers_are_texts_or_not(tmp_path):
    answers = [{"aid": aid, "atext": f"option {aid}"} for aid in (1, "2", 10, "11")]
    questions = [
        {"qid": qid, "qtext": "Which?", "ra": ra, "answers": answers, "image": ""}
        for qid, ra in (("1", "2"), (2, 2), ("3", 1), ("4", "10"))
    ]
    exam = {"name": "e", "category": "biology", "year": "2016", "data": questions}
    path = tmp_path / "HEAD_EN.json"
    path.write_text(
        json.dumps({"exams": {"e": exam, "n": {**exam, "name": "n", "category": "nursery"}}})
    )
    assert [gold(i) for i in load("head_qa", path)] == ["B", "B", "A", "C"] * 2
    assert len(load("head_qa", path, category="nursery", language="en")) == 4
    assert len(load("head_qa", path, category="None")) == 8  # as HELM names a run of all
    assert "no rows with category=dentistry" in problem("head_qa", path, category="dentistry")
    assert "expected one of en" in problem("head_qa", path, language="es")


def test_an_exam_named_after_somebody_is_a_number(tmp_path):
    exams = {CANARY: {"year": "2016", "data": [{"answers": 1}]}, f"{CANARY}2": 3}
    problems = Problems("exams.json")
    list(read_head_qa(io.StringIO(json.dumps({"exams": exams})), problems).rows)
    with pytest.raises(BenchmarkError) as caught:
        problems.check()
    assert CANARY not in str(caught.value)
    assert "exam 1 question 1: expected" in str(caught.value)
    assert "exam 2: expected" in str(caught.value)


QUESTION = {
    "qid": "1",
    "qtext": "?",
    "ra": "1",
    "answers": [{"aid": 1, "atext": "x"}, {"aid": 2, "atext": "y"}],
}


@pytest.mark.parametrize("year", ["2017", " 2017 ", 2017, 2017.0])
def test_a_year_written_as_a_number_is_read_like_text(year):
    exams = {"e": {"year": year, "data": [QUESTION]}, "old": {"year": 2013, "data": [QUESTION]}}
    problems = Problems("exams.json")
    rows = list(read_head_qa(io.StringIO(json.dumps({"exams": exams})), problems).rows)
    assert [(row.cells["id"], row.cells["year"]) for row in rows] == [("e/1", "2017")]
    problems.check()


@pytest.mark.parametrize(
    "exam", [{}, *({"year": year} for year in (None, True, "", [2017], CANARY))]
)
def test_an_exam_without_a_year_is_a_problem(exam):
    exams = {"good": {"year": "2017", "data": [QUESTION]}, "bad": {**exam, "data": [QUESTION]}}
    problems = Problems("exams.json")
    assert len(list(read_head_qa(io.StringIO(json.dumps({"exams": exams})), problems).rows)) == 1
    with pytest.raises(BenchmarkError) as caught:
        problems.check()
    assert str(caught.value) == "exams.json: exam 2: expected `year` to be a year of four digits"


def test_head_qa_compares_its_string_with_its_number():
    text = '{"exams": {"e": {"year": "2017", "category": "c", "data": [%s]}}}'
    question = {
        "qid": "1",
        "qtext": "?",
        "ra": "2",
        "answers": [{"aid": 1, "atext": "x"}, {"aid": 2, "atext": "y"}],
        "image": "",
    }
    (row,) = read_head_qa(io.StringIO(text % json.dumps(question)), Problems("f")).rows
    assert (row.cells["right"], row.cells["option_2"], row.cells["id"]) == ("2", "y", "e/1")
