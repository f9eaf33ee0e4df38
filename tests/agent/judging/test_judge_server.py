"""Requests to a judge's server: whether a schema is sent, and how much room the reply has."""

from dataclasses import replace

import pytest

from agent.catalog.deployments import make_server_deployment
from agent.inference.capabilities import Capabilities, Feature, State
from agent.inference.endpoint import identify_server
from agent.judging.judge_server import JudgeServer, enforces_schema
from agent.judging.jury_selection import SeatedJudge
from agent.judging.probe_judges import describe_judges
from agent.jury.rubric import Rubric
from agent.metrics import Judge, Scale
from agent.vocabulary import Message

ASKED = (Message("user", "Judge this."),)


def open_server(kind: str, json_schema: State, reasoning: State = "unknown") -> JudgeServer:
    deployment = make_server_deployment("http://127.0.0.1:9/v1", "m")
    features = {
        "json_schema": Feature(json_schema, ""),
        "max_tokens": Feature("honoured", ""),
        "reasoning": Feature(reasoning, ""),
    }
    judge = SeatedJudge(Judge(deployment.name, "m", seed=3, temperature=0.5), deployment, 1)
    rubric = Rubric(("accuracy",), {"accuracy": ("explanation",)}, Scale(1, 5))
    return JudgeServer(judge, Capabilities(kind, features), rubric, [0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "state", "enforced"),
    [
        ("unknown", "honoured", True),
        ("unknown", "unknown", False),
        ("vllm", "unknown", True),  # the reply to the probe was cut off within white space
        ("llama.cpp", "unknown", True),
        ("vllm", "ignored", False),
        ("llama.cpp", "refused", False),
    ],
)
def test_a_schema_is_sent_to_servers_that_enforce_it(kind: str, state: State, enforced: bool):
    server = open_server(kind, state)
    assert enforces_schema(server.capabilities) is enforced
    assert ("response_format" in server.build_request(ASKED).extra_body) is enforced
    capabilities = {identify_server(server.judge.deployment): server.capabilities}
    notes = describe_judges([server.judge], capabilities)
    assert any("free text" in note for note in notes) is not enforced


def test_the_key_of_a_judgement_does_not_depend_on_the_room():
    plain, thinking = open_server("vllm", "honoured"), open_server("vllm", "honoured", "honoured")
    assert (plain.thinks, thinking.thinks) == (False, True)
    request = plain.build_request(ASKED)
    assert request == thinking.build_request(ASKED)
    assert (request.seed, request.temperature, request.max_tokens) == (3, 0.5, 4096)
    assert plain.fit_room(request).max_tokens < 300
    assert thinking.fit_room(request).max_tokens == 4096


def test_verdicts_are_not_asked_for_again_when_a_busy_server_does_not_say_its_window():
    usual, busy = open_server("llama.cpp", "honoured"), open_server("llama.cpp", "honoured")
    usual.capabilities = replace(usual.capabilities, window=2048)
    request = usual.build_request(ASKED)
    assert request == busy.build_request(ASKED)
    usual.thinks = busy.thinks = True
    assert usual.fit_room(request).max_tokens == 1024
    assert busy.fit_room(request).max_tokens == 4096
