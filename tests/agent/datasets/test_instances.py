"""Identifiers of a record's people go with its instance; solved examples are of the rows that the argument takes."""

from pathlib import Path

import pytest

from agent.vocabulary import Identifier
from tests.agent.datasets.own import instances, own, problem

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
    why = problem(own(tmp_path, SAID, data_csv="note,who,chard,born,correct_answer\ncough,a,b,c,yes\n"))
    assert "'chart' is missing" in why
    assert "did you mean 'chard'" in why


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
        rows = [f"{line},train" for line in TRAIN.splitlines()[1:]] + [f"{TEST.splitlines()[1]},test"]
        data = "\n".join(["note,correct_answer,category,split", *rows]) + "\n"
        few_shot = "few_shot: {count: 2, column: split, value: train}\n"
    else:
        data, few_shot = TEST, "few_shot: {count: 2, dataset_file: train.csv}\n"
    benchmark = own(tmp_path, ARGUMENT + few_shot, data_csv=data, train_csv=TRAIN)
    (asked,) = instances(benchmark, category="y")
    prompt = asked.messages[0].content
    assert [word for word in ("cough", "wheeze", "rash", "itch") if word in prompt] == ["rash", "itch"]
    (whole,) = instances(benchmark)
    assert [word for word in ("cough", "wheeze", "rash", "itch") if word in whole.messages[0].content] == [
        "cough",
        "rash",
    ]
