"""How runs become a leaderboard."""

from dataclasses import replace

import pytest

from agent.results.leaderboard import NO_OTHER_MODEL, OTHER_PARTS
from agent.results.summarize import LACKING, MetricSummary, RunSummary, compare_summaries, summarise_metric
from agent.statistics.intervals import Mean
from agent.store import KeptMetric, Run, RunDetails
from agent.vocabulary import OWN_MAKING, Reason


def summary(model: str, benchmark: str, value: float | None, n: int, name: str = "") -> RunSummary:
    run = Run("r", "s", f"{benchmark}{name}", benchmark, model, "local/m", RunDetails(), "ended", 0, 0)
    return RunSummary(run, (MetricSummary("m", "M", 0, 1, Mean(n, n, value, None, None, "none"), {}),))


def test_several_runs_of_one_benchmark_weigh_by_their_instances_as_helm_merges_them():
    # a: (0.9 * 10 + 0.1 * 90) / 100 = 0.18 is worse than b's 0.3; unweighted it would be 0.5 and better
    found = compare_summaries(
        [summary("a", "x", 0.9, 10, "1"), summary("a", "x", 0.1, 90, "2"), summary("b", "x", 0.3, 100)]
    ).rates
    assert found == {"a": 0.0, "b": 1.0}


def test_a_run_without_a_score_is_no_column_and_no_zero():
    found = compare_summaries([summary("a", "x", None, 0), summary("b", "x", 0.0, 5), summary("c", "x", 0.2, 5)]).rates
    assert found == {"a": None, "b": 0.0, "c": pytest.approx(1.0)}


def test_models_measured_by_two_metrics_are_not_compared():
    one, other = summary("a", "x", 0.9, 10), summary("b", "x", 0.1, 10)
    assert compare_summaries([one, other]).rates == {"a": 1.0, "b": 0.0}
    imported = RunSummary(other.run, (replace(other.main, metric="quasi_exact_match"),))
    assert compare_summaries([one, imported]).rates == {"a": None, "b": None}


def test_a_leaderboard_that_does_not_say_how_many_counts_its_mean():
    assert compare_summaries([summary("a", "x", 0.9, 0), summary("b", "x", 0.1, 10)]).rates == {"a": 1.0, "b": 0.0}


def of(model: str, value: float | None, unscored: dict[str, int], n: int = 10, **details: object) -> RunSummary:
    kept = {"data": {"known": "official", "digest": "d", "instances": 100}, "scoring": "intramural"}
    run = Run("r", "s", f"x:model={model}", "x", model, "local/m", RunDetails.from_json(kept | details), "ended", 0, 0)
    return RunSummary(run, (MetricSummary("m", "M", 0, 1, Mean(n, n, value, None, None, "none"), unscored),))


def test_a_model_that_refuses_what_it_does_not_know_does_not_win():
    bold, shy = of("bold", 0.6, {}, 100), of("shy", 1.0, {"empty": 20, "unparsed": 60, "length": 5}, 15)
    assert (bold.main.floor, shy.main.floor) == (0.6, 0.15)
    assert compare_summaries([bold, shy]).rates == {"bold": 1.0, "shy": 0.0}
    silent = of("silent", None, {"empty": 100}, 0)
    assert silent.main.floor == 0
    assert compare_summaries([bold, silent]).rates == {"bold": 1.0, "silent": 0.0}


@pytest.mark.parametrize("reason", sorted(set(Reason) - OWN_MAKING))
def test_what_is_no_fault_of_the_model_does_not_lower_its_floor(reason: Reason):
    assert of("a", 0.8, {reason: 90}).main.floor == 0.8
    assert of("a", None, {reason: 90}, 0).main.floor is None


def test_a_metric_that_a_jury_has_yet_to_give_has_no_floor():
    assert of("a", None, {Reason.NOT_JUDGED: 9, Reason.EMPTY: 1}, 0).main.floor is None


def test_answers_that_wait_for_their_jury_weigh_as_much_as_failures_that_are_known_at_once():
    """Ten answers judged at 5.0, ten empty, eighty that may become anything."""
    half = MetricSummary("m", "M", 1, 5, Mean(10, 10, 5.0, None, None, "none"), {"not_judged": 80, "empty": 10})
    assert half.floor is None
    assert half.lacking
    nearly = replace(half, mean=replace(half.mean, n=86), unscored={"not_judged": 4, "empty": 10})
    assert nearly.floor == pytest.approx((86 * 5 + 10) / 96)
    assert not nearly.lacking
    assert replace(half, unscored={"not_judged": 80}).floor == 5.0
    result = of("a", 1.0, {"not_measured": 80, "empty": 10})
    assert compare_summaries([result, of("b", 0.5, {})]).left_out == {LACKING: 1, NO_OTHER_MODEL: 1}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"scoring": "helm"}, "other scoring rules"),
        ({"agent_version": "0.0.1"}, "other scoring rules"),
        ({"benchmark_digest": "e"}, "another definition of the benchmark"),
        ({"sampled": 50}, "another sample"),
        (
            {"metrics": [{"name": "m", "options": {"encoder": "sha256:e"}}]},
            "another encoder or other options of the metric",
        ),
        ({"data": {"known": "sample", "digest": "d", "instances": 100}}, "another kind of data"),
        ({"data": {"known": "official", "digest": "e", "instances": 100}}, OTHER_PARTS),
        ({"arguments": {"condition": "homelessness"}}, OTHER_PARTS),
        ({"origin": {"kind": "helm-leaderboard"}}, "made elsewhere"),
    ],
)
def test_results_of_two_kinds_are_not_compared_and_the_reader_is_told_why(change: dict[str, object], why: str):
    one, other = of("a", 0.9, {}), of("b", 0.1, {}, **change)
    found = compare_summaries([one, other])
    assert (found.rates, found.columns, found.left_out) == ({"a": None, "b": None}, 0, {why: 2})
    again = of("c", 0.2, {}, **change)
    assert compare_summaries([one, other, again]).rates == {"a": None, "b": 0.0, "c": 1.0}


def test_a_limit_above_the_data_chooses_nothing_and_lengths_of_answers_are_the_models_own():
    one, other = of("a", 0.9, {}), of("b", 0.1, {}, sampled=100, sample_seed=7, max_tokens=4000)
    assert compare_summaries([one, other]).rates == {"a": 1.0, "b": 0.0}
    long = replace(other, run=replace(other.run, name="x:model=b,num_output_tokens=4000"))
    assert compare_summaries([one, long]).rates == {"a": 1.0, "b": 0.0}
    told = replace(other, run=replace(other.run, name="x:model=b,instructions=none"))
    assert compare_summaries([one, told]).rates == {"a": None, "b": None}


def test_models_are_compared_by_the_same_parts_however_many_rows_they_are():
    parts = [of(model, value, {}, arguments={"c": c}) for model, c, value in (("a", "1", 0.9), ("a", "2", 0.1))]
    whole = [of("b", 0.4, {}, arguments={"c": c}) for c in "12"]
    assert compare_summaries([*parts, *whole]).rates == {"a": 1.0, "b": 0.0}
    assert compare_summaries([*parts, whole[0]]).left_out == {OTHER_PARTS: 3}


def test_what_a_metric_does_not_ask_for_is_not_unscored():
    kept = KeptMetric(name="m", display_name="M", low=0, high=1, binary=True)
    found = summarise_metric(kept, [(b"u", 1.0), (b"v", 0.0)], {Reason.NOT_APPLICABLE: 50})
    assert (found.unscored, found.not_applicable, found.floor) == ({}, 50, 0.5)
