"""What a run's scores come to: the floor, and what has none."""

from dataclasses import replace

import pytest

from agent.results.leaderboard import NO_OTHER_MODEL
from agent.results.summarize import LACKING, MetricSummary, compare_summaries, summarise_metric
from agent.statistics.intervals import Mean
from agent.store import KeptMetric
from agent.vocabulary import OWN_MAKING, Reason
from tests.agent.results.run_summaries import of


def test_a_model_that_refuses_what_it_does_not_know_does_not_win():
    bold, shy = (
        of("bold", 0.6, {}, 100),
        of("shy", 1.0, {"empty": 20, "unparsed": 60, "length": 5}, 15),
    )
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
    half = MetricSummary(
        "m", "M", 1, 5, Mean(10, 10, 5.0, None, None, "none"), {"not_judged": 80, "empty": 10}
    )
    assert half.floor is None
    assert half.lacking
    nearly = replace(half, mean=replace(half.mean, n=86), unscored={"not_judged": 4, "empty": 10})
    assert nearly.floor == pytest.approx((86 * 5 + 10) / 96)
    assert not nearly.lacking
    assert replace(half, unscored={"not_judged": 80}).floor == 5.0
    result = of("a", 1.0, {"not_measured": 80, "empty": 10})
    assert compare_summaries([result, of("b", 0.5, {})]).left_out == {LACKING: 1, NO_OTHER_MODEL: 1}


def test_what_a_metric_does_not_ask_for_is_not_unscored():
    kept = KeptMetric(name="m", display_name="M", low=0, high=1, binary=True)
    found = summarise_metric(kept, [(b"u", 1.0), (b"v", 0.0)], {Reason.NOT_APPLICABLE: 50})
    assert (found.unscored, found.not_applicable, found.floor) == ({}, 50, 0.5)
