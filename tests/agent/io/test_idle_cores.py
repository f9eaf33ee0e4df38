"""How many processors have nothing to do."""

import multiprocessing
import os
import sys

import pytest

from agent.io.idle_cores import count_idle_cores, measure_idle_share

BEFORE = "cpu  100 0 50 1000 10 0 0 0 7 0\ncpu0 50 0 25 500 5 0 0 0 0 0\n"


@pytest.mark.parametrize(
    ("after", "share"),
    [
        ("cpu  100 0 50 1100 10 0 0 0 7 0\n", 1.0),
        ("cpu  200 0 50 1000 10 0 0 0 107 0\n", 0.0),
        ("cpu  125 0 75 1040 20 0 0 0 7 0\n", 0.5),
        (BEFORE, 0.0),
    ],
    ids=["idle", "busy", "half", "no time passed"],
)
def test_waiting_for_a_disk_is_idle_and_guests_are_not_counted_twice(after: str, share: float):
    assert measure_idle_share(BEFORE, after) == share


def burn() -> None:
    while True:
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/stat")
def test_a_machine_whose_processors_all_work_has_one_for_us():
    cores = len(os.sched_getaffinity(0))
    busy = [multiprocessing.get_context("fork").Process(target=burn) for _ in range(2 * cores)]
    for process in busy:
        process.start()
    try:
        assert count_idle_cores() == 1
    finally:
        for process in busy:
            process.kill()
            process.join()
