"""Where prompts go, by which secrets and under whose trust."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.inference.endpoint import read_token
from agent.vocabulary import Response
from tests.agent.fault_server import FaultServer, Status, in_turn
from tests.agent.inference.asking import ask, ask_one, deployment


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("s3cret\n")
    path.chmod(0o600)
    return path


def test_the_token_is_shown_to_the_server_and_nobody_else(token_file, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    with FaultServer(token="s3cret", fault=in_turn(Status(500), None)) as server:
        where = replace(deployment(server.url), token_file=token_file)
        assert isinstance(ask_one(where, "CANARY question"), Response)
    seen = caplog.text + "".join(capsys.readouterr())
    assert "s3cret" not in seen
    assert "CANARY" not in seen
    assert "127.0.0.1" not in seen


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_token_that_others_may_read_is_refused(token_file, mode):
    token_file.chmod(mode)
    with pytest.raises(ConfigError, match="accessible to other users"):
        read_token(replace(deployment("http://h/v1"), token_file=token_file))


@pytest.mark.parametrize(
    "text", ["", "\n", "two words", "line\nline", "schlüssel", "a\r\nX-Injected: 1", "x" * 20_000]
)
def test_a_token_that_is_none_is_refused_without_being_shown(token_file, text):
    token_file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_token(replace(deployment("http://h/v1"), token_file=token_file))
    assert not text.strip() or text not in str(caught.value)


def test_a_missing_token_file_ends_before_anything_is_asked(tmp_path):
    with FaultServer() as server:
        where = replace(deployment(server.url), token_file=tmp_path / "none")
        with pytest.raises(ConfigError, match="token_file cannot be read"):
            ask(where, ["one"])
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000/v1",
        "ftp://h/v1",
        "http:///v1",
        "http://h:port/v1",
        "http://user:pw@h/v1",
        "http://h/v1?key=1",
        "http://h/v1#x",
        "http://h h/v1",
        "http://h\r\nX: 1/v1",
    ],
)
def test_an_address_that_is_none_is_refused_without_being_shown(url):
    with pytest.raises(ConfigError) as caught:
        ask(deployment(url), ["one"])
    assert "pw" not in str(caught.value)


def test_a_ca_bundle_without_certificates_is_refused(tmp_path):
    (tmp_path / "empty.pem").write_text("")
    with pytest.raises(ConfigError, match="ca_bundle"):
        ask(replace(deployment("https://127.0.0.1/v1"), ca_bundle=tmp_path / "empty.pem"), ["one"])
