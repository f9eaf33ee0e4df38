"""Capabilities survive being stored, and a run is refused where they do not suffice."""

import json

import pytest

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Feature, Needs, check_needs
from agent.vocabulary import ChatRequest
from tests.agent.fault_server import (
    FaultServer,
)
from tests.agent.inference.asking import probe_server
from tests.agent.inference.counting_server import CountingServer
from tests.agent.inference.long_prompts import over_long


def test_what_was_found_survives_being_stored():
    with FaultServer() as server:
        found = probe_server(server)
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found
    for wrong in (
        {},
        {**found.to_json(), "token_limit_field": "limit"},
        {**found.to_json(), "features": {"x": {}}},
    ):
        with pytest.raises(ValueError, match="capabilities"):
            Capabilities.from_json(wrong)


def test_capabilities_of_an_older_version_are_told_apart():
    with CountingServer(window=2048) as server:
        kept = probe_server(server).to_json()
    del kept["window"]
    with pytest.raises(ValueError, match="missing"):
        Capabilities.from_json(kept)


def capabilities(**states: str) -> Capabilities:
    return Capabilities("unknown", {name: Feature(state, "seen") for name, state in states.items()})


def test_a_run_that_needs_what_is_missing_is_refused_with_all_of_it_named():
    lacking = capabilities(logprobs="ignored", json_schema="refused", n="ignored", stop="refused")
    with pytest.raises(InferenceError) as caught:
        check_needs(lacking, Needs(stop=True, logprobs=True, json_schema=True))
    for words in ("stop", "logprobs", "response_format"):
        assert words in str(caught.value)
    assert "several answers" not in str(caught.value)


def test_a_server_without_any_limit_of_tokens_is_refused():
    with pytest.raises(InferenceError, match="max_tokens"):
        check_needs(capabilities(max_tokens="ignored", max_completion_tokens="ignored"), Needs())


def test_what_can_be_worked_around_is_said():
    said = check_needs(
        capabilities(stop="ignored", seed="ignored", temperature_zero="ignored"),
        Needs(stop=True, seed=True),
    )
    assert [sentence.split(";")[0] for sentence in said] == [
        "The server ignores stop sequences",
        "The server ignores seeds",
        "The server's answers vary at temperature 0",
    ]


def test_a_run_that_may_have_to_count_says_when_nobody_can():
    with CountingServer(window=1000, kind="neither") as server:
        (note_,) = check_needs(probe_server(server), Needs.of(over_long("note")))
    assert "cannot be counted" in note_
    with CountingServer(window=1000) as server:
        found = probe_server(server)
    assert check_needs(found, Needs.of(over_long("note"))) == ()


def test_what_a_request_needs_is_read_off_it():
    request = ChatRequest(
        "m", (), 5, temperature=1.0, stop=("x",), seed=1, extra_body={"logprobs": True, "n": 2}
    )
    assert Needs.of(request) == Needs(
        stop=True, seed=True, temperature_zero=False, logprobs=True, n=True
    )
    assert Needs.of(ChatRequest("m", (), 5, seed=1)) == Needs(temperature_zero=True)
