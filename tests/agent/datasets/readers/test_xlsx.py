"""Excel files as people and programs leave them: text stays text, faults have a cell."""

import datetime

from tests.agent.datasets.own import CANARY, instances, own, problem
from tests.agent.datasets.readers.table_files import CHAT, HEAD, XLSX, extras, sheet


def test_a_sheet_is_read_as_excel_shows_it(tmp_path):
    day, time = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5)
    values = (1, 1.0, 0.1 + 0.2, True, "007", "NA", day, time, None, "two\nlines", "<b>&amp;")
    sheet(tmp_path, HEAD, *(("n", "a", value) for value in values))
    assert extras(own(tmp_path, CHAT, data=XLSX)) == [
        *(
            "1",
            "1",
            "0.3",
            "True",
            "007",
            "NA",
            "2024-02-29",
            "2024-02-29 13:05:00",
            "",
            "two\nlines",
            "<b>&amp;",
        )
    ]


def test_formulas_are_refused_by_their_cells_and_never_computed(tmp_path):
    sheet(tmp_path, HEAD, ("n", "a", "=1+1"), ("n", "=HYPERLINK(A1)", "x"), ("n", "a", "'=text"))
    said = problem(own(tmp_path, CHAT, data=XLSX))
    assert "data.xlsx: cell C2: is a formula" in said
    assert "data.xlsx: cell B3: is a formula" in said
    assert "C4" not in said
    assert "HYPERLINK" not in said


def test_a_formula_in_the_header_and_an_error_of_excels(tmp_path):
    def change(book):
        book.active["C2"].value, book.active["C2"].data_type = "#N/A", "e"

    sheet(tmp_path, ("note", "correct_answer", "=A1"), ("n", "a", "x"), change=change)
    said = problem(own(tmp_path, data=XLSX))
    assert "cell C1: is a formula" in said
    sheet(tmp_path, HEAD, ("n", "a", "x"), change=change)
    assert "cell C2: is an Excel error" in problem(own(tmp_path, data=XLSX))


def test_merged_cells_are_refused_by_name(tmp_path):
    def change(book):
        book.active.merge_cells("A2:A3")
        book.active.merge_cells("B5:C6")

    sheet(tmp_path, HEAD, *[("n", "a", "x")] * 5, change=change)
    said = problem(own(tmp_path, data=XLSX))
    assert "cells A2:A3: are merged" in said
    assert "cells B5:C6: are merged" in said


def test_of_several_sheets_one_must_be_named_and_hidden_ones_do_not_count(tmp_path):
    def hidden(book):
        book.create_sheet("Old").sheet_state = "hidden"

    def several(book):
        hidden(book)
        other = book.create_sheet("Other")
        other.append(HEAD)
        other.append(("from the other", "a", "x"))

    sheet(tmp_path, HEAD, ("n", "a", "x"), change=hidden)
    assert len(instances(own(tmp_path, data=XLSX))) == 1
    sheet(tmp_path, HEAD, ("n", "a", "x"), change=several)
    assert "has 2 visible sheets; name one" in problem(own(tmp_path, data=XLSX))
    named = own(tmp_path, data="dataset_file: {path: data.xlsx, sheet: Other}")
    assert instances(named)[0].messages[0].content == "from the other"
    assert "has no sheet 'Othr'" in problem(
        own(tmp_path, data="dataset_file: {path: data.xlsx, sheet: Othr}")
    )


def test_rows_of_a_sheet_are_numbered_as_excel_does(tmp_path):
    sheet(
        tmp_path,
        HEAD,
        ("n", "a", "x"),
        (None, None, None),
        ("n", None, "x"),
        ("n", "a", "x", CANARY),
    )
    said = problem(own(tmp_path, data=XLSX))
    assert "data.xlsx: row 4: the column 'correct_answer' is empty" in said
    assert "data.xlsx: row 5: has more cells than the header, which has 3" in said


def test_a_sheet_without_a_header_does_not_have_its_first_patient_quoted(tmp_path):
    sheet(tmp_path, (CANARY, CANARY, CANARY), ("n", "a", "x"))
    assert "contains none of the columns 'note', 'correct_answer'" in problem(
        own(tmp_path, data=XLSX)
    )
    sheet(tmp_path, (None, None), ("n", "a"))
    assert "row 1: expected a row with column names" in problem(own(tmp_path, data=XLSX))


def test_a_length_of_time_in_a_sheet_is_no_cell(tmp_path):
    sheet(tmp_path, HEAD, ("n", "a", datetime.timedelta(hours=30)))
    assert "cell C2: is a duration" in problem(own(tmp_path, CHAT, data=XLSX))
