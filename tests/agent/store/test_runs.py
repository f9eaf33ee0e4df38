"""A run begins again as it was planned, and belongs to one process."""

import subprocess
import sys
from pathlib import Path

from agent.store import Store
from tests.agent.store.begun_runs import begin, instance, response


def test_the_same_plan_again_keeps_scores_and_another_starts_over(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [(0, "exact_match", 1.0)])
    assert begin(store)[0] == run_id
    assert store.answers.read_settled_positions(run_id) == {0}
    begin(store, scored_by=("rouge_l",))
    assert store.answers.read_settled_positions(run_id) == set()
    assert store.answers.find(keys[0]) is not None  # the answer still fits


def test_instances_that_a_smaller_run_would_lose_are_counted(store: Store):
    run_id, _ = begin(store)
    store.answers.settle(run_id, [], [(i, "exact_match", 1.0) for i in range(3)])
    ids = [instance(i).id for i in range(4)]
    assert store.runs.count_left_out(run_id, "b", ids) == 0
    assert store.runs.count_left_out(run_id, "b", ids[:1]) == 2
    assert store.runs.count_left_out(run_id, "b", []) == 3


def test_two_processes_never_work_on_one_run(store: Store, path: Path):
    run_id = store.identities.run_id("s", "b:model=m")
    script = (
        "import sys; from pathlib import Path; from agent.store import Store, Vault\n"
        "from agent.errors import StoreError\n"
        f"s = Store(Path({str(path)!r}), Vault(bytes(range(32))), bytes(range(32)))\n"
        "try:\n"
        f"    with s.runs.lock({run_id!r}): print('got it')\n"
        "except StoreError as e: print('refused')\n"
    )
    with store.runs.lock(run_id):
        assert subprocess.check_output([sys.executable, "-c", script], text=True) == "refused\n"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "got it\n"
