"""Bad inputs G 103 to 107 and 112: a registry rolled back, frozen, half signed or badly filled; enrolment."""

from dataclasses import replace
from typing import Any

import pytest

from protocol import envelope
from protocol.canonical import canonical, parse
from protocol.enrolment import enrolment_site, open_enrolment, sign_with_token, token_verifier
from protocol.envelope import REGISTRY_TYPE
from protocol.errors import Code
from protocol.identity import NONE, model_digest
from protocol.keys import Signer, load_public
from protocol.predicates import EnrollPredicate, Header
from protocol.registry import (
    Model,
    Registry,
    RootPins,
    SiteKey,
    build_registry,
    load_registry,
    parse_registry,
    step_registry,
)
from protocol.statements import build_statement
from tests.protocol.world import (
    AGENT,
    LOG,
    NEW_ROOT,
    ORIGIN,
    OTHER_AGENT,
    REGISTRY,
    ROOT,
    SITE,
    STEWARD,
    STRANGER,
    STRICT,
    TODAY,
    ed25519_signer,
    p256_signer,
    refused,
    registry,
    submission,
)

PINS = RootPins(ORIGIN, frozenset({ROOT.public.keyid}), threshold=1)


def published(known: Registry, *signers: Signer) -> bytes:
    return envelope.sign(build_registry(known), signers or (ROOT,), REGISTRY_TYPE)


def successor(**changes: Any) -> Registry:
    return registry(version=10, **changes)


def test_a_registry_comes_out_as_it_went_in():
    assert load_registry(published(REGISTRY), PINS, TODAY) == REGISTRY
    assert load_registry(published(successor()), REGISTRY, TODAY) == successor()


def test_the_same_registry_again_is_fine_and_another_of_that_version_is_not():
    assert step_registry(published(REGISTRY), REGISTRY) == REGISTRY
    with refused(Code.REGISTRY_SPLIT):
        step_registry(published(registry(expires_day=TODAY + 101)), REGISTRY)


@pytest.mark.parametrize(
    ("version", "code"),
    [
        pytest.param(8, Code.REGISTRY_ROLLBACK, id="G103-rollback"),
        pytest.param(1, Code.REGISTRY_ROLLBACK, id="G103-rollback-to-the-first"),
    ],
)
def test_a_registry_of_the_wrong_version_is_refused(version: int, code: Code):
    with refused(code):
        load_registry(published(registry(version=version)), REGISTRY, TODAY)


@pytest.mark.parametrize("version", [11, 400, 2**31 - 1])
def test_G107_versions_between_need_no_walk_where_the_trusted_roots_signed(version: int):
    later = registry(version=version)
    assert load_registry(published(later), REGISTRY, TODAY) == later


def test_G107_a_version_beyond_a_change_of_the_roots_is_reached_over_that_change_alone():
    changed = registry(version=20, roots=(NEW_ROOT.public,))
    newest = registry(version=90, roots=(NEW_ROOT.public,))
    with refused(Code.UNDER_THRESHOLD):
        step_registry(published(newest, NEW_ROOT), REGISTRY)
    trusted = step_registry(published(changed, ROOT, NEW_ROOT), REGISTRY)
    assert step_registry(published(newest, NEW_ROOT), trusted) == newest


def test_G103_a_version_beyond_2_to_31_cannot_be_written_so_a_fast_forward_ends_there():
    with refused(Code.SCHEMA):
        build_registry(registry(version=2**31))
    fresh_pins = RootPins(ORIGIN, frozenset({NEW_ROOT.public.keyid}), threshold=1)
    recovered = registry(version=1, roots=(NEW_ROOT.public,))
    assert load_registry(published(recovered, NEW_ROOT), fresh_pins, TODAY) == recovered


@pytest.mark.parametrize(
    ("today", "fresh"),
    [
        pytest.param(TODAY + 99, True, id="G103-last-day"),
        pytest.param(TODAY + 100, False, id="G103-frozen"),
    ],
)
def test_an_expired_registry_is_refused_but_can_be_walked_over(today: int, fresh: bool):
    assert step_registry(published(REGISTRY), PINS) == REGISTRY
    if fresh:
        assert load_registry(published(REGISTRY), PINS, today) == REGISTRY
    else:
        with refused(Code.REGISTRY_EXPIRED):
            load_registry(published(REGISTRY), PINS, today)


TWO_ROOTS = (ROOT.public, NEW_ROOT.public)

QUORUMS: dict[str, tuple[Registry, Registry | RootPins, tuple[Signer, ...], Code]] = {
    "G104-only-old-root": (
        successor(roots=(NEW_ROOT.public,)),
        REGISTRY,
        (ROOT,),
        Code.UNDER_THRESHOLD,
    ),
    "G104-only-new-root": (
        successor(roots=(NEW_ROOT.public,)),
        REGISTRY,
        (NEW_ROOT,),
        Code.UNDER_THRESHOLD,
    ),
    "G104-one-of-two": (
        successor(roots=TWO_ROOTS, threshold=2),
        REGISTRY,
        (ROOT,),
        Code.UNDER_THRESHOLD,
    ),
    "G104-old-threshold-of-two": (
        successor(roots=TWO_ROOTS),
        registry(roots=TWO_ROOTS, threshold=2),
        (ROOT,),
        Code.UNDER_THRESHOLD,
    ),
    "G104-pins-of-two": (
        REGISTRY,
        RootPins(ORIGIN, frozenset({ROOT.public.keyid, NEW_ROOT.public.keyid}), 2),
        (ROOT,),
        Code.UNDER_THRESHOLD,
    ),
    "G104-pins-of-none": (
        REGISTRY,
        RootPins(ORIGIN, frozenset({ROOT.public.keyid}), 0),
        (ROOT,),
        Code.UNDER_THRESHOLD,
    ),
    "G104-not-the-pinned-root": (
        registry(roots=(NEW_ROOT.public,)),
        PINS,
        (NEW_ROOT,),
        Code.UNDER_THRESHOLD,
    ),
    "G104-a-stranger": (successor(), REGISTRY, (STRANGER,), Code.UNKNOWN_KEY),
    "G104-a-stranger-beside-the-root": (successor(), REGISTRY, (ROOT, STRANGER), Code.UNKNOWN_KEY),
    "C51-a-site-key": (successor(), REGISTRY, (AGENT,), Code.UNKNOWN_KEY),
    "C50-the-log-key": (successor(), REGISTRY, (LOG,), Code.UNKNOWN_KEY),
}


@pytest.mark.parametrize(
    ("known", "trusted", "signers", "code"),
    [pytest.param(*case, id=name) for name, case in QUORUMS.items()],
)
def test_a_registry_without_both_thresholds_is_refused(
    known: Registry, trusted: Registry | RootPins, signers: tuple[Signer, ...], code: Code
):
    with refused(code):
        load_registry(published(known, *signers), trusted, TODAY)


def test_the_root_is_rotated_by_both_and_the_old_one_is_then_out():
    rotated = successor(roots=(NEW_ROOT.public,))
    assert load_registry(published(rotated, ROOT, NEW_ROOT), REGISTRY, TODAY) == rotated
    with refused(Code.UNKNOWN_KEY):
        load_registry(
            published(registry(version=11, roots=(NEW_ROOT.public,)), ROOT, NEW_ROOT),
            rotated,
            TODAY,
        )


def test_G104_a_site_that_joins_right_after_a_rotation_takes_the_version_that_the_old_root_signed_too():
    rotated = successor(roots=(NEW_ROOT.public,))
    pins = RootPins(ORIGIN, frozenset({NEW_ROOT.public.keyid}), threshold=1)
    assert load_registry(published(rotated, ROOT, NEW_ROOT), pins, TODAY) == rotated
    with refused(Code.UNDER_THRESHOLD):
        load_registry(published(rotated, ROOT, STRANGER), pins, TODAY)


def test_G104_a_stranger_who_writes_the_pinned_roots_id_beside_an_own_signature_is_refused():
    """The registry names the stranger as its root, so nothing could verify the signature that names the pinned one."""

    class Impostor:
        public = ROOT.public

        def sign(self, message: bytes) -> bytes:
            return STRANGER.sign(message)

    forged = replace(REGISTRY, roots=(STRANGER.public,))
    with refused(Code.UNDER_THRESHOLD):
        load_registry(published(forged, STRANGER, Impostor()), PINS, TODAY)


def test_G107_257_rotations_can_be_walked():
    trusted = registry(version=1, sites={}, scorecards={}, roots=(ed25519_signer(1000).public,))
    for step in range(1, 258):
        old, new = ed25519_signer(999 + step), ed25519_signer(1000 + step)
        following = replace(trusted, version=1 + step, roots=(new.public,))
        trusted = step_registry(published(following, old, new), trusted)
    assert trusted.version == 258


def test_C44_a_bad_root_signature_beside_a_good_one_is_not_skipped():
    class Careless:
        public = NEW_ROOT.public

        def sign(self, message: bytes) -> bytes:
            return NEW_ROOT.sign(message + b" ")

    with refused(Code.BAD_SIGNATURE):
        load_registry(published(successor(roots=TWO_ROOTS), ROOT, Careless()), REGISTRY, TODAY)


@pytest.mark.parametrize("trusted", [PINS, REGISTRY], ids=["pins", "registry"])
def test_C40_a_root_signature_by_another_key_is_bad(trusted: Registry | RootPins):
    class Impostor:
        public = ROOT.public

        def sign(self, message: bytes) -> bytes:
            return STRANGER.sign(message)

    with refused(Code.BAD_SIGNATURE):
        load_registry(published(REGISTRY, Impostor()), trusted, TODAY)


def test_F97_the_registry_of_another_board_is_refused():
    with refused(Code.WRONG_DEPLOYMENT):
        load_registry(published(successor(deployment="staging.board.example")), REGISTRY, TODAY)


def test_B25_a_submission_is_no_registry():
    with refused(Code.MALFORMED):
        load_registry(submission(), REGISTRY, TODAY)
    with refused(Code.MALFORMED):
        load_registry(b"<html>Please log in</html>", REGISTRY, TODAY)


def edited(**fields: Any) -> bytes:
    found = parse(build_registry(REGISTRY))
    assert isinstance(found, dict)
    return canonical({**found, **fields})


def bent_site(**fields: Any) -> bytes:
    found = parse(build_registry(REGISTRY))
    assert isinstance(found, dict)
    return edited(sites={SITE: {**found["sites"][SITE], **fields}})


def key_json(signer: Signer, role: str = "agent", **fields: Any) -> dict[str, object]:
    key = envelope.encode_base64(signer.public.der)
    return {
        "key": key,
        "role": role,
        "from_index": 0,
        "until_index": -1,
        "revoked_from": -1,
        **fields,
    }


def policies() -> list[dict[str, object]]:
    return [policy.to_json() for _, policy in sorted(REGISTRY.policies.items())]


SMALL_ORDER = envelope.encode_base64(bytes.fromhex("302a300506032b6570032100") + bytes(32))
ROOT64, AGENT64, LOG64 = (
    envelope.encode_base64(signer.public.der) for signer in (ROOT, AGENT, LOG)
)
QWEN = {
    "name": "qwen/q",
    "display_name": "Q",
    "organization": "",
    "is_language_model": True,
    "family": "",
    "parameters_millions": 0,
}


def log_json(key: str, **fields: Any) -> dict[str, Any]:
    return {"name": ORIGIN, "keys": [{"key": key, "from_size": 0, "until_size": -1, **fields}]}


def log_of(*ranges: tuple[int, int]) -> bytes:
    """Return a registry whose log has a key for each of these ranges of sizes."""
    keys = [
        {
            "key": envelope.encode_base64(ed25519_signer(500 + number).public.der),
            "from_size": low,
            "until_size": high,
        }
        for number, (low, high) in enumerate(ranges)
    ]
    return edited(log={"name": ORIGIN, "keys": keys})


def group(threshold: object, *names: str) -> dict[str, Any]:
    keys = [
        {"name": name, "key": envelope.encode_base64(ed25519_signer(600 + number).public.der)}
        for number, name in enumerate(names)
    ]
    return {"threshold": threshold, "keys": keys}


FILLINGS: dict[str, tuple[bytes, Code]] = {
    "G105-threshold-0": (edited(threshold=0), Code.BAD_THRESHOLD),
    "G105-threshold-negative": (edited(threshold=-1), Code.BAD_THRESHOLD),
    "G105-threshold-above-keys": (edited(threshold=2), Code.BAD_THRESHOLD),
    "G105-threshold-true": (edited(threshold=True), Code.BAD_THRESHOLD),
    "G106-duplicate-site-id": (
        build_registry(REGISTRY).replace(b'"sites":{', b'"sites":{"%b":{},' % SITE.encode()),
        Code.DUPLICATE_NAME,
    ),
    "G106-same-key-for-two-roles": (
        bent_site(keys=[key_json(AGENT), key_json(AGENT, "steward")]),
        Code.DUPLICATE_KEY,
    ),
    "C43-same-key-twice": (
        bent_site(keys=[key_json(AGENT), key_json(AGENT, from_index=9)]),
        Code.DUPLICATE_KEY,
    ),
    "G106-site-key-is-root-key": (bent_site(keys=[key_json(ROOT)]), Code.DUPLICATE_KEY),
    "G106-site-key-is-log-key": (bent_site(keys=[key_json(LOG)]), Code.DUPLICATE_KEY),
    "G106-root-key-twice": (edited(roots=[ROOT64, ROOT64]), Code.DUPLICATE_KEY),
    "G106-log-key-is-root-key": (edited(log=log_json(ROOT64)), Code.DUPLICATE_KEY),
    "B36-weak-root-key": (edited(roots=[SMALL_ORDER]), Code.WEAK_KEY),
    "B36-weak-log-key": (edited(log=log_json(SMALL_ORDER)), Code.WEAK_KEY),
    "B36-weak-site-key": (bent_site(keys=[{**key_json(AGENT), "key": SMALL_ORDER}]), Code.WEAK_KEY),
    "log-key-of-another-kind": (
        edited(log=log_json(envelope.encode_base64(p256_signer(77).public.der))),
        Code.SCHEMA,
    ),
    "receipt-key-of-another-kind": (
        edited(receipt_key=envelope.encode_base64(p256_signer(77).public.der)),
        Code.SCHEMA,
    ),
    "G106-receipt-key-is-log-key": (edited(receipt_key=LOG64), Code.DUPLICATE_KEY),
    "G106-receipt-key-is-a-sites": (edited(receipt_key=AGENT64), Code.DUPLICATE_KEY),
    "G106-auditor-is-a-site": (
        edited(auditors={"threshold": 1, "keys": [{"name": "audit.example", "key": AGENT64}]}),
        Code.DUPLICATE_KEY,
    ),
    "G105-auditors-threshold-0": (edited(auditors=group(0, "a.example")), Code.BAD_THRESHOLD),
    "G105-auditors-threshold-above-keys": (
        edited(auditors=group(2, "a.example")),
        Code.BAD_THRESHOLD,
    ),
    "G105-witnesses-threshold-true": (
        edited(witnesses=group(True, "a.example")),
        Code.BAD_THRESHOLD,
    ),
    "G105-threshold-of-nobody": (edited(witnesses=group(1)), Code.BAD_THRESHOLD),
    "two-auditors-of-one-name": (edited(auditors=group(1, "a.example", "a.example")), Code.SCHEMA),
    "G109-sizes-without-a-log-key": (log_of((0, 5), (6, -1)), Code.SCHEMA),
    "G109-two-log-keys-for-a-size": (log_of((0, 5), (4, -1)), Code.SCHEMA),
    "G109-log-keys-that-end": (log_of((0, 5), (5, 9)), Code.SCHEMA),
    "G109-log-key-after-one-without-end": (log_of((0, -1), (5, -1)), Code.SCHEMA),
    "G109-log-key-of-no-size": (log_of((0, 0), (0, -1)), Code.SCHEMA),
    "G109-log-that-begins-late": (log_of((1, -1)), Code.SCHEMA),
    "model-of-minus-one-parameters": (
        edited(models=[{**QWEN, "parameters_millions": -1}]),
        Code.SCHEMA,
    ),
    "no-roots": (edited(roots=[]), Code.SCHEMA),
    "floor-not-registered": (edited(policy_floor="00" * 32), Code.SCHEMA),
    "policies-not-sorted": (edited(policies=policies()[::-1]), Code.SCHEMA),
    "policy-twice": (edited(policies=[policies()[0]] * 2), Code.SCHEMA),
    "unknown-schema": (edited(schema=4), Code.SCHEMA),
    "unreleased-schema": (edited(schema=1), Code.OLD_SCHEMA),
    "unreleased-schema-2": (edited(schema=2), Code.OLD_SCHEMA),
    "schema-is-true": (edited(schema=True), Code.SCHEMA),
    "epoch-0": (bent_site(epoch=0), Code.SCHEMA),
    "start-is-none": (bent_site(start=NONE), Code.SCHEMA),
    "unknown-field": (edited(note="x"), Code.SCHEMA),
    "unknown-role": (bent_site(keys=[key_json(AGENT, "root")]), Code.SCHEMA),
    "unknown-publication": (bent_site(publication="secret"), Code.SCHEMA),
    "index-below-unset": (bent_site(keys=[key_json(AGENT, until_index=-2)]), Code.SCHEMA),
    "D64-right-to-left-name": (bent_site(display_name="Clinic \u202exe"), Code.SCHEMA),
    "D64-decomposed-name": (bent_site(display_name="Sta\u0308dtisch"), Code.SCHEMA),
    "D61-name-with-newline": (
        build_registry(REGISTRY).replace(b"General Hospital", b"General\\nHospital"),
        Code.BAD_TEXT,
    ),
    "name-with-space-around": (bent_site(display_name=" Clinic"), Code.SCHEMA),
    "name-of-300-characters": (bent_site(display_name="x" * 300), Code.SCHEMA),
    "D64-site-id": (edited(sites={"s-AAAAAAA1": {}}), Code.SCHEMA),
    "D65-model-name": (edited(models=[{**QWEN, "name": "../x"}]), Code.SCHEMA),
    "model-flag-is-text": (edited(models=[{**QWEN, "is_language_model": "yes"}]), Code.SCHEMA),
    "agent-version": (edited(agents=["0.1 beta"]), Code.SCHEMA),
    "retired-is-a-number": (edited(scorecards=[{"scorecard": {}, "retired": 1}]), Code.SCHEMA),
    "not-canonical": (build_registry(REGISTRY) + b"\n", Code.NOT_CANONICAL),
}


@pytest.mark.parametrize(
    ("payload", "code"), [pytest.param(*case, id=name) for name, case in FILLINGS.items()]
)
def test_a_badly_filled_registry_is_refused_even_if_signed(payload: bytes, code: Code):
    with refused(code):
        parse_registry(payload)
    with refused(code):
        load_registry(envelope.sign(payload, [ROOT], REGISTRY_TYPE), PINS, TODAY)


def test_a_name_for_people_may_use_any_letters_and_formula_signs():
    # exports must quote these; ids can never hold them (D68)
    named = replace(
        REGISTRY,
        models={model_digest("a/b"): Model("a/b", "=cmd() 模型", "", is_language_model=False)},
    )
    assert parse_registry(build_registry(named)) == named


def test_what_cannot_be_read_back_is_not_built():
    with refused(Code.DUPLICATE_KEY):
        build_registry(registry(roots=(ROOT.public, AGENT.public)))


def test_a_policy_by_digest_is_merged_with_the_floor():
    assert REGISTRY.policy_for(STRICT.digest) == STRICT
    with refused(Code.UNKNOWN_POLICY):
        REGISTRY.policy_for("00" * 32)


TOKEN = b"single-use token of 32 bytes ..."
VERIFIER = token_verifier(TOKEN)


def request(
    agent: Signer = AGENT,
    steward: Signer = STEWARD,
    *signers: Signer,
    proof: str = "",
    **header: Any,
) -> bytes:
    head = Header(ORIGIN, SITE, epoch=1, seq=0, prev=NONE, registry=9)
    predicate = EnrollPredicate(
        header=replace(head, **header),
        agent_key=agent.public.der,
        steward_key=steward.public.der,
        token_signature=proof or sign_with_token(TOKEN, ORIGIN, SITE, agent.public, steward.public),
    )
    return envelope.sign(build_statement(predicate), signers or (agent, steward))


def enrol(data: bytes) -> Any:
    return open_enrolment(data, deployment=ORIGIN, site=SITE, verifier=VERIFIER, registry_version=9)


def test_an_enrolment_proves_both_keys_and_the_token():
    data = request()
    found = enrol(data)
    assert enrolment_site(data) == SITE
    assert (found.agent, found.steward) == (AGENT.public, STEWARD.public)
    assert found.digest == envelope.decode(data).digest


REQUESTS: dict[str, tuple[bytes, Code]] = {
    "G112-proof-for-another-key": (
        request(proof=sign_with_token(TOKEN, ORIGIN, SITE, OTHER_AGENT.public, STEWARD.public)),
        Code.WRONG_TOKEN,
    ),
    "G112-roles-exchanged": (
        request(proof=sign_with_token(TOKEN, ORIGIN, SITE, STEWARD.public, AGENT.public)),
        Code.WRONG_TOKEN,
    ),
    "G112-token-of-another-invite": (
        request(proof=sign_with_token(b"other", ORIGIN, SITE, AGENT.public, STEWARD.public)),
        Code.WRONG_TOKEN,
    ),
    "G112-invite-of-another-site": (request(site="s-zzzzzzz9"), Code.WRONG_SITE),
    "F97-another-board": (request(deployment="staging.board.example"), Code.WRONG_DEPLOYMENT),
    "F96-registry-from-the-future": (request(registry=10), Code.WRONG_REGISTRY),
    "C45-steward-did-not-sign": (request(AGENT, STEWARD, AGENT), Code.UNKNOWN_KEY),
    "C39-signed-by-a-stranger": (request(AGENT, STEWARD, AGENT, STRANGER), Code.UNKNOWN_KEY),
    "C46-third-signature": (request(AGENT, STEWARD, AGENT, STEWARD, STRANGER), Code.UNKNOWN_KEY),
    "C42-one-key-for-both": (request(AGENT, AGENT, AGENT), Code.DUPLICATE_KEY),
    "F94-not-the-first-link": (request(seq=1), Code.SCHEMA),
    "F92-prev-given": (request(prev="00" * 32), Code.SCHEMA),
    "E75-a-result": (submission(), Code.WRONG_TYPE),
}


@pytest.mark.parametrize(
    ("data", "code"), [pytest.param(*case, id=name) for name, case in REQUESTS.items()]
)
def test_an_enrolment_without_its_proofs_is_refused(data: bytes, code: Code):
    with refused(code):
        enrol(data)


def test_B36_an_enrolment_with_a_weak_key_is_refused():
    class Weak:
        public = replace(AGENT.public, der=bytes.fromhex("302a300506032b6570032100") + bytes(32))

        def sign(self, message: bytes) -> bytes:
            return bytes(32) + bytes(32)

    with refused(Code.WEAK_KEY):
        enrol(request(Weak(), STEWARD))


def test_a_key_entry_is_valid_in_its_time_only():
    entry = SiteKey(
        load_public(AGENT.public.der), "agent", from_index=3, until_index=9, revoked_from=7
    )
    assert [index for index in range(12) if entry.valid_at(index)] == [3, 4, 5, 6]
