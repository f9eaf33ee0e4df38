"""Answers are sealed each under its request, and asked for again only where the server failed."""

import sqlite3
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import RunDetails, Store, Usage
from agent.vocabulary import Reason, Response, Unscored
from tests.agent.store.begun_runs import begin, instance, response


def test_what_was_sealed_comes_back(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[1], response("the answer"))], [(1, "exact_match", 0.0)])
    page = store.answers.read_instances(run_id, 1, 2)
    assert page[0].instance == instance(1)
    assert page[0].response == response("the answer")
    assert page[0].scores == {"exact_match": 0.0}
    assert page[1].response is None
    assert store.answers.find(keys[1]) == response("the answer")
    assert store.answers.find(keys[2]) is None


def test_an_answer_moved_to_another_request_does_not_open(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response("one")), (keys[1], response("two"))], [])
    other = sqlite3.connect(path)
    (sealed,) = other.execute(
        "SELECT sealed FROM answers WHERE request_key = ?", (keys[0],)
    ).fetchone()
    other.execute("UPDATE answers SET sealed = ? WHERE request_key = ?", (sealed, keys[1]))
    other.commit()
    other.close()
    assert store.answers.find(keys[0]) == response("one")
    with pytest.raises(StoreError, match="cannot be decrypted"):
        store.answers.find(keys[1])


def test_only_failures_of_the_server_are_asked_again(store: Store):
    run_id, _ = begin(store)
    rows = [
        (0, "exact_match", Unscored(Reason.TIMEOUT)),
        (1, "exact_match", Unscored(Reason.UNPARSED)),
        (2, "exact_match", Unscored(Reason.LENGTH)),
        (3, "exact_match", 0.0),
    ]
    store.answers.settle(run_id, [], rows)
    assert store.answers.read_settled_positions(run_id) == {1, 2, 3}


def test_what_answers_cost_is_summed_once_however_many_instances_share_them(store: Store):
    run_id, keys = begin(store)
    assert store.answers.sum_usage(run_id) == Usage(0, 0, 0, 0, 0, 0, 0, 0.0, 0.0)
    cut = Response("a", "", "stop", 100, 5, 0.5, shortened=30, attempts=3)
    unknown = Response("b", "", "stop", None, 7, 0.25)
    store.answers.settle(run_id, [(keys[0], cut), (keys[1], unknown)], [], asked_seconds=1.5)
    store.answers.settle(run_id, [(keys[2], response())], [], asked_seconds=0.5)
    expected = Usage(3, 110, 14, 1, 5, 1, 30, 0.85, 2.0)
    assert store.answers.sum_usage(run_id) == expected
    # A second run of the same questions shares the answers, and has asked nobody.
    again = store.runs.begin(
        suite="t", name="b:model=m", benchmark="b", lineage="l", model="m", deployment="local/m",
        details=RunDetails(), planned=[(instance(i), keys[0]) for i in range(4)], scored_by=["x"],
    )  # fmt: skip
    assert store.answers.sum_usage(again) == Usage(1, 100, 5, 0, 3, 1, 30, 0.5, 0.0)


def test_time_spent_on_answers_that_a_new_plan_does_not_need_is_not_counted_as_its_own(
    store: Store,
):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [], asked_seconds=9.0)
    begin(store, scored_by=("rouge_l",))
    assert store.answers.sum_usage(run_id).asked_seconds == 9.0
    store.runs.begin(
        suite="s", name="b:model=m", benchmark="b", lineage="l", model="m", deployment="local/m",
        details=RunDetails(), planned=[(instance(9), b"k" * 32)], scored_by=["x"],
    )  # fmt: skip
    assert store.answers.sum_usage(run_id) == Usage(0, 0, 0, 0, 0, 0, 0, 0.0, 0.0)


def test_only_unsettled_instances_come_back_to_be_asked(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(
        run_id, [(keys[0], response()), (keys[1], response())], [(0, "exact_match", 1.0)]
    )
    store.answers.settle(
        run_id,
        [],
        [(2, "exact_match", Unscored(Reason.TIMEOUT)), (3, "exact_match", Unscored(Reason.EMPTY))],
    )
    assert store.answers.find_unsettled(run_id) == [(1, keys[1], True), (2, keys[2], False)]
    assert [one.position for one in store.answers.read_each_instance(run_id, [1, 2])] == [1, 2]
