"""Redaction on real clusters: the same bytes, lost nodes, strangers, and texts where Ray writes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import Nodes, make_nodes

SURNAME = "Quillfeather"
"""Stands in every text, and must stand in no file of Ray's."""


def write_rows(path: Path, count: int) -> Path:
    with path.open("w") as file:
        for number in range(count):
            text = (
                f"Mr. {SURNAME} with gout, MRN: {4_471_000 + number}, seen on 03/14/2022. Stable. "
            )
            row = {"id": number, "text": text}
            file.write(json.dumps(row) + "\n")
    return path


def command(source: Path, out: Path, *words: str) -> list[str]:
    program = [sys.executable, "-m", "agent", "redact", "jsonl"]
    return [*program, str(source), "--field", "text", "--out", str(out), *words]


def redact(
    source: Path, out: Path, *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(source, out, *words),
        env=environment,
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )


def find_text(text: str, *folders: Path) -> list[Path]:
    """Return the files below the folders, and in shared memory, that contain the text."""
    found = []
    for folder in (*folders, Path("/dev/shm")):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and text.encode() in path.read_bytes():
                found.append(path)
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("rows") / "in.jsonl", 4000)


@pytest.fixture(scope="module")
def expected(source: Path) -> bytes:
    out = source.with_name("alone.jsonl")
    assert redact(source, out, "--workers", "2").returncode == 0
    return out.read_bytes()


def test_a_cluster_of_this_machine_writes_the_same_bytes_and_leaves_nothing(
    source: Path, expected: bytes, tmp_path: Path
):
    before = set(Path("/tmp").glob("intramural-*"))
    done = redact(source, tmp_path / "out", "--on", "cluster", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_bytes() == expected
    assert set(Path("/tmp").glob("intramural-*")) <= before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_strangers_are_refused_on_both_sides(nodes: Nodes, source: Path, tmp_path: Path):
    wrong = {**nodes.environment, "RAY_AUTH_TOKEN": "0" * 64}
    done = redact(source, tmp_path / "out", "--on", nodes.address, environment=wrong)
    assert (done.returncode, "refused the token" in done.stderr) == (2, True), done.stderr
    none = {name: value for name, value in wrong.items() if not name.startswith("RAY_AUTH")}
    done = redact(source, tmp_path / "out", "--on", nodes.address, environment=none)
    assert (done.returncode, "only with a token" in done.stderr) == (2, True), done.stderr
    away = redact(source, tmp_path / "out", "--on", "192.0.2.7:6379", environment=wrong)
    assert (away.returncode, "RAY_USE_TLS" in away.stderr) == (2, True), away.stderr
    open_to_all = make_nodes(RAY_AUTH_MODE="disabled")
    try:
        open_to_all.add(0)
        done = redact(source, tmp_path / "out", "--on", open_to_all.address, environment=wrong)
    finally:
        open_to_all.end()
    assert (done.returncode, "have no token" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_errors_and_ends_of_actors_leave_no_text_and_lose_no_work(nodes: Nodes):
    program = f"""
import ray, sys
from agent.cluster.dispatch import ActorClass, Assignment, ActorPool
ray.init(address={nodes.address!r}, _node_ip_address="127.0.0.1", log_to_driver=False, logging_level="ERROR")
actor = ActorClass("tests.cluster.workers", "Failing", ({SURNAME[::-1]!r},))
kinds = ["", "raise", "die", ""]
work = iter([Assignment(n, (n, kind)) for n, kind in enumerate(kinds)])
for outcome in ActorPool(ray, actor, 2).run(work):
    if outcome is not None:
        print(outcome.assignment.task, outcome.reply, outcome.assignment.losses, flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=nodes.environment,
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    outcomes = [line for line in done.stdout.splitlines() if line[:1].isdigit()]  # Ray prints, too
    assert sorted(outcomes) == [
        "0 {'number': 0} 0",
        "1 {'error': ['the work failed there (KeyError)', None]} 0",
        "2 None 2",
        "3 {'number': 3} 0",
    ], done.stderr
    assert find_text(SURNAME, nodes.folder) == []


def test_a_row_that_ends_every_engine_is_found_withheld_and_listed(nodes: Nodes, tmp_path: Path):
    source = write_rows(tmp_path / "in.jsonl", 4)
    lines = source.read_text().splitlines()
    lines[2] = json.dumps({"id": 2, "text": f"poison for Mr. {SURNAME}"})
    source.write_text("\n".join(lines))
    words = command(source, tmp_path / "out", "--on", nodes.address)[3:]
    program = f"""
import sys
from agent.redaction.files import executors
from tests.cluster.workers import Dying
executors.PieceRunner, executors._MOST_LOSSES = Dying, 1
sys.argv = ["intramural", *{words!r}]
from agent.cli.main import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=nodes.environment,
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [row.get("id") for row in rows] == [0, 1, None, 3]
    assert rows[2] == {"text": "[WITHHELD: engine error]"}
    letters = (tmp_path / "out.dead-letters.jsonl").read_text()
    assert json.loads(letters) == {"file": "in.jsonl", "row": 3, "reasons": ["engine error"]}
    assert SURNAME not in done.stderr
    assert find_text(SURNAME, nodes.folder) == []


def test_a_node_that_is_killed_costs_time_and_no_row_and_a_killed_command_continues(
    nodes: Nodes, source: Path, expected: bytes, tmp_path: Path
):
    raylet = nodes.add(1)
    out = tmp_path / "out"
    first = subprocess.Popen(
        command(source, out, "--on", nodes.address),
        env=nodes.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_parts(tmp_path, 1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    kept = list_parts(tmp_path)
    assert kept
    assert not out.exists()
    second = subprocess.Popen(
        command(source, out, "--on", nodes.address),
        env=nodes.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(6)
    os.kill(raylet, signal.SIGKILL)
    _, said = second.communicate(timeout=290)
    assert second.returncode == 0, said
    assert out.read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert find_text(SURNAME, nodes.folder) == []
    assert SURNAME not in said


def list_parts(folder: Path) -> list[Path]:
    return list(folder.glob(".out.parts/*/*.json"))


def wait_for_parts(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 200
    while len(list_parts(folder)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.1)
