"""A real server on loopback, and what arrives at it: honest, lying, slow and parallel."""

import asyncio
import contextlib
import gzip
import http.client
import json
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, update
from starlette.requests import Request

from aggregator.api.body import BodyRefusedError, read_body
from aggregator.api.server import check_ready
from aggregator.errors import KeyFileError, RegistryError, StoreError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.key_files import draw_key, keep_key
from aggregator.log import journal
from aggregator.registry import invites
from aggregator.store.schema import entries, forks, metadata, registry_versions
from protocol.checkpoint import check_growth, verify_checkpoint
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import Code, ProtocolError
from protocol.predicates import Statement
from protocol.receipt import verify_receipt
from protocol.refusal import Refusal, sign_refusal, verify_refusal
from protocol.registry import Registry, RootPins, step_registry
from tests.aggregator.conftest import Served, ServedByProcess, start, stop
from tests.aggregator.federation import TestSite, ready, registry_of, scores, submit
from tests.aggregator.test_intake import log_size


def code(response: object) -> str:
    """Return the refusal's code, and check that nothing else is said."""
    body = response.json()  # type: ignore[attr-defined]
    assert list(body) == ["code"]
    return str(body["code"])


def signed_code(response: httpx.Response, envelope: bytes, registry: Registry) -> Code:
    """Return the code of a refusal that the log signed about this submission, and check that nothing else is said."""
    body = response.json()
    assert sorted(body) == ["code", "refusal"]
    refusal = verify_refusal(
        body["refusal"], decode(envelope).digest, registry.receipt_key, registry.log_name
    )
    assert refusal.code.value == body["code"]
    return refusal.code


def test_a_submission_over_http_gets_a_receipt_that_holds(served: Served, site: TestSite) -> None:
    registry = registry_of(served.home)
    envelope = site.sign(site.result(registry, scores(1)))
    answer = served.post(envelope)
    assert answer.status_code == 200
    digest, receipt = answer.json()["digest"], answer.json()["receipt"]
    assert digest == decode(envelope).digest
    verify_receipt(receipt, decode(envelope).pae, registry.log_keys, registry.log_name)
    assert (
        served.post(site.request_head(), f"/v1/sites/{site.id}/receipts/{digest}").text == receipt
    )
    assert served.post(envelope).json()["receipt"] == receipt


def test_the_log_can_be_followed_over_http(served: Served, site: TestSite) -> None:
    registry = registry_of(served.home)
    old = verify_checkpoint(
        served.get("/v1/log/checkpoint").text, registry.log_keys, registry.log_name
    )
    for seed in range(3):
        envelope = site.sign(site.result(registry, scores(seed)))
        assert served.post(envelope).status_code == 200
        site.accepted(envelope)
    new = verify_checkpoint(
        served.get("/v1/log/checkpoint").text, registry.log_keys, registry.log_name
    )
    assert (old.size, new.size) == (3, 6)
    proof = served.get(f"/v1/log/consistency?from={old.size}&to={new.size}").json()["proof"]
    check_growth(old, new, [bytes.fromhex(node) for node in proof])
    lines = served.get("/v1/log/entries?start=1&end=3").text.splitlines()
    assert [json.loads(line)["registry"] for line in lines] == [2, 2]
    assert served.get("/v1/log/consistency?from=0&to=6").json() == {"proof": []}
    assert served.get("/v1/log/consistency?from=6&to=6").json() == {"proof": []}
    assert served.get("/v1/log/consistency?from=3&to=9").status_code == 404
    assert code(served.get("/v1/log/consistency?from=x&to=9")) == "malformed"


def test_registries_are_served_as_signed(served: Served, site: TestSite) -> None:
    first = served.get("/v1/registry/1").content
    root = served.home.root_signer(registry_of(served.home)).public
    trusted = step_registry(first, RootPins("board.example", frozenset({root.keyid}), 1))
    assert step_registry(served.get("/v1/registry").content, trusted).version == 2
    assert code(served.get("/v1/registry/3")) == "not_found"
    assert decode(first, REGISTRY_TYPE).payload_type == REGISTRY_TYPE


def test_a_log_key_that_the_registry_does_not_name_serves_nothing(home: Home) -> None:
    path = home.directory / "keys/log.key"
    path.unlink()
    keep_key(path, draw_key())
    with pytest.raises(KeyFileError, match="not the key that the registry names"):
        check_ready(Home(home.directory))


def test_a_registry_that_was_spoilt_in_the_database_serves_nothing(
    home: Home, site: TestSite
) -> None:
    check_ready(home)
    with home.database.writing() as connection:
        spoilt = update(registry_versions).where(registry_versions.c.version == 1)
        newest = connection.execute(
            select(registry_versions.c.envelope).order_by(registry_versions.c.version.desc())
        )
        connection.execute(spoilt.values(envelope=newest.scalars().first()))
    with pytest.raises((RegistryError, StoreError), match=r"is not valid|is damaged"):
        check_ready(home)


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/v1", 404, "not_found"),
        ("/docs", 404, "not_found"),
        ("/v1/receipts/" + "0" * 64, 404, "not_found"),
        ("/v1/registry/%2e%2e%2fkeys%2froot.key", 404, "not_found"),
        ("/v1/registry/ABC", 400, "malformed"),
        ("/v1/sites/s-00000000/receipts/" + "0" * 64, 405, "method_not_allowed"),
        ("/v1/submissions", 405, "method_not_allowed"),
    ],
)
def test_other_addresses_say_a_code_and_no_more(
    served: Served, path: str, status: int, said: str
) -> None:
    answer = served.get(path)
    assert (answer.status_code, code(answer)) == (status, said)


def test_compressed_and_oversize_bodies_are_refused(served: Served) -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    assert code(served.post(bomb, **{"Content-Encoding": "gzip"})) == "malformed"
    assert code(served.post(b"{}", **{"Content-Encoding": "br"})) == "malformed"
    assert code(served.post(b"{}", **{"Content-Encoding": "zstd"})) == "malformed"
    assert code(served.post(b"x" * (64 * 1024 + 1))) == "malformed"


def test_a_true_submission_that_says_it_is_compressed_is_refused_unread(
    served: Served, site: TestSite
) -> None:
    envelope = site.sign(site.result(registry_of(served.home), scores(1)))
    for coding in ("gzip", "br", "identity, gzip", "x"):
        assert code(served.post(envelope, **{"Content-Encoding": coding})) == "malformed"
    assert served.post(envelope, **{"Content-Encoding": "Identity"}).status_code == 200


def test_nothing_more_is_taken_in_once_a_body_is_too_large() -> None:
    taken = 0

    async def receive() -> dict[str, object]:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": b"x" * 1000, "more_body": taken < 100}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with pytest.raises(BodyRefusedError):
        asyncio.run(read_body(request, limit=2500, timeout_s=20))
    assert taken == 3


def raw(served: Served, request: bytes, *, wait_s: float = 10.0) -> bytes:
    """Send bytes as they are and return what comes back until the server closes or falls silent."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=wait_s) as connection:
        connection.sendall(request)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
            if b"\r\n\r\n" in answer and answer.rstrip().endswith(b"}"):
                break
        return answer


POST = b"POST /v1/submissions HTTP/1.1\r\nHost: x\r\n"


def test_a_declared_length_above_the_limit_is_refused_before_a_byte_is_read(served: Served) -> None:
    answer = raw(served, POST + b"Content-Length: 999999999999\r\n\r\n")
    assert b" 400 " in answer.split(b"\r\n")[0]
    assert b'{"code":"malformed"}' in answer


def test_a_body_without_length_is_counted_as_it_arrives(served: Served) -> None:
    chunk = b"2000\r\n" + b"x" * 0x2000 + b"\r\n"
    answer = raw(served, POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 20)
    assert b'{"code":"malformed"}' in answer


def test_a_body_shorter_than_declared_is_given_up_after_the_time_limit(served: Served) -> None:
    began = time.monotonic()
    answer = raw(served, POST + b'Content-Length: 5000\r\n\r\n{"payload"')
    assert b'{"code":"malformed"}' in answer
    assert time.monotonic() - began < 5
    assert served.get("/healthz").status_code == 200


def test_a_body_that_drips_is_given_up_after_the_time_limit(served: Served) -> None:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(POST + b"Content-Length: 5000\r\n\r\n")
        connection.settimeout(0.1)
        answer = b""
        while time.monotonic() - began < 6 and not answer:
            try:
                connection.sendall(b" ")
                answer = connection.recv(65536)
            except TimeoutError:
                continue
    assert b" 400 " in answer.split(b"\r\n")[0]


@pytest.mark.parametrize("length", [b"-1", b"+5", b"5, 6", b"0x10", b"1e3"])
def test_a_length_that_is_no_number_is_refused(served: Served, length: bytes) -> None:
    answer = raw(served, POST + b"Content-Length: " + length + b"\r\n\r\n{}")
    assert b" 400 " in answer.split(b"\r\n")[0]


@pytest.mark.sample(1)
@pytest.mark.parametrize("start_of_head", [b"", b"POST /v1/sub", POST])
def test_a_connection_without_a_request_is_closed_in_time(
    served: Served, start_of_head: bytes
) -> None:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(start_of_head)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    assert time.monotonic() - began < 5


def test_silent_connections_keep_nobody_out_for_long(served: Served) -> None:
    silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(80)]
    time.sleep(1.5)
    assert served.get("/healthz").status_code == 200
    for connection in silent:
        connection.close()


def test_of_twenty_at_once_for_one_place_exactly_one_wins(served: Served, site: TestSite) -> None:
    registry = registry_of(served.home)
    envelopes = [site.sign(site.result(registry, scores(seed))) for seed in range(20)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(served.post, envelopes))
    won = [answer for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    refusals = [
        signed_code(answer, envelope, registry)
        for answer, envelope in zip(answers, envelopes, strict=True)
        if answer.status_code != 200
    ]
    assert refusals.count(Code.FORK) == 1
    assert set(refusals) == {Code.FORK, Code.SITE_FROZEN}
    with served.home.database.reading() as connection:
        assert journal.size(connection) == 4
        assert len(connection.execute(select(forks)).all()) == 1


def test_many_sites_at_once_all_get_in(served: Served) -> None:
    sites = [ready(served.home, f"Site {number}") for number in range(8)]
    registry = registry_of(served.home)
    envelopes = [each.sign(each.result(registry, scores(seed))) for seed, each in enumerate(sites)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(served.post, envelopes))
    assert [answer.status_code for answer in answers] == [200] * 8
    for envelope, answer in zip(envelopes, answers, strict=True):
        verify_receipt(
            answer.json()["receipt"], decode(envelope).pae, registry.log_keys, registry.log_name
        )


def test_nobody_on_the_way_can_forge_or_turn_a_refusal(served: Served, site: TestSite) -> None:
    """What is signed is about one payload, with one code; a 409 without it says nothing."""
    registry = registry_of(served.home)
    result = site.result(registry, scores(1))
    bad, good = site.sign(replace(result, approval="exception")), site.sign(result)
    note = served.post(bad).json()["refusal"]
    assert signed_code(served.post(bad), bad, registry) is Code.NO_EXCEPTIONS
    stranger = sign_refusal(
        Refusal(decode(good).digest, Code.FORK, 3), registry.log_name, TestSite("s-x").agent
    )
    turned = note.replace(decode(bad).digest, decode(good).digest)
    other_code = note.replace("no_exceptions", "fork")
    for forged, about in ((note, good), (turned, good), (stranger, good), (other_code, bad)):
        with pytest.raises(ProtocolError) as error:
            verify_refusal(forged, decode(about).digest, registry.receipt_key, registry.log_name)
        assert error.value.code in {Code.BAD_REFUSAL, Code.BAD_SIGNATURE}


def test_strangers_get_no_signature_of_the_log(served: Served, site: TestSite) -> None:
    envelope = TestSite(site.id).sign(site.result(registry_of(served.home), scores(1)))
    answer = served.post(envelope)
    assert (answer.status_code, code(answer)) == (403, "unknown_key")


DIES_AFTER_APPENDING = """
import os, signal
from aggregator import intake
keep = intake._append
def append_and_die_once_committed(connection, *rest):
    from sqlalchemy import event
    @event.listens_for(connection.engine, "{moment}")
    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)
    return keep(connection, *rest)
intake._append = append_and_die_once_committed
from aggregator.cli import main
main()
"""


def statement_of_kind(home: Home, site: TestSite, kind: str, seed: int = 1) -> Statement:
    """Make the next link of a kind, after those that it needs in the log; another one for each seed."""
    registry = registry_of(home)
    match kind:
        case "dataset":
            return site.dataset(registry, "2" * 64, version=f"another lineage {seed}")
        case "plan":
            return site.plan(registry)
        case "abandon":
            return site.abandon(registry, submit(home, site, site.plan(registry)))
        case "withdraw":
            return site.withdraw(
                registry, submit(home, site, site.result(registry, scores(1000 + seed)))
            )
    return site.result(registry, scores(seed))


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["dataset", "plan", "abandon", "withdraw", "result"])
@pytest.mark.parametrize(("moment", "kept"), [("commit", False), ("checkin", True)])
def test_killed_around_the_commit_the_receipt_comes_at_the_next_try(
    home: Home, site: TestSite, tmp_path: Path, kind: str, moment: str, kept: bool
) -> None:
    """`commit` is the moment before the commit, `checkin` the first one after it."""
    envelope = site.sign(statement_of_kind(home, site, kind))
    before = log_size(home)
    dying = start(home, tmp_path / "serve.log", DIES_AFTER_APPENDING.format(moment=moment))
    connection = http.client.HTTPConnection("127.0.0.1", dying.port, timeout=20)
    connection.request("POST", "/v1/submissions", envelope)
    with pytest.raises((http.client.HTTPException, OSError)):
        connection.getresponse()
    connection.close()
    assert dying.process.wait(timeout=20) == -signal.SIGKILL
    assert dying.process.stdout is not None
    dying.process.stdout.close()
    assert log_size(home) == (before + 1 if kept else before)
    # The next try reaches a new process with the same database.
    registry = registry_of(home)
    receipt = accept(home, envelope, today_day=today_day()).receipt
    verify_receipt(receipt, decode(envelope).pae, registry.log_keys, registry.log_name)
    assert log_size(home) == before + 1
    site.accepted(envelope)
    submit(home, site, site.result(registry, scores(9)))


def test_an_enrolment_over_http_waits_for_a_person(served: Served) -> None:
    home = served.home
    with home.database.writing() as connection:
        invite = invites.invite(
            connection, home, site_name="New", publication="named", today_day=20_000_000
        )
    site = TestSite(invite.site)
    request = site.ask_to_enrol(invite)
    answer = served.post(request, "/v1/enrolments")
    assert answer.json() == {"digest": decode(request).digest}
    assert served.post(request, "/v1/enrolments").status_code == 200
    assert invite.site not in registry_of(home).sites
    other = TestSite(invite.site).ask_to_enrol(invite)
    assert code(served.post(other, "/v1/enrolments")) == "wrong_token"
    guess = TestSite(invite.site).ask_to_enrol(invite, token=b"guess")
    assert code(served.post(guess, "/v1/enrolments")) == "wrong_token"


def kept(home: Home) -> dict[str, object]:
    """Return all that an aggregator keeps: rows of every table, and its files but those of the database."""
    with home.database.reading() as connection:
        rows = {
            table.name: connection.execute(select(table)).all() for table in metadata.sorted_tables
        }
    files = {path: path.read_bytes() for path in home.directory.rglob("*") if path.is_file()}
    return rows | {
        str(path): content for path, content in files.items() if ".sqlite3" not in path.name
    }


def test_a_refused_enrolment_leaves_nothing_and_spends_no_invite(served: Served) -> None:
    home = served.home
    with home.database.writing() as connection:
        invite, expired = (
            invites.invite(connection, home, site_name="New", publication="named", today_day=today)
            for today in (today_day(), today_day() - 100)
        )
    before = kept(home)
    stranger = TestSite("s-zzzzzzzz")
    for request in (
        TestSite(invite.site).ask_to_enrol(invite, token=b"guess"),
        TestSite(expired.site).ask_to_enrol(expired),
        stranger.ask_to_enrol(invite),
    ):
        answer = served.post(request, "/v1/enrolments")
        assert (answer.status_code, code(answer)) == (422, "wrong_token")
    assert kept(home) == before
    mine = TestSite(invite.site).ask_to_enrol(invite)
    assert served.post(mine, "/v1/enrolments").status_code == 200
    before = kept(home)
    assert (
        code(served.post(TestSite(invite.site).ask_to_enrol(invite), "/v1/enrolments"))
        == "wrong_token"
    )
    assert kept(home) == before


def test_the_log_of_the_server_holds_no_payload_and_no_path(
    process: ServedByProcess, site: TestSite
) -> None:
    served, canary = process, "canary-in-a-path"
    served.get(f"/v1/{canary}?q={canary}")
    served.post(canary.encode())
    envelope = site.sign(site.result(registry_of(served.home), scores(1)))
    served.post(envelope)
    text = served.log.read_text()
    assert "accepted position=3" in text
    assert canary not in text
    assert "pubmed_qa" not in text
    with served.home.database.reading() as connection:
        assert connection.execute(select(entries.c.position)).scalars().all() == [0, 1, 2, 3]


@pytest.mark.full
def test_an_internal_fault_says_internal_and_logs_no_message(home: Home, tmp_path: Path) -> None:
    program = """
from aggregator.api import submission_routes
def broken(*_args, **_kwargs):
    raise ValueError("canary in a message")
submission_routes.accept = broken
from aggregator.cli import main
main()
"""
    running = start(home, tmp_path / "serve.log", program)
    try:
        answer = running.post(b"{}")
        assert (answer.status_code, code(answer)) == (500, "internal")
    finally:
        stop(running)
    assert "ValueError" in running.log.read_text()
    assert "canary" not in running.log.read_text()
