"""Bad inputs C 52, F 94 and F 95: a site changes a key or starts a new epoch, and somebody else would like to."""

from dataclasses import replace
from typing import Any

import pytest

from protocol import envelope
from protocol.errors import Code
from protocol.keys import PublicKey, Signer
from protocol.predicates import EMPTY_LEDGER, LedgerHead, ResetPredicate, RotatePredicate, Statement
from protocol.registry import Registry, SiteKey, build_registry, parse_registry
from protocol.rekeying import Rekeying, open_rekeying, site_after
from protocol.statements import build_statement
from protocol.verification import ChainHead, History, authenticate
from tests.protocol.world import (
    AGENT,
    ENROLMENT,
    LOG,
    NEW_ROOT,
    OTHER_AGENT,
    OTHER_ENROLMENT,
    OTHER_SITE,
    REGISTRY,
    RESULT,
    ROOT,
    SECOND_AGENT,
    SITE,
    STEWARD,
    STRANGER,
    WARD,
    digest_of,
    p256_signer,
    refused,
    registry,
    submission,
    submit,
)

HEAD = ChainHead(1, 4, "d4" * 32)
LEDGER = LedgerHead(3, "33" * 32)
HISTORY = History(head=HEAD, ledger=LEDGER)
NEXT = replace(RESULT.header, seq=5, prev=HEAD.digest, ledger=LEDGER)
RESET_HEADER = replace(RESULT.header, epoch=2, seq=0, prev=HEAD.digest, ledger=LEDGER)
NEW_STEWARD = p256_signer(77)
WEAK = bytes.fromhex("302a300506032b6570032100") + bytes(32)


class Weak:
    """Signs for a key of small order, for which anybody can."""

    public = PublicKey("00" * 32, "ed25519", WEAK)

    def sign(self, message: bytes) -> bytes:
        return bytes(64)


class Careless:
    """Signs other bytes than it was given, under a real key's name."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer
        self.public = signer.public

    def sign(self, message: bytes) -> bytes:
        return self._signer.sign(message + b" ")


def open_it(
    data: bytes, known: Registry = REGISTRY, history: History = HISTORY, index: int = 5
) -> Rekeying:
    return open_rekeying(data, known, history, log_index=index)


def rotation(
    *signers: Signer, new: Signer = SECOND_AGENT, role: str = "agent", **header: Any
) -> bytes:
    predicate = RotatePredicate(replace(NEXT, **header), role, new.public.der)
    return envelope.sign(build_statement(predicate), signers or (AGENT, STEWARD, new))


def reset(
    *signers: Signer,
    agent: Signer = AGENT,
    steward: Signer = STEWARD,
    reason: str = "restored",
    **header: Any,
) -> bytes:
    predicate = ResetPredicate(
        replace(RESET_HEADER, **header), agent.public.der, steward.public.der, reason
    )
    return envelope.sign(build_statement(predicate), signers or (agent, steward))


def with_site(**changes: Any) -> Registry:
    return registry(sites={**REGISTRY.sites, SITE: replace(REGISTRY.sites[SITE], **changes)})


AGENT_KEY, STEWARD_KEY = REGISTRY.sites[SITE].keys


# Rotations


@pytest.mark.parametrize(("role", "new"), [("agent", SECOND_AGENT), ("steward", NEW_STEWARD)])
def test_a_key_is_rotated_by_both_old_keys_and_the_new_one(role: str, new: Signer):
    found = open_it(rotation(new=new, role=role))
    assert found.keys == {"agent": AGENT.public, "steward": STEWARD.public} | {role: new.public}
    assert found.head == ChainHead(1, 5, found.digest)
    after = site_after(REGISTRY.sites[SITE], found, 5)
    assert (after.epoch, after.start) == (1, ENROLMENT)
    in_force = {entry.key.keyid for entry in after.keys if entry.valid_at(6)}
    assert in_force == {key.keyid for key in found.keys.values()}
    rotated = registry(sites={**REGISTRY.sites, SITE: after})
    assert parse_registry(build_registry(rotated)) == rotated


def test_the_old_key_signs_up_to_its_rotation_and_the_new_one_from_then_on():
    after = site_after(REGISTRY.sites[SITE], open_it(rotation()), 5)
    known = registry(sites={**REGISTRY.sites, SITE: after})
    payload = build_statement(RESULT)
    old, new = (
        envelope.sign(payload, (AGENT, STEWARD)),
        envelope.sign(payload, (SECOND_AGENT, STEWARD)),
    )
    assert (
        authenticate(old, known, log_index=5).site
        == authenticate(new, known, log_index=6).site
        == SITE
    )
    for data, index in ((old, 6), (new, 5)):
        with refused(Code.UNKNOWN_KEY):
            authenticate(data, known, log_index=index)


ROTATIONS: dict[str, tuple[bytes, Registry, Code]] = {
    "C52-without-the-old-agent": (rotation(STEWARD, SECOND_AGENT), REGISTRY, Code.WRONG_KEYS),
    "C52-without-the-old-steward": (rotation(AGENT, SECOND_AGENT), REGISTRY, Code.WRONG_KEYS),
    "C52-without-the-new-key": (rotation(AGENT, STEWARD), REGISTRY, Code.WRONG_KEYS),
    "C52-by-the-new-key-alone": (rotation(SECOND_AGENT), REGISTRY, Code.WRONG_KEYS),
    "C52-with-a-signature-too-many": (
        rotation(AGENT, STEWARD, SECOND_AGENT, STRANGER),
        REGISTRY,
        Code.WRONG_KEYS,
    ),
    "C52-with-a-stranger-for-the-steward": (
        rotation(AGENT, STRANGER, SECOND_AGENT),
        REGISTRY,
        Code.WRONG_KEYS,
    ),
    "C52-bad-signature-of-the-old-agent": (
        rotation(Careless(AGENT), STEWARD, SECOND_AGENT),
        REGISTRY,
        Code.BAD_SIGNATURE,
    ),
    "C52-bad-signature-of-the-new-key": (
        rotation(AGENT, STEWARD, Careless(SECOND_AGENT)),
        REGISTRY,
        Code.BAD_SIGNATURE,
    ),
    "C52-to-the-own-key": (rotation(AGENT, STEWARD, new=AGENT), REGISTRY, Code.DUPLICATE_KEY),
    "C52-to-the-own-stewards-key": (
        rotation(AGENT, STEWARD, new=STEWARD),
        REGISTRY,
        Code.DUPLICATE_KEY,
    ),
    "C52-to-another-sites-key": (rotation(new=OTHER_AGENT), REGISTRY, Code.DUPLICATE_KEY),
    "C52-to-a-root-key": (rotation(new=ROOT), REGISTRY, Code.DUPLICATE_KEY),
    "C52-to-the-log-key": (rotation(new=LOG), REGISTRY, Code.DUPLICATE_KEY),
    "C52-to-a-weak-key": (rotation(new=Weak()), REGISTRY, Code.WEAK_KEY),
    "C52-with-a-rotated-agent-key": (
        rotation(),
        with_site(keys=(replace(AGENT_KEY, until_index=3), STEWARD_KEY)),
        Code.WRONG_KEYS,
    ),
    "C52-with-a-revoked-steward-key": (
        rotation(),
        with_site(keys=(AGENT_KEY, replace(STEWARD_KEY, revoked_from=3))),
        Code.WRONG_KEYS,
    ),
    "C41-of-a-site-that-is-not-enrolled": (rotation(site="s-zzzzzzz9"), REGISTRY, Code.UNKNOWN_KEY),
    "C41-of-another-site": (
        rotation(site=OTHER_SITE, prev=OTHER_ENROLMENT),
        REGISTRY,
        Code.WRONG_KEYS,
    ),
    "F90-gap": (rotation(seq=6), REGISTRY, Code.WRONG_SEQ),
    "F91-seq-taken": (rotation(seq=4), REGISTRY, Code.FORK),
    "F92-wrong-prev": (rotation(prev=ENROLMENT), REGISTRY, Code.WRONG_PREV),
    "F95-epoch-jump": (rotation(epoch=2), REGISTRY, Code.WRONG_EPOCH),
    "F96-old-registry": (rotation(registry=1), REGISTRY, Code.WRONG_REGISTRY),
    "F97-another-board": (
        rotation(deployment="staging.board.example"),
        REGISTRY,
        Code.WRONG_DEPLOYMENT,
    ),
    "ledger-rolled-back": (rotation(ledger=EMPTY_LEDGER), REGISTRY, Code.LEDGER_ROLLED_BACK),
    "E75-a-result": (submission(), REGISTRY, Code.WRONG_TYPE),
    "A01-empty": (b"", REGISTRY, Code.MALFORMED),
}


@pytest.mark.parametrize(
    ("data", "known", "code"), [pytest.param(*case, id=name) for name, case in ROTATIONS.items()]
)
def test_a_rotation_without_its_proofs_is_refused(data: bytes, known: Registry, code: Code):
    with refused(code):
        open_it(data, known)


def test_a_frozen_site_rotates_nothing():
    with refused(Code.SITE_FROZEN):
        open_it(rotation(), history=replace(HISTORY, frozen=True))


# Resets


def test_a_frozen_site_comes_back_with_its_own_keys():
    found = open_it(reset(), history=replace(HISTORY, frozen=True))
    assert found.head == ChainHead(2, 0, found.digest)
    after = site_after(REGISTRY.sites[SITE], found, 9)
    assert after == replace(REGISTRY.sites[SITE], start=found.digest, epoch=2)
    known = registry(sites={**REGISTRY.sites, SITE: after})
    first = replace(WARD, header=replace(WARD.header, epoch=2, prev=found.digest))
    assert (
        submit(
            envelope.sign(build_statement(first), (AGENT, STEWARD)), known, History(head=None)
        ).head.epoch
        == 2
    )


def test_a_lost_key_is_replaced_and_revoked():
    found = open_it(reset(steward=NEW_STEWARD, reason="lost_steward_key"))
    after = site_after(REGISTRY.sites[SITE], found, 9)
    assert after.keys == (
        AGENT_KEY,
        replace(STEWARD_KEY, revoked_from=9),
        SiteKey(NEW_STEWARD.public, "steward", from_index=10),
    )
    known = registry(sites={**REGISTRY.sites, SITE: after})
    assert parse_registry(build_registry(known)) == known
    with refused(Code.UNKNOWN_KEY):  # whoever has stolen it signs nothing more
        authenticate(submission(), known, log_index=10)


def test_both_keys_may_be_new():
    found = open_it(reset(agent=SECOND_AGENT, steward=NEW_STEWARD, reason="stolen_key"))
    after = site_after(REGISTRY.sites[SITE], found, 9)
    assert [entry.revoked_from for entry in after.keys] == [9, 9, None, None]


def test_a_site_resets_twice_and_before_its_first_link():
    found = open_it(reset(prev=ENROLMENT), history=History(head=None))
    site = site_after(REGISTRY.sites[SITE], found, 9)
    known = registry(sites={**REGISTRY.sites, SITE: site})
    again = open_it(reset(epoch=3, prev=found.digest), known, History(head=None))
    assert site_after(site, again, 12).epoch == 3


RESETS: dict[str, tuple[bytes, Registry, Code]] = {
    "F94-seq-without-a-new-epoch": (reset(epoch=1), REGISTRY, Code.SCHEMA),
    "F94-reset-in-the-middle-of-an-epoch": (reset(seq=1), REGISTRY, Code.SCHEMA),
    "F95-epoch-jump": (reset(epoch=3), REGISTRY, Code.WRONG_EPOCH),
    "F95-epoch-that-was": (reset(), with_site(epoch=2, start="e9" * 32), Code.WRONG_EPOCH),
    "F95-by-the-agent-alone": (reset(AGENT), REGISTRY, Code.WRONG_KEYS),
    "F95-by-the-steward-alone": (reset(STEWARD), REGISTRY, Code.WRONG_KEYS),
    "F95-with-a-third-signature": (reset(AGENT, STEWARD, STRANGER), REGISTRY, Code.WRONG_KEYS),
    "F95-signed-by-the-old-keys-only": (
        reset(AGENT, STEWARD, steward=NEW_STEWARD),
        REGISTRY,
        Code.WRONG_KEYS,
    ),
    "F95-one-key-for-both": (reset(AGENT, steward=AGENT), REGISTRY, Code.WRONG_KEYS),
    "F95-bad-signature": (reset(AGENT, Careless(STEWARD)), REGISTRY, Code.BAD_SIGNATURE),
    "F95-keys-exchanged": (reset(agent=STEWARD, steward=AGENT), REGISTRY, Code.WRONG_KEYS),
    "F95-with-another-sites-key": (reset(agent=OTHER_AGENT), REGISTRY, Code.DUPLICATE_KEY),
    "F95-with-a-root-key": (reset(steward=ROOT), REGISTRY, Code.DUPLICATE_KEY),
    "F95-with-the-log-key": (reset(agent=LOG), REGISTRY, Code.DUPLICATE_KEY),
    "F95-with-a-weak-key": (reset(agent=Weak()), REGISTRY, Code.WEAK_KEY),
    "F95-with-a-revoked-key": (
        reset(),
        with_site(keys=(replace(AGENT_KEY, revoked_from=3), STEWARD_KEY)),
        Code.WRONG_KEYS,
    ),
    "F95-with-a-key-that-was-rotated": (
        reset(),
        with_site(
            keys=(
                replace(AGENT_KEY, until_index=3),
                STEWARD_KEY,
                SiteKey(SECOND_AGENT.public, "agent", 3),
            )
        ),
        Code.WRONG_KEYS,
    ),
    "F92-wrong-prev": (reset(prev=ENROLMENT), REGISTRY, Code.WRONG_PREV),
    "F93-prev-of-another-site": (reset(prev=OTHER_ENROLMENT), REGISTRY, Code.WRONG_PREV),
    "F96-old-registry": (reset(registry=1), REGISTRY, Code.WRONG_REGISTRY),
    "F97-another-board": (
        reset(deployment="staging.board.example"),
        REGISTRY,
        Code.WRONG_DEPLOYMENT,
    ),
    "C41-of-a-site-that-is-not-enrolled": (reset(site="s-zzzzzzz9"), REGISTRY, Code.UNKNOWN_KEY),
    "C41-of-another-site": (
        reset(site=OTHER_SITE, prev=OTHER_ENROLMENT),
        REGISTRY,
        Code.DUPLICATE_KEY,
    ),
    "ledger-shorter": (reset(ledger=LedgerHead(2, "22" * 32)), REGISTRY, Code.LEDGER_ROLLED_BACK),
    "ledger-as-long-with-another-head": (
        reset(ledger=LedgerHead(3, "34" * 32)),
        REGISTRY,
        Code.LEDGER_ROLLED_BACK,
    ),
    "E75-a-result": (submission(), REGISTRY, Code.WRONG_TYPE),
    "D70-text-as-reason": (reset(reason="patient died"), REGISTRY, Code.SCHEMA),
}


@pytest.mark.parametrize(
    ("data", "known", "code"), [pytest.param(*case, id=name) for name, case in RESETS.items()]
)
def test_a_reset_that_proves_nothing_is_refused(data: bytes, known: Registry, code: Code):
    history = HISTORY if known.sites[SITE].epoch == 1 else History(head=None)
    with refused(code):
        open_it(data, known, history)


def test_C50_a_key_that_a_site_rotated_to_never_becomes_a_root_key():
    found = open_it(rotation(new=NEW_ROOT))
    after = site_after(REGISTRY.sites[SITE], found, 5)
    with refused(Code.DUPLICATE_KEY):
        build_registry(
            registry(roots=(ROOT.public, NEW_ROOT.public), sites={**REGISTRY.sites, SITE: after})
        )


def test_a_request_is_identified_as_every_statement_is():
    statement: Statement = RotatePredicate(NEXT, "agent", SECOND_AGENT.public.der)
    found = open_it(rotation())
    assert found.digest == digest_of(statement)
    assert found.pae == envelope.pae(envelope.STATEMENT_TYPE, build_statement(statement))
    assert found.header == NEXT
