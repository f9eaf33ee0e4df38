"""The webhook meets receivers that redirect, stall, present a wrong certificate, or hold another secret."""

import base64
import hashlib
import hmac
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from agent.alerts.channels import AlertFailedError, Webhook
from agent.alerts.webhook import post_alert
from agent.errors import ConfigError
from tests.agent.alerts.receivers import (
    SECRET,
    Got,
    answer_with,
    make_certificate,
    open_raw,
    open_webhook,
)

BODY = b'{"version":1}'
ID = "ab" * 16


@pytest.fixture
def make_webhook(tmp_path: Path) -> Callable[[str], Webhook]:
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    return lambda url: Webhook(url, secret)


def verify(got: Got, secret: bytes) -> bool:
    """Verify a request as docs/service.md tells receivers to."""
    signed = b".".join(
        [got.headers["webhook-id"].encode(), got.headers["webhook-timestamp"].encode(), got.body]
    )
    expected = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    is_recent = abs(time.time() - int(got.headers["webhook-timestamp"])) < 300
    return is_recent and hmac.compare_digest(got.headers["webhook-signature"], f"v1,{expected}")


def test_the_receiver_can_verify_who_sent_an_alert_and_when(make_webhook):
    with open_webhook() as receiver:
        assert post_alert(make_webhook(receiver.url), ID, BODY, time.time()) == "status 204"
    (got,) = receiver.got
    assert verify(got, SECRET.encode())
    assert not verify(got, b"another secret")
    assert not verify(replace(got, body=b'{"version":2}'), SECRET.encode())
    later = {**got.headers, "webhook-timestamp": str(int(time.time()) + 1)}
    assert not verify(replace(got, headers=later), SECRET.encode())


def test_a_secret_of_a_standard_webhooks_library_is_decoded(make_webhook):
    webhook = make_webhook("")
    key = b"0123456789abcdef"
    webhook.secret_file.write_text(f"whsec_{base64.b64encode(key).decode()}\n")
    with open_webhook() as receiver:
        post_alert(replace(webhook, url=receiver.url), ID, BODY, time.time())
    assert verify(receiver.got[0], key)
    webhook.secret_file.write_text("whsec_not*base64\n")
    with pytest.raises(ConfigError, match="base64 after whsec_"):
        post_alert(replace(webhook, url=receiver.url), ID, BODY, time.time())


def test_nothing_is_said_beside_the_alert(make_webhook):
    with open_webhook() as receiver:
        post_alert(make_webhook(receiver.url), ID, BODY, time.time())
    (got,) = receiver.got
    names = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
    names |= {"user-agent", "webhook-id", "webhook-timestamp", "webhook-signature"}
    assert set(got.headers) == names
    assert got.headers["user-agent"] == "intramural"
    assert (got.headers["webhook-id"], got.body) == (ID, BODY)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(make_webhook, status: int):
    with open_webhook() as elsewhere:
        with (
            open_webhook(answer_with(status, Location=elsewhere.url)) as receiver,
            pytest.raises(AlertFailedError, match="redirects are not followed"),
        ):
            post_alert(make_webhook(receiver.url), ID, BODY, time.time())
        assert elsewhere.got == []


@pytest.mark.parametrize("status", [400, 401, 404, 410, 429, 500, 503])
def test_a_status_of_failure_is_a_failure(make_webhook, status: int):
    with (
        open_webhook(answer_with(status)) as receiver,
        pytest.raises(AlertFailedError) as caught,
    ):
        post_alert(make_webhook(receiver.url), ID, BODY, time.time())
    assert caught.value.code == f"status {status}"


def drip_headers(connection: socket.socket) -> None:
    connection.recv(65_536)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(1000):
        connection.sendall(b"X-%d: 1\r\n" % number)
        time.sleep(0.05)


def hang(connection: socket.socket) -> None:
    time.sleep(30)


@pytest.mark.parametrize("speak", [drip_headers, hang])
def test_a_slow_receiver_is_left_in_time(make_webhook, speak: Callable[[socket.socket], None]):
    began = time.monotonic()
    with open_raw(speak) as port, pytest.raises(AlertFailedError) as caught:
        post_alert(make_webhook(f"http://127.0.0.1:{port}"), ID, BODY, time.time(), total_s=0.5)
    assert (caught.value.code, time.monotonic() - began < 3) == ("timeout", True)


def test_a_hundred_megabytes_in_answer_are_not_read(make_webhook):
    written = 0

    def flood(handler: BaseHTTPRequestHandler, got: Got) -> None:
        nonlocal written
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            for _ in range(1000):
                written += handler.wfile.write(b"x" * 100_000)

    with open_webhook(flood) as receiver:
        assert post_alert(make_webhook(receiver.url), ID, BODY, time.time()) == "status 200"
    assert written < 50_000_000


def test_a_wrong_certificate_gets_nothing(make_webhook, tmp_path: Path):
    right, wrong = make_certificate(tmp_path / "right"), make_certificate(tmp_path / "wrong")
    with open_webhook(tls=right.context) as receiver:
        webhook = make_webhook(receiver.url)
        for untrusting in (webhook, replace(webhook, ca_bundle=wrong.file)):
            with pytest.raises(AlertFailedError) as caught:
                post_alert(untrusting, ID, BODY, time.time())
            assert caught.value.code == "certificate"
        assert receiver.got == []
        trusting = replace(webhook, ca_bundle=right.file)
        assert post_alert(trusting, ID, BODY, time.time()) == "status 204"


def test_nobody_listens(make_webhook):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(AlertFailedError) as caught:
        post_alert(make_webhook(f"http://127.0.0.1:{port}"), ID, BODY, time.time())
    assert caught.value.code == "unreachable"


def test_an_answer_that_is_not_http_is_not_quoted(make_webhook):
    def speak(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"CANARY\r\n\r\n")

    with open_raw(speak) as port, pytest.raises(AlertFailedError) as caught:
        post_alert(make_webhook(f"http://127.0.0.1:{port}"), ID, BODY, time.time())
    assert caught.value.code == "broken"
    assert "CANARY" not in str(caught.value)


def test_the_proxy_of_the_settings_is_used_and_none_of_the_environment(
    make_webhook, monkeypatch: pytest.MonkeyPatch
):
    with open_webhook() as receiver, open_webhook() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        webhook = make_webhook(receiver.url)
        post_alert(webhook, ID, BODY, time.time())
        assert (len(receiver.got), len(proxy.got)) == (1, 0)
        through = replace(webhook, proxy=f"http://127.0.0.1:{proxy.port}")
        post_alert(through, ID, BODY, time.time())
        assert (len(receiver.got), len(proxy.got)) == (1, 1)


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_secret_that_others_can_read_sends_nothing(make_webhook, mode: int):
    with open_webhook() as receiver:
        webhook = make_webhook(receiver.url)
        webhook.secret_file.chmod(mode)
        with pytest.raises(ConfigError, match="open to other accounts") as caught:
            post_alert(webhook, ID, BODY, time.time())
    assert receiver.got == []
    assert SECRET not in str(caught.value)
