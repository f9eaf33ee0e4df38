"""Where models stand among each other, from the scores that a store holds."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.benchmark import survey_benchmarks
from agent.metrics import AnswerParser, Judge
from agent.results.standings import add_standings
from agent.results.summarize import (
    LACKING,
    NOT_ENDED,
    RunSummary,
    compare_summaries,
    summarise_benchmarks,
    summarise_suite,
)
from agent.scoring.measures import Rules
from agent.vocabulary import Reason, Response
from tests.agent.service.filled_site import (
    Case,
    FilledSite,
    case,
    failed,
    filled_site,
    graded,
    unscored,
)
from tests.agent.service.judged import JUDGES

LENIENT = (Judge("local/lenient", "lenient/l", "lenient"),)


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return filled_site(tmp_path)


def standing(filled: FilledSite) -> list[RunSummary]:
    with filled.site.store() as store:
        return add_standings(store, summarise_benchmarks(store, "november"))


def by_chance(right: int, of: int, seed: int) -> list[Case]:
    """`right` right answers anywhere among `of`."""
    chosen = set(random.Random(seed).sample(range(of), right))
    return [case(number, score=float(number in chosen)) for number in range(of)]


def test_models_far_apart_have_one_rank_each_and_close_ones_share_a_range(filled: FilledSite):
    filled.add(by_chance(95, 100, 1), entry="pubmed_qa:model=a/best")
    filled.add(by_chance(52, 100, 2), entry="pubmed_qa:model=b/fair")
    filled.add(by_chance(50, 100, 3), entry="pubmed_qa:model=c/fair")
    filled.add(by_chance(10, 100, 4), entry="pubmed_qa:model=d/worst")
    ranks = {one.run.model: one.rank for one in standing(filled)}
    assert ranks == {"a/best": (1, 1), "b/fair": (2, 3), "c/fair": (2, 3), "d/worst": (4, 4)}


@pytest.mark.full
def test_win_rates_with_intervals_are_those_of_the_comparison_and_lie_in_them(filled: FilledSite):
    for seed, (benchmark, counts) in enumerate(
        {"pubmed_qa": (70, 60, 20), "med_qa": (40, 55, 30)}.items()
    ):
        for number, (model, right) in enumerate(zip(("a/a", "b/b", "c/c"), counts, strict=True)):
            cases = [
                *by_chance(right, 80, 10 * seed + number),
                *map(unscored, range(80, 80 + 5 * number)),
            ]
            filled.add(cases, entry=f"{benchmark}:model={model}")
    summaries = standing(filled)
    rates = compare_summaries(summaries).rates
    for one in summaries:
        found = one.standing
        assert found is not None
        assert found.win_rate == pytest.approx(rates[one.run.model])
        assert found.win_low is not None
        assert found.win_high is not None
        assert found.win_low <= found.win_rate <= found.win_high
    a = next(one.standing for one in summaries if one.run.model == "a/a")
    assert a is not None
    assert a.macro == pytest.approx((70 / 80 + 40 / 80) / 2)


def test_what_a_model_left_unscored_itself_lowers_its_standing_and_a_servers_failure_does_not(
    filled: FilledSite,
):
    filled.add([*graded(50, 50), *map(unscored, range(50, 100))], entry="pubmed_qa:model=a/shy")
    filled.add([*graded(60, 80), *map(failed, range(80, 84))], entry="pubmed_qa:model=b/cut")
    found = {one.run.model: one.standing for one in standing(filled)}
    shy, cut = found["a/shy"], found["b/cut"]
    assert shy is not None
    assert cut is not None
    assert (shy.macro, cut.macro) == (0.5, 0.75)
    assert (shy.win_rate, cut.win_rate) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("more", "ended", "why"),
    [
        ([case(n) for n in range(3, 200)], False, NOT_ENDED),
        ([failed(n) for n in range(3, 200)], True, LACKING),
        ([unscored(n, Reason.NO_QUORUM) for n in range(3, 200)], True, LACKING),
    ],
)
def test_three_lucky_answers_of_two_hundred_win_against_nobody(
    filled: FilledSite, more: list[Case], ended: bool, why: str
):
    filled.add(
        [case(n, score=float(n % 10 != 0)) for n in range(200)], entry="pubmed_qa:model=a/careful"
    )
    filled.add(
        [case(n, score=float(n % 9 != 0)) for n in range(200)], entry="pubmed_qa:model=c/other"
    )
    filled.add([*graded(3, 3), *more], entry="pubmed_qa:model=b/lucky", ended=ended)
    summaries = standing(filled)
    lucky = next(one for one in summaries if one.run.model == "b/lucky")
    assert (lucky.rank, lucky.standing) == (None, None)
    found = compare_summaries(summaries)
    assert (found.rates["b/lucky"], found.left_out) == (None, {why: 1})
    assert {one.rank for one in summaries if one is not lucky} == {(1, 2)}


def test_a_few_failures_of_a_server_and_many_missing_references_leave_nobody_out(
    filled: FilledSite,
):
    for model, right in (("a/a", 70), ("b/b", 10)):
        without = [unscored(n, Reason.NO_REFERENCE) for n in range(80, 120)]
        filled.add(
            [*graded(right, 76), *map(failed, range(76, 80)), *without],
            entry=f"pubmed_qa:model={model}",
        )
    assert [one.rank for one in standing(filled)] == [(1, 1), (2, 2)]


def test_models_with_equal_floors_are_tied_though_one_has_its_floor_by_an_unscored_answer(
    filled: FilledSite,
):
    filled.add(graded(15, 23), entry="pubmed_qa:model=a/a")
    filled.add([*graded(15, 22), unscored(22)], entry="pubmed_qa:model=b/b")
    summaries = standing(filled)
    assert compare_summaries(summaries).rates == {"a/a": 0.5, "b/b": 0.5}
    for one in summaries:
        assert one.standing is not None
        assert (one.standing.win_rate, one.rank) == (0.5, (1, 2))


def judged(filled: FilledSite, entry: str, judges: Sequence[Judge]) -> None:
    catalogue, _ = survey_benchmarks(filled.site.own_benchmarks)
    uses = [replace(use, judges=tuple(judges)) for use in catalogue["medication_qa"].metrics[:1]]
    rules = Rules.of(uses, "intramural", AnswerParser("text"), "")
    cases = [case(n, score=3.0 + n % 2, identity=entry) for n in range(30)]
    filled.add(
        cases, entry=entry, metrics=[metric.to_json() for metric in rules.list_stored_metrics()]
    )


def test_models_that_two_juries_graded_are_not_ranked_against_each_other(filled: FilledSite):
    judged(filled, "medication_qa:model=a/one", JUDGES)
    judged(filled, "medication_qa:model=b/two", LENIENT)
    summaries = standing(filled)
    found = compare_summaries(summaries)
    assert (found.rates, found.left_out) == ({"a/one": None, "b/two": None}, {"another jury": 2})
    assert [one.rank for one in summaries] == [None, None]
    judged(filled, "medication_qa:model=c/three", JUDGES)
    assert compare_summaries(standing(filled)).rates == {
        "a/one": 0.5,
        "b/two": None,
        "c/three": 0.5,
    }


@pytest.mark.parametrize(("second", "rows"), [(JUDGES, 1), (LENIENT, 2)])
def test_parts_of_a_benchmark_that_two_juries_graded_are_no_whole(
    filled: FilledSite, second: Sequence[Judge], rows: int
):
    judged(filled, "clear:condition=homelessness,model=a/a", JUDGES)
    judged(filled, "clear:condition=alcohol_dependence,model=a/a", second)
    assert len(standing(filled)) == rows


def test_a_jurys_score_counts_as_its_place_on_its_scale(filled: FilledSite):
    kept = {"name": "m", "metric": "m", "display_name": "M", "helm_name": "m", "binary": False}
    metric = kept | {
        "scoring": "intramural",
        "whole_run": False,
        "options": {},
        "low": 1,
        "high": 5,
    }
    for model, score in (("a/a", 4.0), ("b/b", 2.0)):
        cases = [case(number, score=score + number % 2 / 2) for number in range(20)]
        filled.add(cases, entry=f"pubmed_qa:model={model}", metrics=[metric])
    found = {one.run.model: one.standing for one in standing(filled)}
    assert found["a/a"] is not None
    assert found["a/a"].macro == pytest.approx((4.25 - 1) / 4)


def test_one_model_and_a_figure_without_instances_stand_nowhere(filled: FilledSite):
    filled.add(graded(5, 10), entry="pubmed_qa:model=a/a")
    (alone,) = standing(filled)
    assert (alone.rank, alone.standing) == (None, None)
    filled.add([failed(n, Reason.SERVER_ERROR) for n in range(3)], entry="pubmed_qa:model=b/dead")
    assert [one.rank for one in standing(filled)] == [None, None]


def test_runs_of_parts_that_a_table_shows_as_one_row_count_as_one_value(filled: FilledSite):
    for model, right in (("a/a", 18), ("b/b", 4)):
        filled.add(graded(right, 20), entry=f"pubmed_qa:model={model}")
        filled.add(graded(right // 2, 20), entry=f"pubmed_qa:model={model},temperature=0.5")
    summaries = standing(filled)
    assert len(compare_summaries(summaries).members) == 1
    assert {one.run.model: one.rank for one in summaries} == {"a/a": (1, 1), "b/b": (2, 2)}


def test_rows_without_names_are_other_units_in_another_part_and_the_same_for_another_model(
    filled: FilledSite,
):
    details = {"unit_named": False}
    for model, rights in (("a/a", (18, 16)), ("b/b", (2, 4))):
        for condition, right in zip(("alcohol_dependence", "homelessness"), rights, strict=True):
            entry = f"clear:condition={condition},model={model}"
            cases = [
                replace(one, instance=replace(one.instance, unit=str(n), id=f"{condition} {n}"))
                for n, one in enumerate(graded(right, 20))
            ]
            filled.add(cases, entry=entry, **details)
    with filled.site.store() as store:
        for each in (summarise_suite(store, "november"), summarise_benchmarks(store, "november")):
            found = {one.run.model: (one.rank, one.standing) for one in add_standings(store, each)}
            rank, over_all = found["a/a"]
            assert over_all is not None
            assert (rank, over_all.macro) == ((1, 1), 34 / 40)


def test_a_run_knows_how_many_of_its_answers_were_cut_off_after_a_purge_too(filled: FilledSite):
    cases = graded(6, 10)
    for number in range(3):
        result = cases[number].result
        assert isinstance(result, Response)
        cases[number] = replace(cases[number], result=replace(result, finish_reason="length"))
    run_id = filled.add([*cases, failed(10)])
    with filled.site.store() as store:
        assert store.answers.count_truncated(run_id) == (3, 10)
        (found,) = summarise_benchmarks(store, "november")
        assert found.cut_off == 0.3
        assert store.purge(0) > 0
        assert store.answers.count_truncated(run_id) == (3, 10)
        (found,) = summarise_benchmarks(store, "november")
    assert found.cut_off == 0.3
