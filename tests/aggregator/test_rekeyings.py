"""The way back of a site: requests for a reset or a new key, who may make them, and what a person puts in force."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import event, func, select
from sqlalchemy.engine import Engine

from aggregator.api.submission_routes import keep_rekeying
from aggregator.board.evidence import replay
from aggregator.cli import cli
from aggregator.errors import AggregatorError, EnrolmentError
from aggregator.home import Home
from aggregator.log.history import is_frozen
from aggregator.registry import rekeyings
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.versions import all_envelopes, walk
from aggregator.store.schema import entries, rekeying_requests
from protocol.envelope import decode, sign
from protocol.errors import Code, ProtocolError
from protocol.keys import Ed25519Signer
from protocol.predicates import LedgerHead
from protocol.receipt import verify_receipt
from protocol.site_head import SiteHead, verify_site_head
from protocol.statements import build_statement, parse_statement
from tests.aggregator.conftest import Served
from tests.aggregator.copies import copy_home, set_back
from tests.aggregator.federation import (
    TestSite,
    enrolled,
    new_key,
    put_in_force,
    ready,
    registry_of,
    scores,
    submit,
)
from tests.aggregator.log_checks import collect_evidence
from tests.aggregator.test_http import code
from tests.aggregator.test_intake import fork, frozen, log_size


def head_of(served: Served, site: TestSite) -> SiteHead:
    registry = registry_of(served.home)
    note = served.post(site.request_head(), f"/v1/sites/{site.id}/head").text
    return verify_site_head(note, site.id, registry.receipt_key, registry.log_name)


def waiting(home: Home) -> list[str]:
    with home.database.reading() as connection:
        return list(connection.execute(select(rekeying_requests.c.digest)).scalars())


def run(home: Home, *words: object, fed: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["--dir", str(home.directory), *map(str, words)], input=fed)


def done(home: Home, *words: object, fed: str | None = None) -> str:
    result = run(home, *words, fed=fed)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


# What the log knows of a site.


def test_a_restored_machine_learns_what_it_has_lost(served: Served, site: TestSite) -> None:
    home, restored = served.home, site.copy()
    submit(home, site, site.result(registry_of(home), scores(1)))
    head = head_of(served, restored)
    assert (head.epoch, head.seq, head.digest, head.ledger) == (1, site.seq, site.prev, site.ledger)
    assert (head.frozen, head.log_size) == (False, log_size(home))
    assert head.seq == restored.seq + 1


def test_a_site_without_links_has_its_enrolment_as_head(served: Served) -> None:
    site = enrolled(served.home)
    assert head_of(served, site) == SiteHead(
        site.id, 1, 0, site.prev, LedgerHead(0, "0" * 64), False, 4 - 3
    )


def test_a_request_for_a_head_that_is_none_is_malformed(served: Served, site: TestSite) -> None:
    path = f"/v1/sites/{site.id}/head"
    assert code(served.post(site.request_head(), "/v1/sites/S-1/head")) == "malformed"
    statement = site.sign(site.result(registry_of(served.home), scores(1)))
    for body in (b"", b"{}", statement, site.request_head() + b" ", b"x" * 5000):
        assert code(served.post(body, path)) == "malformed"
    assert code(served.get(path)) == "method_not_allowed"
    assert code(served.post(site.request_head())) == "malformed"  # nor is a request a statement


def test_a_frozen_site_finds_its_way_back_over_http(served: Served, site: TestSite) -> None:
    home, restored = served.home, site.copy()
    fork(home, site)
    head = head_of(served, restored)
    assert head.frozen
    restored.epoch, restored.seq, restored.prev, restored.ledger = (
        head.epoch,
        head.seq,
        head.digest,
        head.ledger,
    )
    request = restored.reset(registry_of(home), reason="fork")
    digest = decode(request).digest
    for _ in range(2):
        assert served.post(request, "/v1/requests").json() == {"digest": digest}
    assert head_of(served, restored).frozen
    done(home, "rekey", "--pending", "--fingerprint-checked")
    answer = served.post(request, "/v1/requests").json()
    registry = registry_of(home)
    verify_receipt(answer["receipt"], decode(request).pae, registry.log_keys, registry.log_name)
    asked = served.post(restored.request_head(), f"/v1/sites/{site.id}/receipts/{digest}")
    assert asked.text == answer["receipt"]
    assert (registry.sites[site.id].start, registry.sites[site.id].epoch) == (digest, 2)
    restored.accepted(request)
    head = head_of(served, restored)
    assert (head.epoch, head.seq, head.digest, head.frozen) == (2, 0, digest, False)
    envelope = restored.sign(restored.result(registry, scores(5)))
    assert served.post(envelope).status_code == 200


# Who may ask.


def request_refused(home: Home, request: bytes) -> Code:
    size, kept = log_size(home), waiting(home)
    with pytest.raises(ProtocolError) as error, home.database.writing() as connection:
        rekeyings.keep_request(connection, rekeyings.open_request(connection, request))
    assert (log_size(home), waiting(home)) == (size, kept)
    return error.value.code


@pytest.mark.parametrize("missing", ["agent", "steward", "new"])
def test_a_rotation_needs_both_old_keys_and_the_new_one(
    home: Home, site: TestSite, missing: str
) -> None:
    key = new_key()
    whole = site.rotate(registry_of(home), "agent", key)
    signers = {"agent": site.agent, "steward": site.steward, "new": key}
    partly = sign(
        decode(whole).payload, [signer for name, signer in signers.items() if name != missing]
    )
    assert request_refused(home, partly) is Code.WRONG_KEYS
    stranger = sign(
        decode(whole).payload, [*(signers[name] for name in signers if name != missing), new_key()]
    )
    assert request_refused(home, stranger) is Code.WRONG_KEYS


def test_a_reset_needs_the_signatures_of_both_keys_of_the_new_epoch(
    home: Home, site: TestSite
) -> None:
    key = new_key()
    payload = decode(site.reset(registry_of(home), agent=key)).payload
    for signers in (
        [key],
        [site.steward],
        [site.agent, site.steward],
        [key, site.steward, site.agent],
    ):
        assert request_refused(home, sign(payload, signers)) is Code.WRONG_KEYS


@pytest.mark.parametrize("whose", ["root", "log", "other site's"])
def test_a_key_with_another_office_is_no_new_key(home: Home, site: TestSite, whose: str) -> None:
    other = enrolled(home, "Other")
    registry = registry_of(home)
    keys = {
        "root": home.root_signer(registry),
        "log": home.log_signer(registry),
        "other site's": other.agent,
    }
    key = keys[whose]
    assert request_refused(home, site.rotate(registry_of(home), "agent", key)) is Code.DUPLICATE_KEY
    assert request_refused(home, site.reset(registry_of(home), agent=key)) is Code.DUPLICATE_KEY


def test_one_key_for_both_roles_is_refused(home: Home, site: TestSite) -> None:
    key = new_key()
    request = replace(site, steward=key).reset(registry_of(home), agent=new_key())
    statement = parse_statement(decode(request).payload)
    same = replace(statement, agent_key=key.public.der)  # type: ignore[call-arg]
    assert request_refused(home, sign(build_statement(same), [key])) is Code.WRONG_KEYS
    assert request_refused(
        home, site.reset(registry_of(home), agent=site.steward, steward=site.agent)
    ) is (Code.WRONG_KEYS)


def test_a_key_that_was_replaced_or_revoked_begins_no_epoch(home: Home, site: TestSite) -> None:
    """It could sign nothing in it: the site would be locked out."""
    old = site.agent
    request = site.rotate(registry_of(home), "agent", key := new_key())
    put_in_force(home, request)
    site.accepted(request)
    site.agent = key
    assert request_refused(home, site.reset(registry_of(home), agent=old)) is Code.WRONG_KEYS
    request = site.reset(registry_of(home), agent=(third := new_key()))
    put_in_force(home, request)
    site.accepted(request)
    site.agent = third
    assert request_refused(home, site.reset(registry_of(home), agent=key)) is Code.WRONG_KEYS


def test_a_reset_with_a_ledger_that_lost_entries_is_refused(home: Home, site: TestSite) -> None:
    site.ledger = LedgerHead(0, "0" * 64)
    assert request_refused(home, site.reset(registry_of(home))) is Code.LEDGER_ROLLED_BACK


def test_a_reset_out_of_place_is_refused(home: Home, site: TestSite) -> None:
    ahead = site.copy()
    ahead.epoch += 1
    assert request_refused(home, ahead.reset(registry_of(home))) is Code.WRONG_EPOCH
    elsewhere = site.at(site.seq, "a" * 64)
    assert request_refused(home, elsewhere.reset(registry_of(home))) is Code.WRONG_PREV
    stranger = TestSite("s-zzzzzzzz", prev="a" * 64)
    assert request_refused(home, stranger.reset(registry_of(home))) is Code.UNKNOWN_KEY


def test_a_rotation_of_a_frozen_site_is_refused(home: Home, site: TestSite) -> None:
    fork(home, site)
    assert (
        request_refused(home, site.rotate(registry_of(home), "agent", new_key()))
        is Code.SITE_FROZEN
    )


def test_a_rotation_whose_place_was_taken_meanwhile_is_no_fork(
    served: Served, site: TestSite
) -> None:
    home = served.home
    request = site.rotate(registry_of(home), "agent", new_key())
    assert served.post(request, "/v1/requests").status_code == 200
    submit(home, site, site.result(registry_of(home), scores(1)))
    answer = served.post(request, "/v1/requests")
    assert (answer.status_code, code(answer)) == (409, "fork")
    assert not frozen(home, site)
    assert "no longer matches the log" in done(home, "requests")
    assert done(home, "rekey", "--pending") == "No request is waiting.\n"


def test_strangers_requests_keep_no_site_out(served: Served, site: TestSite) -> None:
    """Anybody can sign a reset with keys of their own; they wait in vain, and only so many of them."""
    home = served.home
    for _ in range(rekeyings.MAX_WAITING):
        forged = site.reset(
            registry_of(home), agent=new_key(), steward=new_key(), reason="lost_agent_key"
        )
        assert served.post(forged, "/v1/requests").status_code == 200
    one_more = site.reset(registry_of(home), agent=new_key(), steward=new_key())
    answer = served.post(one_more, "/v1/requests")
    assert (answer.status_code, code(answer)) == (429, "too_many_requests")
    mine = site.reset(registry_of(home))
    assert served.post(mine, "/v1/requests").status_code == 200
    other = ready(home, "Other")
    assert (
        served.post(other.reset(registry_of(home), agent=new_key()), "/v1/requests").status_code
        == 200
    )
    first = json.loads(done(home, "requests", "--format", "json"))
    of_site = [line for line in first if line["site"] == site.id]
    assert of_site[0]["digest"] == decode(mine).digest, "requests of known keys come first"
    done(home, "rekey", "--pending", "--fingerprint-checked", "--digest", decode(mine).digest)
    assert len(waiting(home)) == 1, "those of the other site"


def test_strangers_keep_out_no_site_that_lost_a_key(served: Served, site: TestSite) -> None:
    """Nor does the thief of one key keep out what both keys have signed."""
    home = served.home

    def ask(agent: Ed25519Signer, steward: Ed25519Signer) -> int:
        return served.post(
            site.reset(registry_of(home), agent=agent, steward=steward), "/v1/requests"
        ).status_code

    for _ in range(rekeyings.MAX_WAITING):
        assert ask(new_key(), new_key()) == 200
        assert ask(new_key(), site.steward) == 200
    assert (ask(new_key(), new_key()), ask(new_key(), site.steward)) == (429, 429)
    assert ask(site.agent, site.steward) == 200
    assert (
        served.post(site.rotate(registry_of(home), "agent", new_key()), "/v1/requests").status_code
        == 200
    )


def test_a_site_with_a_grudge_does_not_fill_the_disk_with_requests(
    served: Served, site: TestSite
) -> None:
    """Each rotation to another key is another request, and no allowance counts them."""
    home = served.home
    for _ in range(rekeyings.MAX_WAITING):
        assert (
            served.post(
                site.rotate(registry_of(home), "agent", new_key()), "/v1/requests"
            ).status_code
            == 200
        )
    answer = served.post(site.rotate(registry_of(home), "agent", new_key()), "/v1/requests")
    assert (answer.status_code, len(waiting(home))) == (429, rekeyings.MAX_WAITING)
    submit(home, site, site.result(registry_of(home), scores(1)))  # after which none of them fits
    assert (
        served.post(site.rotate(registry_of(home), "agent", new_key()), "/v1/requests").status_code
        == 200
    )
    assert len(waiting(home)) == 1


def test_a_person_is_told_which_strangers_requests_do_not_fit(
    served: Served, site: TestSite
) -> None:
    """The stranger is not: the answer would say how far the site has come."""
    home = served.home
    lost = TestSite(site.id, prev=registry_of(home).sites[site.id].start)
    assert served.post(lost.reset(registry_of(home)), "/v1/requests").status_code == 200
    assert "wrong_prev" in done(home, "requests")
    assert done(home, "rekey", "--pending") == "No request is waiting.\n"


def test_a_full_queue_turns_strangers_away_without_the_writer(
    served: Served, site: TestSite
) -> None:
    home = served.home
    for _ in range(rekeyings.MAX_WAITING):
        served.post(
            site.reset(registry_of(home), agent=new_key(), steward=new_key()), "/v1/requests"
        )
    with home.database.writing():
        one_more = site.reset(registry_of(home), agent=new_key(), steward=new_key())
        answer = served.post(one_more, "/v1/requests")
    assert (answer.status_code, code(answer)) == (429, "too_many_requests")


def test_stale_requests_with_one_key_of_the_site_make_room(home: Home, site: TestSite) -> None:
    def ask() -> None:
        with home.database.writing() as connection:
            request = site.reset(registry_of(home), agent=new_key())
            rekeyings.keep_request(connection, rekeyings.open_request(connection, request))

    for _ in range(rekeyings.MAX_WAITING):
        ask()
    with pytest.raises(rekeyings.TooManyRequestsError):
        ask()
    submit(home, site, site.result(registry_of(home), scores(1)))
    ask()
    assert len(waiting(home)) == 1


def test_making_room_looks_at_no_other_sites_requests(home: Home, site: TestSite) -> None:
    """Anybody can fill the queues of all sites; the one writer would verify them all for each further request."""
    other = ready(home, "Other")

    def ask(whose: TestSite) -> None:
        with home.database.writing() as connection:
            request = whose.reset(registry_of(home), agent=new_key())
            rekeyings.keep_request(connection, rekeyings.open_request(connection, request))

    ask(other)
    submit(
        home, other, other.result(registry_of(home), scores(2))
    )  # so that the request fits no more
    for _ in range(rekeyings.MAX_WAITING):
        ask(site)
    submit(home, site, site.result(registry_of(home), scores(1)))
    ask(site)
    assert len(waiting(home)) == 2, "the new one, and the other site's, which nobody has looked at"


# What a person sees and does.


def test_a_person_sees_keys_now_and_after_the_reason_and_what_the_log_knows(
    served: Served, site: TestSite
) -> None:
    home, key = served.home, new_key()
    fork(home, site)
    served.post(site.reset(registry_of(home), agent=key, reason="lost_agent_key"), "/v1/requests")
    (line,) = json.loads(done(home, "requests", "--format", "json"))
    assert line == {
        "kind": "reset",
        "site": site.id,
        "name": "St. Example",
        "reason": "lost_agent_key",
        "digest": waiting(home)[0],
        "agent_key_now": site.agent.public.fingerprint,
        "agent_key_after": key.public.fingerprint,
        "steward_key_now": site.steward.public.fingerprint,
        "steward_key_after": site.steward.public.fingerprint,
        "ledger_entries": site.ledger.length + 1,
        "log": {
            "epoch": 1,
            "seq": site.seq,
            "digest": site.prev,
            "ledger_entries": site.ledger.length,
            "frozen": True,
        },
    }
    text = done(home, "requests")
    for word in (
        site.agent.public.fingerprint,
        key.public.fingerprint,
        "the same",
        "FROZEN",
        "lost_agent_key",
    ):
        assert word in text


def test_a_person_who_says_no_puts_nothing_in_force(served: Served, site: TestSite) -> None:
    home = served.home
    before = registry_of(home)
    served.post(site.reset(before), "/v1/requests")
    for answer in ("n\n", "\n"):
        assert "remains pending" in done(home, "rekey", "--pending", fed=answer)
    assert registry_of(home) == before
    assert len(waiting(home)) == 1
    done(home, "requests", "--drop", waiting(home)[0])
    assert done(home, "requests") == "No request is waiting.\n"
    assert isinstance(run(home, "requests", "--drop", "a" * 64).exception, EnrolmentError)


def test_of_two_requests_of_one_site_one_is_put_in_force_and_the_other_goes(
    served: Served, site: TestSite
) -> None:
    home = served.home
    for key in (new_key(), new_key()):
        served.post(site.reset(registry_of(home), agent=key), "/v1/requests")
    assert run(home, "rekey", "--pending", "--fingerprint-checked").exit_code == 2
    done(home, "rekey", "--pending", fed="n\ny\n")
    assert (registry_of(home).sites[site.id].epoch, waiting(home)) == (2, [])
    assert done(home, "rekey", "--pending", "--fingerprint-checked") == "No request is waiting.\n"


def test_a_request_by_usb_is_put_in_force_once(home: Home, site: TestSite, tmp_path: Path) -> None:
    key = new_key()
    file = tmp_path / "request.dsse.json"
    file.write_bytes(site.rotate(registry_of(home), "steward", key))
    said = done(home, "rekey", "--request", file, fed="y\n")
    assert key.public.fingerprint in said
    registry = registry_of(home)
    assert registry.sites[site.id].epoch == 1
    assert (
        done(home, "rekey", "--request", file, "--fingerprint-checked")
        == "No request is waiting.\n"
    )
    assert registry_of(home) == registry
    site.accepted(file.read_bytes())
    site.steward = key
    submit(home, site, site.result(registry, scores(1)))


@pytest.mark.parametrize("content", [b"", b"{}", b"x" * 100_000])
def test_a_file_that_is_no_request_says_why(home: Home, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "request"
    file.write_bytes(content)
    result = run(home, "rekey", "--request", file)
    assert isinstance(result.exception, AggregatorError)
    assert run(home, "rekey").exit_code == 2
    assert run(home, "rekey", "--pending", "--request", file).exit_code == 2


def test_a_request_that_went_stale_while_a_person_looked_is_not_put_in_force(
    home: Home, site: TestSite
) -> None:
    with home.database.reading() as connection:
        asked = rekeyings.open_request(connection, site.reset(registry_of(home)))
    submit(home, site, site.result(registry_of(home), scores(1)))
    before, size = registry_of(home), log_size(home)
    with (
        pytest.raises(EnrolmentError, match="no longer fits"),
        home.database.writing() as connection,
    ):
        change_now(connection, home, Changes(rekeyings=[asked]), today_day=20_000)
    assert (registry_of(home), log_size(home)) == (before, size)


def test_the_whole_log_with_resets_and_rotations_holds(home: Home, site: TestSite) -> None:
    submit(home, site, site.result(registry_of(home), scores(1)))
    keys = {"agent": new_key(), "steward": new_key()}
    for request in (
        lambda: site.rotate(registry_of(home), "agent", keys["agent"]),
        lambda: site.reset(registry_of(home), steward=keys["steward"], reason="lost_steward_key"),
    ):
        made = request()
        put_in_force(home, made)
        site.accepted(made)
        site.agent = keys["agent"]
        if site.epoch == 2:
            site.steward = keys["steward"]
        submit(home, site, site.result(registry_of(home), scores(site.seq)))
    with home.database.reading() as connection:
        replayed = replay(collect_evidence(connection, home))
    assert len(replayed.results) == 3


# Killed anywhere between the request and the registry.


def dying(home: Home, steps: int, *words: str) -> int:
    """Run a command in a process that is killed at its n-th step with database or disk; return its exit code."""
    home.database.close()
    child = os.fork()
    if child == 0:
        _die_at_step(steps)
        result = CliRunner().invoke(cli, ["--dir", str(home.directory), *words])
        os._exit(result.exit_code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _die_at_step(steps: int) -> None:
    left = steps

    def step(*_args: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for moment in (
        "before_cursor_execute",
        "after_cursor_execute",
        "commit",
        "rollback",
        "checkin",
    ):
        event.listen(Engine, moment, step)
    write = Path.write_bytes

    def write_half_and_step(path: Path, content: bytes) -> int:
        write(path, content[: len(content) // 2])
        step()
        written = write(path, content)
        step()
        return written

    Path.write_bytes = write_half_and_step  # type: ignore[method-assign, assignment]


def logged(home: Home, digest: str) -> int:
    with home.database.reading() as connection:
        query = select(func.count()).select_from(entries).where(entries.c.digest == digest)
        return connection.execute(query).scalar_one()


def check_both_or_neither(home: Home, site: TestSite, digest: str, version: int) -> bool:
    """Return whether a reset of a frozen site is in force; check that log, registry and requests agree about it."""
    registry = registry_of(home)
    is_in_force = registry.sites[site.id].start == digest
    with home.database.reading() as connection:
        assert is_frozen(connection, site.id, registry.sites[site.id].epoch) is not is_in_force
        walk(all_envelopes(connection))
    assert logged(home, digest) == int(is_in_force)
    assert registry.version == version + int(is_in_force)
    assert (digest in waiting(home)) is not is_in_force
    return is_in_force


@pytest.mark.full
def test_killed_again_and_again_a_reset_comes_into_force_once(home: Home, site: TestSite) -> None:
    """Each try is killed one step later than the one before, and begins where that one was killed."""
    fork(home, site)
    before = registry_of(home)
    request = site.reset(before)
    digest = decode(request).digest
    with home.database.writing() as connection:
        rekeyings.keep_request(connection, rekeyings.open_request(connection, request))
    tries = 0
    is_in_force = False
    while not is_in_force:
        tries += 1
        dying(home, tries, "rekey", "--pending", "--fingerprint-checked")
        is_in_force = check_both_or_neither(home, site, digest, before.version)
    assert tries > 10
    site.accepted(request)
    submit(home, site, site.result(registry_of(home), scores(7)))


@pytest.mark.full
@pytest.mark.timeout(900)  # on PostgreSQL each step copies a database
def test_killed_at_any_step_a_reset_is_in_log_and_registry_or_in_neither(
    home: Home, site: TestSite
) -> None:
    fork(home, site)
    before = registry_of(home)
    request = site.reset(before)
    digest = decode(request).digest
    with home.database.writing() as connection:
        rekeyings.keep_request(connection, rekeyings.open_request(connection, request))
    kept = copy_home(home, home.directory.with_name("kept"))
    killed = {False: 0, True: 0}  # before the commit, and after it
    exit_code, step = -signal.SIGKILL, 0
    while exit_code == -signal.SIGKILL:
        step += 1
        set_back(home, kept)
        exit_code = dying(home, step, "rekey", "--pending", "--fingerprint-checked")
        is_in_force = check_both_or_neither(home, site, digest, before.version)
        killed[is_in_force] += exit_code == -signal.SIGKILL
        # Running it again finishes it, whatever was left undone.
        done(home, "rekey", "--pending", "--fingerprint-checked")
        done(home, "register", "--renew")
        assert registry_of(home).sites[site.id].start == digest
        assert logged(home, digest) == 1
        with home.database.reading() as connection:
            for number, envelope in enumerate(all_envelopes(connection), 1):
                assert (home.registry_copies / f"{number}.dsse.json").read_bytes() == envelope
    assert exit_code == 0
    assert killed[False] >= 10
    assert killed[True] >= 3
    site.accepted(request)
    submit(home, site, site.result(registry_of(home), scores(7)))


@pytest.mark.full
def test_killed_at_any_step_of_the_request_it_waits_or_is_asked_again(
    home: Home, site: TestSite
) -> None:
    request = site.reset(registry_of(home))
    killed = step = 0
    while True:
        step += 1
        home.database.close()
        child = os.fork()
        if child == 0:
            _die_at_step(step)
            keep_rekeying(Home(home.directory), request)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert len(waiting(home)) <= 1
        assert logged(home, decode(request).digest) == 0
        if os.waitstatus_to_exitcode(status) == 0:
            break
        killed += 1
    assert killed >= 5
    assert waiting(home) == [decode(request).digest]
