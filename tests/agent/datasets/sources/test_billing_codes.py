"""MIMIC-IV billing codes: a list of codes a row."""

import pyarrow
import pytest
from pyarrow import feather

from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import gold, load, problem


def test_codes_come_as_a_list_and_are_gold_with_commas(tmp_path):
    made = load("mimiciv_billing_code")
    assert gold(made[0]) == "S72.001A,W19.XXXA,0SR90JZ"
    assert len({instance.unit for instance in made}) == 6
    only = pyarrow.table(
        {"text": ["a", "b"], "target": ["I10", "E11.9"]}
    )  # what MedHELM needs, and single codes
    feather.write_feather(only, str(tmp_path / "mine.feather"))
    made = load("mimiciv_billing_code", tmp_path / "mine.feather")
    assert [(gold(instance), instance.unit) for instance in made] == [("I10", "1"), ("E11.9", "2")]


def test_a_single_code_that_json_reads_as_a_number_is_a_code(tmp_path):
    path = tmp_path / "mine.feather"
    feather.write_feather(pyarrow.table({"text": ["a"], "target": ["3E03317"]}), str(path))
    assert [gold(instance) for instance in load("mimiciv_billing_code", path)] == ["3E03317"]


@pytest.mark.parametrize("target", ["9" * 5000, "[" * 100_000], ids=["digits", "nested"])
def test_codes_that_json_cannot_hold_are_a_problem_of_their_row(tmp_path, target):
    path = tmp_path / "mine.feather"
    feather.write_feather(pyarrow.table({"text": ["a"], "target": [target]}), str(path))
    said = problem("mimiciv_billing_code", path)
    assert "mine.feather: row 1: the column 'target' is not a list of strings" in said


def test_what_is_no_list_of_codes_is_named_by_row(tmp_path):
    kind = pyarrow.list_(pyarrow.int64())
    feather.write_feather(
        pyarrow.table({"text": ["a"], "target": pyarrow.array([[1]], kind)}),
        str(tmp_path / "a.feather"),
    )
    assert "a.feather: row 1: the column 'target' is not a list of strings" in problem(
        "mimiciv_billing_code", tmp_path / "a.feather"
    )
    (tmp_path / "b.feather").write_text(CANARY)
    assert "is not a Feather file" in problem("mimiciv_billing_code", tmp_path / "b.feather")
    feather.write_feather(pyarrow.table({"text": ["a"]}), str(tmp_path / "c.feather"))
    assert "'target' is missing" in problem("mimiciv_billing_code", tmp_path / "c.feather")
