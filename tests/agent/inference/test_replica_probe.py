"""Replicas are probed before a run: one that is absent or serves another model is left out and named."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities
from agent.inference.replica_probe import describe_problems, probe_deployment
from tests.agent.fault_server import FaultServer
from tests.agent.inference.asking import QUICK, ask, deployment
from tests.agent.inference.counting_server import CountingServer


def probe_replicas(urls: Sequence[str]) -> tuple[Capabilities, list[str]]:
    """Probe replicas at these addresses; return their capabilities and what a user reads about them."""
    replicas = replace(deployment(urls[0]), replicas=tuple(urls))
    capabilities = asyncio.run(probe_deployment(replicas, QUICK))
    return capabilities, describe_problems(replicas, capabilities)


def address_of(server: FaultServer) -> str:
    return f"deployment local/test: the server 127.0.0.1:{server.port}"


def test_equal_replicas_are_one_server_and_nothing_is_said():
    with FaultServer() as first, FaultServer() as second:
        capabilities, said = probe_replicas([first.url, second.url])
        alone = asyncio.run(probe_deployment(deployment(first.url), QUICK))
    assert said == []
    assert capabilities == alone


def test_an_absent_replica_and_one_of_another_model_are_left_out_and_get_no_prompt():
    with FaultServer() as absent:
        pass
    with FaultServer(models=["other"]) as other, FaultServer() as well:
        urls = [absent.url, other.url, well.url]
        capabilities, said = probe_replicas(urls)
        asked = len(other.asked)
        outcome = ask(
            replace(deployment(urls[0]), replicas=tuple(urls)),
            ["A?", "B?"],
            capabilities=capabilities,
        )
    assert len(outcome.texts()) == 2
    assert len(other.asked) == asked
    assert said == [
        f"{address_of(absent)} refuses connections; it is left out until it answers",
        f'{address_of(other)} does not serve a model named test-model; it says: "injected failure"; it is left out '
        "until it answers",
    ]
    assert "127.0.0.1" not in str(capabilities.to_json())


def test_the_smallest_context_length_counts_and_is_said():
    with (
        CountingServer(window=4096) as large,
        CountingServer(window=2048) as small,
    ):
        capabilities, said = probe_replicas([large.url, small.url])
    assert capabilities.window == 2048
    assert said == [
        "deployment local/test: The replicas have different context lengths (2048, 4096 tokens); the smallest is used."
    ]


def test_a_feature_counts_only_if_all_replicas_honour_it():
    with FaultServer() as all_of_it, FaultServer(ignores={"seed", "stop"}) as less:
        capabilities, _ = probe_replicas([all_of_it.url, less.url])
    assert capabilities.state("stop") == "ignored"
    assert capabilities.state("seed") == "ignored"
    assert capabilities.state("max_tokens") == "honoured"


def test_a_replica_of_other_software_is_left_out():
    with FaultServer(owned_by="vllm") as vllm, FaultServer(owned_by="library") as ollama:
        _, said = probe_replicas([vllm.url, ollama.url])
    assert said == [
        f"{address_of(ollama)} is ollama, but the first usable replica is vllm; it is left out"
    ]


def test_replicas_of_which_none_works_are_all_named():
    with FaultServer() as absent:
        pass
    with FaultServer(models=["other"]) as other, pytest.raises(InferenceError) as raised:
        probe_replicas([absent.url, other.url])
    assert str(raised.value) == (
        "deployment local/test: none of its 2 replicas can be used: "
        f"127.0.0.1:{absent.port} refuses connections; "
        f'127.0.0.1:{other.port} does not serve a model named test-model; it says: "injected failure"'
    )
