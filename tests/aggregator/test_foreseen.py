"""Decisions made before the writer is free: whatever comes in between, the log gets what it would get without them."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from aggregator import intake
from aggregator.errors import StoreError
from aggregator.home import Home, today_day
from aggregator.intake import Receipted, accept
from aggregator.log import journal
from aggregator.log.history import is_frozen
from aggregator.log.restored import RestoredLogError, mark_restored
from aggregator.refusals import SignedRefusalError
from aggregator.registry.changes import Additions
from aggregator.registry.proposals import Changes, change_now
from protocol.envelope import decode
from protocol.errors import Code, ProtocolError
from protocol.receipt import verify_receipt
from tests.aggregator.federation import (
    TestSite,
    challenge_of,
    new_key,
    put_in_force,
    ready,
    registry_of,
    scores,
)
from tests.aggregator.log_checks import check_log
from tests.aggregator.test_group_commit import hold_writer


def send(home: Home, envelope: bytes) -> Receipted:
    return accept(home, envelope, today_day=today_day())


def refused(home: Home, envelope: bytes) -> Code:
    with pytest.raises(ProtocolError) as error:
        send(home, envelope)
    return error.value.code


def log_size(home: Home) -> int:
    with home.database.reading() as connection:
        return journal.size(connection)


@pytest.fixture
def meanwhile(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Home], object]], None]:
    """Let another worker do something once the next submission has been looked at, and before it is written."""
    run = home.writer.run

    def arrange(act: Callable[[Home], object]) -> None:
        def run_late(
            write: Callable[[Connection, Sequence[object]], Sequence[object]], item: object
        ) -> object:
            monkeypatch.setattr(home.writer, "run", run)
            other = Home(home.directory)
            act(other)
            other.database.close()
            return run(write, item)

        monkeypatch.setattr(home.writer, "run", run_late)

    return arrange


Meanwhile = Callable[[Callable[[Home], object]], None]


def test_what_another_site_submits_meanwhile_changes_nothing(
    home: Home, site: TestSite, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the writer needs not decide again."""
    other = ready(home, "Other")
    mine, theirs = (
        one.sign(one.result(registry_of(home), scores(seed)))
        for seed, one in enumerate((site, other))
    )

    def decide_again(*_: object) -> None:
        raise AssertionError("the decision was made already")

    registry = registry_of(home)
    meanwhile(
        lambda worker: [send(worker, theirs), monkeypatch.setattr(intake, "_decide", decide_again)]
    )
    proven = verify_receipt(
        send(home, mine).receipt, decode(mine).pae, registry.log_keys, registry.log_name
    )
    assert proven.index == log_size(home) - 1


def test_of_two_payloads_for_one_place_the_second_worker_keeps_the_evidence(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    first, second = (site.sign(site.result(registry_of(home), scores(seed))) for seed in (1, 2))
    meanwhile(lambda worker: send(worker, first))
    assert refused(home, second) is Code.FORK
    with home.database.reading() as connection:
        assert is_frozen(connection, site.id, site.epoch)


def test_a_site_that_is_frozen_meanwhile_gets_nothing_in(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    first, second = (site.sign(site.result(registry_of(home), scores(seed))) for seed in (1, 2))
    send(home, first)
    site.accepted(first)
    third = site.sign(site.result(registry_of(home), scores(3)))
    meanwhile(lambda worker: refused(worker, second))
    assert refused(home, third) is Code.SITE_FROZEN


def test_a_key_that_is_replaced_meanwhile_signs_nothing(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    rotation = site.rotate(registry_of(home), "steward", new_key())
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    meanwhile(lambda worker: put_in_force(worker, rotation))
    before = log_size(home)
    assert refused(home, envelope) is Code.UNKNOWN_KEY
    assert log_size(home) == before + 1, "the rotation"


def test_a_scorecard_that_is_retired_meanwhile_gets_no_result(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    envelope = site.sign(site.result(registry_of(home), scores(1)))

    def retire(worker: Home) -> None:
        with worker.database.writing() as connection:
            change_now(
                connection,
                worker,
                Changes(additions=Additions(retired=["pilot"])),
                today_day=today_day(),
            )

    meanwhile(retire)
    assert refused(home, envelope) is Code.RETIRED_SCORECARD


def test_scores_that_another_site_reports_meanwhile_are_not_reported_twice(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    other = ready(home, "Other")
    mine = site.result(registry_of(home), scores(1))
    theirs = replace(other.result(registry_of(home), scores(2)), scores_root=mine.scores_root)
    meanwhile(lambda worker: send(worker, other.sign(theirs)))
    assert refused(home, site.sign(mine)) is Code.WRONG_ROOT


def test_a_link_whose_predecessor_comes_meanwhile_is_accepted(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    """It was too early when it was looked at; no refusal is made of that."""
    first = site.sign(site.result(registry_of(home), scores(1)))
    early = site.copy()
    early.accepted(first)
    second = early.sign(early.result(registry_of(home), scores(2)))
    meanwhile(lambda worker: send(worker, first))
    assert send(home, second).digest == decode(second).digest


def test_the_same_payload_by_another_worker_meanwhile_is_one_entry(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    receipts: list[str] = []
    meanwhile(lambda worker: receipts.append(send(worker, envelope).receipt))
    before = log_size(home)
    assert [send(home, envelope).receipt] == receipts
    assert log_size(home) == before + 1


def test_a_plan_that_is_abandoned_meanwhile_gets_no_result(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    plan = site.sign(site.plan(registry_of(home)))
    send(home, plan)
    digest, challenge = site.accepted(plan), challenge_of(home, plan)
    result = replace(site.result(registry_of(home), scores(1)), plan=digest, challenge=challenge)
    abandoned = site.sign(site.abandon(registry_of(home), digest))
    meanwhile(lambda worker: send(worker, abandoned))
    assert refused(home, site.sign(result)) is Code.FORK, "its place is taken too"


def test_a_log_that_is_marked_as_restored_meanwhile_takes_nothing(
    home: Home, site: TestSite, meanwhile: Meanwhile
) -> None:
    def mark(worker: Home) -> None:
        with worker.database.writing() as connection:
            mark_restored(connection, journal.size(connection), today_day())

    envelope = site.sign(site.result(registry_of(home), scores(1)))
    meanwhile(mark)
    before = log_size(home)
    with pytest.raises(RestoredLogError):
        send(home, envelope)
    assert log_size(home) == before


def send_together(home: Home, envelopes: Sequence[bytes]) -> list[Receipted | BaseException]:
    """Have submissions looked at while the writer is busy, and written in one transaction."""
    release = threading.Event()
    holder = hold_writer(home, release)
    with ThreadPoolExecutor(len(envelopes)) as pool:
        asked = [pool.submit(send, home, envelope) for envelope in envelopes]
        deadline = time.monotonic() + 20
        while len(home.writer._queue) < len(envelopes) and time.monotonic() < deadline:
            time.sleep(0.005)
        release.set()
        outcomes = [answer.exception(timeout=20) or answer.result() for answer in asked]
    holder.join(timeout=20)
    return outcomes


def codes_of(outcomes: Sequence[Receipted | BaseException]) -> list[Code]:
    return [outcome.code for outcome in outcomes if isinstance(outcome, SignedRefusalError)]


def test_of_two_payloads_for_one_place_in_one_transaction_one_wins(
    home: Home, site: TestSite
) -> None:
    envelopes = [site.sign(site.result(registry_of(home), scores(seed))) for seed in range(3)]
    before = log_size(home)
    codes = codes_of(send_together(home, envelopes))
    assert sorted(codes) == [Code.FORK, Code.SITE_FROZEN]
    assert log_size(home) == before + 1


def test_of_two_sites_with_the_same_scores_in_one_transaction_one_wins(
    home: Home, site: TestSite
) -> None:
    other = ready(home, "Other")
    mine = site.result(registry_of(home), scores(1))
    theirs = replace(other.result(registry_of(home), scores(2)), scores_root=mine.scores_root)
    before = log_size(home)
    assert codes_of(send_together(home, [site.sign(mine), other.sign(theirs)])) == [Code.WRONG_ROOT]
    assert log_size(home) == before + 1


def test_sites_that_are_written_together_make_one_sound_log(home: Home) -> None:
    sites = [ready(home, f"Hospital {number}") for number in range(6)]
    envelopes = [
        one.sign(one.result(registry_of(home), scores(number))) for number, one in enumerate(sites)
    ]
    registry = registry_of(home)
    before = log_size(home)
    indices = []
    for envelope, outcome in zip(envelopes, send_together(home, envelopes), strict=True):
        assert isinstance(outcome, Receipted)
        proven = verify_receipt(
            outcome.receipt, decode(envelope).pae, registry.log_keys, registry.log_name
        )
        indices.append(proven.index)
    assert sorted(indices) == list(range(before, before + 6))
    check_log(home)


def test_nothing_is_said_of_an_entry_that_was_taken_back(
    home: Home, site: TestSite, caplog: pytest.LogCaptureFixture
) -> None:
    """Another piece of the same transaction fails, so all is written twice, and once for good."""

    def fail(_connection: Connection, _items: Sequence[None]) -> Sequence[None]:
        raise StoreError("always")

    envelope = site.sign(site.result(registry_of(home), scores(1)))
    release = threading.Event()
    caplog.set_level(logging.INFO, "aggregator.intake")
    holder = hold_writer(home, release)
    with ThreadPoolExecutor(2) as pool:
        accepted = pool.submit(send, home, envelope)
        while not home.writer._queue:
            time.sleep(0.005)
        failed = pool.submit(home.writer.run, fail, None)
        while len(home.writer._queue) < 2:
            time.sleep(0.005)
        assert "accepted" not in caplog.text
        release.set()
        assert isinstance(failed.exception(timeout=20), StoreError)
        accepted.result(timeout=20)
    holder.join(timeout=20)
    assert caplog.text.count("accepted position=") == 1
