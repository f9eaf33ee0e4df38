"""What sites and strangers send, taken by the real store: accepted once, refused without a trace, forks kept."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.log.history import is_frozen
from aggregator.refusals import SignedRefusalError
from protocol.envelope import decode, sign
from protocol.errors import Code, ProtocolError
from protocol.receipt import verify_receipt
from protocol.refusal import verify_refusal
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.aggregator.federation import (
    NOTES,
    TestSite,
    enrolled,
    new_home,
    new_key,
    ready,
    registry_of,
    scores,
)


def send(home: Home, envelope: bytes) -> str:
    return accept(home, envelope, today_day=today_day()).receipt


SAID_TO_STRANGERS = {Code.MALFORMED, Code.UNKNOWN_KEY, Code.BAD_SIGNATURE}


def log_size(home: Home) -> int:
    with home.database.reading() as connection:
        return journal.size(connection)


def refused(home: Home, envelope: bytes) -> Code:
    """Send what must be refused, check that the log is as before and that the refusal is signed or says little."""
    before = log_size(home)
    with pytest.raises(ProtocolError) as error:
        send(home, envelope)
    assert log_size(home) == before
    if isinstance(error.value, SignedRefusalError):
        registry = registry_of(home)
        refusal = verify_refusal(error.value.note, decode(envelope).digest, registry.log_key, registry.log_name)
        assert refusal.code is error.value.code
        assert refusal.log_size <= before
    else:
        assert error.value.code in SAID_TO_STRANGERS
    return error.value.code


def frozen(home: Home, site: TestSite) -> bool:
    with home.database.reading() as connection:
        return is_frozen(connection, site.id, registry_of(home).sites[site.id].epoch)


def test_a_result_is_accepted_and_its_receipt_holds_offline(home: Home, site: TestSite) -> None:
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    receipt = send(home, envelope)
    registry = registry_of(home)
    proven = verify_receipt(receipt, decode(envelope).pae, registry.log_key, registry.log_name)
    assert proven.index == 3  # after the enrolment and two datasets
    assert proven.checkpoint.size == 4


def test_the_same_payload_again_gets_the_same_receipt_even_after_others(home: Home, site: TestSite) -> None:
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    first = send(home, envelope)
    site.accepted(envelope)
    send(home, site.sign(site.result(registry_of(home), scores(2))))
    assert send(home, envelope) == first
    assert log_size(home) == 5


def test_the_same_payload_twice_at_once_is_one_entry_and_no_fork(
    home: Home, site: TestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have seen that it is new before either writes: what a client that gave up too early may cause."""
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    both, writing = threading.Barrier(2), home.database.writing

    @contextmanager
    def writing_after_both_have_looked() -> Iterator[Connection]:
        both.wait(timeout=20)
        with writing() as connection:
            yield connection

    monkeypatch.setattr(home.database, "writing", writing_after_both_have_looked)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda data: send(home, data), [envelope, envelope])
    assert first == second
    assert log_size(home) == 4
    assert not frozen(home, site)


def test_nobody_waits_for_the_writer_to_hear_what_is_known(home: Home, site: TestSite) -> None:
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    receipt = send(home, envelope)
    with home.database.writing():
        assert send(home, envelope) == receipt
        assert refused(home, TestSite(site.id).sign(site.result(registry_of(home), scores(2)))) is Code.UNKNOWN_KEY


def test_the_chain_continues_result_by_result(home: Home, site: TestSite) -> None:
    for seed in range(3):
        envelope = site.sign(site.result(registry_of(home), scores(seed)))
        send(home, envelope)
        site.accepted(envelope)
    assert log_size(home) == 6


def test_a_fork_is_kept_as_evidence_and_freezes_the_site(home: Home, site: TestSite) -> None:
    registry = registry_of(home)
    first, second = (site.sign(site.result(registry, scores(seed))) for seed in (1, 2))
    receipt = send(home, first)
    assert refused(home, second) is Code.FORK
    assert frozen(home, site)
    site.accepted(first)
    assert refused(home, site.sign(site.result(registry, scores(3)))) is Code.SITE_FROZEN
    assert refused(home, second) is Code.SITE_FROZEN
    assert send(home, first) == receipt


def test_a_frozen_site_does_not_hinder_another(home: Home, site: TestSite) -> None:
    registry = registry_of(home)
    for seed in (1, 2):
        envelope = site.sign(site.result(registry, scores(seed)))
        if seed == 1:
            send(home, envelope)
        else:
            assert refused(home, envelope) is Code.FORK
    other = ready(home, "Other")
    send(home, other.sign(other.result(registry_of(home), scores(5))))


def test_keys_of_nobody_and_of_others_are_unknown(home: Home, site: TestSite) -> None:
    other = enrolled(home, "Other")
    result = site.result(registry_of(home), scores(1))
    stranger = TestSite(site.id)
    assert refused(home, stranger.sign(result)) is Code.UNKNOWN_KEY
    half = replace(site, steward=other.steward)
    assert refused(home, half.sign(result)) is Code.UNKNOWN_KEY
    assert refused(home, other.sign(result)) is Code.WRONG_SITE
    alone = replace(site, steward=site.agent, agent=new_key())
    assert refused(home, alone.sign(result)) is Code.UNKNOWN_KEY


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"deployment": "staging.example"}, Code.WRONG_DEPLOYMENT),
        ({"registry": 99}, Code.WRONG_REGISTRY),
        ({"seq": 9}, Code.WRONG_SEQ),
        ({"epoch": 2}, Code.WRONG_EPOCH),
        ({"prev": "0" * 64}, Code.WRONG_PREV),
    ],
)
def test_a_link_out_of_place_is_refused(home: Home, site: TestSite, change: dict[str, object], code: Code) -> None:
    result = site.result(registry_of(home), scores(1))
    moved = replace(result, header=replace(result.header, **change))  # type: ignore[arg-type]
    assert refused(home, site.sign(moved)) is code


def test_one_percent_too_exact_is_refused(home: Home, site: TestSite) -> None:
    result = site.result(registry_of(home), scores(1))
    cells = dict(result.cells)
    cells["shc_notes/exact_match"] += 1
    assert refused(home, site.sign(replace(result, cells=cells))) is Code.OFF_GRID


def test_a_result_copied_from_another_site_is_refused(tmp_path: Path) -> None:
    """So many private figures that two sites cannot well agree by chance."""
    wards = tuple(f"ward_{number}" for number in range(8))
    card = Scorecard(
        "wards",
        1,
        tuple(BenchmarkEntry(ward, ward, NOTES, "4" * 64) for ward in wards),
        tuple(Cell(ward, "exact_match", None, "private", True, 0, 1) for ward in wards),
    )
    home = new_home(tmp_path / "aggregator", scorecards=[card])
    site, thief = (ready(home, name, card=card) for name in ("Site", "Thief"))
    honest = site.result(registry_of(home), scores(1, card=card), card=card)
    send(home, site.sign(honest))
    copied = thief.result(registry_of(home), scores(1, card=card), card=card)
    assert refused(home, thief.sign(copied)) is Code.COPIED_RESULT
    site.accepted(site.sign(honest))
    again = site.result(registry_of(home), scores(1, card=card), card=card)
    send(home, site.sign(again))  # a site may come to its own figures again
    root = honest.scores_root
    own = thief.result(registry_of(home), scores(9, card=card), card=card)
    assert refused(home, thief.sign(replace(own, scores_root=root))) is Code.WRONG_ROOT


def test_an_expired_registry_takes_nothing(home: Home, site: TestSite) -> None:
    registry = registry_of(home)
    envelope = site.sign(replace(site.result(registry, scores(1)), day=registry.expires_day))
    with pytest.raises(ProtocolError) as error:
        accept(home, envelope, today_day=registry.expires_day)
    assert error.value.code is Code.REGISTRY_EXPIRED


def test_garbage_is_malformed(home: Home) -> None:
    for data in (b"", b"\xff\xfe", b"[]", b"{}", b"PK\x03\x04", b"\x1f\x8b\x08", b'{"payload":1}', b"[" * 60_000):
        assert refused(home, data) is Code.MALFORMED


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255), cut=st.booleans())
def test_whoever_cannot_sign_learns_nothing_more(
    home: Home, site: TestSite, place: float, byte: int, cut: bool
) -> None:
    """A true submission with one byte changed, or cut off anywhere."""
    envelope = site.sign(site.result(registry_of(home), scores(1, units=20)))
    at = int(place * len(envelope))
    spoilt = envelope[:at] if cut else envelope[:at] + bytes([byte]) + envelope[at + 1 :]
    if spoilt != envelope:
        assert refused(home, spoilt) in {Code.MALFORMED, Code.UNKNOWN_KEY, Code.BAD_SIGNATURE}


def test_no_socket_is_opened_because_of_a_payload(home: Home, site: TestSite, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    lure = b'{"_type":"http://169.254.169.254/","predicate":{"$ref":"file:///etc/passwd"}}'
    assert refused(home, sign(lure, [site.agent, site.steward])) in {Code.SCHEMA, Code.WRONG_TYPE}
    send(home, site.sign(site.result(registry_of(home), scores(1))))


def test_the_database_holds_the_token_of_no_invite(home: Home, tmp_path: Path) -> None:
    from aggregator.registry.invites import invite

    with home.database.writing() as connection:
        made = invite(connection, home, site_name="St. Example", publication="named", today_day=today_day())
    stored = b"".join(path.read_bytes() for path in home.directory.rglob("*") if path.is_file())
    assert made.site.encode() in stored
    assert made.token.encode() not in stored
    assert bytes.fromhex(made.token) not in stored
