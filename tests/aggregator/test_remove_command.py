"""Removing an aggregator that was made to try things out, and nothing else."""

from pathlib import Path

import pytest

from aggregator.errors import SettingsError
from aggregator.home import Home
from tests.aggregator.federation import ready
from tests.aggregator.test_cli import done, failed


@pytest.fixture
def directory(home: Home) -> Path:
    ready(home)
    home.database.close()
    return home.directory


def files_in(directory: Path) -> set[str]:
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*")}


def test_a_test_aggregator_is_removed_with_everything_it_made(directory: Path) -> None:
    done("--dir", directory, "register", "--agent-version", "9.9")
    done("--dir", directory, "registry", "propose", "--rotate-log-key", "--out", directory.parent / "a.draft")
    assert "Removed the aggregator of board.example" in done("--dir", directory, "remove", "--origin", "board.example")
    assert not directory.exists()
    assert (directory.parent / "a.draft").exists()


def test_an_aggregator_of_another_origin_stays(directory: Path) -> None:
    before = files_in(directory)
    assert isinstance(failed("--dir", directory, "remove", "--origin", "real.example"), SettingsError)
    assert files_in(directory) >= before


@pytest.mark.parametrize("foreign", ["thesis.odt", "keys/ssh_key", "registry/notes.txt", "public/index.html"])
def test_a_directory_that_holds_a_foreign_file_stays_whole(directory: Path, foreign: str) -> None:
    path = directory / foreign
    path.parent.mkdir(exist_ok=True)
    path.write_text("years of work")
    before = files_in(directory)
    assert "is not the aggregator's" in str(failed("--dir", directory, "remove", "--origin", "board.example"))
    assert files_in(directory) >= before


def test_a_link_in_the_directory_is_not_followed(directory: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "1.dsse.json").write_text("somebody else's")
    (directory / "registry").rename(tmp_path / "moved") if (directory / "registry").exists() else None
    (directory / "registry").symlink_to(outside)
    failed("--dir", directory, "remove", "--origin", "board.example")
    assert (outside / "1.dsse.json").exists()


def test_a_folder_that_is_no_aggregators_stays(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    failed("--dir", tmp_path, "remove", "--origin", "board.example")
    assert (tmp_path / "letters.txt").exists()
