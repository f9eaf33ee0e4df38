"""How runs become a leaderboard."""

from dataclasses import replace

import pytest

from agent.evaluation.statistics import Mean
from agent.evaluation.summarise import MetricSummary, RunSummary, win_rates
from agent.store import Run


def summary(model: str, benchmark: str, value: float | None, n: int, name: str = "") -> RunSummary:
    run = Run("r", "s", f"{benchmark}{name}", benchmark, model, "local/m", {}, "ended", 0, 0)
    return RunSummary(run, (MetricSummary("m", "M", 0, 1, Mean(n, n, value, None, None, "none"), {}),))


def test_several_runs_of_one_benchmark_weigh_by_their_instances_as_helm_merges_them():
    # a: (0.9 * 10 + 0.1 * 90) / 100 = 0.18 is worse than b's 0.3; unweighted it would be 0.5 and better
    found = win_rates([summary("a", "x", 0.9, 10, "1"), summary("a", "x", 0.1, 90, "2"), summary("b", "x", 0.3, 100)])
    assert found == {"a": 0.0, "b": 1.0}


def test_a_run_without_a_score_is_no_column_and_no_zero():
    found = win_rates([summary("a", "x", None, 0), summary("b", "x", 0.0, 5), summary("c", "x", 0.2, 5)])
    assert found == {"a": None, "b": 0.0, "c": pytest.approx(1.0)}


def test_models_measured_by_two_metrics_are_not_compared():
    one, other = summary("a", "x", 0.9, 10), summary("b", "x", 0.1, 10)
    assert win_rates([one, other]) == {"a": 1.0, "b": 0.0}
    imported = RunSummary(other.run, (replace(other.main, metric="quasi_exact_match"),))
    assert win_rates([one, imported]) == {"a": None, "b": None}


def test_a_leaderboard_that_does_not_say_how_many_counts_its_mean():
    assert win_rates([summary("a", "x", 0.9, 0), summary("b", "x", 0.1, 10)]) == {"a": 1.0, "b": 0.0}
