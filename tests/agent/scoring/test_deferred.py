"""Metrics that are computed from stored answers: in order, each answer once, and the same as one by one."""

import random
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from agent.errors import BenchmarkError
from agent.metrics import AnswerParser, Means, MetricUse, bert_score, score
from agent.runs import carry_out as main_path
from agent.scoring import deferred as measuring
from agent.scoring.deferred import bind_metrics, compute_later_scores
from agent.scoring.measures import Rules
from agent.scoring.score import score_response
from agent.site.directory import Site, create_site
from agent.vocabulary import Failure, Instance, Message, Reason, Reference, Response, Unscored
from tests.agent.fault_server import FaultServer
from tests.agent.runs.suites import run, write_benchmark

ROUGE = ("rouge_1", "rouge_2", "rouge_l", "rouge_lsum")


def rules(*names: str, scoring: str = "intramural") -> Rules:
    uses = [MetricUse(name, {"stemmer": True} if name in ROUGE else {}) for name in names]
    return Rules.of(uses, scoring, AnswerParser("text"), "l")


def instance(number: int, *golds: str) -> Instance:
    references = tuple(Reference(gold, True) for gold in golds)
    return Instance(str(number), str(number), (Message("user", "?"),), references)


def response(text: str, **more: object) -> Response:
    return replace(Response(text, "", "stop", None, None, 0.0), **more)


def cases(count: int) -> list[tuple[int, Instance, Response]]:
    chance = random.Random(1)

    def text() -> str:
        return " ".join(chance.choices(["pain", "fever", "cough", "\n"], k=chance.randrange(20)))

    return [(3 * i, instance(i, text(), text()), response(text())) for i in range(count)]


@pytest.mark.usefixtures("without_scipy")
@pytest.mark.parametrize(("scoring", "workers"), [("intramural", 1), ("helm", 1), ("both", 2)])
def test_every_score_is_that_of_the_answer_alone_in_the_order_of_the_cases(
    scoring, workers, monkeypatch
):
    monkeypatch.setattr("agent.metrics.rouge_workers.PATIENCE_S", 0)
    monkeypatch.setattr(measuring, "BATCH_CASES", 7)
    made = rules("exact_match", *ROUGE, scoring=scoring)
    expected = []
    for position, asked, came in cases(40):
        for measure in made.measures:
            if not measure.later:
                continue
            blank = measure.rules == "intramural" and not came.text.strip()
            value = (
                Unscored(Reason.EMPTY)
                if blank
                else score(measure.use, came.text, asked, measure.rules)
            )
            expected.append((position, measure.name, value))
    found = list(compute_later_scores(made, iter(cases(40)), Means(workers=workers)))
    assert found == expected
    assert {name for _, name, _ in found} == {
        one.name for one in made.measures if one.use.name != "exact_match"
    }


def test_one_batch_at_a_time_is_taken(monkeypatch):
    monkeypatch.setattr(measuring, "BATCH_CHARACTERS", 1)
    taken = []
    found = compute_later_scores(
        rules("rouge_1"), (taken.append(case) or case for case in cases(9))
    )
    next(found)
    assert len(taken) == 1
    assert len(list(found)) == 8


def test_nothing_is_taken_where_nothing_is_measured_later():
    def never():
        raise AssertionError
        yield

    assert list(compute_later_scores(rules("exact_match"), never())) == []


def test_an_answer_waits_to_be_measured_and_a_failure_does_not():
    made, asked = rules("rouge_1", "exact_match"), instance(1, "pain")
    assert [one.value for one in score_response(made, asked, response("pain"))] == [
        Unscored(Reason.NOT_MEASURED),
        1.0,
    ]
    for result, reason in (
        (Failure(Reason.TIMEOUT), Reason.TIMEOUT),
        (response(" "), Reason.EMPTY),
        (response("", finish_reason="length"), Reason.LENGTH),
        (response("x", finish_reason="content_filter"), Reason.CONTENT_FILTER),
    ):
        assert [one.value for one in score_response(made, asked, result)] == [Unscored(reason)] * 2
    by_helm = rules("rouge_1", scoring="helm")
    assert [one.value for one in score_response(by_helm, asked, response(" "))] == [
        Unscored(Reason.NOT_MEASURED)
    ]
    assert list(compute_later_scores(by_helm, [(5, asked, response(" "))])) == [(5, "rouge_1", 0.0)]


def test_all_three_figures_of_bertscore_come_of_one_comparison(monkeypatch):
    asked: list[bert_score.BertScoreComparison] = []

    def triples(comparisons, means):
        asked.extend(comparisons)
        return [
            Unscored(Reason.UNPARSED) if one.answer == "?" else (0.25, 0.5, float(len(one.golds)))
            for one in comparisons
        ]

    monkeypatch.setattr(bert_score, "triples", triples)
    made = rules("BERTScore-F", "rouge_1", "BERTScore-P", "BERTScore-R", scoring="both")
    both = instance(1, "pain"), instance(2, "pain", "cough")
    answers = [
        (0, both[0], response("pain")),
        (1, both[1], response("?")),
        (2, both[0], response("pain")),
    ]
    found = {
        (position, name): value for position, name, value in compute_later_scores(made, answers)
    }
    assert found[0, "BERTScore-P"] == found[2, "BERTScore-P@helm"] == 0.25
    assert found[0, "BERTScore-R"] == 0.5
    assert found[0, "BERTScore-F"] == 1.0
    assert found[1, "BERTScore-F"] == found[1, "BERTScore-R@helm"] == Unscored(Reason.UNPARSED)
    assert found[0, "rouge_1"] == 1.0
    assert len(found) == 3 * 8
    assert len(asked) == 4  # two different answers, by two sets of rules


def test_bertscore_without_an_encoder_is_refused_where_rules_are_made():
    with pytest.raises(BenchmarkError, match="BERTScore needs"):
        bind_metrics(rules("rouge_1", "BERTScore-F"), Means())
    assert bind_metrics(rules("rouge_1"), Means()) == rules("rouge_1")


def test_a_run_that_stops_while_it_measures_measures_the_rest_when_it_is_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site = create_site(tmp_path / "site", "Test")
    rows = [{"note": f"number {i}", "gold": f"fever for {i} days"} for i in range(40)]
    write_benchmark(
        site,
        "own",
        rows,
        "gold: {column: gold}\nmetrics:\n  - name: rouge_l\n  - name: exact_match\n",
    )

    def measured(site: Site) -> list[float | None]:
        with site.store() as store:
            (found,) = store.runs.select("s")
            return [one.value for one in store.scores.read_units(found.run_id, "rouge_l")]

    def stops(*given):
        yield from islice(compute_later_scores(*given), 11)
        raise KeyboardInterrupt

    with FaultServer(models=["a/b"]) as server:
        monkeypatch.setattr(main_path, "compute_later_scores", stops)
        monkeypatch.setattr(main_path, "SCORES_AT_ONCE", 4)
        with pytest.raises(KeyboardInterrupt):
            run(site, server.url, "own:model=a/b")
        assert sum(value is not None for value in measured(site)) == 8  # whole batches
        before = len(server.asked)
        monkeypatch.setattr(main_path, "compute_later_scores", compute_later_scores)
        (outcome,) = run(site, server.url, "own:model=a/b")
    assert (outcome.asked, outcome.kept) == (0, 40)
    assert all("Note: number" not in asked.prompt for asked in server.asked[before:])
    assert None not in measured(site)
