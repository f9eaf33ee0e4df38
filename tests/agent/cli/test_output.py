"""What a listing does with text that would take over a terminal or a spreadsheet."""

import json

import pytest

from agent.cli.output import show_rows
from agent.io.plain_text import printable


def test_json_escapes_what_takes_over_a_terminal_and_csv_shows_that_it_was_there(
    capsys: pytest.CaptureFixture[str],
):
    text = "\x1b[31mRED\x1b]0;pwn\x07 \x9b31m \u202e A\ud800 Größe \U0001f600"
    show_rows([{"name": text}], {"name": ""}, "json")
    shown = capsys.readouterr().out
    assert json.loads(shown) == [{"name": text}]
    assert not [
        character for character in shown if character != "\n" and not character.isprintable()
    ]
    assert "Größe \U0001f600" in shown
    show_rows([{"name": text}], {"name": ""}, "csv")
    shown = capsys.readouterr().out
    assert "\ufffd[31mRED\ufffd]0;pwn\ufffd \ufffd31m \u202e A\ufffd Größe \U0001f600" in shown


def test_control_characters_never_reach_the_terminal(capsys: pytest.CaptureFixture[str]):
    show_rows([{"name": "\x1b[2Jgone\x07\u202e"}], {"name": "Name"}, "table", title="[/markup]\x1b")
    shown = capsys.readouterr().out
    assert "[2Jgone" in shown
    assert not [
        character for character in shown if character != "\n" and not character.isprintable()
    ]
    assert printable("a\ud800b") == "a\ufffdb"


@pytest.mark.full
def test_whole_numbers_among_decimals_have_decimals(capsys: pytest.CaptureFixture[str]):
    rows = [{"high": 0.28, "n": 5}, {"high": 1, "n": 7}]
    show_rows(rows, {"high": "High", "n": "n"}, "table")
    *_, first, second = capsys.readouterr().out.strip().splitlines()
    assert (first.split(), second.split()) == (["0.280", "5"], ["1.000", "7"])


def test_a_table_keeps_its_lines_whole(capsys: pytest.CaptureFixture[str]):
    show_rows(
        [{"name": "word " * 60, "ok": True, "none": None}],
        {"name": "Name", "ok": "Ok", "none": "None"},
        "table",
    )
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "word" in line]
    assert line.count("word") == 60
    assert "yes" in line


def test_nothing_is_folded_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("COLUMNS", raising=False)
    rows = [{"name": "a_long_name_" * 8, "what": "word " * 40}]
    show_rows(rows, {"name": "Name", "what": "What"}, "table", folds=True)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "word" in line]
    assert "a_long_name_" * 8 in line
    assert line.count("word") == 40


def test_the_last_column_of_a_table_folds_to_the_terminal_where_asked(
    capsys, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [{"name": "a name that stays on its line", "what": "word " * 40}]
    show_rows(rows, {"name": "Name", "what": "What"}, "table", folds=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert sum(line.count("word") for line in lines) == 40
    assert any("a name that stays on its line" in line for line in lines)
