"""ROUGE in several processes: the same figures, whatever ends a process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.metrics.rouge import RougeComparison
from agent.metrics.rouge_workers import RougeWorkers
from tests.agent.metrics.notes import texts

COMPARISONS = [
    RougeComparison("rougeL", True, (gold,), predicted) for gold, predicted in texts()[4:56]
]
FIGURES = [comparison.compute_best() for comparison in COMPARISONS]


@pytest.mark.usefixtures("without_scipy")
def test_several_processes_give_the_same_figures_in_the_same_order():
    with RougeWorkers(2, patience_s=0) as workers:
        for size in (0, 1, 2, 52):
            assert workers.begin(COMPARISONS[:size])() == FIGURES[:size]
        processes = list(workers._processes)
        assert len(processes) == 2
    assert all(process.is_dead() for process in processes)  # none still runs


def test_few_answers_start_no_process():
    with RougeWorkers(8) as workers:
        assert workers.begin(COMPARISONS)() == FIGURES
        assert workers._processes is None


@pytest.mark.usefixtures("without_scipy")
def test_a_process_that_is_killed_costs_no_figure():
    with RougeWorkers(2, patience_s=0) as workers:
        workers.begin(COMPARISONS[:2])()
        first, second = workers._processes
        os.kill(first._child.pid, signal.SIGKILL)
        first._child.wait()
        assert workers.begin(COMPARISONS)() == FIGURES
        assert workers._processes == [second]
        wait_for = workers.begin(COMPARISONS)
        os.kill(second._child.pid, signal.SIGKILL)  # while it works
        assert wait_for() == FIGURES
        assert workers.begin(COMPARISONS)() == FIGURES  # from here on in this process


def test_a_process_that_cannot_be_started_costs_no_figure(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with RougeWorkers(2, patience_s=0) as workers:
        assert workers.begin(COMPARISONS)() == FIGURES


@pytest.mark.usefixtures("without_scipy")
def test_processes_end_with_the_one_that_started_them_however_it_ends():
    code = (
        "import os, signal\n"
        "from agent.metrics.rouge import RougeComparison\n"
        "from agent.metrics.rouge_workers import RougeWorkers\n"
        "workers = RougeWorkers(2, patience_s=0)\n"
        "workers.begin([RougeComparison('rouge1', True, ('a',), 'a')] * 4)()\n"
        "print(*[process._child.pid for process in workers._processes], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    left = [int(pid) for pid in done.stdout.split()]
    assert len(left) == 2
    until = time.monotonic() + 10
    while left and time.monotonic() < until:
        left = [pid for pid in left if _runs(pid)]
        time.sleep(0.05)
    assert left == []


def _runs(pid: int) -> bool:
    """Whether the process is there and has not ended: an orphan that nobody waited for stays as a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
