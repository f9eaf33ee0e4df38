"""Files that are written whole: what a killed writer left goes with the next one, a living writer's file stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.federation import write_new_file
from agent.errors import ConfigError
from agent.io.atomic_files import write_atomically

WRITER = """
import sys
from pathlib import Path
from agent.io.atomic_files import open_atomically
with open_atomically(Path(sys.argv[1])) as file:
    file.write(b"whole")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


def start_writer(path: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", WRITER, str(path)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    return process


def test_killed_writers_file_goes_with_the_next_write(tmp_path: Path) -> None:
    with start_writer(tmp_path / "a") as process:
        process.send_signal(signal.SIGKILL)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".new-")
    write_atomically(tmp_path / "b", b"another")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_living_writers_file_stays(tmp_path: Path) -> None:
    with start_writer(tmp_path / "a") as process:
        write_atomically(tmp_path / "b", b"another")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
    assert (tmp_path / "a").read_bytes() == b"whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_somebody_elses_file_of_a_like_name_stays(tmp_path: Path) -> None:
    names = [".new-notes", ".new-0123456789abcdef0", ".new-0123456789abcdeg"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / ".new-0123456789abcdef").mkdir()
    write_atomically(tmp_path / "a", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*names, ".new-0123456789abcdef", "a"]
    )


def test_file_to_be_carried_is_readable_as_far_as_the_umask_says_and_never_overwritten(
    tmp_path: Path,
) -> None:
    before = os.umask(0o027)
    try:
        write_new_file(tmp_path / "request", b"first")
    finally:
        os.umask(before)
    assert (tmp_path / "request").stat().st_mode & 0o777 == 0o640
    write_new_file(tmp_path / "request", b"first")
    with pytest.raises(ConfigError, match="request exists already"):
        write_new_file(tmp_path / "request", b"second")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="link exists already"):
        write_new_file(tmp_path / "link", b"first")
    assert (tmp_path / "request").read_bytes() == b"first"
