"""Pages of submissions on a terminal."""

from pathlib import Path

import pytest

from agent.cli.submission_page import print_page
from agent.disclosure.prepare import Gate
from tests.agent.disclosure.pages import build_page, draft_of
from tests.agent.disclosure.ward import site_gate, whole_ward


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)


def test_figures_stay_on_a_line_in_a_terminal_of_100_columns(
    gate: Gate, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = draft_of(gate, whole_ward(140))
    monkeypatch.setenv("COLUMNS", "100")
    print_page(build_page(gate, draft))
    shown = capsys.readouterr().out
    table = shown.partition("\n\n")[2].partition("The gate's reasons")[0].splitlines()
    assert len(table) > 3
    assert max(map(len, table)) <= 100
