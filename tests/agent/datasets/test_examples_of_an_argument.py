"""Solved examples are of the rows that the argument takes, as the questions are."""

from pathlib import Path

import pytest

from tests.agent.datasets.own import instances, own

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
