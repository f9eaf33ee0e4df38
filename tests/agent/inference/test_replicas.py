"""Several servers of one model: the load is shared, a dead one costs no answer, and is asked again when it is back."""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.deployments import Deployment
from agent.inference.outage import ServerWatch
from agent.vocabulary import Reason
from tests.agent.fault_server import FaultServer, Hang, Status, always
from tests.agent.inference.asking import QUICK, ask, deployment
from tests.agent.inference.server_process import ServerProcess

QUESTIONS = [f"Question {i}?" for i in range(200)]


def with_replicas(urls: Sequence[str]) -> Deployment:
    return replace(deployment(urls[0]), replicas=tuple(urls))


def test_requests_are_shared_and_the_limit_is_that_of_each_replica():
    with FaultServer(latency_s=0.02) as first, FaultServer(latency_s=0.02) as second:
        outcome = ask(with_replicas([first.url, second.url]), QUESTIONS, max_in_flight=4)
    assert len(outcome.texts()) == 200
    assert first.peak_in_flight <= 4
    assert second.peak_in_flight <= 4
    assert sorted(first.prompts + second.prompts) == sorted(QUESTIONS)
    assert 70 <= len(first.asked) <= 130


def test_the_faster_replica_gets_more():
    with FaultServer(latency_s=0.01) as fast, FaultServer(latency_s=0.1) as slow:
        ask(with_replicas([slow.url, fast.url]), QUESTIONS, max_in_flight=4)
    assert len(fast.asked) > 1.5 * len(slow.asked)


def test_a_replica_killed_in_the_middle_costs_no_answer_and_nothing_is_asked_twice_needlessly(
    tmp_path: Path,
):
    said: list[str] = []
    with ServerProcess(tmp_path / "a") as doomed, ServerProcess(tmp_path / "b") as other:
        killer = threading.Timer(0.4, doomed.kill)
        killer.start()
        outcome = ask(
            with_replicas([doomed.url, other.url]), QUESTIONS, watch=ServerWatch(QUICK, said.append)
        )
        killer.join()
        address = f"127.0.0.1:{doomed.port}"
    assert len(outcome.texts()) == 200
    answered = Counter(doomed.answered + other.answered)
    assert set(answered) == set(QUESTIONS)
    assert 0 < len(doomed.answered) < 100
    repeated = sum(times - 1 for times in answered.values())
    assert repeated <= 4  # replies that were on their way when the server was killed
    (note,) = said
    assert note.startswith(f"deployment local/test: the server {address} ")
    assert "the other replicas get its requests" in note


def test_a_killed_replica_that_is_started_again_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.inference.outage._BACKOFF_S", (0.3, 0.6))
    said: list[str] = []
    with ServerProcess(tmp_path / "a") as doomed, ServerProcess(tmp_path / "b", 0.05) as other:
        restart = threading.Timer(0.4, lambda: (doomed.kill(), doomed.start()))
        restart.start()
        outcome = ask(
            with_replicas([doomed.url, other.url]),
            [f"Question {i}?" for i in range(500)],
            watch=ServerWatch(QUICK, said.append),
        )
        restart.join()
    assert len(outcome.texts()) == 500
    assert said[-1].endswith("answers again")
    assert len(doomed.answered) > 100


def test_replicas_that_are_all_gone_are_given_up_as_one_server_is():
    with FaultServer() as first, FaultServer() as second:
        urls = [first.url, second.url]
    said: list[str] = []
    watch = ServerWatch(QUICK, said.append)
    outcome = ask(
        with_replicas(urls), QUESTIONS, limits=replace(QUICK, outage_grace_s=1), watch=watch
    )
    assert set(outcome.reasons().values()) == {Reason.UNREACHABLE, Reason.NOT_ASKED}
    assert outcome.seconds < 10
    (lost,) = watch.list_lost()
    assert "with its 2 replicas (127.0.0.1:" in lost.describe()


def test_a_replica_that_is_starting_or_hangs_is_left_out():
    with (
        FaultServer(fault=always(Status(503))) as starting,
        FaultServer(fault=always(Hang())) as hanging,
        FaultServer(latency_s=0.02) as well,
    ):
        limits = replace(QUICK, attempt_timeout_s=0.3, first_attempt_timeout_s=0.3)
        outcome = ask(
            with_replicas([starting.url, hanging.url, well.url]), QUESTIONS, limits=limits
        )
    assert len(outcome.texts()) == 200
    assert len(starting.asked) <= 4
    assert len(hanging.asked) <= 8
