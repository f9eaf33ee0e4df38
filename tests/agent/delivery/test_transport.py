"""The outgoing connection meets everything that can stand between a hospital and an aggregator."""

import gzip
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agent.delivery.transport import Aggregator, AggregatorConnection, SubmissionRefusedError
from agent.errors import ConfigError, DeliveryError
from protocol.errors import Code
from tests.agent.delivery.desk import Desk, Reply, Request, open_desk

HTML = {"Content-Type": "text/html; charset=utf-8"}


def test_an_answer_comes_back_as_bytes(desk: Desk, aggregator: Aggregator) -> None:
    desk.instead = lambda _: Reply(b'{"a": 1}')
    assert aggregator.get("/v1/registry", limit=8) == b'{"a": 1}'


def test_nothing_is_said_about_the_site_beside_the_bytes(
    desk: Desk, aggregator: Aggregator
) -> None:
    desk.instead = lambda _: Reply(b"{}")
    aggregator.post("/v1/submissions", b"bytes", limit=100)
    (request,) = desk.seen
    assert request.body == b"bytes"
    assert {name.lower(): value for name, value in request.headers.items()} == {
        "host": desk.url.removeprefix("http://"),
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "keep-alive",
        "user-agent": "intramural",
        "content-type": "application/json",
        "content-length": "5",
    }


@pytest.mark.parametrize("status", [200, 403, 502])
def test_a_login_page_in_between_is_told_as_what_it_is(
    desk: Desk, aggregator: Aggregator, status: int
) -> None:
    desk.instead = lambda _: Reply(b"<html>Please log in, CANARY</html>", status, HTML)
    with pytest.raises(
        DeliveryError, match="web page: a proxy or login page is in between"
    ) as caught:
        aggregator.post("/v1/submissions", b"bytes", limit=100_000)
    assert "CANARY" not in str(caught.value) + caught.value.advice


def test_a_web_page_that_calls_itself_json_is_one_too(desk: Desk, aggregator: Aggregator) -> None:
    desk.instead = lambda _: Reply(b"\n <!DOCTYPE html><html>")
    with pytest.raises(DeliveryError, match="web page"):
        aggregator.get("/v1/registry", limit=1000)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(desk: Desk, aggregator: Aggregator, status: int) -> None:
    with open_desk() as elsewhere:
        desk.instead = lambda _: Reply(b"", status, {"Location": elsewhere.url + "/v1/submissions"})
        with pytest.raises(DeliveryError, match="redirects elsewhere"):
            aggregator.post("/v1/submissions", b"bytes", limit=100)
        assert elsewhere.seen == []
    assert len(desk.seen) == 1


def test_a_hundred_megabytes_are_not_read(desk: Desk, aggregator: Aggregator) -> None:
    sent = 0

    def flood(handler: BaseHTTPRequestHandler) -> None:
        nonlocal sent
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n"
        )
        for _ in range(1000):
            sent += handler.wfile.write(b"x" * 100_000)

    desk.instead = lambda _: Reply(raw=flood)
    with pytest.raises(DeliveryError, match="longer than 1000 bytes"):
        aggregator.get("/v1/registry", limit=1000)
    assert sent < 50_000_000


def test_a_long_refusal_is_not_read_either(desk: Desk, aggregator: Aggregator) -> None:
    desk.instead = lambda _: Reply(b"x" * 1_000_000, 500)
    with pytest.raises(DeliveryError, match="longer than 4096 bytes"):
        aggregator.get("/v1/registry", limit=10_000_000)


def test_a_compressed_bomb_is_not_opened(desk: Desk, aggregator: Aggregator) -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    desk.instead = lambda _: Reply(
        bomb, 200, {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    )
    with pytest.raises(DeliveryError, match="compressed although"):
        aggregator.get("/v1/registry", limit=100_000)


def drip(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    )
    for _ in range(100):
        handler.wfile.write(b" ")
        time.sleep(0.05)


def drip_headers(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        handler.wfile.write(b"X-A: 1\r\n")
        time.sleep(0.05)


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(2)


@pytest.mark.parametrize("how", [drip, drip_headers, hang])
def test_one_exchange_ends_in_time_however_slowly_bytes_drip(
    desk: Desk, how: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    desk.instead = lambda _: Reply(raw=how)
    began = time.monotonic()
    with pytest.raises(DeliveryError, match=r"within 0.5 seconds|in time"):
        Aggregator(AggregatorConnection(desk.url, total_timeout_s=0.5)).get(
            "/v1/registry", limit=10_000
        )
    assert time.monotonic() - began < 1.5


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    )


def garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"220 mail.CANARY.example ESMTP\r\n")


@pytest.mark.parametrize("how", [cut, garbage])
def test_a_broken_answer_is_told_without_quoting_it(
    desk: Desk, aggregator: Aggregator, how: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    desk.instead = lambda _: Reply(raw=how)
    with pytest.raises(DeliveryError, match="connection to the aggregator broke") as caught:
        aggregator.get("/v1/registry", limit=10_000)
    assert "CANARY" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with pytest.raises(DeliveryError, match=f"{url} could not be reached") as caught:
        Aggregator(AggregatorConnection(url)).get("/v1/registry", limit=100)
    assert "aggregator_url" in caught.value.advice


def test_a_refusal_brings_its_code_and_nothing_of_its_text(
    desk: Desk, aggregator: Aggregator
) -> None:
    desk.instead = lambda _: Reply(b'{"code": "wrong_root", "text": "CANARY"}', 409)
    with pytest.raises(SubmissionRefusedError, match="wrong_root") as caught:
        aggregator.get("/v1/registry", limit=100)
    assert (caught.value.code, caught.value.final) == (Code.WRONG_ROOT, True)
    assert "CANARY" not in str(caught.value)
    assert "prepare" in caught.value.advice


@pytest.mark.parametrize("code", [Code.WRONG_SEQ, Code.WRONG_PREV])
def test_a_refusal_for_the_order_is_not_for_good_and_says_how_to_send(
    desk: Desk, aggregator: Aggregator, code: Code
) -> None:
    desk.instead = lambda _: Reply(f'{{"code": "{code}"}}'.encode(), 409)
    with pytest.raises(SubmissionRefusedError, match=code) as caught:
        aggregator.get("/v1/registry", limit=100)
    assert not caught.value.final
    assert "in order" in caught.value.advice


@pytest.mark.parametrize("code", ["CANARY", "unavailable", 7, None])
def test_an_unknown_code_is_not_repeated_and_not_final(
    desk: Desk, aggregator: Aggregator, code: object
) -> None:
    body = b'{"code": %s}' % (
        b"null" if code is None else f'"{code}"'.encode() if isinstance(code, str) else b"7"
    )
    desk.instead = lambda _: Reply(body, 503)
    with pytest.raises(SubmissionRefusedError, match="an unknown code") as caught:
        aggregator.get("/v1/registry", limit=100)
    assert not caught.value.final


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b'{"detail": "x"}', b"[" * 4000])
def test_an_error_without_a_reason_is_still_an_error(
    desk: Desk, aggregator: Aggregator, body: bytes
) -> None:
    desk.instead = lambda _: Reply(body, 500)
    with pytest.raises(DeliveryError, match="status 500 without a reason"):
        aggregator.get("/v1/registry", limit=100)


@pytest.mark.parametrize(
    "url",
    [
        "http://board.example",
        "http://10.0.0.1:8750",
        "http://127.0.0.1.example",
        "ftp://board.example",
        "https://",
        "board.example",
        "https://user:secret@board.example",
        "https://board.example/path",
        "https://board.example?x=1",
        "https://board.example:port",
        "https://[::1",
    ],
)
def test_an_address_that_is_not_https_and_nothing_more_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="aggregator's address") as caught:
        Aggregator(AggregatorConnection(url))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1", "http://[::1]:1/", "http://localhost", "https://board.example/"]
)
def test_https_and_loopback_are_fine(url: str) -> None:
    Aggregator(AggregatorConnection(url))


def test_proxies_of_the_environment_are_not_used(
    desk: Desk, aggregator: Aggregator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_desk() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        desk.instead = lambda _: Reply(b"{}")
        aggregator.get("/v1/registry", limit=100)
        assert proxy.seen == []


def test_the_proxy_of_the_settings_is_used(desk: Desk) -> None:
    with open_desk() as proxy:
        proxy.instead = lambda _: Reply(b"{}")
        Aggregator(AggregatorConnection(desk.url, proxy=proxy.url)).get("/v1/registry", limit=100)
        assert [request.path for request in proxy.seen] == [desk.url + "/v1/registry"]
    assert desk.seen == []


def test_a_proxy_that_refuses_is_named_as_the_culprit() -> None:
    with open_desk() as proxy, pytest.raises(DeliveryError, match="proxy refused"):
        Aggregator(AggregatorConnection("https://board.example", proxy=proxy.url)).get(
            "/v1/registry", limit=100
        )


def make_certificate(directory: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (directory / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (directory / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return directory / "cert.pem", directory / "key.pem"


def test_tls_is_verified_against_the_bundle_of_the_settings_alone(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]

    def serve() -> None:
        for _ in range(2):
            plain, _ = listening.accept()
            plain.settimeout(5)
            try:
                with context.wrap_socket(plain, server_side=True) as secure:
                    secure.recv(10_000)
                    secure.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
                    )
            except OSError:
                plain.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    url = f"https://127.0.0.1:{port}"
    with pytest.raises(DeliveryError, match="certificate was not accepted"):
        Aggregator(AggregatorConnection(url)).get("/v1/registry", limit=100)
    assert (
        Aggregator(AggregatorConnection(url, ca_bundle=certificate)).get("/v1/registry", limit=100)
        == b"{}"
    )
    thread.join()
    listening.close()
    (tmp_path / "empty.pem").write_text("")
    with pytest.raises(ConfigError, match="ca_bundle"):
        Aggregator(AggregatorConnection(url, ca_bundle=tmp_path / "empty.pem")).get(
            "/v1/registry", limit=100
        )


def test_every_exchange_is_one_request(desk: Desk, aggregator: Aggregator) -> None:
    def refuse(request: Request) -> Reply:
        return Reply(b"", 500)

    desk.instead = refuse
    with pytest.raises(DeliveryError):
        aggregator.post("/v1/submissions", b"bytes", limit=100)
    assert len(desk.seen) == 1
