"""Enrolments, resets and rotations: the steward sees fingerprints, and signs with the key that the request means."""

from dataclasses import replace
from pathlib import Path

import pytest

from protocol import envelope
from protocol.enrolment import open_enrolment, sign_with_token, token_verifier
from protocol.identity import NONE
from protocol.keys import Signer
from protocol.predicates import (
    EMPTY_LEDGER,
    EnrollPredicate,
    Header,
    ResetPredicate,
    RotatePredicate,
    Statement,
)
from protocol.rekeying import open_rekeying
from protocol.statements import build_statement
from protocol.verification import ChainHead, History
from tests.protocol import world
from tests.steward import hospital
from tests.steward.hospital import Reply, Steward, chain, ledger

TOKEN = b"an invite's token"
NEW_KEY = world.ed25519_signer(78)


def enrolment(steward: Signer, agent: Signer = world.AGENT) -> EnrollPredicate:
    proof = sign_with_token(TOKEN, world.ORIGIN, world.SITE, agent.public, steward.public)
    header = Header(world.ORIGIN, world.SITE, 1, 0, NONE, 1, EMPTY_LEDGER)
    return EnrollPredicate(header, agent.public.der, steward.public.der, proof)


def write(
    steward: Steward, statement: Statement, *signers: Signer, name: str = "keys.json"
) -> Path:
    path = steward.folder / name
    path.write_bytes(envelope.sign(build_statement(statement), signers or [world.AGENT]))
    return path


def sign(
    steward: Steward,
    file: Path,
    out: str = "signed.json",
    key: Path | None = None,
    answer: str = "y\n",
) -> Reply:
    words = ["sign-request", file, "--key", key or steward.key, "--out", steward.folder / out]
    return steward.run(*words, "--list", steward.list_path, answer=answer)


def test_an_enrolment_is_shown_with_fingerprints_and_signed(steward: Steward) -> None:
    file = write(steward, enrolment(steward.signer))
    reply = sign(steward, file)
    assert reply.code == 0, reply.errors
    shown = " ".join(reply.output.split())
    assert world.AGENT.public.fingerprint in shown
    assert steward.signer.public.fingerprint in shown
    data = (steward.folder / "signed.json").read_bytes()
    done = open_enrolment(
        data,
        deployment=world.ORIGIN,
        site=world.SITE,
        verifier=token_verifier(TOKEN),
        registry_version=1,
    )
    assert done.steward == steward.signer.public
    assert [entry["kind"] for entry in steward.decisions()] == ["enroll"]


def test_a_history_that_begins_with_the_enrolment_has_no_gap(steward: Steward) -> None:
    request = enrolment(steward.signer)
    assert sign(steward, write(steward, request)).code == 0
    start = world.digest_of(request)
    registry = hospital.registry_with(steward.signer)
    site = replace(registry.sites[world.SITE], start=start)
    registry = replace(registry, sites={**registry.sites, world.SITE: site})
    first = replace(chain()[0], header=replace(chain()[0].header, prev=start))
    shown = steward.show(steward.ask(first, registry_file=hospital.sign_registry(registry)))
    assert shown.code == 0
    assert "Your list does not contain the previous link" not in " ".join(shown.output.split())


def test_saying_no_signs_nothing(steward: Steward) -> None:
    assert sign(steward, write(steward, enrolment(steward.signer)), answer="n\n").code == 1
    assert not (steward.folder / "signed.json").exists()


def test_an_enrolment_with_another_persons_key_or_the_agents_is_not_signed(
    steward: Steward,
) -> None:
    file = write(steward, enrolment(world.STRANGER))
    assert sign(steward, file).refuses(4, "not the steward key that the request names")
    agent_key = hospital.write_plain_key(steward.folder / "agent.key", world.AGENT)
    file = write(steward, enrolment(steward.signer), name="b")
    assert sign(steward, file, key=agent_key).refuses(4, "this is the agent's key")
    own = replace(enrolment(steward.signer), agent_key=steward.signer.public.der)
    assert sign(steward, write(steward, own, steward.signer, name="c")).refuses(
        3, "names a key twice"
    )


def test_an_enrolment_that_the_agent_has_not_signed_is_refused(steward: Steward) -> None:
    file = write(steward, enrolment(steward.signer), world.STRANGER)
    assert sign(steward, file).refuses(3, "signed with a key that it does not name")
    request = enrolment(steward.signer)
    data = envelope.sign(build_statement(request), [world.AGENT])
    other = envelope.sign(
        build_statement(replace(request, token_signature="00" * 64)), [world.AGENT]
    )
    signature = envelope.decode(other).signatures[0].sig
    bent = data.replace(
        envelope.encode_base64(envelope.decode(data).signatures[0].sig).encode(),
        envelope.encode_base64(signature).encode(),
    )
    path = steward.folder / "bent"
    path.write_bytes(bent)
    assert sign(steward, path).refuses(3, "bad_signature")


def reset(steward: Steward, **changes: object) -> ResetPredicate:
    header = Header(world.ORIGIN, world.SITE, 2, 0, world.digest_of(chain()[2]), 9, ledger(5))
    return ResetPredicate(
        replace(header, **changes),  # type: ignore[arg-type]
        NEW_KEY.public.der,
        steward.signer.public.der,
        "lost_agent_key",
    )


@pytest.mark.full
def test_a_reset_after_the_known_history_is_signed_and_taken(steward: Steward) -> None:
    assert steward.approve(steward.ask(*chain()), out="three").code == 0
    reply = sign(steward, write(steward, reset(steward), NEW_KEY))
    assert reply.code == 0, reply.errors
    assert "Ask at the site what happened" in reply.output
    registry = hospital.registry_with(steward.signer)
    history = History(head=ChainHead(1, 3, world.digest_of(chain()[2])), ledger=ledger(3))
    data = (steward.folder / "signed.json").read_bytes()
    assert open_rekeying(data, registry, history, log_index=9).keys["agent"] == NEW_KEY.public


@pytest.mark.full
def test_a_reset_with_a_shorter_ledger_is_refused(steward: Steward) -> None:
    assert steward.approve(steward.ask(*chain()), out="three").code == 0
    file = write(steward, reset(steward, ledger=ledger(2)), NEW_KEY)
    assert sign(steward, file).refuses(6, "ledger of releases is shorter")


@pytest.mark.full
def test_the_stewards_own_key_is_rotated_by_signing_twice(steward: Steward) -> None:
    assert steward.approve(steward.ask(*chain()), out="three").code == 0
    header = Header(world.ORIGIN, world.SITE, 1, 4, world.digest_of(chain()[2]), 9, ledger(3))
    file = write(steward, RotatePredicate(header, "steward", NEW_KEY.public.der))
    once = sign(steward, file, out="once")
    assert once.code == 0, once.errors
    new_key = hospital.write_plain_key(steward.folder / "new.key", NEW_KEY)
    twice = sign(steward, steward.folder / "once", out="twice", key=new_key)
    assert twice.code == 0, twice.errors
    registry = hospital.registry_with(steward.signer)
    history = History(head=ChainHead(1, 3, world.digest_of(chain()[2])), ledger=ledger(3))
    data = (steward.folder / "twice").read_bytes()
    assert open_rekeying(data, registry, history, log_index=9).keys["steward"] == NEW_KEY.public
    again = sign(steward, steward.folder / "once", out="again", key=new_key)
    assert again.code == 0, again.errors
    assert (steward.folder / "again").read_bytes() == data


@pytest.mark.full
def test_a_rotation_that_came_to_nothing_does_not_lock_the_site_out(steward: Steward) -> None:
    """The central team declines it by telephone: the next result takes its place in the chain."""
    assert steward.approve(steward.ask(*chain()), out="three").code == 0
    header = Header(world.ORIGIN, world.SITE, 1, 4, world.digest_of(chain()[2]), 9, ledger(3))
    rotation = RotatePredicate(header, "agent", NEW_KEY.public.der)
    assert sign(steward, write(steward, rotation), out="rotation").code == 0
    follower = hospital.next_result(cells={**chain()[2].cells, "ward/exact_match": 760})
    shown = steward.show(steward.ask(follower, name="next"))
    assert shown.code == 0, shown.errors
    assert "You signed a request about keys for this position" in " ".join(shown.output.split())


def test_the_new_agents_key_does_not_sign_as_steward(steward: Steward) -> None:
    header = Header(world.ORIGIN, world.SITE, 1, 4, "ab" * 32, 9, ledger(3))
    file = write(steward, RotatePredicate(header, "agent", NEW_KEY.public.der))
    key = hospital.write_plain_key(steward.folder / "new.key", NEW_KEY)
    assert sign(steward, file, key=key).refuses(4, "this is the agent's key")


def test_requests_of_both_kinds_are_signed_with_their_own_command(steward: Steward) -> None:
    about_keys, for_approval = write(steward, enrolment(steward.signer)), steward.ask(chain()[0])
    assert steward.approve(about_keys).refuses(2, "this is a request about keys")
    assert sign(steward, for_approval).refuses(2, "this is a request for approval")


def test_a_request_about_keys_can_be_rejected(steward: Steward) -> None:
    file = write(steward, enrolment(steward.signer))
    reply = steward.run(
        "reject", file, "--reason", "not_agreed", "--out", "no", "--list", steward.list_path
    )
    assert reply.code == 0, reply.errors
    assert [entry["decision"] for entry in steward.decisions()] == ["rejected"]
