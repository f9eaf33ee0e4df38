"""A folder of output: whole or not there, and never in the way of the next attempt."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.io.new_folder import new_folder


def test_the_folder_appears_when_it_is_complete(tmp_path: Path):
    with new_folder(tmp_path / "a" / "out") as folder:
        (folder / "x").write_text("1")
        assert not (tmp_path / "a" / "out").exists()
    assert (tmp_path / "a" / "out" / "x").read_text() == "1"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["out"]
    assert (tmp_path / "a" / "out").stat().st_mode & 0o777 == 0o700


def test_an_attempt_that_fails_leaves_nothing_and_the_next_succeeds(tmp_path: Path):
    def half(folder: Path) -> None:
        (folder / "x").write_text("half")
        raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"), new_folder(tmp_path / "out") as folder:
        half(folder)
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / "out") as folder:
        (folder / "x").write_text("whole")
    assert (tmp_path / "out" / "x").read_text() == "whole"


def test_what_a_killed_process_left_is_not_in_the_way(tmp_path: Path):
    script = (
        "import os, signal, sys; from pathlib import Path; from agent.io.new_folder import new_folder\n"
        "with new_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'left').write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "out")], check=False)
    assert done.returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    with new_folder(tmp_path / "out") as folder:
        (folder / "x").write_text("whole")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "x"]


def test_other_peoples_files_are_not_touched(tmp_path: Path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "note.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file").write_text("mine")
    for name in ("kept", "link", "file"):
        with pytest.raises(ConfigError, match="not empty"), new_folder(tmp_path / name):
            pass
    assert (tmp_path / "kept" / "note.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "kept", "link"]


def test_a_disk_that_refuses_is_told_in_words(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ConfigError, match="cannot be written"),
        new_folder(tmp_path / "file" / "out"),
    ):
        pass
