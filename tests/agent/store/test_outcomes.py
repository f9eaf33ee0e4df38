"""Instances are selected and counted by the outcome of a metric, without their texts."""

from pathlib import Path

import pytest

from agent.store import KeptMetric
from agent.vocabulary import Reason
from tests.agent.service.filled_site import Case, FilledSite, case, failed, filled_site, unscored

METRIC = KeptMetric(name="exact_match", binary=True)
CASES = [case(0), case(1, score=0.0), failed(2), unscored(3), Case(case(4).instance, None), case(5)]


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return filled_site(tmp_path)


def test_outcomes_are_counted_with_those_that_are_still_to_come(filled: FilledSite):
    run_id = filled.add(CASES)
    with filled.site.store() as store:
        counts = store.outcomes.count(run_id, METRIC)
    assert (counts.instances, counts.scored, counts.top, counts.bottom) == (6, 3, 2, 1)
    assert counts.unscored == {Reason.TIMEOUT: 1, Reason.UNPARSED: 1, Reason.NOT_ASKED: 1}


def test_positions_are_in_the_order_of_the_selection_and_page_by_page(filled: FilledSite):
    run_id = filled.add(CASES)
    with filled.site.store() as store:
        select = store.outcomes.list_positions
        assert select(run_id, METRIC, "top", 0, 9) == [0, 5]
        assert select(run_id, METRIC, "top", 1, 9) == [5]
        assert select(run_id, METRIC, "bottom", 0, 9) == [1]
        assert select(run_id, METRIC, "ascending", 0, 9) == [1, 0, 5]
        assert select(run_id, METRIC, "descending", 0, 2) == [0, 5]
        assert select(run_id, METRIC, "unscored", 0, 9) == [2, 3, 4]
        assert select(run_id, METRIC, "unscored", 0, 9, reason="not_asked") == [4]
        assert select(run_id, METRIC, "unscored", 0, 9, reason="x' OR 1=1") == []


def test_another_runs_outcomes_do_not_count(filled: FilledSite):
    filled.add(CASES, entry="pubmed_qa:model=a/other")
    run_id = filled.add([case(0)])
    with filled.site.store() as store:
        assert store.outcomes.count(run_id, METRIC).instances == 1
        assert store.outcomes.list_positions(run_id, METRIC, "top", 0, 9) == [0]


def test_a_whole_run_metric_has_reasons_but_no_scores(filled: FilledSite):
    figure = {**KeptMetric(name="f1", whole_run=True).to_json()}
    run_id = filled.add([case(0), unscored(1)], metrics=[figure])
    with filled.site.store() as store:
        counts = store.outcomes.count(run_id, KeptMetric(name="f1", whole_run=True))
    assert (counts.scored, counts.unscored) == (0, {Reason.UNPARSED: 1})
