"""Scores by unit and of whole runs, and new ones in the place of the old."""

from pathlib import Path

from agent.store import KeptMetric, RunDetails, RunScore, Store
from agent.vocabulary import Reason, Unscored
from tests.agent.store.begun_runs import begin


def test_instances_not_settled_count_as_not_asked(store: Store):
    run_id, _ = begin(store)
    store.answers.settle(run_id, [], [(0, "exact_match", 1.0)])
    scores = store.scores.read_units(run_id, "exact_match")
    assert [(s.value, s.reason) for s in scores] == [(1.0, None)] + [(None, "not_asked")] * 3
    assert len({s.unit_key for s in scores}) == 2
    assert len({s.instance_key for s in scores}) == 4


def test_a_metric_of_the_whole_run_settles_instances_and_counts_those_left_out(store: Store):
    run_id, _ = begin(store)
    f1 = "classification_macro_f1"
    labelled = [
        (0, f1, None),
        (1, f1, Unscored(Reason.UNPARSED)),
        (2, f1, Unscored(Reason.TIMEOUT)),
    ]
    store.answers.settle(run_id, [], [], labelled)
    assert store.answers.read_settled_positions(run_id) == {0, 1}
    assert store.scores.read_whole_run(run_id, f1) == (
        None,
        {"unparsed": 1, "timeout": 1, "not_asked": 1},
    )
    value = RunScore(f1, 0.5, 0.4, 0.6, 1, 1)
    store.runs.end(run_id, [value])
    assert store.scores.read_whole_run(run_id, f1)[0] == value
    assert [one.scores for one in store.answers.read_instances(run_id, 1, 1)] == [
        {f1: Unscored(Reason.UNPARSED)}
    ]
    begin(store, scored_by=("other",))
    assert store.scores.read_whole_run(run_id, f1) == (None, {"not_asked": 4})


def test_new_scores_take_the_place_of_the_old_at_once_or_not_at_all(store: Store, path: Path):
    run_id, _ = begin(store)
    store.answers.settle(run_id, [], [(i, "exact_match", 1.0) for i in range(4)])
    store.scores.draft(run_id, [(i, "exact_match", 0.0) for i in range(4)], [])
    assert [score.value for score in store.scores.read_units(run_id, "exact_match")] == [1.0] * 4
    store.scores.drop_draft(run_id)
    store.scores.put_draft_in_place(run_id, RunDetails(), b"d", [])
    assert store.answers.read_settled_positions(run_id) == set()  # nothing was drafted
    store.scores.draft(run_id, [(0, "rouge_l", 0.5)], [])
    details = RunDetails(metrics=(KeptMetric(name="x"),))
    store.scores.put_draft_in_place(run_id, details, b"e", [])
    assert store.answers.read_settled_positions(run_id) == {0}
    assert store.runs.holds_plan(run_id, b"e")
    found = store.runs.find(run_id)
    assert found is not None
    assert found.details == details
