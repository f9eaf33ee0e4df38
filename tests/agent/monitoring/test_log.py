"""Where the log goes, and that nothing which happens to its file ends the work or loses a line."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.monitoring import log
from agent.monitoring.events import ClockSetBack, CommandStarted, QueueResumed, ServerProbed
from agent.monitoring.log import LogOptions, is_logged, list_child_options, log_event, start_log


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    options, level = log.find_options(), logging.getLogger("intramural").level
    yield
    start_log(options)
    logging.getLogger("intramural").setLevel(level)


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_says_when_what_and_in_which_process(capsys: pytest.CaptureFixture[str]):
    start_log(LogOptions("info", "json"))
    log_event(ServerProbed("local/qwen", usable=False))
    line = json.loads(capsys.readouterr().err)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "event": "server_probed",
        "process": os.getpid(),
        "deployment": "local/qwen",
        "usable": False,
    }


def test_the_same_line_as_text(capsys: pytest.CaptureFixture[str]):
    start_log(LogOptions("info", "text"))
    log_event(ServerProbed("local/qwen", usable=False))
    time, _, rest = capsys.readouterr().err.partition(" ")
    assert len(time) == len("2026-11-28T10:00:00.000Z")
    assert rest == f"info server_probed process={os.getpid()} deployment=local/qwen usable=no\n"


def test_levels_leave_out_what_is_less_important(capsys: pytest.CaptureFixture[str]):
    start_log(LogOptions("warning", "json"))
    log_event(ServerProbed("local/qwen", usable=True))
    assert not is_logged(logging.INFO)
    log_event(ClockSetBack(3))
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["event"] == "clock_set_back"


def test_a_log_that_is_rotated_by_renaming_goes_on_in_a_new_file(tmp_path: Path):
    path, kept = tmp_path / "agent.log", tmp_path / "agent.log.1"
    start_log(LogOptions("info", "json", path))
    log_event(ClockSetBack(1))
    path.rename(kept)
    log_event(ClockSetBack(2))
    log_event(ClockSetBack(3))
    assert [line["sessions"] for line in read(kept)] == [1]
    assert [line["sessions"] for line in read(path)] == [2, 3]
    path.unlink()
    log_event(ClockSetBack(4))
    assert [line["sessions"] for line in read(path)] == [4]
    os.truncate(path, 0)  # as logrotate's copytruncate does
    log_event(ClockSetBack(5))
    assert [line["sessions"] for line in read(path)] == [5]
    assert path.stat().st_mode & 0o137 == 0


def test_no_line_is_lost_while_several_processes_write_and_the_file_is_renamed(tmp_path: Path):
    path = tmp_path / "agent.log"
    script = (
        "import sys, pathlib\n"
        "from agent.monitoring.log import LogOptions, log_event, start_log\n"
        "from agent.monitoring.events import ClockSetBack\n"
        "start_log(LogOptions('info', 'json', pathlib.Path(sys.argv[1])))\n"
        "for number in range(300): log_event(ClockSetBack(int(sys.argv[2]) * 1000 + number))\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(writer)]) for writer in range(3)
    ]  # fmt: skip
    rotated = 0
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            path.rename(tmp_path / f"agent.log.{rotated}")
            rotated += 1
        threading.Event().wait(0.002)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    lines = [line for file in tmp_path.iterdir() for line in read(file)]
    numbers = [line["sessions"] for line in lines]
    assert sorted(map(int, map(str, numbers))) == [
        w * 1000 + n for w in range(3) for n in range(300)
    ]
    assert rotated > 1


def test_a_log_file_that_cannot_be_written_is_told_of_once_and_nothing_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "missing"
    path = folder / "agent.log"
    start_log(LogOptions("info", "json", path))
    log_event(ClockSetBack(1))
    log_event(ClockSetBack(2))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    said = [(line["event"], line.get("error"), line.get("sessions")) for line in lines]
    assert said == [
        ("log_file_unusable", "FileNotFoundError", None),
        ("clock_set_back", None, 1),
        ("clock_set_back", None, 2),
    ]
    assert str(tmp_path) not in json.dumps(lines)
    folder.mkdir()
    log_event(ClockSetBack(3))
    assert [line["sessions"] for line in read(path)] == [3]
    assert capsys.readouterr().err == ""


def test_a_full_disk_ends_nothing(capsys: pytest.CaptureFixture[str]):
    start_log(LogOptions("info", "json", Path("/dev/full")))
    log_event(ClockSetBack(1))
    assert '"OSError"' in capsys.readouterr().err


def test_a_closed_standard_error_ends_nothing(monkeypatch: pytest.MonkeyPatch):
    start_log(LogOptions("info", "json"))
    monkeypatch.setattr(sys, "stderr", None)
    log_event(ClockSetBack(1))


def test_a_child_logs_as_its_parent_does(tmp_path: Path):
    asked = ["--log-level", "debug", "--log-format", "json"]
    start_log(LogOptions("debug", "json"))
    assert list_child_options(7) == [*asked, "--log-descriptor", "7"]
    start_log(LogOptions("debug", "json", tmp_path / "log"))
    assert list_child_options(7) == asked
    start_log(LogOptions("info", "text", descriptor=9))
    assert list_child_options(7)[-1] == "9"


def test_a_log_that_went_to_another_descriptor_goes_there_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "elsewhere"
    with path.open("wb") as file:
        start_log(LogOptions("info", "json", descriptor=file.fileno()))
        log_event(QueueResumed())
    assert [line["event"] for line in read(path)] == ["queue_resumed"]
    assert capsys.readouterr().err == ""


def test_starting_a_log_and_logging_nothing_imports_no_events():
    script = (
        "import sys, agent.cli.main, agent.monitoring.log as log; log.start_log(log.LogOptions()); "
        "print('agent.monitoring.events' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False\n"


def test_a_command_of_a_system_without_account_numbers_is_logged(
    capsys: pytest.CaptureFixture[str],
):
    from agent.monitoring.events import make_known

    make_known("command", ["run"])
    start_log(LogOptions("info", "json"))
    log_event(CommandStarted("run"))
    assert "uid" not in json.loads(capsys.readouterr().err)
