"""Servers that call themselves compatible and are not quite: what the probe finds, and what a run may then do."""

import asyncio
import json
import time
from dataclasses import replace

import pytest

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.probe import probe
from agent.vocabulary import Response
from tests.agent.fault_server import (
    HTML,
    Break,
    FaultServer,
    Hang,
    Huge,
    Message,
    Status,
    always,
    containing,
)
from tests.agent.inference.asking import (
    PATIENT,
    QUICK,
    ask_one,
    chat,
    deployment,
    expect_refusal,
    probe_server,
)
from tests.agent.inference.counting_server import TEMPLATE_WORDS, CountingServer


def test_an_honest_server_is_found_to_honour_all():
    with FaultServer() as server:
        found = probe_server(server)
    states = {name: feature.state for name, feature in found.features.items()}
    assert states.pop("reasoning") == "unknown"
    assert set(states.values()) == {"honoured"}
    assert (
        check_needs(found, Needs(stop=True, seed=True, logprobs=True, json_schema=True, n=True))
        == ()
    )


@pytest.mark.parametrize(
    ("ignored", "feature"),
    [
        ("stop", "stop"),
        ("n", "n"),
        ("seed", "seed"),
        ("logprobs", "logprobs"),
        ("response_format", "json_schema"),
        ("top_logprobs", "top_logprobs"),
        ("prompt_logprobs", "prompt_logprobs"),
        ("continue_final_message", "prompt_logprobs"),
        ("max_tokens", "max_tokens"),
        ("max_completion_tokens", "max_completion_tokens"),
        ("temperature", "temperature_zero"),
        ("model", "model_name"),
        ("usage", "usage"),
    ],
)
def test_a_field_that_is_silently_ignored_is_found(ignored, feature):
    with FaultServer(ignores={ignored}) as server:
        assert probe_server(server).features[feature].state == "ignored"


@pytest.mark.parametrize(
    ("field", "feature"),
    [
        ("stop", "stop"),
        ("n", "n"),
        ("seed", "seed"),
        ("logprobs", "logprobs"),
        ("response_format", "json_schema"),
    ],
)
def test_a_field_that_is_refused_is_found(field, feature):
    with FaultServer(refuses={field}) as server:
        assert probe_server(server).features[feature].state == "refused"


@pytest.mark.parametrize(
    ("ignored", "field"),
    [
        ((), "structured_outputs"),
        (("structured_outputs",), "guided_choice"),
        (("structured_outputs", "guided_choice"), "grammar"),
        (("structured_outputs", "guided_choice", "grammar"), "response_format"),
        (("structured_outputs", "guided_choice", "grammar", "response_format"), None),
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["ignores", "refuses"])
def test_the_field_that_limits_an_answer_to_options_is_found(ignored, field, way):
    with FaultServer(**{way: set(ignored)}) as server:
        found = probe_server(server)
    assert found.choice_field == field
    assert found.state("choice") == ("honoured" if field else "ignored")
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_server_that_takes_only_the_newer_name_of_the_limit_is_asked_by_it():
    with FaultServer(refuses={"max_tokens"}) as server:
        found = probe_server(server)
        ask_one(server.url, chat("Why?"), capabilities=found)
    assert found.token_limit_field == "max_completion_tokens"
    assert {name for name, feature in found.features.items() if feature.state == "refused"} == {
        "max_tokens"
    }
    assert found.state("max_completion_tokens") == "honoured"
    assert found.state("stop") == "honoured"
    assert server.asked[-1].body["max_completion_tokens"] == 50
    assert "max_tokens" not in server.asked[-1].body
    assert check_needs(found, Needs()) == (
        "The server only honours the token limit max_completion_tokens, which is sent instead of max_tokens.",
    )


def test_probing_asks_seventeen_questions_in_two_rounds():
    """So one that answers in 50 ms is probed in about 0.15 s; how long it takes here depends on the machine."""
    with FaultServer(latency_s=0.5) as server:
        probe_server(server)
        assert len(server.asked) == 17
        assert len(server.seen_paths) <= 21  # the list of models, and who counts tokens
        assert server.peak_in_flight >= 10  # a round is asked at once


def test_ways_of_asking_that_no_run_needs_are_not_probed():
    with FaultServer() as server:
        found = asyncio.run(probe(deployment(server.url), PATIENT, Needs()))
        assert len(server.asked) == 12
    unasked = {"choice", "top_logprobs", "prompt_logprobs"}
    assert unasked.isdisjoint(found.features)
    assert found.finding("choice") == "it was not probed"
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found
    with FaultServer() as server:
        found = asyncio.run(probe(deployment(server.url), PATIENT, Needs(option_logprobs=True)))
        assert len(server.asked) == 13
    assert unasked & found.features.keys() == {"top_logprobs"}


def test_runs_on_one_server_are_probed_for_what_any_of_them_needs():
    assert Needs(stop=True).join(Needs(choice=True)) == Needs(stop=True, choice=True)


def test_a_wrong_model_name_is_answered_with_those_on_offer():
    with FaultServer(models=("qwen-7b", "llama-8b")) as server:
        error = expect_refusal(server, "gpt-5")
    assert "does not serve a model named gpt-5" in str(error)
    assert error.advice == (
        "The server offers these models (2): qwen-7b, llama-8b. Write its name as `openai_model_name: NAME` into the "
        "args of deployment local/test."
    )


def test_a_wrong_name_is_corrected_in_the_key_that_states_it():
    with FaultServer(models=("qwen-7b",)) as server:
        of_vllm = replace(deployment(server.url, "gpt-5"), served_model_key="vllm_model_name")
        with pytest.raises(InferenceError) as caught:
            asyncio.run(probe(of_vllm, QUICK))
        assert (
            "as `vllm_model_name: NAME` into the args of deployment local/test"
            in caught.value.advice
        )
        with pytest.raises(InferenceError) as caught:
            asyncio.run(probe(replace(of_vllm, name="server-0123abcd"), QUICK))
        assert "as model= in the run entry" in caught.value.advice


@pytest.mark.parametrize(
    "written", ["HuggingFaceTB/SmolLM2-135M", "SmolLM2-135M", "smollm2-135m", "other/smollm2-135M"]
)
def test_a_model_is_asked_by_the_name_that_its_server_lists(written: str):
    listed = "HuggingFaceTB/SmolLM2-135M"
    with FaultServer(models=(listed, "llama-8b")) as server:
        found = probe_server(server, written)
        answer = ask_one(server.url, chat("Ready?", model=written), capabilities=found)
        assert server.asked[-1].body["model"] == listed
    assert isinstance(answer, Response)
    assert found.model_in_list


def test_a_name_that_stands_for_two_listed_models_is_refused():
    with FaultServer(models=("one/llama-8b", "two/llama-8b")) as server:
        error = expect_refusal(server, "llama-8b")
    assert "openai_model_name" in error.advice


def test_a_server_that_answers_to_any_name_may_not_pass_off_another_model():
    with FaultServer(models=("qwen-7b",), ignores={"model"}) as server:
        assert "does not serve a model named llama-8b" in str(expect_refusal(server, "llama-8b"))


def test_a_server_that_lists_no_models_is_usable_and_says_so():
    with FaultServer(models=()) as server:
        found = probe_server(server, "anything")
    assert (found.models_listed, found.model_in_list) == (0, False)
    assert found.features["model_list"].state == "ignored"
    assert "cannot be checked" in found.features["model_name"].finding


def test_nothing_that_a_server_writes_is_kept_with_the_run():
    names = ("test-model", "CANARY was admitted")
    with FaultServer(
        models=names,
        owned_by="CANARY",
        server_header="CANARY",
        replies_as="CANARY",
        extra_model_keys={"root": "CANARY"},
    ) as server:
        found = probe_server(server)
    assert (found.models_listed, found.model_in_list) == (2, True)
    assert "CANARY" not in json.dumps(found.to_json())
    assert "CANARY" not in repr(found)


def test_a_server_that_answers_under_another_name_and_lists_no_models_is_refused():
    with FaultServer(models=(), replies_as="CANARY-8b") as server:
        error = expect_refusal(server, "qwen-7b")
    assert "replies to requests for qwen-7b with the name of another model" in str(error)
    assert "CANARY" not in f"{error} {error.advice}"


def test_another_name_in_the_replies_is_said_and_expected_from_then_on():
    with FaultServer(replies_as="resolved-8b") as server:
        found = probe_server(server)
        assert isinstance(ask_one(server.url, chat("Why?"), capabilities=found), Response)
    assert found.state("model_name") == "ignored"
    assert "a model name other than the requested one" in found.features["model_name"].finding
    assert any("other than the requested one" in said for said in check_needs(found, Needs()))
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize("named", ["Org/Test-Model", "test-model@main", "test-model:latest", "", 5])
def test_a_form_of_the_asked_name_needs_no_word(named):
    with FaultServer(models=(), replies_as=named) as server:
        assert probe_server(server).other_names == ()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Status(401), "refuses the bearer token"),
        (Status(307, {"Location": "http://127.0.0.1:1/"}), "redirects"),
        (Status(500), "HTTP 500"),
        (HTML, "not reply like an OpenAI-compatible server"),
        (Break(), "no complete reply"),
        (Message(None), "not reply like an OpenAI-compatible server"),
    ],
    ids=str,
)
def test_a_server_that_cannot_be_used_is_refused_in_plain_words(fault, words, monkeypatch):
    monkeypatch.setattr("agent.inference.probe._PATIENCE_S", (0.01, 0.01))
    with FaultServer(fault=always(fault)) as server:
        assert words in str(expect_refusal(server))


def test_no_word_of_the_server_gets_into_an_error(monkeypatch):
    monkeypatch.setattr("agent.inference.probe._PATIENCE_S", (0.01,))
    with FaultServer(models=(), fault=always(Status(500, body=b"CANARY was admitted"))) as server:
        error = expect_refusal(server)
    assert "CANARY" not in f"{error} {error.advice} {error!r} {error.__context__!r}"


def test_a_hanging_server_is_refused():
    with (
        FaultServer(fault=always(Hang())) as server,
        pytest.raises(InferenceError, match="in time"),
    ):
        asyncio.run(probe(deployment(server.url), replace(QUICK, first_attempt_timeout_s=0.3)))


def test_a_server_that_is_not_there_is_refused_at_once():
    with FaultServer() as server:
        pass
    began = time.perf_counter()
    assert "refuses connections" in str(expect_refusal(server))
    assert time.perf_counter() - began < 7  # it may take 8 s where something listens


def test_a_server_still_starting_is_waited_for():
    with FaultServer(fault=lambda asked: Status(503) if asked.number < 12 else None) as server:
        assert probe_server(server).features["max_tokens"].state == "honoured"


def test_one_prompt_that_the_server_cannot_digest_does_not_refuse_the_run():
    with FaultServer(fault=containing("Count", Status(500))) as server:
        found = probe_server(server)
    assert found.features["stop"].state == "unknown"
    assert found.features["seed"].state == "honoured"


@pytest.mark.parametrize("begun", ["", "   \n ", '{"colour": "bl'])
def test_an_answer_cut_off_in_its_json_says_nothing_of_the_schema(begun):
    with FaultServer(fault=containing("colour", Message({"content": begun}, "length"))) as server:
        assert probe_server(server).state("json_schema") == "unknown"


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
        found = probe_server(server)
    assert found.features["reasoning"].state == state
    assert found.inline_thoughts == (state == "ignored")
    assert (
        any("incomplete reasoning" in said for said in check_needs(found, Needs()))
        == found.inline_thoughts
    )


def opened_by_the_prompt(asked):
    """A model whose chat template begins its thought: only the end of a thought of some length shows it."""
    text = "Okay, so I need to think. " * 8 + "</think>Yes"
    limit = min(asked.body.get("max_tokens", 999), asked.body.get("max_completion_tokens", 999))
    return Message({"content": text[: 4 * limit]}, "length" if len(text) > 4 * limit else "stop")


def test_a_thought_that_the_prompt_began_is_found_where_it_ends_and_its_cut_off_start_is_no_answer():
    with FaultServer(fault=opened_by_the_prompt) as server:
        found = probe_server(server)
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
        assert not probe_server(server).inline_thoughts
    assert isinstance(plain, Response)
    assert isinstance(thought, Response)
    assert (plain.text, thought.text, thought.reasoning) == ("Okay, so", "", "Okay, so")
    assert found.inline_thoughts


def test_a_model_that_writes_on_and_on_for_one_word_may_be_thinking_and_that_is_said():
    with FaultServer(
        fault=containing("one word", Message({"content": "Okay, so"}, "length"))
    ) as server:
        found = probe_server(server)
    assert "`reasoning: true`" in found.features["reasoning"].finding
    assert any("`reasoning: true`" in said for said in check_needs(found, Needs()))


def test_the_unknown_name_that_is_tried_is_no_valid_name_anywhere():
    with FaultServer() as server:
        probe_server(server)
    (tried,) = {asked.body["model"] for asked in server.asked} - {"test-model"}
    assert " " in tried  # no hub takes names with spaces, so no server looks for one


def test_the_probe_learns_the_window_and_who_counts():
    with CountingServer(window=2048) as server:
        found = probe_server(server)
    assert (found.window, found.counting) == (2048, "vllm")
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found
    with CountingServer(window=4096, kind="llama.cpp") as server:
        found = probe_server(server)
    assert (found.window, found.counting, found.template_tokens) == (
        4096,
        "llama.cpp",
        TEMPLATE_WORDS,
    )


@pytest.mark.parametrize(
    "on_count",
    [
        lambda counted: 7,  # not what it reports for the same prompt
        lambda counted: Status(500),
        lambda counted: HTML,
        lambda counted: Huge(9_000_000),
    ],
)
def test_a_server_whose_counts_cannot_be_believed_is_not_asked_to_count(on_count):
    with CountingServer(window=2048, on_count=on_count) as server:
        assert probe_server(server).counting is None
