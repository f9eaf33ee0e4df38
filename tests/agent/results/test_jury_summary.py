"""What is told of a jury beside its score: seats, repairs, failures, criteria, and judges of the model's family."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.results.jury_summary import JudgedAnswer, summarise_jury
from agent.results.summarize import MetricSummary, Note, RunSummary, summarise_metric
from agent.site.directory import create_site
from agent.statistics.intervals import Mean
from agent.store import KeptData, KeptJury, KeptMetric, Run, RunDetails, Seat
from agent.vocabulary import Judge, Reason, Scale
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import (
    deploy,
    judge_server,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.agent.runs.suites import run

JUDGES = [
    ["site/llama", "meta/llama-3.3-70b-instruct", "llama"],
    ["site/qwen", "qwen/qwen2.5-72b-instruct", ""],
    ["site/phi", "microsoft/phi-4", "phi"],
]
MODEL = "google/gemma-3-27b-it"


def kept(judges: list[list[str]] = JUDGES, low: float = 1, high: float = 5) -> KeptMetric:
    seats = tuple(Judge(*judge) for judge in judges)
    jury = KeptJury(
        judges=seats, scale=Scale(low, high), criteria={"accuracy": "?", "clarity": "?"}
    )
    return KeptMetric(name="jury_score", display_name="Jury", low=low, high=high, jury=jury)


def seat(number: int, *grades: float, reason: str | None = None, repaired: bool = False) -> Seat:
    named = dict(zip(("accuracy", "clarity"), grades, strict=True)) if grades else None
    return Seat(number, named, None if grades else reason or "no_verdict", repaired, b"k")


def test_seats_are_counted_of_all_that_answers_could_be_judged_by():
    found = summarise_jury(
        kept(),
        MODEL,
        [
            (b"a", 4.0, [seat(0, 4, 4), seat(1, 5, 3, repaired=True), seat(2, reason="timeout")]),
            (b"b", Reason.NO_QUORUM, [seat(0, 2, 2), seat(1), seat(2, repaired=True)]),
            (b"c", Reason.NOT_JUDGED, []),
            (b"d", Reason.NOT_JUDGED, [seat(0, 3, 3)]),
            (b"e", Reason.EMPTY, []),  # a blank answer goes to no judge: its seats are none
        ],
    )
    assert found is not None
    assert (found.seats, found.filled, found.repaired) == (12, 4, 1)
    assert found.faults == {"no_verdict": 2, "not_judged": 5, "timeout": 1}
    assert found.filled + sum(found.faults.values()) == found.seats
    assert found.judges == ("llama", "qwen/qwen2.5-72b-instruct", "phi")
    # only the scored answer's: a quorum that was not reached gives no criterion a mean
    assert found.criteria["accuracy"].value == 4.5
    assert found.criteria["clarity"].value == 3.5


def test_a_judge_of_the_models_family_is_named_and_the_score_without_it_is_there():
    answers: list[JudgedAnswer] = [
        (b"a", 13 / 3, [seat(0, 5, 5), seat(1, 4, 4), seat(2, 4, 4)]),
        (
            b"b",
            4.0,
            [seat(0, 5, 5), seat(1, 3, 3), seat(2)],
        ),  # one of two others is no majority of them
    ]
    found = summarise_jury(kept(), "meta/llama-3.1-8b-instruct", answers)
    assert found is not None
    assert (found.family, found.of_family) == ((0,), ["llama"])
    assert found.without_family is not None
    assert (found.without_family.value, found.without_family.n) == (4.0, 1)
    other = summarise_jury(kept(), MODEL, answers)
    assert other is not None
    assert (other.family, other.without_family) == ((), None)


def test_a_jury_of_the_family_alone_has_no_score_without_it():
    found = summarise_jury(kept(JUDGES[:1]), "llama-2-7b", [(b"a", 5.0, [seat(0, 5, 5)])])
    assert found is not None
    assert (found.family, found.without_family) == ((0,), None)


def test_two_seats_of_one_judge_are_told_apart():
    found = summarise_jury(kept([JUDGES[2], JUDGES[0], JUDGES[2]]), MODEL, [])
    assert found is not None
    assert found.judges == ("phi (1)", "llama", "phi (2)")


def test_a_metric_without_judges_has_no_jury():
    assert summarise_jury(kept([]), MODEL, [(b"a", Reason.NOT_JUDGED, [])]) is None


@given(
    st.lists(
        st.lists(st.sampled_from(["good", "bad", "open", "absent"]), min_size=3, max_size=3),
        max_size=12,
    )
)
def test_every_seat_is_filled_or_has_a_reason(answers: list[list[str]]):
    def seats(states: list[str]) -> list[Seat]:
        reasons = {"bad": "no_verdict", "open": "timeout"}
        return [
            seat(number, *((3, 3) if state == "good" else ()), reason=reasons.get(state))
            for number, state in enumerate(states)
            if state != "absent"
        ]

    found = summarise_jury(
        kept(), MODEL, [(b"u", Reason.NOT_JUDGED, seats(states)) for states in answers]
    )
    assert found is not None
    assert found.seats == 3 * len(answers)
    assert found.filled + sum(found.faults.values()) == found.seats


def summary(metric: MetricSummary, **more: Any) -> RunSummary:
    details = RunDetails(data=KeptData(known="official"))
    return RunSummary(
        Run("r", "s", "x", "x", MODEL, "d", details, "ended", 0, 0), (metric,), **more
    )


@pytest.mark.parametrize(("empty", "warned"), [(3, False), (4, True)])
def test_more_than_a_tenth_of_the_seats_without_a_verdict_is_a_warning(empty: int, warned: bool):
    answers: list[JudgedAnswer] = [
        (
            bytes([n]),
            3.0 + n % 2,
            [seat(0, 3, 3), seat(1, 4, 4), seat(2) if n < empty else seat(2, 3, 3)],
        )
        for n in range(10)
    ]
    metric = MetricSummary(
        "m", "M", 1, 5, Mean(10, 10, 3.5, 3.2, 3.8, "bca"), {}, None, False, 0, None
    )
    told = MetricSummary(
        "m", "M", 1, 5, metric.mean, {}, jury=summarise_jury(kept(), MODEL, answers)
    )
    assert (Note.SEATS_EMPTY in summary(told).notes(told)) is warned
    assert Note.SEATS_EMPTY not in summary(metric).notes(metric)


def test_a_normalised_score_begins_at_the_scales_own_low_end():
    metric = summarise_metric(kept(), [(b"a", 4.0), (b"b", 2.0)], {})
    assert (metric.mean.value, metric.normalised) == (3.0, 0.5)
    assert summarise_metric(kept(low=0), [(b"a", 4.0), (b"b", 2.0)], {}).normalised == 0.6


def test_unscored_answers_bound_the_mean_by_all_wrong_and_all_right():
    metric = summarise_metric(
        kept(), [(b"a", 4.0), (b"b", 3.0)], {Reason.NO_QUORUM: 1, Reason.NOT_APPLICABLE: 5}
    )
    assert metric.bounds is not None
    assert (metric.bounds.low, metric.bounds.high, metric.bounds.matters) == (8 / 3, 4.0, True)
    nothing = summarise_metric(kept(), [], {Reason.NOT_JUDGED: 9})
    assert nothing.bounds is None
    all_there = summarise_metric(kept(), [(b"a", 4.0)], {})
    assert all_there.bounds is not None
    assert not all_there.bounds.matters


@pytest.mark.parametrize(
    ("cut_off", "by_length", "warned"),
    [(0.21, 0, True), (0.2, 0, False), (None, 3, True), (None, 2, False)],
)
def test_more_than_a_fifth_cut_off_by_length_is_a_warning(
    cut_off: float | None, by_length: int, warned: bool
):
    metric = summarise_metric(
        kept(), [(bytes([n]), 3.0) for n in range(10 - by_length)], {Reason.LENGTH: by_length}
    )
    one = summary(metric, cut_off=cut_off)
    assert (Note.MANY_CUT_OFF in one.notes(metric)) is warned


def test_a_run_that_real_judges_graded_is_summed_up_as_it_went(tmp_path: Path):
    site = create_site(tmp_path / "site", "Test")
    open_benchmark(site, instances=4)
    good, chatty, mended = verdict(4, 5), "I like it.", says("Well.", verdict(2, 3), verdict(2, 3))
    with (
        FaultServer(models=["m"], answer="An answer") as model,
        judge_server(says(good)) as a,
        judge_server(says(chatty)) as b,
        judge_server(mended) as c,
    ):
        deploy(site, {"a": a.url, "b": b.url, "c": c.url})
        write_jury(site.judges, "abc")
        (outcome,) = run(site, model.url, "open:model=m")
    jury = outcome.summary.main.jury
    assert jury is not None
    assert (jury.seats, jury.filled, jury.repaired, sum(jury.faults.values())) == (12, 8, 1, 4)
    assert {name: mean.value for name, mean in jury.criteria.items()} == {
        "accuracy": 3.0,
        "clarity": 4.0,
    }
    assert outcome.summary.main.mean.value == 3.5
    assert outcome.summary.main.normalised == 0.625
    assert Note.SEATS_EMPTY in outcome.summary.notes(outcome.summary.main)
