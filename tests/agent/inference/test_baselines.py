"""The floors of the board: rules that read a prompt's form, behind a real server."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import replace

import pytest
from click.testing import CliRunner

from agent.errors import ConfigError
from agent.inference.baseline_rules import RULES
from agent.inference.baselines import BASELINES, MAX_TOKENS, baselines, serve
from agent.inference.probe import probe
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Response, Shortenable
from tests.agent.inference.asking import ask, deployment
from tests.agent.inference.baseline_prompts import CHOICE, TEXT


def test_rules_and_server_name_the_same_models():
    assert set(RULES) == set(BASELINES)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The server as the demo starts it: a process of its own that prints its address first."""
    ready = tmp_path_factory.mktemp("baselines") / "url"
    command = [
        sys.executable,
        "-m",
        "agent.inference.baselines",
        "--port",
        "0",
        "--ready-file",
        str(ready),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert ready.read_text("utf-8") == address
    yield address
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=20)
    assert errors == ""


def post(url: str, **body: object) -> tuple[int, dict[str, object]]:
    body = {"model": "baseline/lead", "messages": [{"role": "user", "content": TEXT}], **body}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_our_own_client_runs_a_benchmark_against_it(url):
    requests = [
        ChatRequest(
            "baseline/first-choice", (Message("user", f"Row {i}.\n{CHOICE}"),), max_tokens=1
        )
        for i in range(50)
    ]
    outcome = ask(url, requests, max_in_flight=8)
    assert set(outcome.texts().values()) == {"A"}
    assert len(outcome.results) == 50


def test_our_own_probe_finds_what_it_honours_and_that_it_is_no_language_model(url):
    found = asyncio.run(probe(deployment(url, "baseline/random")))
    assert not found.language_model
    assert found.server == "intramural-baselines"
    honoured = {name for name, feature in found.features.items() if feature.state == "honoured"}
    assert honoured == {
        "model_list",
        "model_name",
        "max_tokens",
        "max_completion_tokens",
        "temperature_zero",
        "stop",
        "n",
        "usage",
    }
    assert {found.features["logprobs"].state, found.features["json_schema"].state} == {"refused"}
    assert (found.window, found.counting) == (MAX_TOKENS, "vllm")


@pytest.mark.full
def test_an_over_long_note_is_shortened_for_it_and_an_over_long_prompt_refused():
    ready: list[str] = []
    threading.Thread(
        target=serve, kwargs={"on_ready": ready.append, "max_model_len": 100}, daemon=True
    ).start()
    while not ready:
        time.sleep(0.01)
    (url,) = ready
    found = asyncio.run(probe(deployment(url, "baseline/first-choice")))
    note = " ".join(f"word{i}" for i in range(500))
    prompt = CHOICE.replace("A child drinks", f"{note} A child drinks")
    begin = prompt.index(note)
    request = ChatRequest(
        "baseline/first-choice",
        (Message("user", prompt),),
        max_tokens=10,
        shortenable=Shortenable(0, begin, begin + len(note), "end"),
    )
    where = deployment(url, "baseline/first-choice")
    (result,) = ask(where, [request], capabilities=found).results.values()
    assert isinstance(result, Response)
    assert result.text == "A"
    assert result.prompt_tokens is not None
    assert 85 <= result.prompt_tokens <= 90
    assert result.shortened == len(prompt.split()) - result.prompt_tokens
    (whole,) = ask(where, [replace(request, shortenable=None)]).results.values()
    assert whole == Failure(Reason.CONTEXT_LENGTH, 400)


@pytest.mark.parametrize(
    "body", [{}, {"messages": []}, {"messages": [{"content": 3}]}, {"prompt": "words"}]
)
def test_what_it_cannot_count_is_refused(url, body):
    raw = json.dumps({"model": "baseline/lead", **body}).encode()
    request = urllib.request.Request(f"{url.removesuffix('/v1')}/tokenize", raw)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=20)
    with caught.value as error:
        assert error.code == 400


def test_the_limit_of_tokens_counts_words_and_is_reported(url):
    (result,) = ask(
        url, [ChatRequest("baseline/lead", (Message("user", TEXT),), max_tokens=3)]
    ).results.values()
    assert isinstance(result, Response)
    assert (result.text, result.finish_reason, result.completion_tokens) == (
        "[doctor] good morning.",
        "length",
        3,
    )


def test_a_prompt_of_white_space_holds_nothing_up(url):
    began = time.monotonic()
    assert post(url, messages=[{"role": "user", "content": " " * 200_000}])[0] == 200
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": "gpt-5"}, 404),
        ({"logprobs": True}, 400),
        ({"stream": True}, 400),
        ({"not_a_field": 1}, 400),
        ({"n": 0}, 400),
        ({"n": 1000}, 400),
        ({"max_tokens": "5"}, 400),
        ({"max_tokens": True}, 400),
        ({"stop": [1]}, 400),
        ({"stop": [""]}, 400),
        ({"messages": []}, 400),
        ({"messages": [{"role": "user", "content": None}]}, 400),
        ({"messages": "hello"}, 400),
    ],
    ids=str,
)
def test_what_is_not_honoured_is_refused_and_not_ignored(url, body, status):
    code, reply = post(url, **body)
    assert code == status
    assert "knee" not in json.dumps(reply)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(url, body):
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", body), timeout=20)


def test_the_list_says_that_they_are_not_language_models(url):
    with urllib.request.urlopen(f"{url}/models", timeout=20) as reply:
        data = json.load(reply)["data"]
    assert [model["id"] for model in data] == list(BASELINES)
    assert all(
        model["language_model"] is False and "not a language model" in model["description"]
        for model in data
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "hospital.example"])
def test_it_does_not_listen_to_other_machines_unless_told(host):
    with pytest.raises(ConfigError, match="loopback"):
        serve(host)


def test_a_port_that_is_taken_is_said(url):
    result = CliRunner().invoke(
        baselines, ["serve", "--port", url.rsplit(":", 1)[1].removesuffix("/v1")]
    )
    assert isinstance(result.exception, ConfigError)
    assert "cannot listen" in str(result.exception)
