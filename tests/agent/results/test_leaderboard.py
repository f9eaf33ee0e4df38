"""How runs become a leaderboard."""

from dataclasses import replace

import pytest

from agent.results.leaderboard import OTHER_PARTS
from agent.results.summarize import MetricSummary, RunSummary, compare_summaries
from agent.statistics.intervals import Mean
from agent.store import Run, RunDetails
from tests.agent.results.run_summaries import of


def summary(model: str, benchmark: str, value: float | None, n: int, name: str = "") -> RunSummary:
    run = Run(
        "r", "s", f"{benchmark}{name}", benchmark, model, "local/m", RunDetails(), "ended", 0, 0
    )
    return RunSummary(
        run, (MetricSummary("m", "M", 0, 1, Mean(n, n, value, None, None, "none"), {}),)
    )


def test_several_runs_of_one_benchmark_weigh_by_their_instances_as_helm_merges_them():
    # a: (0.9 * 10 + 0.1 * 90) / 100 = 0.18 is worse than b's 0.3; unweighted it would be 0.5 and better
    found = compare_summaries(
        [
            summary("a", "x", 0.9, 10, "1"),
            summary("a", "x", 0.1, 90, "2"),
            summary("b", "x", 0.3, 100),
        ]
    ).rates
    assert found == {"a": 0.0, "b": 1.0}


def test_a_run_without_a_score_is_no_column_and_no_zero():
    found = compare_summaries(
        [summary("a", "x", None, 0), summary("b", "x", 0.0, 5), summary("c", "x", 0.2, 5)]
    ).rates
    assert found == {"a": None, "b": 0.0, "c": pytest.approx(1.0)}


def test_models_measured_by_two_metrics_are_not_compared():
    one, other = summary("a", "x", 0.9, 10), summary("b", "x", 0.1, 10)
    assert compare_summaries([one, other]).rates == {"a": 1.0, "b": 0.0}
    imported = RunSummary(other.run, (replace(other.main, metric="quasi_exact_match"),))
    assert compare_summaries([one, imported]).rates == {"a": None, "b": None}


def test_a_leaderboard_that_does_not_say_how_many_counts_its_mean():
    assert compare_summaries([summary("a", "x", 0.9, 0), summary("b", "x", 0.1, 10)]).rates == {
        "a": 1.0,
        "b": 0.0,
    }


def test_models_are_compared_by_the_same_parts_however_many_rows_they_are():
    parts = [
        of(model, value, {}, arguments={"c": c})
        for model, c, value in (("a", "1", 0.9), ("a", "2", 0.1))
    ]
    whole = [of("b", 0.4, {}, arguments={"c": c}) for c in "12"]
    assert compare_summaries([*parts, *whole]).rates == {"a": 1.0, "b": 0.0}
    assert compare_summaries([*parts, whole[0]]).left_out == {OTHER_PARTS: 3}
