"""What a listing does with text that would take over a terminal or a spreadsheet."""

import csv
import io

import pytest

from agent.listing import printable, show_rows


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\u00a0="]
)
def test_a_cell_is_never_a_formula(start: str, capsys: pytest.CaptureFixture[str]):
    show_rows([{"name": f"{start}cmd()", "mean": -0.5}], {"name": "", "mean": ""}, "csv")
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert rows[1] == [f"'{start}cmd()", "-0.5"]


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
