"""Several servers of one model: the load is shared, a dead one costs no answer, and is asked again when it is back."""

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.deployments import Deployment
from agent.inference.capabilities import Capabilities
from agent.inference.outage import ServerWatch
from agent.inference.replica_probe import probe_deployment
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
    with FaultServer(latency_s=0.01) as fast, FaultServer(latency_s=0.5) as slow:
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
        # Long enough for the replica that is well on a busy machine: 200 requests are sent at once.
        limits = replace(QUICK, attempt_timeout_s=2, first_attempt_timeout_s=2)
        outcome = ask(
            with_replicas([starting.url, hanging.url, well.url]), QUESTIONS, limits=limits
        )
    assert len(outcome.texts()) == 200
    # A third of the questions would be 66: each is asked a few times, more often on a busy machine.
    assert len(starting.asked) <= 16
    assert len(hanging.asked) <= 16


def probe_while_gone(replicas: Deployment, gone: ServerProcess) -> Capabilities:
    """Probe replicas of which one was killed."""
    gone.kill()
    return asyncio.run(probe_deployment(replicas, QUICK))


def test_a_replica_that_starts_after_the_probe_is_probed_again_and_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.inference.outage._BACKOFF_S", (0.3, 0.6))
    said: list[str] = []
    with ServerProcess(tmp_path / "a") as late, ServerProcess(tmp_path / "b", 0.05) as other:
        replicas = with_replicas([late.url, other.url])
        capabilities = probe_while_gone(replicas, late)
        assert capabilities.tried_again == {late.url}
        restart = threading.Timer(0.6, late.start)
        restart.start()
        outcome = ask(
            replicas,
            [f"Question {i}?" for i in range(500)],
            capabilities=capabilities,
            watch=ServerWatch(QUICK, said.append),
        )
        restart.join()
        address = f"127.0.0.1:{late.port}"
    assert len(outcome.texts()) == 500
    assert said == [f"deployment local/test: the server {address} answers again"]
    asked_late = [prompt for prompt in late.answered if prompt.startswith("Question")]
    assert len(asked_late) > 100


def test_a_later_run_of_the_command_asks_the_replica_that_was_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.inference.outage._BACKOFF_S", (0.0, 0.2))
    watch = ServerWatch(QUICK)
    with ServerProcess(tmp_path / "a") as late, ServerProcess(tmp_path / "b") as other:
        replicas = with_replicas([late.url, other.url])
        capabilities = probe_while_gone(replicas, late)
        late.start()
        ask(replicas, QUESTIONS, capabilities=capabilities, watch=watch)
        before = len(late.answered)
        ask(replicas, ["One more?", "Two more?"], capabilities=capabilities, watch=watch)
    assert len(late.answered) == before + 1


def test_a_replica_that_comes_back_with_another_model_gets_no_question(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("agent.inference.outage._BACKOFF_S", (0.0, 0.2))
    with FaultServer(models=["other"]) as other, FaultServer(latency_s=0.02) as well:
        replicas = with_replicas([other.url, well.url])
        capabilities = asyncio.run(probe_deployment(replicas, QUICK))
        outcome = ask(replicas, QUESTIONS, capabilities=capabilities, watch=ServerWatch(QUICK))
    assert len(outcome.texts()) == 200
    assert not set(other.prompts) & set(QUESTIONS)


def test_a_replica_that_comes_back_as_other_software_is_named_and_stays_out(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("agent.inference.outage._BACKOFF_S", (0.0, 0.2))
    said: list[str] = []
    with (
        FaultServer(owned_by="vllm", latency_s=0.02) as well,
        FaultServer(owned_by="library") as other,
    ):
        replicas = with_replicas([other.url, well.url])
        capabilities = asyncio.run(probe_deployment(with_replicas([well.url]), QUICK))
        # As if it had been silent when the replicas were probed.
        capabilities = replace(
            capabilities, left_out={other.url: "is gone"}, tried_again=frozenset([other.url])
        )
        watch = ServerWatch(QUICK, said.append)
        ask(replicas, QUESTIONS, capabilities=capabilities, watch=watch)
    assert not set(other.prompts) & set(QUESTIONS)
    assert said == [
        f"deployment local/test: the server 127.0.0.1:{other.port} answers now, but it is ollama, but the first "
        "usable replica is vllm; it stays left out"
    ]
