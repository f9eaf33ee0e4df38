"""Bad inputs C and F: whose keys, in which role, when; and the place of a statement in its site's chain."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from protocol import envelope
from protocol.errors import Code
from protocol.identity import NONE
from protocol.keys import Signer
from protocol.predicates import EnrollPredicate
from protocol.registry import Registry, SiteKey
from protocol.statements import build_statement
from protocol.verification import Accepted, ChainHead, History, authenticate
from tests.protocol.world import (
    AGENT,
    ENROLMENT,
    HISTORY,
    LOG,
    NEW_ROOT,
    OTHER_AGENT,
    OTHER_ENROLMENT,
    OTHER_SITE,
    OTHER_STEWARD,
    REGISTRY,
    RESULT,
    ROOT,
    SCORECARD,
    SECOND_AGENT,
    SITE,
    STEWARD,
    STRANGER,
    TODAY,
    ed25519_signer,
    refused,
    registry,
    result,
    signed,
    submission,
    submit,
)

PAYLOAD = build_statement(RESULT)


def with_keys(*entries: SiteKey) -> Registry:
    return registry(sites={**REGISTRY.sites, SITE: replace(REGISTRY.sites[SITE], keys=entries)})


AGENT_KEY, STEWARD_KEY = REGISTRY.sites[SITE].keys
TWO_AGENTS = with_keys(AGENT_KEY, STEWARD_KEY, SiteKey(SECOND_AGENT.public, "agent"))

SIGNERS: dict[str, tuple[Registry, tuple[Signer, ...]]] = {
    "C39-unknown-key": (REGISTRY, (AGENT, STRANGER)),
    "C41-keys-of-site-B-for-one-role": (REGISTRY, (AGENT, OTHER_STEWARD)),
    "C42-two-agent-keys": (TWO_AGENTS, (AGENT, SECOND_AGENT)),
    "C45-agent-only": (REGISTRY, (AGENT,)),
    "C45-steward-only": (REGISTRY, (STEWARD,)),
    "C46-third-signature-of-another-site": (REGISTRY, (AGENT, STEWARD, OTHER_AGENT)),
    "C46-third-signature-of-the-same-site": (TWO_AGENTS, (AGENT, STEWARD, SECOND_AGENT)),
    "C46-third-signature-of-a-stranger": (REGISTRY, (AGENT, STEWARD, STRANGER)),
    "C47-expired-key": (
        with_keys(replace(AGENT_KEY, until_index=5), STEWARD_KEY),
        (AGENT, STEWARD),
    ),
    "C48-key-not-valid-yet": (
        with_keys(AGENT_KEY, replace(STEWARD_KEY, from_index=6)),
        (AGENT, STEWARD),
    ),
    "C49-revoked-key": (
        with_keys(replace(AGENT_KEY, revoked_from=5), STEWARD_KEY),
        (AGENT, STEWARD),
    ),
    "C50-root-key": (REGISTRY, (ROOT, STEWARD)),
    "C50-log-key": (REGISTRY, (AGENT, LOG)),
    "F89-replay-after-the-key-was-rotated": (
        with_keys(
            replace(AGENT_KEY, until_index=3),
            STEWARD_KEY,
            SiteKey(SECOND_AGENT.public, "agent", from_index=3),
        ),
        (AGENT, STEWARD),
    ),
}


@pytest.mark.parametrize(
    ("known", "signers"), [pytest.param(*case, id=name) for name, case in SIGNERS.items()]
)
def test_signatures_without_the_right_keys_in_the_right_roles_are_refused(
    known: Registry, signers: tuple[Signer, ...]
):
    with refused(Code.UNKNOWN_KEY):
        submit(signed(PAYLOAD, *signers), known, index=5)


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(
            with_keys(replace(AGENT_KEY, until_index=6), STEWARD_KEY),
            id="C47-last-entry-before-expiry",
        ),
        pytest.param(
            with_keys(AGENT_KEY, replace(STEWARD_KEY, from_index=5)), id="C48-first-entry"
        ),
        pytest.param(
            with_keys(replace(AGENT_KEY, revoked_from=6), STEWARD_KEY),
            id="C49-last-entry-before-revocation",
        ),
    ],
)
def test_a_key_counts_up_to_the_index_where_its_time_ends(known: Registry):
    assert submit(signed(PAYLOAD), known, index=5).site == SITE


def test_C40_the_signature_of_another_key_under_a_known_keyid_is_bad():
    class Impostor:
        public = STEWARD.public

        def sign(self, message: bytes) -> bytes:
            return STRANGER.sign(message)

    with refused(Code.BAD_SIGNATURE):
        submit(signed(PAYLOAD, AGENT, Impostor()))


def test_C44_one_bad_signature_beside_a_good_one_is_not_skipped():
    class Careless:
        public = AGENT.public

        def sign(self, message: bytes) -> bytes:
            return AGENT.sign(message + b" ")

    with refused(Code.BAD_SIGNATURE):
        submit(signed(PAYLOAD, Careless(), STEWARD))


def test_C41_site_A_cannot_sign_the_statement_of_site_B():
    with refused(Code.WRONG_SITE):
        submit(signed(build_statement(result({"site": OTHER_SITE, "prev": OTHER_ENROLMENT}))))


def test_nothing_of_the_payload_is_read_before_the_signatures_hold():
    for payload in (b"{", b"[" * 40_000, PAYLOAD.replace(b"complete", b"finished")):
        with refused(Code.UNKNOWN_KEY):
            submit(signed(payload, AGENT, STRANGER))


SECOND = ChainHead(epoch=1, seq=1, digest="d1" * 32)


def chained(head: ChainHead | None = SECOND, **known: Any) -> History:
    return replace(HISTORY, head=head, **known)


def test_the_first_result_follows_the_enrolment_and_the_second_follows_the_first():
    first = submit(submission())
    assert first.head == ChainHead(1, 1, first.digest)
    second = submit(submission({"seq": 2, "prev": first.digest}), history=chained(first.head))
    assert second.head == ChainHead(1, 2, second.digest)


@pytest.mark.parametrize(
    ("header", "head", "code"),
    [
        pytest.param({"seq": 3, "prev": SECOND.digest}, SECOND, Code.WRONG_SEQ, id="F90-gap"),
        pytest.param({"seq": 2}, None, Code.WRONG_SEQ, id="F90-gap-at-the-start"),
        pytest.param({"seq": 1, "prev": ENROLMENT}, SECOND, Code.FORK, id="F91-seq-taken"),
        pytest.param({"seq": 2, "prev": "00" * 32}, SECOND, Code.WRONG_PREV, id="F92-wrong-prev"),
        pytest.param(
            {"seq": 2, "prev": ENROLMENT}, SECOND, Code.WRONG_PREV, id="F92-prev-of-an-older-link"
        ),
        pytest.param(
            {"prev": OTHER_ENROLMENT}, None, Code.WRONG_PREV, id="F93-prev-of-another-site"
        ),
        pytest.param(
            {"seq": 1, "prev": SECOND.digest},
            replace(SECOND, seq=7),
            Code.FORK,
            id="F94-seq-starts-again",
        ),
        pytest.param(
            {"epoch": 2, "seq": 1, "prev": SECOND.digest},
            SECOND,
            Code.WRONG_EPOCH,
            id="F95-epoch-jump",
        ),
        pytest.param({"epoch": 2}, None, Code.WRONG_EPOCH, id="F95-epoch-jump-at-the-start"),
        pytest.param(
            {"seq": 2, "prev": "d0" * 32},
            replace(SECOND, epoch=2),
            Code.WRONG_EPOCH,
            id="F89-old-epoch",
        ),
        pytest.param(
            {"seq": 4, "prev": "d3" * 32}, SECOND, Code.WRONG_SEQ, id="F102-batch-out-of-order"
        ),
    ],
)
def test_a_statement_out_of_its_place_in_the_chain_is_refused(
    header: dict[str, Any], head: ChainHead | None, code: Code
):
    with refused(code):
        submit(submission(header), history=chained(head))


def test_F91_a_frozen_site_is_refused_even_with_the_right_link():
    with refused(Code.SITE_FROZEN):
        submit(submission(), history=chained(None, frozen=True))


def test_F88_the_same_payload_has_the_same_identity_however_it_is_signed():
    first = authenticate(submission(), REGISTRY, log_index=5)
    rotated = with_keys(AGENT_KEY, STEWARD_KEY, SiteKey(SECOND_AGENT.public, "agent"))
    again = authenticate(signed(PAYLOAD, SECOND_AGENT, STEWARD), rotated, log_index=9)
    assert first.digest == again.digest == hashlib.sha256(first.envelope.pae).hexdigest()


@pytest.mark.parametrize(
    ("version", "accepted"),
    [
        pytest.param(9, True, id="F96-newest"),
        pytest.param(2, True, id="F96-seven-before"),
        pytest.param(1, False, id="F96-eight-before"),
        pytest.param(10, False, id="F96-from-the-future"),
    ],
)
def test_a_result_names_one_of_the_last_eight_registries(version: int, accepted: bool):
    data = submission({"registry": version})
    if accepted:
        assert submit(data).statement.header.registry == version
    else:
        with refused(Code.WRONG_REGISTRY):
            submit(data)


def test_E75_an_enrolment_is_no_result():
    header = replace(RESULT.header, seq=0, prev=NONE)
    payload = build_statement(
        EnrollPredicate(header, AGENT.public.der, STEWARD.public.der, "00" * 64)
    )
    with refused(Code.WRONG_TYPE):
        submit(signed(payload))


def test_F97_a_file_for_the_staging_board_is_refused_in_production():
    with refused(Code.WRONG_DEPLOYMENT):
        submit(submission({"deployment": "staging.board.example"}))


@pytest.mark.parametrize(
    ("day", "accepted"),
    [
        pytest.param(TODAY, True, id="F100-today"),
        pytest.param(TODAY - 127, True, id="F100-127-days-ago"),
        pytest.param(TODAY - 128, False, id="F100-128-days-ago"),
        pytest.param(TODAY + 1, False, id="F100-tomorrow"),
        pytest.param(TODAY - 3650, False, id="F100-ten-years-ago"),
        pytest.param(0, False, id="F100-clock-at-1970"),
        pytest.param(24_855, False, id="F100-clock-at-2038"),
    ],
)
def test_a_result_is_of_the_last_128_days(day: int, accepted: bool):
    data = submission(day=day)
    if accepted:
        assert submit(data).digest == envelope.decode(data).digest
    else:
        with refused(Code.WRONG_DAY):
            submit(data)


def test_what_is_accepted_says_all_the_log_needs():
    accepted = submit(submission())
    assert isinstance(accepted, Accepted)
    assert accepted.leaf == envelope.pae(envelope.STATEMENT_TYPE, PAYLOAD)
    assert (accepted.site, accepted.statement, accepted.scorecard) == (SITE, RESULT, SCORECARD)


def test_C50_a_site_key_signs_no_registry():
    # the counterpart, C51, is in test_registry
    assert REGISTRY.site_of(NEW_ROOT.public.keyid) is None
    assert REGISTRY.site_of(ed25519_signer(1).public.keyid) == (SITE, AGENT_KEY)
