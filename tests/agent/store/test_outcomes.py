"""Instances are selected and counted by the outcome of a metric, without their texts."""

import random
import time
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


SCORED = KeptMetric(name="exact_match")
SCORES = (0.5, 0.0, 1.0, 0.25, 0.5)


def test_a_range_of_scores_has_both_its_ends_and_is_in_the_order_of_scores(filled: FilledSite):
    cases = [case(number, score=score) for number, score in enumerate(SCORES)]
    run_id = filled.add([*cases, failed(5)])
    expected = {
        (0.25, 0.5): [3, 0, 4],
        (None, 0.25): [1, 3],
        (0.5, None): [0, 4, 2],
        (None, None): [1, 3, 0, 4, 2],
        (0.6, 0.9): [],
        (0.9, 0.1): [],
    }
    with filled.site.store() as store:
        for (low, high), positions in expected.items():
            listed = store.outcomes.list_between(run_id, SCORED, low, high, 0, 9)
            assert listed == positions
            assert store.outcomes.count_between(run_id, SCORED, low, high) == len(positions)
        assert store.outcomes.list_between(run_id, SCORED, None, None, 2, 2) == [0, 4]


def test_a_range_of_scores_is_read_from_the_index_and_nothing_is_sorted(filled: FilledSite):
    run_id = filled.add(CASES)
    plans: list[str] = []
    with filled.site.store() as store:
        connection = store.outcomes._connection

        def explain(query: str) -> None:
            plans.extend(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}"))

        queries: list[str] = []
        connection.set_trace_callback(queries.append)
        store.outcomes.list_between(run_id, SCORED, 0.2, 0.8, 0, 20)
        store.outcomes.count_between(run_id, SCORED, 0.2, 0.8)
        connection.set_trace_callback(None)
        for query in queries:
            explain(query)
    assert len(queries) == 2
    assert plans
    for plan in plans:
        assert "COVERING INDEX scores_by_value" in plan
        assert "value>? AND value<?" in plan
        assert "TEMP B-TREE" not in plan


@pytest.mark.full
def test_a_page_of_a_range_among_a_hundred_thousand_scores_is_quick(filled: FilledSite):
    run_id = filled.add(CASES)
    with filled.site.store() as store:
        connection = store.outcomes._connection
        names = [column[1] for column in connection.execute("PRAGMA table_info(scores)")]
        first = connection.execute("SELECT * FROM scores LIMIT 1").fetchone()
        row = dict(zip(names, first, strict=True)) | {"reason": None}
        draw = random.Random(7).random
        rows = [{**row, "position": number, "value": draw()} for number in range(10, 100_010)]
        marks = ", ".join(f":{name}" for name in names)
        with store.transaction():
            connection.execute("PRAGMA defer_foreign_keys = ON")
            connection.executemany(f"INSERT INTO scores VALUES ({marks})", rows)
            times: list[float] = []
            for page in (0, 100, 2_400):
                began = time.perf_counter()
                assert store.outcomes.count_between(run_id, SCORED, 0.25, 0.75) > 49_000
                listed = store.outcomes.list_between(run_id, SCORED, 0.25, 0.75, 20 * page, 20)
                assert len(listed) == 20
                times.append(time.perf_counter() - began)
            connection.execute("DELETE FROM scores WHERE position >= 10")
    assert sorted(times)[1] < 0.05


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
