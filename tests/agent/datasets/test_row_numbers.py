"""Ids that are row numbers are the rows of the file that a person sees, whichever of them are read."""

from pathlib import Path

import pytest
from openpyxl import Workbook

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import iter_instances, locate_dataset
from agent.datasets.row_numbers import EarlierIds
from tests.agent.datasets.own import instances, own
from tests.agent.datasets.sources.gated import load as load_gated
from tests.agent.datasets.sources.public import load as load_public

HEADER = "note,correct_answer\n"


def read_ids(benchmark: Benchmark, **arguments: str) -> dict[str, str]:
    """Return the note of each instance, by id."""
    made = instances(benchmark, **arguments)
    return {instance.id: instance.messages[-1].content for instance in made}


def read_earlier_ids(benchmark: Benchmark, **arguments: str) -> tuple[bool, set[str]]:
    """Return whether any id was another one in earlier versions, and the ids of that time."""
    numbers = EarlierIds()
    dataset = locate_dataset(benchmark, None, arguments)
    for _ in iter_instances(benchmark, dataset, row_numbers=numbers):
        pass
    return numbers.changed, numbers.ids


def test_a_blank_line_of_a_csv_file_counts_as_it_does_in_a_spreadsheet(tmp_path: Path):
    benchmark = own(tmp_path, data_csv=f'{HEADER}"two\nlines",yes\n\nlast,no\n\n')
    assert read_ids(benchmark) == {"1": "two\nlines", "3": "last"}
    assert read_earlier_ids(benchmark) == (True, {"1", "2"})


def test_a_file_without_left_out_rows_keeps_the_ids_of_earlier_versions(tmp_path: Path):
    benchmark = own(tmp_path, data_csv=f"{HEADER}a,yes\nb,no\n\n")
    assert read_ids(benchmark) == {"1": "a", "2": "b"}
    assert read_earlier_ids(benchmark) == (False, {"1", "2"})


def test_empty_rows_of_a_sheet_and_blank_lines_of_json_lines_count(tmp_path: Path):
    book = Workbook()
    for row in (["note", "correct_answer"], ["a", "yes"], [], ["b", "no"]):
        book.active.append(row)
    book.active["A5"] = "c"
    book.active["B5"] = "no"
    book.save(tmp_path / "data.xlsx")
    benchmark = own(tmp_path, data="dataset_file: data.xlsx")
    assert read_ids(benchmark) == {"1": "a", "3": "b", "4": "c"}
    assert read_earlier_ids(benchmark) == (True, {"1", "2", "3"})
    lines = '{"note": "a", "correct_answer": "yes"}\n\n{"note": "b", "correct_answer": "no"}\n'
    benchmark = own(tmp_path, data="dataset_file: data.jsonl", data_jsonl=lines)
    assert read_ids(benchmark) == {"1": "a", "3": "b"}


def test_rows_that_an_argument_leaves_out_count(tmp_path: Path):
    rows = "note,ward,correct_answer\na,north,yes\nb,south,no\n\nc,south,no\n"
    benchmark = own(tmp_path, "arguments: {ward: {column: ward}}\n", data_csv=rows)
    assert read_ids(benchmark, ward="south") == {"2": "b", "4": "c"}
    assert read_earlier_ids(benchmark, ward="south") == (True, {"2", "3"})


def test_ids_of_a_column_are_kept_whatever_is_left_out(tmp_path: Path):
    rows = "note,key,correct_answer\na,7,yes\n\nb,2,no\n"
    benchmark = own(tmp_path, "id_column: key\n", data_csv=rows)
    assert read_ids(benchmark) == {"7": "a", "2": "b"}


@pytest.mark.parametrize("blank", ["", "\n"])
def test_notes_without_ids_have_the_numbers_of_their_rows(tmp_path: Path, blank: str):
    path = tmp_path / "a.csv"
    path.write_text(f"prompt,context,label\nQ,c1,A\n{blank}Q,c2,B\n")
    first, second = load_gated("shc_cdi_med", path)
    assert (first.id, second.id) == ("1", "3" if blank else "2")
    assert (first.unit, second.unit) == (first.id, second.id)


def test_published_files_whose_rows_are_left_out_in_part_are_numbered_as_they_stand():
    ids = [instance.id for instance in load_public("medication_qa")]
    # The sample has a question about the weather, to which no expert gave an answer.
    assert len(ids) == 8
    assert ids != [str(number) for number in range(1, 9)]
