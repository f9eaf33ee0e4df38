"""Silent, slow, greedy and lying clients, and the honest ones beside them."""

import asyncio
import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from aggregator.api import connections
from aggregator.api.clients import UNKNOWN_CLIENT, ClientNamer
from aggregator.api.limits import Gate, QueueFullError, RateLimit, TooOftenError
from aggregator.errors import SettingsError
from aggregator.home import Home
from aggregator.settings import make_settings
from tests.aggregator.api.attacker import Attacker, is_closed, read_answers
from tests.aggregator.conftest import Served, serve_in_thread
from tests.aggregator.federation import TestSite, ready, registry_of, scores


@contextlib.contextmanager
def serve_with(home: Home, **changes: object) -> Iterator[Served]:
    """Serve with other settings."""
    home.settings = home.settings.model_copy(update=changes)
    with serve_in_thread(home) as served:
        yield served


def make_posts(home: Home, count: int) -> list[bytes]:
    """Make one honest result for each of `count` sites."""
    sites = [ready(home, f"Site {number}") for number in range(count)]
    registry = registry_of(home)
    return [site.sign(site.result(registry, scores(seed))) for seed, site in enumerate(sites)]


def test_hundreds_of_silent_and_dripping_connections_keep_no_honest_request_out(home: Home) -> None:
    envelopes = make_posts(home, 6)
    with (
        serve_with(home, arrival_timeout_s=10.0) as served,
        Attacker(served.port, idle=300, dripping_heads=50, dripping_bodies=50).attack(),
    ):
        answers = [served.post(envelope) for envelope in envelopes]
        answers += [served.get("/v1/log/checkpoint") for _ in range(20)]
    assert [answer.status_code for answer in answers] == [200] * len(answers)


def test_a_hundred_posts_at_once_are_all_taken(home: Home) -> None:
    site = ready(home)
    registry = registry_of(home)
    envelopes = make_posts(home, 4)
    # One site's hundred copies of a post, and other sites' own: all get their receipt.
    repeated = [site.sign(site.result(registry_of(home), scores(1)))] * 96
    assert registry.version < registry_of(home).version
    with serve_with(home) as served, ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(served.post, [*repeated, *envelopes]))
    assert [answer.status_code for answer in answers] == [200] * 100
    assert len({answer.json()["receipt"] for answer in answers}) == 5


def test_one_connection_serves_many_requests(served: Served, site: TestSite) -> None:
    envelope = site.sign(site.result(registry_of(served.home), scores(1)))
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    connection.connect()
    first = connection.sock
    for _ in range(3):
        connection.request("POST", "/v1/submissions", envelope)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Connection")) == (200, None)
        answer.read()
        assert connection.sock is first
    connection.close()


def test_a_refused_body_leaves_the_connection_usable_and_is_not_waited_for(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    connection.request("POST", "/v1/submissions", b"x" * 70_000)
    assert connection.getresponse().read() == b'{"code":"malformed"}'
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()


def test_the_rest_of_a_refused_body_is_not_waited_for_long(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(
            b"POST /v1/submissions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"
        )
        assert b" 400 " in connection.recv(4096)
        assert is_closed(connection, within_s=5)


@pytest.mark.full
def test_an_answer_that_is_not_taken_ends_the_connection(home: Home) -> None:
    ready(home)
    asking = b"GET /v1/log/entries HTTP/1.1\r\nHost: x\r\n\r\n"
    with serve_with(home, exchange_timeout_s=1.0, requests_per_minute=0) as served:
        greedy = socket.socket()
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        greedy.settimeout(5)
        greedy.connect(("127.0.0.1", served.port))
        # Once the server has stopped reading, sending stalls; then the connection is ended.
        with pytest.raises(OSError, match=r"timed out|reset|[Pp]ipe"):
            greedy.sendall(asking * 1_000_000)
        assert served.get("/healthz").status_code == 200
        greedy.close()


def test_connections_beyond_the_most_push_out_the_oldest_silent_one(home: Home) -> None:
    with serve_with(home, max_connections=16, arrival_timeout_s=30.0) as served:
        silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(40)]
        assert [served.get("/v1/log/checkpoint").status_code for _ in range(10)] == [200] * 10
        ended = [is_closed(connection, within_s=0.2) for connection in silent]
        for connection in silent:
            connection.close()
    assert ended[:24] == [True] * 24
    assert not all(ended)


def test_a_client_that_asks_too_often_is_told_when_to_come_back(home: Home) -> None:
    with serve_with(home, requests_per_minute=40) as served:
        answers = [served.get("/v1/log/checkpoint") for _ in range(20)]
        assert [answer.status_code for answer in answers[:10]] == [200] * 10
        turned_away = [answer for answer in answers if answer.status_code == 429]
        assert turned_away
        assert turned_away[0].json() == {"code": "too_many_requests"}
        assert int(turned_away[0].headers["Retry-After"]) >= 1
        assert served.get("/healthz").status_code == 200


@pytest.mark.full
def test_limits_count_the_client_behind_a_trusted_proxy_and_nobody_can_pretend(home: Home) -> None:
    def ask(served: Served, forwarded: str) -> int:
        headers = {"X-Forwarded-For": forwarded}
        return httpx.get(
            served.url + "/v1/log/checkpoint", headers=headers, trust_env=False
        ).status_code

    with serve_with(home, requests_per_minute=8, trusted_proxies=("127.0.0.1",)) as served:
        # Two requests each: a client of its own every time, whatever it claims before the proxy's word.
        assert [ask(served, f"10.9.9.9, 192.0.2.{host}") for host in (1, 1, 2, 2, 3, 3)] == [
            200
        ] * 6
        assert ask(served, "192.0.2.77, 192.0.2.1") == 429
    with serve_with(home, requests_per_minute=8, trusted_proxies=()) as served:
        assert sorted(ask(served, f"192.0.2.{host}") for host in range(6)) == [
            200,
            200,
            429,
            429,
            429,
            429,
        ]


def scope_from(peer: str, forwarded: str = "") -> dict[str, object]:
    return {"client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode("latin-1"))]}


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.9", "10.1.1.1", "192.0.2.9"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "192.0.2.1, 10.0.0.2", "192.0.2.1"),
        ("10.0.0.1", "1.1.1.1, 192.0.2.1, 10.0.0.2", "192.0.2.1"),
        ("10.0.0.1", "nonsense", UNKNOWN_CLIENT),
        ("10.0.0.1", "192.0.2.1, \xff", UNKNOWN_CLIENT),
        ("2001:db8:1:2:3::4", "", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "", "192.0.2.1"),
        ("", "", UNKNOWN_CLIENT),
    ],
)
def test_the_client_is_the_last_address_that_is_no_proxy_of_ours(
    peer: str, forwarded: str, client: str
) -> None:
    namer = ClientNamer(["10.0.0.0/8"], "X-Forwarded-For")
    assert namer.name(scope_from(peer, forwarded)) == client


def make_gate(
    at_once: int = 1, waiting: int = 10, per_client: int = 5, patience_s: float = 5.0
) -> Gate:
    return Gate(
        at_once=at_once, waiting=waiting, waiting_per_client=per_client, patience_s=patience_s
    )


def test_a_client_with_many_requests_waiting_delays_another_by_one_turn_only() -> None:
    async def play() -> list[str]:
        gate = make_gate()
        served: list[str] = []

        async def ask(client: str) -> None:
            async with gate.pass_through(client):
                served.append(client)
                await asyncio.sleep(0)

        greedy = [asyncio.create_task(ask("greedy")) for _ in range(6)]
        await asyncio.sleep(0)
        await asyncio.gather(*greedy, asyncio.create_task(ask("modest")))
        return served

    assert asyncio.run(play()).index("modest") <= 3


def test_a_full_queue_turns_away_and_forgets_nobody() -> None:
    async def play() -> None:
        gate = make_gate(waiting=3, per_client=2)
        async with gate.pass_through("a"):
            waiting = [asyncio.create_task(_pass(gate, client)) for client in ("a", "a", "b")]
            await asyncio.sleep(0)
            for client in ("a", "c"):  # a has its two waiting; and three is the most for all
                with pytest.raises(QueueFullError):
                    await _pass(gate, client)
            waiting[0].cancel()
            await asyncio.sleep(0)
            waiting.append(asyncio.create_task(_pass(gate, "c")))
            await asyncio.sleep(0)
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [asyncio.CancelledError, *[type(None)] * 3]
        assert (gate.waiting, gate.working) == (0, 0)

    asyncio.run(play())


def test_whoever_waits_too_long_is_turned_away_and_no_turn_is_lost() -> None:
    async def play() -> None:
        gate = make_gate(patience_s=0.01)
        async with gate.pass_through("a"):
            with pytest.raises(QueueFullError):
                await _pass(gate, "b")
        await _pass(gate, "c")
        assert (gate.waiting, gate.working) == (0, 0)

    asyncio.run(play())


async def _pass(gate: Gate, client: str) -> None:
    async with gate.pass_through(client):
        await asyncio.sleep(0)


def test_an_allowance_comes_back_with_time() -> None:
    now = [0.0]
    rate = RateLimit(60, clock=lambda: now[0])
    for _ in range(15):
        rate.count("a")
    with pytest.raises(TooOftenError) as error:
        rate.count("a")
    assert error.value.retry_after_s == 1
    rate.count("b")
    now[0] += 1
    rate.count("a")


ASKING = b"POST /v1/submissions HTTP/1.1\r\nHost: x\r\n"
CHUNKED = ASKING + b"Transfer-Encoding: chunked\r\n"


@pytest.mark.full
@pytest.mark.parametrize(
    "request_bytes",
    [
        CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n",
        ASKING + b"Content-Length: 4\r\nContent-Length: 40\r\n\r\nabcd",
        ASKING + b"Content-Length: 4, 40\r\n\r\nabcd",
        ASKING + b"Content-Length : 4\r\n\r\nabcd",
        ASKING + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        ASKING + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        CHUNKED + b"Transfer-Encoding: x\r\n\r\n0\r\n\r\n",
        CHUNKED + b"\r\n-1\r\nx\r\n0\r\n\r\n",
        CHUNKED + b"\r\nffffffffffffffffffffff\r\nx\r\n",
        ASKING + b"X: a\r\n b\r\nContent-Length: x\r\n\r\n",
        b"POST /v1/submissions HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz\r\n\r\n",
        b"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 400_000 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_a_request_that_can_be_read_in_two_ways_gets_one_answer_and_hides_no_second(
    served: Served, request_bytes: bytes
) -> None:
    hidden = b"GET /v1/log/checkpoint HTTP/1.1\r\nHost: hidden\r\n\r\n"
    answers = read_answers(served.port, request_bytes + hidden)
    assert answers.count(b"HTTP/1.1 ") == 1
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.endswith(b'{"code":"malformed"}') or answers.endswith(b'{"code": "malformed"}')


def test_a_hundred_thousand_signatures_are_refused_unread(served: Served) -> None:
    envelope = {
        "payload": "",
        "payloadType": "x",
        "signatures": [{"keyid": "", "sig": ""}] * 100_000,
    }
    body = json.dumps(envelope).encode()
    answer = served.post(body)
    assert (answer.status_code, answer.json()) == (400, {"code": "malformed"})
    small = {**envelope, "signatures": [{"keyid": "0" * 64, "sig": "AA=="}] * 600}
    answer = served.post(json.dumps(small).encode())
    assert (answer.status_code, answer.json()) == (400, {"code": "malformed"})


def test_nesting_and_numbers_without_end_are_refused(served: Served) -> None:
    for body in (
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b"1" * 60_000,
        b'{"payload":' + b"9" * 60_000 + b"}",
        b"\xff" * 60_000,
    ):
        answer = served.post(body)
        assert (answer.status_code, answer.json()) == (400, {"code": "malformed"})


def test_more_connections_than_the_system_allows_is_said_before_serving(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        pytest.skip("this system has no limit of open files")
    with pytest.raises(SettingsError, match="open files") as error:
        connections.raise_open_files(hard + 1)
    assert "LimitNOFILE" in error.value.advice


def test_a_proxy_that_is_no_network_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="trusted_proxies"):
        make_settings({"trusted_proxies": ["proxy.example"]})
    assert make_settings({"trusted_proxies": ["10.0.0.0/8", "::1"]}).trusted_proxies == (
        "10.0.0.0/8",
        "::1",
    )
