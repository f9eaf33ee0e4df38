"""What a listing does with text that would take over a terminal or a spreadsheet."""

import csv
import io
from collections.abc import Iterator

import click
import pytest

from agent.cli import intramural
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
