"""Helper processes answer by pipes, are ended, and never outlive the process that started them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.io.worker_process import WorkerProcess

ECHO = "import os, sys\nfor line in sys.stdin:\n    print(os.getcwd(), line, end='', flush=True)\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "echo.py"
    path.write_text(ECHO)
    return path


@pytest.fixture
def process(script: Path) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(script, flags=("-I", "-S"), cwd="/")
    yield worker
    worker.end()


def ask(process: WorkerProcess, word: bytes) -> bytes:
    process.requests.write(word + b"\n")
    process.requests.flush()
    return process.replies.readline()


def test_a_script_answers_each_request_in_its_working_directory(process: WorkerProcess):
    assert ask(process, b"one") == b"/ one\n"
    assert ask(process, b"two") == b"/ two\n"
    assert not process.is_dead()


def test_a_module_is_started_by_its_name():
    process = WorkerProcess("calendar")  # of the standard library: prints a year and ends
    assert b"January" in process.replies.read()
    assert process.end(patience_s=10) == 0


def test_the_working_directory_holds_no_module_that_is_imported(tmp_path: Path):
    (tmp_path / "calendar.py").write_text("print('planted')")
    process = WorkerProcess("calendar", cwd=str(tmp_path))
    assert b"planted" not in process.replies.read()
    process.end()


def test_a_process_that_ended_by_itself_keeps_its_status(tmp_path: Path):
    path = tmp_path / "fail.py"
    path.write_text("raise SystemExit(3)")
    process = WorkerProcess(path)
    assert process.replies.read() == b""
    assert process.end(patience_s=10) == 3
    assert process.is_dead()


def test_a_process_that_still_runs_is_killed_and_its_pipes_are_closed(process: WorkerProcess):
    assert ask(process, b"one") == b"/ one\n"
    assert process.end(patience_s=0.01) == -signal.SIGKILL
    assert process.requests.closed
    assert process.replies.closed


def test_a_process_killed_from_outside_ends_its_replies_and_tells_the_signal(
    process: WorkerProcess,
):
    assert ask(process, b"one") == b"/ one\n"
    os.kill(process._child.pid, signal.SIGKILL)
    assert process.replies.readline() == b""
    assert process.end(patience_s=10) == -signal.SIGKILL


def test_a_killed_process_is_dead_and_a_request_left_in_its_pipe_does_no_harm(
    process: WorkerProcess,
):
    process.kill()
    assert process.replies.readline() == b""
    process.requests.write(b"never read\n")  # stays in the buffer until the pipe is closed
    assert process.end() == -signal.SIGKILL
    assert process.is_dead()


def test_a_process_that_cannot_be_started_raises(script: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(FileNotFoundError):
        WorkerProcess(script)


def test_a_process_ends_with_the_one_that_started_it_also_when_that_is_killed(script: Path):
    parent = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from agent.io.worker_process import WorkerProcess\n"
        f"processes = [WorkerProcess(Path({str(script)!r})) for _ in range(2)]\n"
        "print(*[process._child.pid for process in processes], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", parent], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    running = [int(pid) for pid in done.stdout.split()]
    assert len(running) == 2
    until = time.monotonic() + 30
    while running and time.monotonic() < until:
        running = [pid for pid in running if runs(pid)]
        time.sleep(0.05)
    assert running == []


def runs(pid: int) -> bool:
    """Tell whether a process is there and has not ended: an orphan that no process waits for stays as a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
