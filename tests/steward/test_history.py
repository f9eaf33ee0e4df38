"""The steward's own list: what it refuses, what it warns of, and what happens when somebody touches it."""

import fcntl
import json
import os
from collections.abc import Callable
from dataclasses import replace

import pytest

from protocol.errors import Code
from protocol.predicates import Statement
from protocol.refusal import Refusal, sign_refusal
from protocol.statements import build_statement
from tests.protocol import world
from tests.steward import hospital
from tests.steward.hospital import Steward, chain, ledger, link, next_result


@pytest.fixture
def approved(steward: Steward) -> Steward:
    """A steward who has approved the first three links."""
    assert steward.approve(steward.ask(*chain())).code == 0
    return steward


def follower(**changes: object) -> Statement:
    return next_result(cells={**chain()[2].cells, "ward/exact_match": 760}, **changes)


def after(statement: Statement, **changes: object) -> Statement:
    return replace(statement, header=replace(statement.header, **changes))  # type: ignore[arg-type, return-value]


@pytest.mark.full
def test_the_next_link_is_approved(approved: Steward) -> None:
    assert approved.approve(approved.ask(follower(), name="next.json"), out="next").code == 0


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"ledger": ledger(2)},
            "ledger of releases is shorter than, or differs from, the one on your list",
        ),
        ({"ledger": replace(ledger(3), head="ff" * 32)}, "two ledgers of 3 entries"),
        ({"prev": "ff" * 32}, "the previous link differs from the one that you approved"),
        (
            {"seq": 3, "prev": "ff" * 32},
            "you approved another statement for this position in the chain",
        ),
        (
            {"seq": 2, "prev": "ff" * 32},
            "you approved another statement for this position in the chain",
        ),
    ],
)
def test_a_restored_site_is_refused(
    approved: Steward, changes: dict[str, object], words: str
) -> None:
    file = approved.ask(after(follower(), **changes), name="next.json")
    assert approved.approve(file, out="next").refuses(6, words)
    shown = approved.show(file)
    assert "MUST NOT BE SIGNED" in shown.output
    assert shown.code == 6
    assert len(approved.decisions()) == 3


def test_a_link_before_one_that_was_approved_is_refused(steward: Steward) -> None:
    assert steward.approve(steward.ask(follower())).code == 0
    assert steward.approve(steward.ask(chain()[1], name="b"), out="b.out").refuses(
        6, "is shorter than, or differs from"
    )
    late = after(chain()[1], ledger=ledger(9))
    assert steward.approve(steward.ask(late, name="c"), out="c.out").refuses(
        6, "the statement comes before link 4 of epoch 1"
    )


@pytest.mark.full
def test_an_audit_log_that_lost_events_is_refused(approved: Steward) -> None:
    file = approved.ask(follower(), name="next.json", audit=6)
    assert approved.approve(file, out="next").refuses(
        6, "audit log is shorter than on your list (6 events after 7)"
    )


def test_a_new_epoch_may_have_a_shorter_audit_log(approved: Steward) -> None:
    """After a reset, which the steward and the root keys signed, a restored machine goes on with an older store."""
    registry = hospital.registry_with(approved.signer)
    site = replace(registry.sites[world.SITE], epoch=2, start="ee" * 32)
    newer = replace(registry, version=10, sites={**registry.sites, world.SITE: site})
    statement = after(follower(), epoch=2, seq=1, prev="ee" * 32)
    file = approved.ask(statement, name="n", registry_file=hospital.sign_registry(newer), audit=3)
    assert approved.show(file).code == 0


@pytest.mark.full
def test_an_older_registry_is_refused_and_so_is_a_second_one_of_the_same_version(
    approved: Steward,
) -> None:
    now = hospital.registry_with(approved.signer)
    older = hospital.sign_registry(replace(now, version=8))
    statement = after(follower(), registry=8)
    assert approved.approve(
        approved.ask(statement, name="a", registry_file=older), out="o"
    ).refuses(6, "the registry is older than before (version 8 after 9)")
    twin = hospital.sign_registry(replace(now, expires_day=now.expires_day + 1))
    assert approved.approve(
        approved.ask(follower(), name="b", registry_file=twin), out="o"
    ).refuses(6, "two registries of version 9")


@pytest.mark.full
def test_a_registry_signed_by_other_root_keys_than_before_is_refused(approved: Steward) -> None:
    """Without --root the list remembers whom the first registry named."""
    forged = replace(
        hospital.registry_with(approved.signer), version=10, roots=(world.STRANGER.public,)
    )
    file = approved.ask(
        follower(), name="a", registry_file=hospital.sign_registry(forged, world.STRANGER)
    )
    assert approved.approve(file, out="o").refuses(3, "under_threshold")
    named = approved.approve(file, "--root", world.STRANGER.public.keyid, out="o")
    assert named.code == 0, named.errors


@pytest.mark.full
def test_the_next_registry_of_the_same_roots_is_taken_without_a_word(approved: Steward) -> None:
    newer = replace(hospital.registry_with(approved.signer), version=10)
    file = approved.ask(follower(), name="a", registry_file=hospital.sign_registry(newer))
    assert approved.approve(file, out="o").code == 0


def refusal(statement: Statement, signer: object = world.RECEIPT) -> dict[str, bytes]:
    digest = world.digest_of(statement)
    note = sign_refusal(Refusal(digest, Code.WRONG_REGISTRY, 12), world.ORIGIN, signer)  # type: ignore[arg-type]
    return {digest: note.encode()}


@pytest.mark.full
def test_a_place_is_free_again_once_the_aggregator_refused_what_was_approved_for_it(
    approved: Steward,
) -> None:
    refused = chain()[2]
    second_try = after(follower(), seq=3, prev=refused.header.prev)
    without = approved.ask(second_try, name="a")
    assert approved.approve(without, out="o").refuses(
        6, "the request contains no refusal of that statement by the aggregator"
    )
    forged = approved.ask(second_try, name="b", refusals=refusal(refused, world.STRANGER))
    assert approved.approve(forged, out="o").refuses(3, "no signature by the log's key")
    other = {world.digest_of(refused): refusal(chain()[1])[world.digest_of(chain()[1])]}
    assert approved.approve(approved.ask(second_try, name="c", refusals=other), out="o").refuses(
        3, "another payload"
    )
    given = approved.approve(approved.ask(second_try, name="d", refusals=refusal(refused)), out="o")
    # What the aggregator refused was never released: nothing is compared with it.
    assert "no earlier release is known here" in given.output
    assert given.code == 0, given.errors
    # From then on the second one is the history, and the refusal need not be shown again.
    third = link(follower(scores_root="5e" * 32), 4, world.digest_of(second_try), 6)
    assert approved.approve(approved.ask(third, name="e"), out="p").code == 0


@pytest.mark.full
def test_what_followed_a_refused_statement_is_void_with_it(approved: Steward) -> None:
    assert approved.approve(approved.ask(follower(), name="a"), out="a.out").code == 0
    refused = chain()[2]
    second_try = link(follower(scores_root="5e" * 32), 3, refused.header.prev, 5)
    assert (
        approved.approve(
            approved.ask(second_try, name="b", refusals=refusal(refused)), out="o"
        ).code
        == 0
    )


def test_histories_of_two_sites_are_kept_apart(approved: Steward) -> None:
    """A steward of two hospitals: the second one's chain begins at its own start."""
    registry = hospital.registry_with(approved.signer)
    site = registry.sites[world.OTHER_SITE]
    keys = (site.keys[0], replace(site.keys[1], key=world.STRANGER.public))
    sites = {**registry.sites, world.OTHER_SITE: replace(site, keys=keys)}
    file = approved.ask(
        after(chain()[0], site=world.OTHER_SITE, prev=world.OTHER_ENROLMENT),
        name="other",
        signer=world.OTHER_AGENT,
        registry_file=hospital.sign_registry(replace(registry, sites=sites)),
        audit=1,
    )
    key = hospital.write_plain_key(approved.folder / "second.key", world.STRANGER)
    reply = approved.run(
        "approve", file, "--key", key, "--out", "o", "--list", approved.list_path, answer="y\n"
    )
    assert reply.code == 0, reply.errors


@pytest.mark.full
def test_a_request_made_up_by_a_stranger_and_rejected_leaves_no_history(steward: Steward) -> None:
    """With its own root key it claims a ledger of a million entries; the true site must not be locked out by it."""
    forged = replace(
        hospital.registry_with(steward.signer), version=2**30, roots=(world.STRANGER.public,)
    )
    statement = after(chain()[0], ledger=ledger(1_000_000), registry=2**30)
    file = steward.ask(
        statement, registry_file=hospital.sign_registry(forged, world.STRANGER), audit=10**9
    )
    reply = steward.run(
        "reject", file, "--reason", "other", "--out", "no", "--list", steward.list_path
    )
    assert reply.code == 0, reply.errors
    assert steward.approve(steward.ask(*chain(), name="true")).code == 0


def test_a_rejected_request_of_the_site_is_history(steward: Steward) -> None:
    file = steward.ask(chain()[0], name="a")
    root = world.ROOT.public.keyid
    after_a_debit = after(chain()[0], ledger=ledger(5))
    file = steward.ask(after_a_debit, name="a")
    reply = steward.run(
        "reject",
        file,
        "--reason",
        "other",
        "--out",
        "n",
        "--root",
        root,
        "--list",
        steward.list_path,
    )
    assert reply.code == 0, reply.errors
    assert steward.approve(steward.ask(chain()[0], name="b")).refuses(
        6, "the ledger has 1 entries, but it had 5 before"
    )


def damage(steward: Steward, edit: Callable[[list[bytes]], object]) -> None:
    lines = steward.list_path.read_bytes().splitlines(keepends=True)
    edit(lines)
    steward.list_path.write_bytes(b"".join(lines))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda lines: lines.pop(0), "line 1 does not follow the previous line"),
        (lambda lines: lines.pop(1), "line 2 does not follow the previous line"),
        (lambda lines: lines.reverse(), "line 1 does not follow the previous line"),
        (lambda lines: lines.insert(1, lines[0]), "line 2 does not follow the previous line"),
        (lambda lines: lines.append(b"\n"), "line 4 cannot be read"),
        (lambda lines: lines.append(lines.pop()[:-9]), "line 3 is truncated"),
        (
            lambda lines: lines.append(lines.pop().replace(b'"seq":3', b'"seq":4')),
            "line 3 contradicts the statement",
        ),
        (
            lambda lines: lines.__setitem__(0, lines[0].replace(b'"length":1', b'"length":0')),
            "line 1 contradicts the statement",
        ),
        (
            lambda lines: lines.__setitem__(1, lines[1].replace(b'"day":2', b'"day":1')),
            "line 3 does not follow the previous line",
        ),
        (lambda lines: lines.__setitem__(0, b"{}\n"), "line 1 cannot be read"),
    ],
)
def test_a_damaged_list_stops_everything(
    approved: Steward, edit: Callable[[list[bytes]], object], words: str
) -> None:
    damage(approved, edit)
    file = approved.ask(follower(), name="next.json")
    for reply in (
        approved.approve(file, out="next"),
        approved.show(file),
        approved.run("list", "--list", approved.list_path),
    ):
        assert reply.refuses(5, words)
        assert "Restore the list from a backup" in reply.errors
    assert not (approved.folder / "next").exists()


@pytest.mark.full
def test_the_list_is_the_owners_alone_and_readable_as_lines(approved: Steward) -> None:
    assert approved.list_path.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in approved.list_path.read_bytes().splitlines()]
    assert [line["kind"] for line in lines] == ["dataset", "dataset", "result"]
    assert [line["ledger"]["length"] for line in lines] == [1, 2, 3]
    assert lines[0]["audit"] == {"link": f"{7:064x}", "number": 7}


def test_two_commands_at_once_do_not_both_write(approved: Steward) -> None:
    handle = os.open(f"{approved.list_path}.lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        assert approved.approve(approved.ask(follower(), name="n"), out="o").refuses(
            5, "another command is using"
        )
    finally:
        os.close(handle)


def test_list_prints_each_decision_and_the_head(approved: Steward) -> None:
    reply = approved.run("list", "--list", approved.list_path)
    assert "result, epoch 1, link 3" in reply.output
    assert "3 decisions; head " in reply.output


def test_a_list_without_a_place_lies_in_the_stewards_home(steward: Steward) -> None:
    reply = steward.run(
        "approve", steward.ask(chain()[0]), "--key", steward.key, "--out", "o", answer="y\n"
    )
    assert reply.code == 0, reply.errors
    assert (steward.folder / ".intramural-steward/list.jsonl").is_file()
    assert (steward.folder / ".intramural-steward").stat().st_mode & 0o777 == 0o700


def test_a_new_epoch_that_nobody_was_asked_about_is_warned_of(approved: Steward) -> None:
    registry = hospital.registry_with(approved.signer)
    site = replace(registry.sites[world.SITE], epoch=2, start="ee" * 32)
    newer = replace(registry, version=10, sites={**registry.sites, world.SITE: site})
    statement = after(follower(), epoch=2, seq=1, prev="ee" * 32)
    file = approved.ask(statement, name="n", registry_file=hospital.sign_registry(newer))
    shown = approved.show(file)
    assert shown.code == 0, shown.errors
    assert "Your list does not contain the previous link" in " ".join(shown.output.split())
    assert build_statement(statement).decode() in shown.output.replace("\n", "")
