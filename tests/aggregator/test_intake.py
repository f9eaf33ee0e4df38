"""What sites and strangers send, taken by the real store: accepted once, refused without a trace, forks kept."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from aggregator.errors import StoreError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.log.history import is_frozen, read_history
from aggregator.refusals import SignedRefusalError, recall
from aggregator.registry.changes import Additions, apply
from aggregator.registry.versions import newest_registry, sign_next
from aggregator.store.schema import forks, metadata
from protocol.envelope import decode, sign
from protocol.errors import Code, ProtocolError
from protocol.policy import bucket_of
from protocol.predicates import LedgerHead
from protocol.receipt import verify_receipt
from protocol.refusal import verify_refusal
from protocol.registry import Model
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.verification import ChainHead
from tests.aggregator.federation import (
    CARD,
    NOTES,
    TestSite,
    challenge_of,
    enrolled,
    new_home,
    new_key,
    put_in_force,
    ready,
    register_datasets,
    registry_of,
    scores,
    submit,
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
        refusal = verify_refusal(
            error.value.note, decode(envelope).digest, registry.receipt_key, registry.log_name
        )
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
    proven = verify_receipt(receipt, decode(envelope).pae, registry.log_keys, registry.log_name)
    assert proven.index == 3  # after the enrolment and two datasets
    assert proven.checkpoint.size == 4


def test_the_same_payload_again_gets_the_same_receipt_even_after_others(
    home: Home, site: TestSite
) -> None:
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
    both, run = threading.Barrier(2), home.writer.run

    def run_after_both_have_looked(
        write: Callable[[Connection, Sequence[object]], Sequence[object]], item: object
    ) -> object:
        both.wait(timeout=20)
        return run(write, item)

    monkeypatch.setattr(home.writer, "run", run_after_both_have_looked)
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
        assert (
            refused(home, TestSite(site.id).sign(site.result(registry_of(home), scores(2))))
            is Code.UNKNOWN_KEY
        )


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


@pytest.mark.parametrize("fault", ["root", "figures", "day", "model"])
def test_a_fork_is_one_whatever_is_wrong_with_the_second_payload(
    home: Home, site: TestSite, fault: str
) -> None:
    """A restored machine reports the same records again: the scores_root was known, and no evidence was kept."""
    registry = registry_of(home)
    first = site.result(registry, scores(1))
    second = site.result(registry, scores(2))
    forked = {
        "root": replace(second, scores_root=first.scores_root),
        "figures": replace(second, cells=first.cells, groups=first.groups, day=first.day - 1),
        "day": replace(second, day=first.day - 1000),
        "model": replace(second, model="0" * 64),
    }[fault]
    send(home, site.sign(first))
    envelope = site.sign(forked)
    assert refused(home, envelope) is Code.FORK
    assert frozen(home, site)
    with home.database.reading() as connection:
        assert connection.execute(select(forks.c.envelope)).scalars().all() == [envelope]


def test_a_payload_refused_before_its_place_was_taken_is_still_no_fork(
    home: Home, site: TestSite
) -> None:
    registry = registry_of(home)
    wrong = site.sign(replace(site.result(registry, scores(1)), day=0))
    assert refused(home, wrong) is Code.WRONG_DAY
    submit(home, site, site.result(registry, scores(2)))
    assert refused(home, wrong) is Code.WRONG_DAY
    assert not frozen(home, site)


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
def test_a_link_out_of_place_is_refused(
    home: Home, site: TestSite, change: dict[str, object], code: Code
) -> None:
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
    for data in (
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"PK\x03\x04",
        b"\x1f\x8b\x08",
        b'{"payload":1}',
        b"[" * 60_000,
    ):
        assert refused(home, data) is Code.MALFORMED


@settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
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


def test_no_socket_is_opened_because_of_a_payload(
    home: Home, site: TestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        made = invite(
            connection, home, site_name="St. Example", publication="named", today_day=today_day()
        )
    fields: list[object] = []
    with home.database.reading() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)):
                fields += row
    stored = b"".join(path.read_bytes() for path in home.directory.rglob("*") if path.is_file())
    stored += b"".join(
        field if isinstance(field, bytes) else str(field).encode() for field in fields
    )
    assert made.site.encode() in stored
    assert made.token.encode() not in stored
    assert bytes.fromhex(made.token) not in stored


# What the log must hold before a link is taken.


def test_every_kind_of_link_is_taken_in_one_chain(home: Home, site: TestSite) -> None:
    registry = registry_of(home)
    plan = site.sign(site.plan(registry))
    send(home, plan)
    planned = site.accepted(plan)
    result = replace(
        site.result(registry, scores(1)), plan=planned, challenge=challenge_of(home, plan)
    )
    first = submit(home, site, result)
    submit(home, site, site.withdraw(registry, first))
    idle = submit(home, site, site.plan(registry))
    submit(home, site, site.abandon(registry, idle))
    submit(
        home,
        site,
        site.dataset(registry, CARD.benchmarks[1].definition, version="a second lineage"),
    )
    submit(home, site, site.result(registry, scores(2)))
    with home.database.reading() as connection:
        history = read_history(connection, site.id, registry_of(home))
        assert (history.head, history.ledger) == (ChainHead(1, site.seq, site.prev), site.ledger)
        assert list(history.plans) == [planned, idle]
        assert not any(plan.is_open for plan in history.plans.values())
        assert [dataset.definition[0] for dataset in history.datasets.values()] == ["2", "3", "2"]
        assert site.prev in history.results
        assert first not in history.results


def test_two_results_for_one_plan_are_refused(home: Home, site: TestSite) -> None:
    registry = registry_of(home)
    plan = site.sign(site.plan(registry))
    send(home, plan)
    digest, challenge = site.accepted(plan), challenge_of(home, plan)
    submit(home, site, replace(site.result(registry, scores(1)), plan=digest, challenge=challenge))
    again = replace(site.result(registry, scores(2)), plan=digest, challenge=challenge)
    assert refused(home, site.sign(again)) is Code.PLAN_USED
    assert refused(home, site.sign(site.abandon(registry, digest))) is Code.PLAN_USED


def test_a_plan_of_another_site_or_with_another_challenge_is_refused(
    home: Home, site: TestSite
) -> None:
    registry = registry_of(home)
    mine = site.sign(site.plan(registry))
    send(home, mine)
    digest = site.accepted(mine)
    other = site.sign(site.plan(registry, model="example/small"))
    send(home, other)
    site.accepted(other)
    wrong = replace(
        site.result(registry, scores(1)), plan=digest, challenge=challenge_of(home, other)
    )
    assert refused(home, site.sign(wrong)) is Code.WRONG_PLAN
    rival = ready(home, "Rival")
    stolen = replace(
        rival.result(registry_of(home), scores(1)), plan=digest, challenge=challenge_of(home, mine)
    )
    assert refused(home, rival.sign(stolen)) is Code.UNKNOWN_PLAN
    assert refused(home, rival.sign(rival.abandon(registry_of(home), digest))) is Code.UNKNOWN_PLAN


def test_a_result_about_another_sites_dataset_is_refused(home: Home, site: TestSite) -> None:
    thief = enrolled(home, "Thief")
    thief.datasets = dict(site.datasets)
    assert (
        refused(home, thief.sign(thief.result(registry_of(home), scores(1))))
        is Code.UNKNOWN_DATASET
    )


def test_a_protected_figure_without_a_registered_dataset_is_refused(home: Home) -> None:
    site = enrolled(home)
    assert (
        refused(home, site.sign(site.result(registry_of(home), scores(1)))) is Code.UNKNOWN_DATASET
    )
    register_datasets(home, site)
    submit(home, site, site.result(registry_of(home), scores(1)))


def test_a_result_of_more_units_than_its_dataset_has_is_refused(home: Home) -> None:
    site = enrolled(home)
    for benchmark in CARD.benchmarks[1:]:
        submit(home, site, site.dataset(registry_of(home), benchmark.definition, units=60))
    assert (
        refused(home, site.sign(site.result(registry_of(home), scores(1, units=200))))
        is Code.WRONG_GROUPS
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"units": bucket_of(6)}, Code.BELOW_THRESHOLD),
        ({"definition": "1" * 64}, Code.UNKNOWN_BENCHMARK),
        ({"lineage": "a" * 64}, Code.WRONG_DATASET),
        ({"previous": "a" * 64}, Code.WRONG_DATASET),
        ({"added": bucket_of(20)}, Code.WRONG_DATASET),
    ],
)
def test_a_dataset_that_tells_too_much_or_fits_nothing_is_refused(
    home: Home, site: TestSite, change: dict[str, object], code: Code
) -> None:
    dataset = site.dataset(registry_of(home), "2" * 64, version="new")
    assert refused(home, site.sign(replace(dataset, **change))) is code  # type: ignore[arg-type]


def test_a_next_version_of_a_dataset_follows_the_one_before_and_differs_by_enough(
    home: Home, site: TestSite
) -> None:
    registry = registry_of(home)
    with home.database.reading() as connection:
        first = next(iter(read_history(connection, site.id, registry).datasets.values()))
    following = replace(
        site.dataset(registry, first.definition, version="next"),
        lineage=first.lineage,
        previous=site.datasets[first.definition],
    )
    assert refused(home, site.sign(replace(following, added=bucket_of(6)))) is Code.BELOW_THRESHOLD
    assert refused(home, site.sign(following)) is Code.WRONG_DATASET  # differs by nothing
    submit(home, site, replace(following, added=bucket_of(20)))


def test_only_the_site_itself_withdraws_its_result_and_only_once(
    home: Home, site: TestSite
) -> None:
    registry = registry_of(home)
    result = submit(home, site, site.result(registry, scores(1)))
    rival = ready(home, "Rival")
    assert (
        refused(home, rival.sign(rival.withdraw(registry_of(home), result))) is Code.UNKNOWN_RESULT
    )
    submit(home, site, site.withdraw(registry_of(home), result))
    assert refused(home, site.sign(site.withdraw(registry_of(home), result))) is Code.UNKNOWN_RESULT
    dataset = site.datasets["2" * 64]
    assert (
        refused(home, site.sign(site.withdraw(registry_of(home), dataset))) is Code.UNKNOWN_RESULT
    )


def test_the_same_scores_are_reported_again_once_the_first_report_is_withdrawn(
    home: Home, site: TestSite
) -> None:
    """A site that corrects what stood around its scores, a plan or a dataset, reports the same records again."""
    registry = registry_of(home)
    result = site.result(registry, scores(1))
    first = submit(home, site, result)

    def again() -> bytes:
        return site.sign(replace(site.result(registry, scores(2)), scores_root=result.scores_root))

    assert refused(home, again()) is Code.WRONG_ROOT
    submit(home, site, site.withdraw(registry, first))
    send(home, again())
    site.accepted(again())
    assert refused(home, again()) is Code.WRONG_ROOT


def test_an_approval_by_exception_is_refused(home: Home, site: TestSite) -> None:
    result = replace(site.result(registry_of(home), scores(1)), approval="exception")
    assert refused(home, site.sign(result)) is Code.NO_EXCEPTIONS


def test_a_ledger_that_lost_entries_or_was_rewritten_is_refused(home: Home, site: TestSite) -> None:
    """A restored machine that kept its chain's head but not its ledger."""
    result = site.result(registry_of(home), scores(1))
    shorter = LedgerHead(site.ledger.length - 1, "a" * 64)
    rewritten = LedgerHead(site.ledger.length, "a" * 64)
    for ledger in (shorter, rewritten):
        old = replace(result, header=replace(result.header, ledger=ledger))
        assert refused(home, site.sign(old)) is Code.LEDGER_ROLLED_BACK
    unchanged = replace(result, header=replace(result.header, ledger=site.ledger))
    send(home, site.sign(unchanged))


# Refusals, and the memory of them.


def refusal_of(home: Home, envelope: bytes) -> SignedRefusalError:
    with pytest.raises(SignedRefusalError) as error:
        send(home, envelope)
    return error.value


def test_whoever_reposts_an_old_refusal_freezes_no_healthy_site(home: Home, site: TestSite) -> None:
    """Seen before: the payload's place is taken by then, which looked like a fork."""
    registry = registry_of(home)
    too_exact = site.result(registry, scores(1))
    too_exact = replace(too_exact, header=replace(too_exact.header, registry=99))
    old = site.sign(too_exact)
    first = refusal_of(home, old)
    submit(home, site, site.result(registry, scores(1)))
    for _ in range(3):
        again = refusal_of(home, old)
        assert (again.code, again.note) == (first.code, first.note)
    assert not frozen(home, site)
    submit(home, site, site.result(registry, scores(2)))


def test_an_old_refusal_whose_fault_is_gone_is_no_fork_once_its_place_is_taken(
    home: Home, site: TestSite
) -> None:
    """The model was unknown then and is registered now, so that nothing but the place is left to refuse it for."""
    late = Model("late/model", "Late", "", True)
    old = site.sign(site.result(registry_of(home), scores(1), model=late.name))
    first = refusal_of(home, old)
    assert first.code is Code.UNKNOWN_MODEL
    submit(home, site, site.result(registry_of(home), scores(2)))
    register_model(home, late)
    again = refusal_of(home, old)
    assert (again.code, again.note) == (Code.UNKNOWN_MODEL, first.note)
    assert not frozen(home, site)


def test_a_refused_payload_whose_fault_is_gone_is_judged_anew(home: Home, site: TestSite) -> None:
    late = Model("late/model", "Late", "", True)
    envelope = site.sign(site.result(registry_of(home), scores(1), model=late.name))
    assert refused(home, envelope) is Code.UNKNOWN_MODEL
    register_model(home, late)
    receipt = send(home, envelope)
    assert send(home, envelope) == receipt


def test_an_early_link_that_was_refused_and_held_back_by_somebody_freezes_nobody(
    home: Home, site: TestSite
) -> None:
    """Whoever carries two links sends the second first, shows its refusal to the site, and posts it after the first.

    The site, which holds a signed refusal, puts another payload in its place: that is no fork either.
    """
    registry = registry_of(home)
    first = site.sign(site.result(registry, scores(1)))
    later = site.copy()
    later.accepted(first)
    second = later.sign(later.result(registry, scores(2)))
    assert refused(home, second) is Code.WRONG_SEQ
    send(home, first)
    site.accepted(first)
    instead = site.sign(site.result(registry, scores(3)))
    send(home, second)
    assert refused(home, instead) is Code.WRONG_SEQ
    assert not frozen(home, site)
    site.accepted(second)
    submit(home, site, site.result(registry, scores(4)))


def test_a_true_fork_is_one_even_when_other_payloads_were_refused(
    home: Home, site: TestSite
) -> None:
    registry = registry_of(home)
    wrong, twin = site.result(registry, scores(1)), site.sign(site.result(registry, scores(2)))
    assert refused(home, site.sign(replace(wrong, approval="exception"))) is Code.NO_EXCEPTIONS
    submit(home, site, site.result(registry, scores(3)))
    assert refused(home, twin) is Code.FORK
    assert frozen(home, site)


def test_a_refusal_that_changes_is_signed_anew_with_the_log_of_its_time(
    home: Home, site: TestSite
) -> None:
    registry = registry_of(home)
    early = site.result(registry, scores(1))
    early = replace(early, header=replace(early.header, seq=early.header.seq + 1))
    envelope = site.sign(early)
    assert refused(home, envelope) is Code.WRONG_SEQ
    submit(home, site, site.result(registry, scores(2)))
    refusal = refusal_of(home, envelope)
    assert refusal.code is Code.WRONG_PREV
    opened = verify_refusal(
        refusal.note, decode(envelope).digest, registry.receipt_key, registry.log_name
    )
    assert opened.log_size == log_size(home)


def test_nobody_on_the_way_gets_a_refusal_signed_by_spoiling_a_signature(
    home: Home, site: TestSite
) -> None:
    """Its digest would be that of the true submission, and the site would believe that this was refused."""
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    opened = decode(envelope)
    spoilt = sign(opened.payload, [site.agent, new_key()])
    assert decode(spoilt).digest == opened.digest
    with pytest.raises(ProtocolError) as error:
        send(home, spoilt)
    assert error.value.code is Code.UNKNOWN_KEY
    assert not isinstance(error.value, SignedRefusalError)
    send(home, envelope)


def test_a_refusal_that_was_not_kept_is_not_given(
    home: Home, site: TestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the site would act on it, and its payload would be taken for a fork later."""
    from aggregator import intake

    envelope = site.sign(replace(site.result(registry_of(home), scores(1)), approval="exception"))
    keep = intake.sign_and_remember

    def keep_and_fail(*args: object, **kwargs: object) -> None:
        keep(*args, **kwargs)  # type: ignore[arg-type]
        raise StoreError("the disk is full")

    monkeypatch.setattr(intake, "sign_and_remember", keep_and_fail)
    with pytest.raises(StoreError):
        send(home, envelope)
    with home.database.reading() as connection:
        assert recall(connection, decode(envelope).digest) is None
    monkeypatch.undo()
    assert refused(home, envelope) is Code.NO_EXCEPTIONS


# Forks, and the way back.


def fork(home: Home, site: TestSite) -> TestSite:
    """Fork a site as a restored machine does; return the site as the log has it."""
    restored = site.copy()
    submit(home, site, site.result(registry_of(home), scores(1)))
    assert refused(home, restored.sign(restored.result(registry_of(home), scores(2)))) is Code.FORK
    assert frozen(home, site)
    return site


def test_a_reset_unfreezes_and_the_site_goes_on_with_the_first_link_of_a_new_epoch(
    home: Home, site: TestSite
) -> None:
    fork(home, site)
    request = site.reset(registry_of(home), reason="fork")
    put_in_force(home, request)
    assert not frozen(home, site)
    site.accepted(request)
    assert (site.epoch, site.seq) == (2, 0)
    submit(home, site, site.result(registry_of(home), scores(3)))
    assert (site.epoch, site.seq) == (2, 1)


def test_nothing_of_the_old_epoch_is_taken_after_a_reset_and_freezes_nothing(
    home: Home, site: TestSite
) -> None:
    late = site.copy()
    request = site.reset(registry_of(home))
    put_in_force(home, request)
    assert refused(home, late.sign(late.result(registry_of(home), scores(1)))) is Code.WRONG_EPOCH
    site.accepted(request)
    result = site.sign(site.result(registry_of(home), scores(2)))
    send(home, result)
    assert refused(home, late.sign(late.result(registry_of(home), scores(3)))) is Code.WRONG_EPOCH
    assert not frozen(home, site)


def test_an_epoch_without_a_reset_is_refused(home: Home, site: TestSite) -> None:
    site.epoch, site.seq = 2, 0
    assert refused(home, site.sign(site.result(registry_of(home), scores(1)))) is Code.WRONG_EPOCH


def test_a_fork_in_the_new_epoch_freezes_again(home: Home, site: TestSite) -> None:
    fork(home, site)
    for _ in range(2):
        request = site.reset(registry_of(home))
        put_in_force(home, request)
        site.accepted(request)
        fork(home, site)


def test_datasets_plans_and_results_outlive_a_reset(home: Home, site: TestSite) -> None:
    registry = registry_of(home)
    result = submit(home, site, site.result(registry, scores(1)))
    plan = site.sign(site.plan(registry))
    send(home, plan)
    digest, challenge = site.accepted(plan), challenge_of(home, plan)
    request = site.reset(registry_of(home))
    put_in_force(home, request)
    site.accepted(request)
    planned = replace(site.result(registry_of(home), scores(2)), plan=digest, challenge=challenge)
    submit(home, site, planned)
    submit(home, site, site.withdraw(registry_of(home), result))


def test_requests_about_keys_are_no_submissions(home: Home, site: TestSite) -> None:
    registry = registry_of(home)
    assert refused(home, site.reset(registry)) is Code.WRONG_TYPE
    assert refused(home, site.rotate(registry, "agent", new_key())) is Code.UNKNOWN_KEY


def test_a_rotated_key_signs_no_more_and_the_new_one_does(home: Home, site: TestSite) -> None:
    old, key = site.copy(), new_key()
    request = site.rotate(registry_of(home), "steward", key)
    put_in_force(home, request)
    site.accepted(request)
    site.steward = key
    old.seq, old.prev = site.seq, site.prev
    assert refused(home, old.sign(old.result(registry_of(home), scores(1)))) is Code.UNKNOWN_KEY
    submit(home, site, site.result(registry_of(home), scores(1)))


def register_model(home: Home, model: Model) -> None:
    with home.database.writing() as connection:
        before = newest_registry(connection)
        after = replace(apply(before, Additions(models=[model])), version=before.version + 1)
        sign_next(connection, after, [home.root_signer(registry_of(home))])
