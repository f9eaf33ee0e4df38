"""Columns that say who a record's people are go with the instance, whether the prompt shows them or not."""

from pathlib import Path

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
