"""The way out as hospitals have it: HTTPS by a private authority, through a CONNECT proxy that may misbehave.

The aggregator's name is known to the proxy alone: a site that looked it up itself would fail here.
"""

import base64
import shutil
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.end_to_end.life import HOST, Life
from tests.end_to_end.wire import DAY, ConnectProxy, Front, PlainServer, PrivateAuthority, Trap

TARGET = f"{HOST}:443"
TUNNEL = f"CONNECT {TARGET} HTTP/1.1"
HTML = b"<!doctype html><html><body>Please log in: CANARY</body></html>"


@dataclass
class Outside:
    """Everything beyond the site: the aggregator behind TLS, the proxy, and the authorities."""

    aggregator_port: int
    front: Front
    proxy: ConnectProxy
    authority: PrivateAuthority
    other_authority: PrivateAuthority


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Life, Outside]]:
    """A site that enrolled through TLS and a proxy and has one approved submission, which no test here sends."""
    folder = tmp_path_factory.mktemp("life")
    authority, other = PrivateAuthority(folder), PrivateAuthority(folder, "other")
    life = Life(folder / "life")
    life.found(f"https://{HOST}")
    life.evaluate()
    with (
        life.serving_aggregator() as port,
        Front(port, authority.issue(HOST).context()) as front,
        ConnectProxy({TARGET: front.port}) as proxy,
        Trap() as trap,
    ):
        life.environment = trapping_environment(trap, other, folder)
        life.set(proxy=proxy.url, ca_bundle=str(authority.bundle))
        life.join()
        life.prepare()
        yield life, Outside(port, front, proxy, authority, other)
        assert trap.connections == 0
        assert not (folder / "keylog").exists(), (
            "the secrets of TLS connections were written to a file"
        )


def trapping_environment(trap: Trap, authority: PrivateAuthority, folder: Path) -> dict[str, str]:
    """Return variables that other programs obey: another proxy, other authorities, a file for TLS secrets."""
    variables = {"SSLKEYLOGFILE": str(folder / "keylog"), "NO_PROXY": "", "no_proxy": ""}
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        variables[name] = variables[name.lower()] = f"http://127.0.0.1:{trap.port}"
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        variables[name] = str(authority.bundle)
    return variables


@pytest.fixture
def outside(approved: tuple[Life, Outside]) -> Outside:
    return approved[1]


@pytest.fixture
def life(approved: tuple[Life, Outside], tmp_path: Path) -> Life:
    """A copy of the site of its own; the aggregator is everybody's."""
    shared, _ = approved
    shutil.copytree(shared.site, tmp_path / "site")
    copied = replace(shared, folder=tmp_path, outputs=[])
    copied.set(proxy=approved[1].proxy.url)
    return copied


def receipts(life: Life) -> list[bytes]:
    paths = sorted((life.site / "submissions").rglob("*receipt*"))
    return [path.read_bytes() for path in paths if path.is_file()]


def delivers(life: Life, outside: Outside) -> None:
    """Send the usual way, and see the receipt arrive."""
    life.set(proxy=outside.proxy.url, ca_bundle=str(outside.authority.bundle))
    assert "receipted" in life.agent("submission", "send")
    assert receipts(life) != []


def fails(life: Life) -> str:
    """Try to send; return what was said. Nothing of the submission is lost."""
    files = {path.name: path.read_bytes() for path in life.site.rglob("*.dsse.json")}
    said = life.agent("submission", "send", code=7)
    assert "CANARY" not in said
    assert "Traceback" not in said
    assert {path.name: path.read_bytes() for path in life.site.rglob("*.dsse.json")} == files
    assert receipts(life) == []
    return said


@contextmanager
def behind(
    context: ssl.SSLContext | None, outside: Outside
) -> Iterator[tuple[Front, ConnectProxy]]:
    """Another front, with this context, and a proxy of its own that leads to it."""
    with (
        Front(outside.aggregator_port, context) as front,
        ConnectProxy({TARGET: front.port}) as proxy,
    ):
        yield front, proxy


def test_enrolment_registry_and_submission_go_through_the_proxy_and_nowhere_else(
    life: Life, outside: Outside
) -> None:
    delivers(life, outside)
    assert set(outside.proxy.asked) == {TUNNEL}
    first_lines = [request.split(b"\r\n", 1)[0] for request in outside.front.requests]
    for line in (
        b"POST /v1/enrolments HTTP/1.1",
        b"GET /v1/registry HTTP/1.1",
        b"POST /v1/submissions HTTP/1.1",
    ):
        assert line in first_lines
    # The proxy learns the aggregator's name and port. What goes through the tunnel is TLS.
    for head in outside.proxy.heads:
        lines = [line.split(b":")[0].lower() for line in head.strip().split(b"\r\n")[1:]]
        assert set(lines) <= {b"host", b"accept", b"accept-encoding", b"connection", b"user-agent"}
    for plain in (b"/v1/", b"payload", b"signatures", b"receipt"):
        assert plain not in outside.proxy.passed


def test_sending_once_more_gets_the_same_receipt(
    life: Life, outside: Outside, tmp_path: Path
) -> None:
    """A site that was restored from before the receipt asks again; the log does not grow."""
    shutil.copytree(life.site, tmp_path / "before")
    delivers(life, outside)
    first = receipts(life)
    shutil.rmtree(life.site)
    (tmp_path / "before").rename(life.site)
    delivers(life, outside)
    assert receipts(life) == first
    assert life.states() == ["receipted"]


CERTIFICATE = "certificate was not accepted"
REASONS = {
    "expired": "it has expired",
    "not-yet-valid": "This machine's clock is probably behind",
    "another-host": "it is for another name",
    "an-address": "it is for another name",
}
SERVERS: dict[str, Callable[[Outside], ssl.SSLContext]] = {
    "another-authority": lambda outside: outside.other_authority.issue(HOST).context(),
    "expired": lambda outside: outside.authority.issue(HOST, begins=-2 * DAY, ends=-DAY).context(),
    "not-yet-valid": lambda outside: outside.authority.issue(
        HOST, begins=DAY, ends=2 * DAY
    ).context(),
    "another-host": lambda outside: outside.authority.issue(f"not-{HOST}").context(),
    "an-address": lambda outside: outside.authority.issue("127.0.0.1").context(),
    "self-signed": lambda outside: outside.authority.self_signed(HOST).context(),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("server", SERVERS)
def test_a_server_that_cannot_prove_its_name_is_told_nothing(
    life: Life, outside: Outside, server: str
) -> None:
    with behind(SERVERS[server](outside), outside) as (front, proxy):
        life.set(proxy=proxy.url)
        said = " ".join(fails(life).split())
        assert CERTIFICATE in said
        assert REASONS.get(server, "its authority is not known here") in said
        assert front.requests == []
    delivers(life, outside)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1], ids=lambda version: version.name
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_an_outdated_version_of_tls_is_refused(
    life: Life, outside: Outside, version: ssl.TLSVersion
) -> None:
    with behind(outside.authority.issue(HOST).outdated_context(version), outside) as (front, proxy):
        life.set(proxy=proxy.url)
        said = fails(life)
        assert "no secure connection" in said
        assert "TLS 1.2" in said
        assert front.requests == []
    delivers(life, outside)


def test_a_server_without_tls_is_refused(life: Life, outside: Outside) -> None:
    with PlainServer() as plain, ConnectProxy({TARGET: plain.port}) as proxy:
        life.set(proxy=proxy.url)
        assert "no secure connection" in fails(life)
        assert b"payload" not in plain.heard
    delivers(life, outside)


def test_authorities_of_the_environment_are_not_believed(life: Life, outside: Outside) -> None:
    """SSL_CERT_FILE names the very authority that issued the server's certificate; site.yaml names none."""
    assert life.environment["SSL_CERT_FILE"] == str(outside.other_authority.bundle)
    with behind(outside.other_authority.issue(HOST).context(), outside) as (front, proxy):
        life.set(proxy=proxy.url, ca_bundle=None)
        assert CERTIFICATE in fails(life)
        assert front.requests == []
    delivers(life, outside)


def test_a_bundle_named_without_a_path_lies_in_the_site_directory(
    life: Life, outside: Outside
) -> None:
    """The command is given from elsewhere."""
    shutil.copy(outside.authority.bundle, life.site / "hospital.pem")
    life.set(ca_bundle="hospital.pem")
    assert "receipted" in life.agent("submission", "send")


PROXY_REFUSALS = {
    "407": b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    "403-page": b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s"
    % (len(HTML), HTML),
    "302": b"HTTP/1.1 302 Found\r\nLocation: http://login.example/CANARY\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("refusal", PROXY_REFUSALS)
def test_a_proxy_that_refuses_is_named_as_the_culprit(
    life: Life, outside: Outside, refusal: str
) -> None:
    with behind(outside.authority.issue(HOST).context(), outside) as (front, proxy):
        proxy.answer = PROXY_REFUSALS[refusal]
        life.set(proxy=proxy.url)
        said = fails(life)
        assert "could not be reached: the proxy" in said
        assert "site.yaml" in said
        assert front.connections == 0
    delivers(life, outside)


USER, PASSWORD = "ward-7", "canary@p:ss/w?rd"
ESCAPED = "canary%40p%3Ass%2Fw%3Frd"


def assert_nothing_tells_the_password(life: Life, said: str) -> None:
    """Search what was printed and logged, and every file of the site but the one that holds it."""
    token = base64.b64encode(f"{USER}:{PASSWORD}".encode())
    secrets = (PASSWORD.encode(), ESCAPED.encode(), token, b"canary")
    carriers = {path.name: path.read_bytes() for path in life.folder.rglob("*") if path.is_file()}
    carriers |= {"printed": said.encode(), "all output": b"".join(life.outputs)}
    carriers.pop("site.yaml")
    carriers.pop("proxy.secret", None)
    for name, content in carriers.items():
        assert not [secret for secret in secrets if secret in content], name


def log_everything(life: Life) -> None:
    settings = life.site / "site.yaml"
    settings.write_text(f"{settings.read_text()}log_level: debug\nlog_file: log\n")


def test_a_proxy_that_demands_a_password_gets_it_from_the_settings(
    life: Life, outside: Outside
) -> None:
    log_everything(life)
    with behind(outside.authority.issue(HOST).context(), outside) as (front, proxy):
        proxy.login = f"{USER}:{PASSWORD}"
        life.set(proxy=proxy.url.replace("//", f"//{USER}:{ESCAPED}@"))
        said = life.agent("submission", "send")
        assert "receipted" in said
        assert front.requests
        said += life.agent("doctor", "--format", "json") + life.agent(
            "support-bundle", life.folder / "bundle", "--yes"
        )
    assert PASSWORD.encode() not in b"".join(front.requests)
    assert_nothing_tells_the_password(life, said)


def test_a_proxys_password_comes_from_a_secret_file(life: Life, outside: Outside) -> None:
    secret = life.folder / "proxy.secret"
    with behind(outside.authority.issue(HOST).context(), outside) as (_, proxy):
        proxy.login = f"{USER}:{PASSWORD}"
        secret.write_text(proxy.url.replace("//", f"//{USER}:{ESCAPED}@") + "\n")
        life.set(proxy=None)
        life.environment = {**life.environment, "INTRAMURAL_PROXY_FILE": str(secret)}
        assert "receipted" in life.agent("submission", "send")


@pytest.mark.parametrize(
    ("login", "said"),
    [
        ("", "demands a user name and password"),
        (f"{USER}:canary-wrong@", "does not accept the user name and password of `proxy`"),
    ],
    ids=["missing", "wrong"],
)
def test_a_proxy_that_demands_a_password_says_who_must_do_what(
    life: Life, outside: Outside, login: str, said: str
) -> None:
    log_everything(life)
    with behind(outside.authority.issue(HOST).context(), outside) as (front, proxy):
        proxy.login = f"{USER}:{PASSWORD}"
        life.set(proxy=proxy.url.replace("//", f"//{login}"))
        printed = fails(life)
        assert said in " ".join(printed.split())
        assert "site.yaml" in printed
        assert front.connections == 0
        assert_nothing_tells_the_password(life, printed)
    delivers(life, outside)


@pytest.mark.parametrize("password", ["canary@x", "canary/x", "canary#x", "canary?x", "canary:x/y"])
def test_a_password_that_is_not_written_as_in_a_url_is_refused_and_never_quoted(
    life: Life, password: str
) -> None:
    life.set(proxy=f"http://{USER}:{password}@127.0.0.1:3128")
    said = life.agent("submission", "send", code=2)
    assert "site.yaml: proxy: expected http://HOST:PORT" in " ".join(said.split())
    assert_nothing_tells_the_password(life, said)


@pytest.mark.sample(1)
@pytest.mark.parametrize("resets", [False, True])
def test_a_proxy_that_answers_a_page_in_the_tunnel_is_not_believed(
    life: Life, outside: Outside, resets: bool
) -> None:
    with behind(outside.authority.issue(HOST).context(), outside) as (front, proxy):
        proxy.resets = resets
        proxy.answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + HTML
        life.set(proxy=proxy.url)
        assert "no secure connection" in fails(life)
        assert front.connections == 0
    delivers(life, outside)


def test_a_proxy_that_cuts_the_tunnel_loses_nothing(life: Life, outside: Outside) -> None:
    with behind(outside.authority.issue(HOST).context(), outside) as (_, proxy):
        proxy.cut_after = 1500  # after the handshake, in the middle of the submission
        life.set(proxy=proxy.url)
        fails(life)
    delivers(life, outside)


def test_a_proxy_that_is_down_loses_nothing(life: Life, outside: Outside) -> None:
    with ConnectProxy({}) as proxy:
        url = proxy.url
    life.set(proxy=url)
    assert "could not be reached" in fails(life)
    delivers(life, outside)


def flip(data: bytes, at: int) -> bytes:
    """Return the data with another letter of base64 at a place."""
    changed = b"A" if data[at : at + 1] != b"A" else b"B"
    return data[:at] + changed + data[at + 1 :]


def tamper_payload(request: bytes) -> bytes:
    return flip(request, request.index(b'"payload":"') + 200)


def tamper_signature(request: bytes) -> bytes:
    return flip(request, request.index(b'"sig":"') + 20)


def tamper_receipt(reply: bytes) -> bytes:
    return flip(reply, reply.index(b"\\n\\n", reply.index(b'"receipt"')) - 20)


def tamper_digest(reply: bytes) -> bytes:
    at = reply.index(b'"digest":"') + len(b'"digest":"')
    return reply[:at] + (b"0" if reply[at : at + 1] != b"0" else b"1") + reply[at + 1 :]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "change", [tamper_payload, tamper_signature], ids=lambda change: change.__name__
)
def test_an_inspecting_proxy_that_changes_the_submission_gets_it_refused(
    life: Life, outside: Outside, change: Callable[[bytes], bytes]
) -> None:
    """A hospital's proxy that opens TLS, whose authority the site believes, as some must."""
    with behind(outside.other_authority.issue(HOST).context(), outside) as (front, proxy):
        front.change_request = change
        life.set(proxy=proxy.url, ca_bundle=str(outside.other_authority.bundle))
        assert "was refused (status 403) without the aggregator's signature" in fails(life)
        assert life.states() == ["sent"]
    delivers(life, outside)


@pytest.mark.parametrize(
    "change", [tamper_receipt, tamper_digest], ids=lambda change: change.__name__
)
def test_an_inspecting_proxy_that_changes_the_receipt_is_noticed(
    life: Life, outside: Outside, change: Callable[[bytes], bytes]
) -> None:
    with behind(outside.other_authority.issue(HOST).context(), outside) as (front, proxy):
        front.change_reply = change
        life.set(proxy=proxy.url, ca_bundle=str(outside.other_authority.bundle))
        fails(life)
    delivers(life, outside)


FORGED = {
    "page": ("text/html", 200, HTML, "web page"),
    "page-as-json": ("application/json", 200, HTML, "web page"),
    "refusal": ("application/json", 409, b'{"code":"fork"}', "without the aggregator's signature"),
    "refusal-with-a-note": (
        "application/json",
        409,
        b'{"code":"fork","refusal":"CANARY"}',
        "without the aggregator's",
    ),
    "nothing": ("application/json", 200, b"{}", "not a receipt"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("forged", FORGED)
def test_an_inspecting_proxy_that_answers_itself_changes_nothing(
    life: Life, outside: Outside, forged: str
) -> None:
    kind, status, body, expected = FORGED[forged]
    with behind(outside.other_authority.issue(HOST).context(), outside) as (front, proxy):
        front.answer = (
            b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
            % (
                status,
                kind.encode(),
                len(body),
                body,
            )
        )
        life.set(proxy=proxy.url, ca_bundle=str(outside.other_authority.bundle))
        assert expected in fails(life)
        assert life.states() == ["sent"]
    delivers(life, outside)
