"""Instances: their ids, units and identifiers, the columns they need, and their solved examples."""

from pathlib import Path

import pytest

from agent.vocabulary import Identifier
from tests.agent.datasets.own import CANARY, instances, own, problem
from tests.agent.datasets.plain_files import load_own, refusal, write_own

SAID = "identifiers: {who: NAME, chart: MRN, born: DATE}\n"


def test_their_cells_are_the_instances_identifiers_and_empty_ones_are_none(tmp_path: Path):
    rows = "note,who,chart,born,correct_answer\ncough,Anna Kowalski, 0045 ,1951-03-14,yes\nfever,,,,no\n"
    first, second = instances(own(tmp_path, SAID, data_csv=rows))
    assert first.identifiers == (
        Identifier("NAME", "Anna Kowalski"),
        Identifier("MRN", "0045"),
        Identifier("DATE", "1951-03-14"),
    )
    assert second.identifiers == ()
    assert "Kowalski" not in first.messages[0].content


def test_a_column_that_is_missing_is_an_error_since_its_people_would_be_shown(tmp_path: Path):
    why = problem(
        own(tmp_path, SAID, data_csv="note,who,chard,born,correct_answer\ncough,a,b,c,yes\n")
    )
    assert why.count("missing 'chart' (did you mean 'chard'?); expected") == 1


def test_a_column_that_the_prompt_needs_too_may_not_be_empty(tmp_path: Path):
    rows = "note,who,chart,born,correct_answer\ncough,,1,1951-03-14,yes\n"
    why = problem(own(tmp_path, SAID, prompt="{note} of {who}", data_csv=rows))
    assert "the column 'who' is empty" in why


ARGUMENT = 'arguments:\n  category: {column: category, default: ""}\n'
TRAIN = "note,correct_answer,category\ncough,lung,x\nrash,skin,y\nwheeze,lung,x\nitch,skin,y\n"
TEST = "note,correct_answer,category\nspots,skin,y\n"


@pytest.mark.parametrize("column", [False, True])
def test_examples_of_another_category_are_not_shown(tmp_path: Path, column: bool):
    if column:
        rows = [f"{line},train" for line in TRAIN.splitlines()[1:]] + [
            f"{TEST.splitlines()[1]},test"
        ]
        data = "\n".join(["note,correct_answer,category,split", *rows]) + "\n"
        few_shot = "few_shot: {count: 2, column: split, value: train}\n"
    else:
        data, few_shot = TEST, "few_shot: {count: 2, dataset_file: train.csv}\n"
    benchmark = own(tmp_path, ARGUMENT + few_shot, data_csv=data, train_csv=TRAIN)
    (asked,) = instances(benchmark, category="y")
    prompt = asked.messages[0].content
    assert [word for word in ("cough", "wheeze", "rash", "itch") if word in prompt] == [
        "rash",
        "itch",
    ]
    (whole,) = instances(benchmark)
    assert [
        word for word in ("cough", "wheeze", "rash", "itch") if word in whole.messages[0].content
    ] == [
        "cough",
        "rash",
    ]


def test_a_missing_column_with_the_nearest_one(tmp_path):
    said = refusal(write_own(tmp_path, "nota,question,correct_answer\nx,y,z\n"))
    # The prompt's {note} is no column, so it is the prompt that is wrong for this table.
    assert "{note} is not a column (did you mean 'nota'?)" in said
    said = refusal(write_own(tmp_path, "note,question,corect_answer\nx,y,z\n"))
    assert (
        "data.csv: columns: missing 'correct_answer' (did you mean 'corect_answer'?); expected 'note'"
        in said
    )
    assert said.count("correct_answer'") == 2  # as missing, and among those expected


def test_a_column_name_that_is_no_identifier_is_never_suggested(tmp_path):
    said = refusal(
        write_own(
            tmp_path,
            f"{CANARY},not e,question,correct_answer\nx,y,z,a\n",
            prompt="{note}{question}",
        )
    )
    assert "{note} is not a column" in said
    assert "did you mean" not in said


def test_duplicate_ids_name_both_rows_and_not_the_id(tmp_path):
    data = f"id,note,question,correct_answer\n{CANARY},n,q,a\n2,n,q,a\n{CANARY},n,q,a\n"
    said = refusal(write_own(tmp_path, data, "id_column: id\n"))
    assert "row 3 (line 4): has the same 'id' as row 1 (line 2)" in said


def test_an_empty_unit_is_a_problem_and_a_unit_may_have_many_rows(tmp_path):
    data = "patient,note,question,correct_answer\np1,n,q,a\np1,n,q,b\n,n,q,c\n"
    path = write_own(tmp_path, data, "unit: patient\nunit_column: patient\n")
    assert "row 3 (line 4): the column 'patient' is empty" in refusal(path)
    (tmp_path / "data.csv").write_text(data.replace("\n,n", "\np2,n"))
    assert [i.unit for i in load_own(path)] == ["p1", "p1", "p2"]
    assert [i.id for i in load_own(path)] == ["1", "2", "3"]
