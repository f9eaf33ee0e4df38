"""Requests reach a server directly, by a proxy, over IPv6 and TLS, and only a server that is trusted."""

import datetime as dt
import gzip
import ipaddress
import socket
import ssl
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agent.vocabulary import Failure, Reason, Response
from tests.agent.fault_server import (
    Body,
    FaultServer,
    Status,
    always,
)
from tests.agent.inference.asking import QUICK, ask, ask_one, deployment


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with FaultServer() as server:
        assert isinstance(ask_one(server.url), Response)


def test_a_proxy_that_was_named_is_used():
    with FaultServer() as proxy:
        where = replace(
            deployment(f"http://127.0.0.1:{proxy.port}/v1"), proxy=f"http://127.0.0.1:{proxy.port}"
        )
        assert isinstance(ask_one(where), Response)
    assert proxy.seen_paths == [f"{proxy.url}/chat/completions"]


def test_an_https_server_is_asked_through_a_proxy_that_sees_no_prompt(certificate):
    context, ca_bundle = certificate
    seen: list[bytes] = []

    def tunnel(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with client:
            seen.append(client.recv(65_536))
            port = int(seen[0].split(b" ")[1].split(b":")[1])
            with socket.create_connection(("127.0.0.1", port)) as upstream:
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                back = threading.Thread(target=_pour, args=(upstream, client, seen))
                back.start()
                _pour(client, upstream, seen)
                back.join()

    with (
        FaultServer(tls=context, answer="CANARY") as server,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        proxy = threading.Thread(target=tunnel, args=(listener,))
        proxy.start()
        where = replace(
            deployment(server.url),
            ca_bundle=ca_bundle,
            proxy=f"http://me:secret@127.0.0.1:{listener.getsockname()[1]}",
        )
        assert isinstance(ask_one(where, "CANARY question"), Response)
        proxy.join(10)
    assert seen[0].startswith(f"CONNECT 127.0.0.1:{server.port} ".encode())
    assert b"Proxy-Authorization: Basic " in seen[0]
    assert len(seen) > 2
    assert not any(b"CANARY" in data for data in seen)


def _pour(source: socket.socket, sink: socket.socket, seen: list[bytes]) -> None:
    try:
        while data := source.recv(65_536):
            seen.append(data)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_a_server_on_ipv6_is_asked():
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with FaultServer(host="::1") as server:
        assert isinstance(ask_one(server.url), Response)
    assert server.asked[0].headers["host"] == f"[::1]:{server.port}"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS for 127.0.0.1, and the authority to trust for it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hospital test authority")])
    now = dt.datetime.now(dt.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (tmp_path / "ca.pem").write_bytes(built.public_bytes(pem))
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "ca.pem", tmp_path / "key.pem")
    return context, tmp_path / "ca.pem"


def test_an_https_server_is_asked_under_the_hospitals_own_authority(certificate):
    context, ca_bundle = certificate
    with FaultServer(tls=context) as server:
        outcome = ask(
            replace(deployment(server.url), ca_bundle=ca_bundle),
            ["one", "two", "three"],
            max_in_flight=2,
        )
    assert len(outcome.texts()) == 3
    assert server.connections == 2


def test_a_server_whose_certificate_is_not_trusted_gets_no_prompt(certificate):
    context, _ = certificate
    with FaultServer(tls=context) as server:
        result = ask_one(server.url, limits=replace(QUICK, outage_grace_s=0.2))
    assert result == Failure(Reason.UNREACHABLE)
    assert server.asked == []


def test_a_server_that_speaks_no_tls_gets_no_prompt(certificate):
    with FaultServer() as server:
        url = server.url.replace("http:", "https:")
        where = replace(deployment(url), ca_bundle=certificate[1])
        limits = replace(QUICK, outage_grace_s=0.2, connect_timeout_s=0.1)
        assert ask_one(where, limits=limits) == Failure(Reason.UNREACHABLE)
    assert server.asked == []


def test_a_reply_in_another_encoding_than_asked_for_is_a_bad_reply():
    packed = gzip.compress(b'{"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]}')
    for fault in (Body(packed), Status(200, {"Content-Encoding": "gzip"}, packed)):
        with FaultServer(fault=always(fault)) as server:
            assert ask_one(server.url) == Failure(Reason.BAD_REPLY, 200)
        assert server.asked[0].headers["accept-encoding"] == "identity"


def test_a_redirect_is_not_followed():
    with FaultServer() as elsewhere:
        redirect = Status(307, {"Location": f"{elsewhere.url}/chat/completions"})
        with FaultServer(fault=always(redirect)) as server:
            assert ask_one(server.url) == Failure(Reason.SERVER_ERROR, 307)
    assert elsewhere.seen_paths == []


def test_a_connection_gone_stale_between_requests_costs_no_attempt():
    def prompts():
        yield "one"
        server.stop()
        server.start()
        yield "two"

    with FaultServer() as server:
        outcome = ask(server.url, prompts(), limits=replace(QUICK, max_attempts=1), max_in_flight=1)
    assert set(outcome.texts()) == {"one", "two"}
