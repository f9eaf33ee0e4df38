"""ROUGE is Google's package to the last digit, in a tenth of its time, in one process or in several."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from agent.metrics.rouge import RougeComparison, compute_f_measure
from agent.metrics.rouge_workers import RougeWorkers

NOTES = json.loads((Path(__file__).parents[2] / "data/aci_bench/led_test2.json").read_text(encoding="utf-8"))
KINDS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


def texts() -> list[tuple[str, str]]:
    chance = random.Random(2)
    words = ["pain", "runs", "running", "run", "fever", "fevers", "a", "of", "the", "3", "mg", "\n", "\n\n"]
    made = [tuple(" ".join(chance.choices(words, k=chance.randrange(12))) for _ in range(2)) for _ in range(250)]
    return [(note["reference"], note["predicted"]) for note in NOTES[:4]] + made


@pytest.mark.parametrize("stemmer", [True, False])
def test_every_figure_is_the_packages_to_the_last_digit(stemmer):
    scorer = RougeScorer(KINDS, use_stemmer=stemmer)
    for gold, predicted in texts():
        for kind, measure in scorer.score(gold, predicted).items():
            assert compute_f_measure(gold, predicted, kind, stemmer=stemmer) == measure.fmeasure, kind


LINES = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)
TEXT = st.lists(LINES, max_size=4).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(TEXT, TEXT)
def test_of_several_longest_sequences_the_packages_own_is_taken(gold, predicted):
    for kind, measure in RougeScorer(KINDS).score(gold, predicted).items():
        assert compute_f_measure(gold, predicted, kind, stemmer=False) == measure.fmeasure, kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_notes_would_take_seconds(kind):
    note = NOTES[0]
    compute_f_measure("warm up", "warm up", kind, stemmer=True)
    before = time.process_time()
    for i in range(100):
        compute_f_measure(note["reference"], f"{note['predicted']} {i}", kind, stemmer=True)
    assert time.process_time() - before < 3  # 0.1 to 1 s here; the package itself takes 6 to 8


def test_an_answer_without_line_breaks_cannot_hold_up_a_run():
    answer, gold = "pain and fever " * 1500, "fever and no pain today " * 600
    before = time.process_time()
    compute_f_measure(gold, answer, "rougeLsum", stemmer=True)
    assert time.process_time() - before < 3  # the package's table would have 13 million places


COMPARISONS = [RougeComparison("rougeL", True, (gold,), predicted) for gold, predicted in texts()[4:56]]
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
