"""Servers that call themselves compatible and are not quite: what the probe finds, and what a run may then do."""

import asyncio
import json
import time
from dataclasses import replace

import pytest

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Feature, Needs, check_needs
from agent.inference.probe import probe
from agent.vocabulary import ChatRequest, Response
from tests.agent.fault_server import (
    HTML,
    Break,
    FaultServer,
    Hang,
    Message,
    Status,
    always,
    containing,
)
from tests.agent.inference.asking import QUICK, ask_one, chat, deployment


def probed(server: FaultServer, model: str = "test-model") -> Capabilities:
    return asyncio.run(probe(deployment(server.url, model), replace(QUICK, first_attempt_timeout_s=8)))


def refused(server: FaultServer, model: str = "test-model") -> InferenceError:
    with pytest.raises(InferenceError) as caught:
        probed(server, model)
    return caught.value


def test_an_honest_server_is_found_to_honour_all():
    with FaultServer() as server:
        found = probed(server)
    states = {name: feature.state for name, feature in found.features.items()}
    assert states.pop("reasoning") == "unknown"
    assert set(states.values()) == {"honoured"}
    assert check_needs(found, Needs(stop=True, seed=True, logprobs=True, json_schema=True, n=True)) == ()


@pytest.mark.parametrize(
    ("ignored", "feature"),
    [
        ("stop", "stop"),
        ("n", "n"),
        ("seed", "seed"),
        ("logprobs", "logprobs"),
        ("response_format", "json_schema"),
        ("max_tokens", "max_tokens"),
        ("max_completion_tokens", "max_completion_tokens"),
        ("temperature", "temperature_zero"),
        ("model", "model_name"),
        ("usage", "usage"),
    ],
)
def test_a_field_that_is_silently_ignored_is_found(ignored, feature):
    with FaultServer(ignores={ignored}) as server:
        assert probed(server).features[feature].state == "ignored"


@pytest.mark.parametrize(
    ("field", "feature"),
    [("stop", "stop"), ("n", "n"), ("seed", "seed"), ("logprobs", "logprobs"), ("response_format", "json_schema")],
)
def test_a_field_that_is_refused_is_found(field, feature):
    with FaultServer(refuses={field}) as server:
        assert probed(server).features[feature].state == "refused"


def test_a_server_that_takes_only_the_newer_name_of_the_limit_is_asked_by_it():
    with FaultServer(refuses={"max_tokens"}) as server:
        found = probed(server)
        ask_one(server.url, chat("Why?"), capabilities=found)
    assert found.token_limit_field == "max_completion_tokens"
    assert {name for name, feature in found.features.items() if feature.state == "refused"} == {"max_tokens"}
    assert found.state("max_completion_tokens") == "honoured"
    assert found.state("stop") == "honoured"
    assert server.asked[-1].body["max_completion_tokens"] == 50
    assert "max_tokens" not in server.asked[-1].body
    assert check_needs(found, Needs()) == (
        "The server takes its limit of tokens as max_completion_tokens; that name is sent.",
    )


def test_probing_asks_a_dozen_questions_in_two_rounds():
    """So one that answers in 50 ms is probed in about 0.15 s; how long it takes here depends on the machine."""
    with FaultServer(latency_s=0.5) as server:
        probed(server)
        assert len(server.asked) == 12
        assert len(server.seen_paths) <= 16  # the list of models, and who counts tokens
        assert server.peak_in_flight >= 10  # a round is asked at once


def test_a_wrong_model_name_is_answered_with_those_on_offer():
    with FaultServer(models=("qwen-7b", "llama-8b")) as server:
        error = refused(server, "gpt-5")
    assert "does not serve a model named gpt-5" in str(error)
    assert error.advice == "The server offers 2: qwen-7b, llama-8b."


def test_a_server_that_answers_to_any_name_may_not_pass_off_another_model():
    with FaultServer(models=("qwen-7b",), ignores={"model"}) as server:
        assert "does not serve a model named llama-8b" in str(refused(server, "llama-8b"))


def test_a_server_that_lists_no_models_is_usable_and_says_so():
    with FaultServer(models=()) as server:
        found = probed(server, "anything")
    assert (found.models_listed, found.model_in_list) == (0, False)
    assert found.features["model_list"].state == "ignored"
    assert "cannot be checked" in found.features["model_name"].finding


def test_names_in_the_list_reach_a_person_short_few_and_without_control_characters():
    names = ("bad\x1b[2J\nname\u202e", "x" * 5000, *(f"model-{i}" for i in range(30)))
    with FaultServer(models=names) as server:
        advice = refused(server, "gpt-5").advice
    assert advice.startswith(f"The server offers 32: bad[2Jname, {'x' * 100}, model-0, ")
    assert advice.endswith("model-17 and 12 more.")
    assert advice.isprintable()


def test_nothing_that_a_server_writes_is_kept_with_the_run():
    names = ("test-model", "CANARY was admitted")
    with FaultServer(
        models=names,
        owned_by="CANARY",
        server_header="CANARY",
        replies_as="CANARY",
        extra_model_keys={"root": "CANARY"},
    ) as server:
        found = probed(server)
    assert (found.models_listed, found.model_in_list) == (2, True)
    assert "CANARY" not in json.dumps(found.to_json())
    assert "CANARY" not in repr(found)


@pytest.mark.parametrize("owner", [None, 5, ["vllm"], {"vllm": 1}])
def test_a_list_of_odd_values_ends_no_probe(owner):
    with FaultServer(owned_by=owner, extra_model_keys={"root": owner, "aliases": [owner]}) as server:
        assert probed(server).server == "unknown"


def test_a_server_that_answers_under_another_name_and_lists_no_models_is_refused():
    with FaultServer(models=(), replies_as="CANARY-8b") as server:
        error = refused(server, "qwen-7b")
    assert "asked for qwen-7b, the server answers under the name of another model" in str(error)
    assert "CANARY" not in f"{error} {error.advice}"


def test_another_name_in_the_replies_is_said_and_expected_from_then_on():
    with FaultServer(replies_as="resolved-8b") as server:
        found = probed(server)
        assert isinstance(ask_one(server.url, chat("Why?"), capabilities=found), Response)
    assert found.state("model_name") == "ignored"
    assert "another model" in found.features["model_name"].finding
    assert any("another name" in said for said in check_needs(found, Needs()))
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_name_that_the_list_itself_gives_the_model_is_no_other_model():
    with FaultServer(replies_as="/models/tiny", extra_model_keys={"root": "/models/tiny"}) as server:
        assert probed(server).state("model_name") == "honoured"


@pytest.mark.parametrize("named", ["Org/Test-Model", "test-model@main", "test-model:latest", "", 5])
def test_a_form_of_the_asked_name_needs_no_word(named):
    with FaultServer(models=(), replies_as=named) as server:
        assert probed(server).other_names == ()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Status(401), "refuses the bearer token"),
        (Status(307, {"Location": "http://127.0.0.1:1/"}), "redirects"),
        (Status(500), "HTTP 500"),
        (HTML, "not answer as an OpenAI-compatible server"),
        (Break(), "no whole reply"),
        (Message(None), "not answer as an OpenAI-compatible server"),
    ],
    ids=str,
)
def test_a_server_that_cannot_be_used_is_refused_in_plain_words(fault, words, monkeypatch):
    monkeypatch.setattr("agent.inference.probe._PATIENCE_S", (0.01, 0.01))
    with FaultServer(fault=always(fault)) as server:
        assert words in str(refused(server))


def test_no_word_of_the_server_gets_into_an_error(monkeypatch):
    monkeypatch.setattr("agent.inference.probe._PATIENCE_S", (0.01,))
    with FaultServer(models=(), fault=always(Status(500, body=b"CANARY was admitted"))) as server:
        error = refused(server)
    assert "CANARY" not in f"{error} {error.advice} {error!r} {error.__context__!r}"


def test_a_hanging_server_is_refused():
    with FaultServer(fault=always(Hang())) as server, pytest.raises(InferenceError, match="in time"):
        asyncio.run(probe(deployment(server.url), replace(QUICK, first_attempt_timeout_s=0.3)))


def test_a_server_that_is_not_there_is_refused_at_once():
    with FaultServer() as server:
        pass
    began = time.perf_counter()
    assert "refuses connections" in str(refused(server))
    assert time.perf_counter() - began < 7  # it may take 8 s where something listens


def test_a_server_still_starting_is_waited_for():
    with FaultServer(fault=lambda asked: Status(503) if asked.number < 12 else None) as server:
        assert probed(server).features["max_tokens"].state == "honoured"


def test_one_prompt_that_the_server_cannot_digest_does_not_refuse_the_run():
    with FaultServer(fault=containing("Count", Status(500))) as server:
        found = probed(server)
    assert found.features["stop"].state == "unknown"
    assert found.features["seed"].state == "honoured"


@pytest.mark.parametrize("begun", ["", "   \n ", '{"colour": "bl'])
def test_an_answer_cut_off_in_its_json_says_nothing_of_the_schema(begun):
    with FaultServer(fault=containing("colour", Message({"content": begun}, "length"))) as server:
        assert probed(server).state("json_schema") == "unknown"


@pytest.mark.parametrize("owner", ["llamacpp", "me"])
def test_the_llama_cpp_family_is_told_not_to_punish_repetition(owner):
    with FaultServer(owned_by=owner, extra_model_keys={"permissions": []}) as server:
        found = probed(server)
        ask_one(server.url, chat("Why?"), capabilities=found)
    assert found.extra_body == {"repeat_penalty": 1.0}
    assert server.asked[-1].body["repeat_penalty"] == 1.0
    assert any("repeat_penalty=1.0" in said for said in check_needs(found, Needs()))


def test_the_server_itself_says_that_a_model_is_no_language_model():
    with FaultServer(extra_model_keys={"language_model": False}) as server:
        assert not probed(server).language_model


@pytest.mark.parametrize(
    ("message", "state"),
    [
        ({"content": "B", "reasoning_content": "hm"}, "honoured"),
        ({"content": "<think>hm</think>B"}, "ignored"),
        ({"content": "<think>hm"}, "ignored"),
        ({"content": "hm</think>B"}, "ignored"),
        ({"content": "B"}, "unknown"),
    ],
)
def test_thinking_is_noticed(message, state):
    with FaultServer(fault=always(Message(message))) as server:
        found = probed(server)
    assert found.features["reasoning"].state == state
    assert found.inline_thoughts == (state == "ignored")
    assert any("thought that was cut off" in said for said in check_needs(found, Needs())) == found.inline_thoughts


def opened_by_the_prompt(asked):
    """A model whose chat template begins its thought: only the end of a thought of some length shows it."""
    text = "Okay, so I need to think. " * 8 + "</think>Yes"
    limit = min(asked.body.get("max_tokens", 999), asked.body.get("max_completion_tokens", 999))
    return Message({"content": text[: 4 * limit]}, "length" if len(text) > 4 * limit else "stop")


def test_a_thought_that_the_prompt_began_is_found_where_it_ends_and_its_cut_off_start_is_no_answer():
    with FaultServer(fault=opened_by_the_prompt) as server:
        found = probed(server)
        request = chat("Why?", max_tokens=20, stop=("so",))
        result = ask_one(server.url, request, capabilities=found)
    assert found.inline_thoughts
    assert isinstance(result, Response)
    assert (result.text, result.finish_reason) == ("", "length")
    assert result.reasoning.startswith("Okay, so")
    assert "stop" not in server.asked[-1].body  # it would end the thought


def test_a_deployment_marked_as_reasoning_needs_no_sign_of_it():
    with FaultServer(fault=always(Message({"content": "Okay, so"}, "length"))) as server:
        marked = replace(deployment(server.url), reasoning=True)
        plain, thought = ask_one(server.url), ask_one(marked)
        found = asyncio.run(probe(marked, QUICK))
        assert not probed(server).inline_thoughts
    assert isinstance(plain, Response)
    assert isinstance(thought, Response)
    assert (plain.text, thought.text, thought.reasoning) == ("Okay, so", "", "Okay, so")
    assert found.inline_thoughts


def test_a_model_that_writes_on_and_on_for_one_word_may_be_thinking_and_that_is_said():
    with FaultServer(fault=containing("one word", Message({"content": "Okay, so"}, "length"))) as server:
        found = probed(server)
    assert "`reasoning: true`" in found.features["reasoning"].finding
    assert any("`reasoning: true`" in said for said in check_needs(found, Needs()))


def test_the_unknown_name_that_is_tried_is_no_valid_name_anywhere():
    with FaultServer() as server:
        probed(server)
    (tried,) = {asked.body["model"] for asked in server.asked} - {"test-model"}
    assert " " in tried  # no hub takes names with spaces, so no server looks for one


def test_what_was_found_survives_being_stored():
    with FaultServer() as server:
        found = probed(server)
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found
    for wrong in ({}, {**found.to_json(), "token_limit_field": "limit"}, {**found.to_json(), "features": {"x": {}}}):
        with pytest.raises(ValueError, match="capabilities"):
            Capabilities.from_json(wrong)


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
        capabilities(stop="ignored", seed="ignored", temperature_zero="ignored"), Needs(stop=True, seed=True)
    )
    assert [sentence.split(";")[0] for sentence in said] == [
        "The server ignores stop sequences",
        "The server ignores seeds",
        "The server's answers differ at temperature 0",
    ]


def test_what_a_request_needs_is_read_off_it():
    request = ChatRequest("m", (), 5, temperature=1.0, stop=("x",), seed=1, extra_body={"logprobs": True, "n": 2})
    assert Needs.of(request) == Needs(stop=True, seed=True, temperature_zero=False, logprobs=True, n=True)
    assert Needs.of(ChatRequest("m", (), 5, seed=1)) == Needs(temperature_zero=True)
