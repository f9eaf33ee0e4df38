"""Alerts meet real mail servers: without encryption, with a wrong certificate, slow, or refusing."""

import socket
import time
from collections.abc import Callable
from dataclasses import replace
from email import message_from_string
from pathlib import Path

import pytest

from agent.alerts.channels import AlertFailedError, MailServer
from agent.alerts.mail import send_mail
from agent.errors import ConfigError
from tests.agent.alerts.receivers import (
    PASSWORD,
    Certificate,
    check_login,
    make_certificate,
    open_mail,
    open_raw,
    open_wire,
)

ID = "ab" * 16
TO = ("it@hospital.example", "ward@hospital.example")


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path / "tls")


def server_at(port: int, security: str = "none", **more: object) -> MailServer:
    server = MailServer("127.0.0.1", port, security, "intramural@hospital.example", TO)
    return replace(server, **more)  # type: ignore[arg-type]


def send(server: MailServer, **more: float) -> str:
    return send_mail(server, ID, "Intramural: 1 job failed", "1 job failed.\n", 1e9, **more)


def test_starttls_encrypts_before_anything_is_said(certificate: Certificate):
    with (
        open_mail(tls_context=certificate.context, require_starttls=True) as (receiver, port),
        open_wire(port) as (wire, wire_port),
    ):
        came_back = send(server_at(wire_port, "starttls", ca_bundle=certificate.file))
    (mail,) = receiver.mails
    assert came_back == "reply 250"
    assert (mail.is_encrypted, mail.recipients) == (True, list(TO))
    in_the_open = bytes(wire.sent).split(b"STARTTLS\r\n")[0]
    assert in_the_open == b"ehlo [127.0.0.1]\r\n"
    assert b"hospital" not in wire.sent


def test_a_server_without_starttls_gets_nothing():
    with (
        open_mail() as (receiver, port),
        open_wire(port) as (wire, wire_port),
        pytest.raises(AlertFailedError, match="offers no encryption") as caught,
    ):
        send(server_at(wire_port, "starttls"))
    assert caught.value.code == "no starttls"
    assert receiver.mails == []
    assert bytes(wire.sent).lower() in (b"ehlo [127.0.0.1]\r\n", b"ehlo [127.0.0.1]\r\nquit\r\n")


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_wrong_certificate_gets_nothing(certificate: Certificate, security: str, tmp_path: Path):
    wrong = make_certificate(tmp_path / "wrong")
    if security == "tls":
        with open_tls(certificate) as port, pytest.raises(AlertFailedError) as caught:
            send(server_at(port, "tls", ca_bundle=wrong.file))
    else:
        with (
            open_mail(tls_context=certificate.context) as (receiver, port),
            pytest.raises(AlertFailedError) as caught,
        ):
            send(server_at(port, "starttls", ca_bundle=wrong.file))
        assert receiver.mails == []
    assert caught.value.code == "certificate"


def open_tls(certificate: Certificate):
    def speak(connection: socket.socket) -> None:
        with certificate.context.wrap_socket(connection, server_side=True) as secure:
            secure.sendall(b"220 ready\r\n")
            secure.recv(1000)

    return open_raw(speak)


def test_tls_from_the_first_byte(certificate: Certificate):
    with open_mail(ssl_context=certificate.context) as (receiver, port):
        assert send(server_at(port, "tls", ca_bundle=certificate.file)) == "reply 250"
    assert len(receiver.mails) == 1  # this server speaks nothing but TLS


def test_a_login_with_the_password_of_the_file(certificate: Certificate, tmp_path: Path):
    password = tmp_path / "password"
    password.write_text(PASSWORD)
    password.chmod(0o600)
    options = {"authenticator": check_login, "auth_required": True}
    with open_mail(tls_context=certificate.context, **options) as (receiver, port):
        server = server_at(
            port, "starttls", ca_bundle=certificate.file, user="agent", password_file=password
        )
        assert send(server) == "reply 250"
        assert receiver.mails[0].is_logged_in
        password.write_text("another-password")
        with pytest.raises(AlertFailedError, match="refused the login") as caught:
            send(server)
        assert "another-password" not in str(caught.value)
        password.chmod(0o644)
        with pytest.raises(ConfigError, match="open to other accounts"):
            send(server)
    assert len(receiver.mails) == 1


def test_the_mail_names_neither_this_machine_nor_anything_beside_the_alert():
    with open_mail() as (receiver, port):
        send(server_at(port))
    (mail,) = receiver.mails
    assert mail.greeting == "[127.0.0.1]"
    message = message_from_string(mail.content)
    assert dict(message.items()) == {
        "From": "intramural@hospital.example",
        "To": ", ".join(TO),
        "Subject": "Intramural: 1 job failed",
        "Date": "Sun, 09 Sep 2001 01:46:40 +0000",
        "Message-ID": f"<{ID}@intramural.invalid>",
        "Auto-Submitted": "auto-generated",
        "MIME-Version": "1.0",
        "Content-Type": 'text/plain; charset="us-ascii"',
        "Content-Transfer-Encoding": "7bit",
    }
    assert socket.gethostname() not in mail.content


def test_a_refused_recipient_does_not_repeat_the_alert_to_the_others():
    with open_mail() as (receiver, port):
        receiver.refused = {TO[0]}
        assert send(server_at(port)) == "reply 250, 1 recipients refused"
        receiver.refused = set(TO)
        with pytest.raises(AlertFailedError, match="all recipients") as caught:
            send(server_at(port))
    assert "CANARY" not in str(caught.value)
    assert len(receiver.mails) == 1


def test_a_refusal_brings_its_code_and_nothing_of_its_text():
    with open_mail() as (receiver, port):
        receiver.reply = "554 CANARY"
        with pytest.raises(AlertFailedError) as caught:
            send(server_at(port))
    assert caught.value.code == "reply 554"
    assert "CANARY" not in str(caught.value)


def drip(connection: socket.socket) -> None:
    for _ in range(1000):
        connection.sendall(b"2")
        time.sleep(0.05)


def drip_lines(connection: socket.socket) -> None:
    for _ in range(1000):
        connection.sendall(b"220-wait\r\n")
        time.sleep(0.05)


def hang(connection: socket.socket) -> None:
    del connection
    time.sleep(30)


@pytest.mark.parametrize("speak", [drip, drip_lines, hang])
def test_a_slow_server_is_left_in_time(speak: Callable[[socket.socket], None]):
    began = time.monotonic()
    with open_raw(speak) as port, pytest.raises(AlertFailedError):
        send(server_at(port), total_s=0.5)
    assert time.monotonic() - began < 3


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(AlertFailedError) as caught:
        send(server_at(port))
    assert caught.value.code == "unreachable"
