"""Files between the site and its steward: what the steward's tool opens, and what comes back changed by a carrier."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.delivery.outbox import State, Submission
from agent.delivery.refusals import collect_refusals
from agent.disclosure.approval import countersign
from agent.disclosure.exchange import Draft, read_rejected, read_signed, write_request
from agent.disclosure.ledger import read_ledger
from agent.disclosure.prepare import Gate, prepare
from agent.errors import DisclosureError
from intramural_steward.errors import RequestError
from intramural_steward.requests import open_request
from protocol import envelope
from protocol.approval_files import Rejection, SignedDrafts, write_rejection, write_signed_drafts
from protocol.envelope import REGISTRY_TYPE
from protocol.errors import Code
from protocol.keys import Signer
from protocol.refusal import Refusal, sign_refusal
from protocol.registry import build_registry
from tests.agent.disclosure.ward import (
    CARD,
    LEDGER_KEY,
    MODEL,
    OTHER_MODEL,
    REGISTRY,
    register,
    sign,
    site_gate,
    take,
    whole_ward,
)
from tests.protocol import world

ROOTS = [world.ROOT.public.keyid]
AUDIT_HEAD = (7, "ab" * 32)
REGISTRY_FILE = envelope.sign(build_registry(REGISTRY), [world.ROOT], REGISTRY_TYPE)


def draft_after_a_release(gate: Gate) -> Submission:
    for count in (100, 150):
        register(gate, {MODEL: whole_ward(count)})
        (draft,) = prepare(gate, CARD, {MODEL: whole_ward(count)}).submissions
        if count == 100:
            sign(gate, draft)
    return draft


def request_for(gate: Gate, drafts: Sequence[Submission]) -> bytes:
    asked = [Draft(draft, gate.outbox.read_verdicts(draft.digest)) for draft in drafts]
    return write_request(
        REGISTRY_FILE, gate.policy, asked, AUDIT_HEAD, collect_refusals(gate.outbox, REGISTRY)
    )


def test_the_stewards_tool_opens_what_the_site_writes(gate: Gate) -> None:
    draft = draft_after_a_release(gate)
    request = open_request(request_for(gate, [draft]), ROOTS, 1, world.TODAY)
    assert [asked.data for asked in request.drafts] == [draft.data]
    assert (request.policy, request.registry) == (gate.policy, REGISTRY)
    assert (request.audit_head.number, request.audit_head.link) == AUDIT_HEAD


def test_exact_counts_travel_to_the_steward_and_nothing_else_of_the_verdicts(gate: Gate) -> None:
    (draft,) = register(gate, {MODEL: whole_ward()})
    told = {"units": 200, "added": 3, "typed": "by hand", "never_seen": "200"}
    data = write_request(
        REGISTRY_FILE, gate.policy, [Draft(draft, {"notes": told})], AUDIT_HEAD, {}
    )
    assert b"by hand" not in data
    assert b'"notes":{"added":3,"units":200}' in data


def test_a_signed_refusal_shows_the_steward_that_a_place_is_free_again(gate: Gate) -> None:
    first = sign(gate, draft_after_a_release(gate))
    note = sign_refusal(Refusal(first.digest, Code.UNKNOWN_MODEL, 3), world.ORIGIN, world.RECEIPT)
    gate.outbox.put_refusal(first.digest, note)
    register(gate, {MODEL: whole_ward(60)})
    (draft,) = prepare(gate, CARD, {MODEL: whole_ward(60)}).submissions
    assert draft.place == first.place
    request = open_request(request_for(gate, [draft]), ROOTS, 1, world.TODAY)
    assert request.refused == {first.digest}


def test_a_refusal_by_a_receipt_key_that_was_replaced_keeps_no_request_from_the_steward(
    gate: Gate,
) -> None:
    """It proves nothing any more: the steward is shown that another statement had the place."""
    first = sign(gate, draft_after_a_release(gate))
    old_note = sign_refusal(
        Refusal(first.digest, Code.UNKNOWN_MODEL, 3), world.ORIGIN, world.ed25519_signer(78)
    )
    gate.outbox.put_refusal(first.digest, old_note)
    register(gate, {MODEL: whole_ward(60)})
    (draft,) = prepare(gate, CARD, {MODEL: whole_ward(60)}).submissions
    asked = [Draft(draft, gate.outbox.read_verdicts(draft.digest))]
    with pytest.raises(RequestError):
        open_request(
            write_request(
                REGISTRY_FILE, gate.policy, asked, AUDIT_HEAD, gate.outbox.read_refusals()
            ),
            ROOTS,
            1,
            world.TODAY,
        )
    assert open_request(request_for(gate, [draft]), ROOTS, 1, world.TODAY).refused == frozenset()


def test_what_was_signed_elsewhere_is_what_signing_here_gives(gate: Gate, tmp_path: Path) -> None:
    draft = draft_after_a_release(gate)
    signed = countersign(draft, REGISTRY, gate.policy, world.STEWARD)
    (back,) = read_signed(write_signed_drafts(SignedDrafts((signed,))))
    done = take(gate, back)
    assert done.state is State.APPROVED
    assert read_ledger(gate.outbox.ledger, LEDGER_KEY).holds(done.header.ledger)
    twin = site_gate(tmp_path / "twin")
    assert done.data == sign(twin, draft_after_a_release(twin)).data


def test_a_rejection_is_read_with_its_reason() -> None:
    rejection = Rejection(("ab" * 32,), "too_much")
    assert read_rejected(write_rejection(rejection)) == rejection


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"\xff", b"[" * 10_000, b'{"kind":"signed drafts","schema":1}']
)
def test_something_else_is_neither_signed_nor_rejected_drafts(data: bytes) -> None:
    with pytest.raises(DisclosureError, match="not a file of signed drafts"):
        read_signed(data)
    with pytest.raises(DisclosureError, match="not a file of rejected drafts"):
        read_rejected(data)


def test_any_byte_changed_on_the_way_back_is_noticed(gate: Gate) -> None:
    draft = draft_after_a_release(gate)
    signed = countersign(draft, REGISTRY, gate.policy, world.STEWARD)
    for position in range(0, len(signed), 7):
        changed = bytearray(signed)
        changed[position] ^= 1
        with pytest.raises(DisclosureError):
            take(gate, bytes(changed))
    assert gate.outbox.get(draft.digest).state is State.PREPARED
    assert take(gate, signed).state is State.APPROVED


@pytest.mark.full
@pytest.mark.parametrize(
    "signers",
    [
        [world.AGENT],
        [world.STEWARD],
        [world.AGENT, world.OTHER_STEWARD],
        [world.AGENT, world.STRANGER],
        [world.OTHER_AGENT, world.STEWARD],
        [world.AGENT, world.STEWARD, world.STRANGER],
    ],
)
def test_only_the_sites_agent_and_one_of_its_stewards_approve(
    gate: Gate, signers: list[Signer]
) -> None:
    draft = draft_after_a_release(gate)
    with pytest.raises(DisclosureError):
        take(gate, envelope.sign(draft.payload, signers))
    assert gate.outbox.get(draft.digest).state is State.PREPARED


def test_a_draft_that_was_replaced_meanwhile_is_not_taken(gate: Gate) -> None:
    draft = draft_after_a_release(gate)
    signed = countersign(draft, REGISTRY, gate.policy, world.STEWARD)
    prepare(gate, CARD, {MODEL: whole_ward(60)})
    with pytest.raises(DisclosureError, match="no submission with this digest"):
        take(gate, signed)


def test_a_ledger_without_the_debit_is_noticed_when_the_signed_draft_comes_back(gate: Gate) -> None:
    draft = draft_after_a_release(gate)
    signed = countersign(draft, REGISTRY, gate.policy, world.STEWARD)
    newest = max(gate.outbox.ledger.glob("*.json"))
    newest.rename(newest.with_suffix(".gone"))
    with pytest.raises(DisclosureError, match="lacks entry"):
        take(gate, signed)
    assert gate.outbox.get(draft.digest).state is State.PREPARED


def test_signed_drafts_are_taken_in_the_order_of_the_chain_alone(gate: Gate) -> None:
    findings = {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}
    register(gate, findings)
    first, second = sorted(prepare(gate, CARD, findings).submissions, key=lambda s: s.place)
    with pytest.raises(DisclosureError, match="comes before draft"):
        take(gate, countersign(second, REGISTRY, gate.policy, world.STEWARD))
    for draft in (first, second):
        take(gate, countersign(draft, REGISTRY, gate.policy, world.STEWARD))
