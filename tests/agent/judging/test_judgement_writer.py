"""Judgements are written in batches; a store that refuses one ends the judging."""

from typing import Any

import pytest

from agent.errors import StoreError
from agent.io.progress import Progress
from agent.judging.judge_suite import JudgedRun, JudgeOptions, judge_suite
from agent.site.directory import Site
from agent.store.scores import Scores
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import (
    deploy,
    judge_server,
    judged,
    kept,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.agent.runs.suites import run

ENTRY = "open:model=m"


def judge(site: Site) -> list[JudgedRun]:
    return judge_suite(site, JudgeOptions("s"), Progress(quiet=True))[0]


def test_a_store_that_refuses_ends_the_judging_and_the_next_time_completes_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    open_benchmark(site, instances=200)
    real, calls = Scores.keep, 0

    def refuses(self: Scores, *given: Any, **more: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StoreError("the store cannot be written (SQLITE_FULL)")
        real(self, *given, **more)

    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict(3, 3))) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY, no_judging=True)
        monkeypatch.setattr(Scores, "keep", refuses)
        with pytest.raises(StoreError, match="SQLITE_FULL"):
            judge(site)
        asked = len(judged(a))
        assert asked < 200
        (heard,) = judge(site)
        assert kept(site)[0] == [3.0] * 200
        assert heard.judged.open == 0
