"""Juries of scripted judges on loopback: what they are asked, what is kept, and what happens when they fail."""

from pathlib import Path

import pytest

from agent.site import Site, create_site
from agent.vocabulary import Reason, Unscored
from tests.agent.evaluation.juries import (
    deploy,
    judge_server,
    judged,
    kept,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.agent.evaluation.runs import run
from tests.agent.fault_server import FaultServer

ENTRY = "open:model=m"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_three_judges_grade_every_answer_once_and_are_never_asked_again(site: Site):
    open_benchmark(site)
    scripts = [says(verdict(4, 5)), says(verdict(3, 3)), says(verdict(2.5, 1))]
    with (
        FaultServer(models=["m"], answer="An answer") as model,
        judge_server(scripts[0]) as a,
        judge_server(scripts[1]) as b,
        judge_server(scripts[2]) as c,
    ):
        deploy(site, {"a": a.url, "b": b.url, "c": c.url})
        write_jury(site.judges, "abc")
        (outcome,) = run(site, model.url, ENTRY)
        scores, seats = kept(site)
        assert scores == [pytest.approx((4.5 + 3 + 1.75) / 3)] * 3
        assert [[dict(seat.grades or {}) for seat in of] for of in seats.values()] == [
            [{"accuracy": 4, "clarity": 5}, {"accuracy": 3, "clarity": 3}, {"accuracy": 2.5, "clarity": 1}]
        ] * 3
        assert (outcome.judged.asked, outcome.judged.answers, outcome.judged.open) == (9, 3, 0)
        (again,) = run(site, model.url, ENTRY)
        assert again.judged.asked == 0
        assert [len(judged(server)) for server in (a, b, c)] == [3, 3, 3]
        assert {asked.body["temperature"] for asked in judged(a)} == {0.0}
        assert {asked.body["max_tokens"] for asked in judged(a)} == {4096}
        assert all(asked.body["response_format"]["type"] == "json_schema" for asked in judged(a))


def test_without_a_jury_answers_are_kept_and_not_judged(site: Site):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="An answer") as model:
        (outcome,) = run(site, model.url, ENTRY)
    assert kept(site)[0] == [Unscored(Reason.NOT_JUDGED)] * 3
    assert outcome.judged.answers == 0


def test_a_reply_that_is_no_verdict_is_repaired_once_and_both_replies_are_kept(site: Site):
    open_benchmark(site, instances=1)
    with FaultServer(models=["m"], answer="An answer") as model, judge_server(says("Good!", verdict(1, 2))) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY)
        scores, seats = kept(site)
        assert scores == [1.5]
        assert seats[0][0].repaired
        assert len(judged(a)) == 2
    with site.store() as store:
        (one,) = store.runs("s")
        ((_, _, judgement),) = store.every_seat(one.run_id, [0])[0]
        assert [reply.text for reply in judgement.replies] == ["Good!", verdict(1, 2)]
