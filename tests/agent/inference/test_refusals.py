"""An error about a server names its address, repeats what it said about the probe, and the setting to change."""

import asyncio
import json
from pathlib import Path

import pytest

from agent.catalog.deployments import Deployment, make_server_deployment
from agent.errors import InferenceError
from agent.inference.outage import ServerWatch
from agent.inference.probe import probe
from agent.inference.refusals import read_error_message
from tests.agent.fault_server import Asked, Fault, FaultServer, Status, always
from tests.agent.inference.asking import QUICK, ask, deployment

PINNED = "Server is pinned to 'a/model', requested 'test-model'"


def refusal_of(endpoint: Deployment) -> InferenceError:
    with pytest.raises(InferenceError) as raised:
        asyncio.run(probe(endpoint, QUICK))
    return raised.value


def refuse_with(status: int, body: object) -> Status:
    return Status(status, body=json.dumps(body).encode())


def test_a_server_that_is_not_there_is_named_by_its_address_and_the_option():
    error = refusal_of(make_server_deployment("http://127.0.0.1:9/v1", "m"))
    assert str(error) == "the server 127.0.0.1:9 refuses connections"
    assert error.advice == "Start the server, or correct host and port in --server."


def test_a_deployment_is_named_with_its_address_and_its_setting():
    error = refusal_of(deployment("http://127.0.0.1:9/v1"))
    assert str(error) == "deployment local/test: the server 127.0.0.1:9 refuses connections"
    assert "base_url of deployment local/test in model_deployments.yaml" in error.advice


@pytest.mark.parametrize("status", [400, 404, 422])
def test_what_transformers_says_about_the_model_is_repeated(status: int):
    fault = always(refuse_with(status, {"detail": PINNED}))
    with FaultServer(models=(), fault=fault) as server:
        error = refusal_of(deployment(server.url))
    assert f'(HTTP {status}); it says: "{PINNED}"' in str(error)
    assert "model" in error.advice


@pytest.mark.parametrize("status", [401, 500])
def test_other_replies_are_not_repeated(status: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent.inference.probe._PATIENCE_S", (0.01,))
    fault = always(refuse_with(status, {"detail": "CANARY was admitted"}))
    with FaultServer(models=(), fault=fault) as server:
        assert "CANARY" not in str(refusal_of(deployment(server.url)))


def test_a_message_with_the_bearer_token_is_not_repeated(tmp_path: Path):
    token = tmp_path / "token"
    token.write_text("s3cret-token")
    token.chmod(0o600)
    fault = always(refuse_with(400, {"message": "odd request of s3cret-token"}))
    with FaultServer(models=(), fault=fault) as server:
        endpoint = Deployment("local/test", "m", server.url, "m", token_file=token)
        assert "odd request" not in str(refusal_of(endpoint))


@pytest.mark.parametrize("before", [292, 1195])
def test_no_part_of_a_token_is_repeated_where_a_message_is_cut(tmp_path: Path, before: int):
    token = tmp_path / "token"
    token.write_text("s3cret-token")
    token.chmod(0o600)
    fault = always(
        refuse_with(
            400, {"message": "key".ljust(before, " " if before > 300 else "-") + "s3cret-token"}
        )
    )
    with FaultServer(models=(), fault=fault) as server:
        endpoint = Deployment("local/test", "m", server.url, "m", token_file=token)
        assert "s3cr" not in str(refusal_of(endpoint))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"error": {"message": "no such model"}}, "no such model"),
        ({"error": "no such model"}, "no such model"),
        ({"object": "error", "message": "no such model"}, "no such model"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "not a number"}]}, "not a number"),
        ({"message": "two\nlines\x1b[31m and \u202ecolours"}, "two lines[31m and colours"),
        ({"message": "word " * 500}, ("word " * 60) + " ..."),
        ({"message": {"text": "deep"}, "detail": 5}, ""),
        ({}, ""),
    ],
)
def test_messages_are_one_short_line_of_printable_text(fields: dict[str, object], message: str):
    assert read_error_message(fields) == message


def ask_refused(fault: Fault) -> list[str]:
    """Ask two questions of a server that refuses them; return the notes that the user reads."""
    said: list[str] = []
    with FaultServer(fault=fault) as server:
        watch = ServerWatch(QUICK, said.append)
        for _ in range(2):
            ask(server.url, ["Was MARGARETHE admitted?", "Again?"], watch=watch)
    return said


def test_a_refused_question_is_explained_once_by_the_reply_to_a_harmless_one():
    def refuse(asked: Asked) -> Status:
        return refuse_with(404, {"message": f"no model for: {asked.prompt}"})

    (note,) = ask_refused(refuse)
    assert "refuses questions (HTTP 404), also a harmless one; it says:" in note
    assert "Count from 1 to 40" in note
    assert "MARGARETHE" not in note


def test_prompts_that_are_refused_alone_are_not_repeated():
    def refuse(asked: Asked) -> Status | None:
        if "Count" in asked.prompt:
            return None
        return refuse_with(400, {"message": f"bad words: {asked.prompt}"})

    (note,) = ask_refused(refuse)
    assert "refuses questions (HTTP 400), but answers a harmless one" in note
    assert "MARGARETHE" not in note
