"""CLEAR: one workbook a condition, its labels and its gaps."""

from pathlib import Path

import openpyxl
import pytest

from agent.errors import ConfigError
from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import BENCHMARKS, load, problem, prompt


def clear_file(
    tmp_path: Path, *rows: list[object], header: tuple[str, ...] = ("text", "result_human")
) -> Path:
    book = openpyxl.Workbook()
    for row in (header, *rows):
        book.active.append(list(row))
    book.save(tmp_path / "homelessness.xlsx")
    return tmp_path


def test_options_are_named_after_the_condition_in_the_order_history_none_uncertain():
    texts = [
        reference.text
        for reference in load("clear", condition="post_traumatic_stress_disorder")[0].references
    ]
    name = "post-traumatic stress disorder (PTSD)"
    assert texts == [f"Has a history of {name}", f"Does not have a history of {name}", "Uncertain"]
    made = [
        load("clear", condition=value)
        for value in BENCHMARKS["clear"].arguments["condition"].values
    ]
    assert len(made) == 13
    assert len({prompt(instances[0]) for instances in made}) == 13
    ids = [instance.id for instances in made for instance in instances]
    assert len(set(ids)) == len(ids)  # row 1 of one condition is not row 1 of another


def test_labels_one_zero_and_two_are_a_b_and_c_also_as_excels_numbers(tmp_path):
    made = load(
        "clear", clear_file(tmp_path, ["n1", 1], ["n2", 0.0], ["n3", "2"]), condition="homelessness"
    )
    assert [[r.correct for r in i.references].index(True) for i in made] == [0, 1, 2]


def test_rows_without_note_or_label_are_left_out_and_a_label_outside_the_three_is_named(tmp_path):
    folder = clear_file(tmp_path, ["n1", 1], [None, None], ["n2", None], [None, 1], ["n3", 0])
    assert [i.id for i in load("clear", folder, condition="homelessness")] == [
        "homelessness/1",
        "homelessness/5",
    ]
    said = problem(
        "clear",
        clear_file(tmp_path, [CANARY, 1], [CANARY, 3], [CANARY, CANARY]),
        condition="homelessness",
    )
    assert (
        "homelessness.xlsx: row 3: the column 'result_human' is not 1 (history), 0 (none) or 2 (uncertain)"
        in said
    )
    assert "row 4" in said


def test_a_condition_that_there_is_not_and_a_file_without_its_columns(tmp_path):
    with pytest.raises(ConfigError, match=r"condition is 'homelesness'.*homelessness"):
        load("clear", condition="homelesness")
    folder = clear_file(tmp_path, ["n", 1], header=("note", "result_human"))
    assert "columns: 'text' is missing" in problem("clear", folder, condition="homelessness")


def test_patients_of_clear_are_the_files_where_it_names_them(tmp_path):
    header = ("text", "result_human", "patient_id")
    folder = clear_file(tmp_path, ["n1", 1, 501], ["n2", 0, 501], ["n3", 2, 502], header=header)
    assert [i.unit for i in load("clear", folder, condition="homelessness")] == [
        "501",
        "501",
        "502",
    ]
