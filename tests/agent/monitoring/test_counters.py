"""Counters have few fixed labels, and the counts of all commands of a site come together, whatever happens to them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.monitoring.counters import (
    COUNTERS,
    INSTANCES,
    SERVER_SECONDS,
    TIMERS,
    WITHHELD_TEXTS,
    list_totals,
    read_totals,
)
from agent.monitoring.shared_counts import CountReader, share_counts
from agent.redaction.redacted import Withheld

CANARY = "zephyrine-quackenbush"
SCRIPT = """
import sys, time, pathlib
from agent.monitoring.counters import INSTANCES
from agent.monitoring.shared_counts import share_counts
with share_counts(pathlib.Path(sys.argv[1])):
    INSTANCES.add(5, "answered")
    print("counted", flush=True)
    time.sleep(float(sys.argv[2]))
    INSTANCES.add(2, "failed")
"""
NESTED = """
import sys, pathlib
from agent.monitoring.counters import INSTANCES
from agent.monitoring.shared_counts import share_counts
folder = pathlib.Path(sys.argv[1])
with share_counts(folder), share_counts(folder):
    INSTANCES.add(5, "answered")
"""


def start(folder: Path, seconds: float) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", SCRIPT, str(folder), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "counted\n"
    return process


def grown(reader: CountReader, before: dict[str, float]) -> dict[str, float]:
    """Return what the reader has counted beyond what this process had counted before."""
    growth = {name: total - before.get(name, 0) for name, total in reader.read_totals().items()}
    return {name: value for name, value in growth.items() if value}


def test_a_value_that_a_label_does_not_have_is_not_counted():
    before = read_totals()
    INSTANCES.add(1, CANARY)
    assert read_totals() == before
    assert not any(CANARY in name for name in list_totals())


def test_names_are_in_base_units_and_labels_have_few_values():
    names = [counter.name for counter in COUNTERS] + [timer.name for timer in TIMERS]
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"intramural_[a-z_]+", name)
        assert not re.search(r"_(ms|millis\w*|minutes|hours|days|kb|mb|percent|total|count)$", name)
    assert all(len(counter.values) <= 20 for counter in COUNTERS)


def test_every_reason_for_withholding_is_counted():
    assert set(WITHHELD_TEXTS.values) == {reason.replace(" ", "_") for reason in Withheld}


def test_durations_are_counted_under_the_next_bound():
    before = read_totals()
    for seconds in (0.05, 0.1, 0.11, 1e6):
        SERVER_SECONDS.add(seconds)
    after = read_totals()
    names = [SERVER_SECONDS.name_total(number) for number in range(13)]
    counts = [after.get(name, 0) - before.get(name, 0) for name in names]
    assert counts == [2, 1, *[0] * 10, 1]


def test_what_commands_count_is_added_up_once_while_they_run_and_after_they_ended(tmp_path: Path):
    before = read_totals()
    reader = CountReader(tmp_path / "counts")
    processes = [start(tmp_path / "counts", 4), start(tmp_path / "counts", 0)]
    processes[1].wait()
    answered, failed = INSTANCES.name_total("answered"), INSTANCES.name_total("failed")
    until = time.monotonic() + 60
    while grown(reader, before).get(answered) != 10:
        assert time.monotonic() < until, grown(reader, before)
        time.sleep(0.1)
    assert grown(reader, before)[failed] == 2
    processes[0].wait()
    for _ in range(2):  # asking again counts nothing twice
        assert grown(reader, before) == {answered: 10, failed: 4}
    assert list((tmp_path / "counts").glob("*.json")) == []
    reader.close()


def test_a_command_that_is_killed_keeps_what_it_had_counted(tmp_path: Path):
    before = read_totals()
    reader = CountReader(tmp_path / "counts")
    process = start(tmp_path / "counts", 60)
    until = time.monotonic() + 60
    while not list((tmp_path / "counts").glob("*.json")):
        assert time.monotonic() < until
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while list((tmp_path / "counts").glob("*.json")):
        reader.read_totals()
        assert time.monotonic() < until
    assert grown(reader, before) == {INSTANCES.name_total("answered"): 5}
    reader.close()


def test_a_command_within_a_command_is_counted_once(tmp_path: Path):
    before = read_totals()
    reader = CountReader(tmp_path / "counts")
    subprocess.run([sys.executable, "-c", NESTED, str(tmp_path / "counts")], check=True)
    assert grown(reader, before)[INSTANCES.name_total("answered")] == 5
    reader.close()


def test_without_a_service_commands_write_nothing(tmp_path: Path):
    folder = tmp_path / "counts"
    start(folder, 0).wait()
    assert not folder.exists()
    CountReader(folder).close()  # a service that has ended
    start(folder, 0).wait()
    assert [path.name for path in folder.iterdir()] == ["reader.lock"]


def test_a_service_that_is_started_again_begins_at_zero(tmp_path: Path):
    before = read_totals()
    first = CountReader(tmp_path / "counts")
    process = start(tmp_path / "counts", 6)
    until = time.monotonic() + 60
    while not grown(first, before):
        assert time.monotonic() < until
        time.sleep(0.1)
    first.close()
    second = CountReader(tmp_path / "counts")
    assert grown(second, before) == {}
    process.wait()
    assert grown(second, before) == {INSTANCES.name_total("failed"): 2}
    second.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1]",
        b'{"intramural_instances|answered": "5"}',
        b'{"intramural_instances|answered": NaN}',
        b'{"intramural_instances|answered": Infinity}',
        b'{"intramural_instances|answered": -1}',
        b'{"intramural_instances|answered": true}',
        json.dumps({f"intramural_instances|{CANARY}": 5, CANARY: 1}).encode(),
        os.urandom(200),
    ],
)
def test_a_file_that_no_command_wrote_counts_nothing(tmp_path: Path, content: bytes):
    before = read_totals()
    reader = CountReader(tmp_path / "counts")
    (tmp_path / "counts" / "0.json").write_bytes(content)
    assert grown(reader, before) == {}
    reader.close()


def test_a_folder_that_cannot_be_written_ends_no_command(tmp_path: Path):
    folder = tmp_path / "counts"
    reader = CountReader(folder)
    before = read_totals()
    with share_counts(folder):
        (folder / "reader.lock").unlink()
        folder.rmdir()
        INSTANCES.add(1, "failed")
    assert grown(reader, before) == {INSTANCES.name_total("failed"): 1}  # of this process itself
    reader.close()
