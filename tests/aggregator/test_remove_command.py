"""Removing an aggregator that was made to try things out, and nothing else."""

from pathlib import Path

import pytest

from aggregator.errors import SettingsError
from aggregator.home import Home
from aggregator.remove_command import find_files
from tests.aggregator.conftest import ServedByProcess, start, stop
from tests.aggregator.federation import ready
from tests.aggregator.test_cli import done, failed

RELEASE = Path(__file__).parents[1] / "agent/exchange/data/helm_release"


@pytest.fixture
def directory(home: Home) -> Path:
    ready(home)
    home.database.close()
    return home.directory


def files_in(directory: Path) -> set[str]:
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*")}


def test_a_test_aggregator_is_removed_with_everything_it_made(directory: Path) -> None:
    done("--dir", directory, "register", "--agent-version", "9.9")
    done(
        "--dir",
        directory,
        "registry",
        "propose",
        "--rotate-log-key",
        "--out",
        directory.parent / "a.draft",
    )
    assert "Removed the aggregator of board.example" in done(
        "--dir", directory, "remove", "--origin", "board.example"
    )
    assert not directory.exists()
    assert (directory.parent / "a.draft").exists()


def test_an_aggregator_that_has_published_is_removed_and_its_board_stays(
    directory: Path, tmp_path: Path
) -> None:
    done("--dir", directory, "import", "helm-release", RELEASE, "--name", "v1")
    done("--dir", directory, "publish", "--out", tmp_path / "public")
    done(
        "--dir", directory, "registry", "propose", "--rotate-log-key", "--out", tmp_path / "a.draft"
    )
    done(
        "--dir",
        directory,
        "registry",
        "sign",
        tmp_path / "a.draft",
        "--key",
        directory / "keys/root.key",
        fed="y\n",
    )
    assert files_in(directory) >= {"releases.json", "references/v1.json", "keys/root.key.registry"}
    done("--dir", directory, "remove", "--origin", "board.example")
    assert not directory.exists()
    assert (tmp_path / "public/index.html").exists()


@pytest.mark.full
def test_an_aggregator_that_serves_is_not_removed(
    home: Home, directory: Path, tmp_path: Path
) -> None:
    running: ServedByProcess = start(home, tmp_path / "log")
    before = files_in(directory)
    try:
        refused = failed("--dir", directory, "remove", "--origin", "board.example")
        assert "another command, such as `serve` or `publish`, is using" in str(refused)
        assert files_in(directory) >= before
        assert running.get("/readyz").status_code == 200
    finally:
        stop(running)
    done("--dir", directory, "remove", "--origin", "board.example")
    assert not directory.exists()


def test_a_removal_that_was_killed_is_run_again(directory: Path) -> None:
    done("--dir", directory, "publish", "--out", directory.parent / "public")
    files = find_files(directory)
    for path in files[:-2]:
        path.unlink()
    done("--dir", directory, "remove", "--origin", "board.example")
    assert not directory.exists()


def test_an_aggregator_of_another_origin_stays(directory: Path) -> None:
    before = files_in(directory)
    assert isinstance(
        failed("--dir", directory, "remove", "--origin", "real.example"), SettingsError
    )
    assert files_in(directory) >= before


@pytest.mark.full
@pytest.mark.parametrize(
    "foreign",
    [
        "thesis.odt",
        "keys/ssh_key",
        "registry/notes.txt",
        "public/index.html",
        "releases/notes.txt",
        "references/thesis.json",
        ".well-known",
    ],
)
def test_a_directory_that_holds_a_foreign_file_stays_whole(directory: Path, foreign: str) -> None:
    path = directory / foreign
    path.parent.mkdir(exist_ok=True)
    path.write_text("years of work")
    before = files_in(directory)
    assert "is not one of the aggregator's files" in str(
        failed("--dir", directory, "remove", "--origin", "board.example")
    )
    assert files_in(directory) >= before


def test_a_link_in_the_directory_is_not_followed(directory: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "1.dsse.json").write_text("somebody else's")
    (directory / "registry").rename(tmp_path / "moved") if (
        directory / "registry"
    ).exists() else None
    (directory / "registry").symlink_to(outside)
    failed("--dir", directory, "remove", "--origin", "board.example")
    assert (outside / "1.dsse.json").exists()


def test_a_folder_that_is_no_aggregators_stays(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    failed("--dir", tmp_path, "remove", "--origin", "board.example")
    assert (tmp_path / "letters.txt").exists()
