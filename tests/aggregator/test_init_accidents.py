"""Somebody founds an aggregator with a wrong option: nothing is left behind that a second try would stumble over."""

from pathlib import Path

import pytest

from aggregator.errors import AggregatorError, SettingsError, StoreError
from tests.aggregator.test_cli import done, failed

WRONG = {
    "origin": (["--origin", "a board"], SettingsError),
    "scorecard": (["--origin", "board.example", "--scorecard", "nothing"], SettingsError),
    "policy": (["--origin", "board.example", "--policy-floor", "nothing"], SettingsError),
    "password": (
        ["--origin", "board.example", "--database-url", "postgresql://u:p@h/d"],
        SettingsError,
    ),
    "database": (
        ["--origin", "board.example", "--database-url", "postgresql+psycopg://127.0.0.1:1/d"],
        StoreError,
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_option_founds_nothing(tmp_path: Path, kind: str) -> None:
    options, error = WRONG[kind]
    refused: AggregatorError = failed("--dir", tmp_path / "board", "init", *options)
    assert isinstance(refused, error)
    assert not (tmp_path / "board").exists()
    done("--dir", tmp_path / "board", "init", "--origin", "board.example")


def test_a_back_up_into_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    done("--dir", tmp_path / "board", "init", "--origin", "board.example")
    refused = failed("--dir", tmp_path / "board", "backup", "--out", tmp_path / "missing/backup.gz")
    assert "is not a folder" in str(refused)
