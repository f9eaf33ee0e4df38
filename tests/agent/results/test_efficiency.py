"""What the rows of a leaderboard took: per answer, in total, and nothing where it is not known."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.catalog.deployments import Prices
from agent.exchange.helm.import_runs import import_helm
from agent.results.efficiency import measure_rows, sum_by_model
from agent.results.summarize import summarise_benchmarks
from agent.results.usage import Cost
from agent.vocabulary import Response
from tests.agent.exchange.conftest import DATA
from tests.agent.service.filled_site import MODEL, Case, FilledSite, case, filled_site

PRICES = Prices("EUR", 100.0, 1000.0)


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return filled_site(tmp_path)


def took(number: int, tokens: tuple[int | None, int | None], seconds: float) -> Case:
    """An instance whose answer took these tokens (in, out) and seconds."""
    return Case(case(number).instance, Response("yes", "", "stop", *tokens, seconds))


def test_tokens_seconds_and_cost_are_per_answer_and_in_total(filled: FilledSite):
    filled.add([took(0, (100, 10), 1.0), took(1, (300, 30), 3.0)])
    filled.add([took(5, (1000, 0), 6.0)], entry=f"med_qa:model={MODEL}")
    with filled.site.store() as store:
        summaries = summarise_benchmarks(store, "november")
        rows = measure_rows(store, summaries, {summaries[0].run.deployment: PRICES})
    med_qa, pubmed_qa = rows
    assert med_qa is not None
    assert pubmed_qa is not None
    assert (pubmed_qa.answers, pubmed_qa.prompt_tokens, pubmed_qa.completion_tokens) == (2, 400, 40)
    assert (pubmed_qa.tokens_per_answer, pubmed_qa.seconds_per_answer) == (220.0, 2.0)
    assert pubmed_qa.cost == Cost("EUR", tokens=pytest.approx(0.08), gpu_hours=None)
    assert pubmed_qa.cost_per_answer == Cost("EUR", tokens=pytest.approx(0.04), gpu_hours=None)
    (total,) = sum_by_model(summaries, rows).values()
    assert (total.answers, total.prompt_tokens, total.answer_seconds) == (3, 1400, 10.0)
    assert total.cost == Cost("EUR", tokens=pytest.approx(0.18), gpu_hours=None)


def test_what_is_not_known_of_one_answer_is_not_known_of_the_row_or_the_model(filled: FilledSite):
    filled.add([took(0, (100, 10), 1.0), took(1, (300, None), 3.0)])
    filled.add([took(5, (1000, 0), 6.0)], entry=f"med_qa:model={MODEL}")
    with filled.site.store() as store:
        summaries = summarise_benchmarks(store, "november")
        rows = measure_rows(store, summaries, {summaries[0].run.deployment: PRICES})
    uncounted = rows[1]
    assert uncounted is not None
    assert (uncounted.prompt_tokens, uncounted.tokens_per_answer, uncounted.cost) == (None,) * 3
    assert (uncounted.cost_per_answer, uncounted.seconds_per_answer) == (None, 2.0)
    (total,) = sum_by_model(summaries, rows).values()
    assert (total.answers, total.prompt_tokens, total.cost) == (3, None, None)


def test_gpu_hours_of_a_run_that_asked_nothing_itself_are_not_known(filled: FilledSite):
    filled.add([took(0, (100, 10), 1.0)])  # the store was told no time of asking
    prices = Prices("EUR", gpu_hour_rate=2.0, gpus=1)
    with filled.site.store() as store:
        summaries = summarise_benchmarks(store, "november")
        (row,) = measure_rows(store, summaries, {summaries[0].run.deployment: prices})
    assert row is not None
    assert row.cost is None


def test_gpu_hours_of_a_run_that_reuses_some_answers_of_an_earlier_run_are_not_known(
    filled: FilledSite,
):
    prices = Prices("EUR", 100.0, 1000.0, gpu_hour_rate=2.0, gpus=1)
    run_id = filled.add([took(0, (100, 10), 1.0), took(1, (100, 10), 1.0)])
    with filled.site.store() as store:
        store.answers.settle(run_id, [], [], asked_seconds=3600.0)
        summaries = summarise_benchmarks(store, "november")
        deployment = summaries[0].run.deployment
        (asked,) = measure_rows(store, summaries, {deployment: prices})
        assert asked is not None
        assert asked.cost == Cost("EUR", tokens=pytest.approx(0.04), gpu_hours=2.0)
    make_older(filled, answers=1)
    with filled.site.store() as store:
        (reusing,) = measure_rows(store, summaries, {deployment: prices})
    assert reusing is not None
    assert reusing.cost == Cost("EUR", tokens=pytest.approx(0.04), gpu_hours=None)


def make_older(filled: FilledSite, answers: int) -> None:
    """Set the time of so many answers to before their run started."""
    with (
        closing(sqlite3.connect(filled.site.directory / "store" / "site.sqlite3")) as connection,
        connection,
    ):
        connection.execute(
            "UPDATE answers SET created_at = created_at - 60 WHERE request_key IN "
            "(SELECT request_key FROM answers LIMIT ?)",
            (answers,),
        )


def test_helms_runs_have_their_tokens_and_times(filled: FilledSite):
    import_helm(filled.site, DATA / "helm_output", None, replace=False)
    with filled.site.store() as store:
        rows = measure_rows(store, summarise_benchmarks(store, "real"), {})
    assert rows
    assert all(row is not None and row.seconds_per_answer for row in rows)


def test_a_run_without_an_answer_took_nothing(filled: FilledSite):
    filled.add([Case(case(0).instance, None)])
    with filled.site.store() as store:
        summaries = summarise_benchmarks(store, "november")
        rows = measure_rows(store, summaries, {summaries[0].run.deployment: PRICES})
    assert rows == [None]
    assert sum_by_model(summaries, rows) == {}
