"""Approving elsewhere: whoever carries the files changes them, on the way to the steward and on the way back."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.delivery.outbox import State, Submission
from agent.disclosure.approval import countersign
from agent.disclosure.exchange import Draft, Request, open_request, read_signed, write_request, write_signed
from agent.disclosure.ledger import read_ledger
from agent.disclosure.prepare import Gate, prepare
from agent.disclosure.preview import make_page, previous_release
from agent.errors import DisclosureError
from protocol import envelope
from protocol.envelope import REGISTRY_TYPE
from protocol.identity import model_digest
from protocol.keys import Signer
from protocol.registry import Model, Registry, build_registry
from protocol.statements import build_statement
from tests.agent.disclosure.ward import (
    CARD,
    LEDGER_KEY,
    MODEL,
    OTHER_MODEL,
    REGISTRY,
    sign,
    site_gate,
    take,
    whole_ward,
)
from tests.protocol import world

ROOTS = [world.ROOT.public.keyid]


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)


def signed_registry(registry: Registry = REGISTRY, *signers: Signer) -> bytes:
    return envelope.sign(build_registry(registry), signers or [world.ROOT], REGISTRY_TYPE)


def draft_after_a_release(gate: Gate) -> Submission:
    for count in (100, 150):
        (draft,) = prepare(gate, CARD, {MODEL: whole_ward(count)}).submissions
        if count == 100:
            sign(gate, draft)
    return draft


def request_for(gate: Gate, *drafts: Submission, registry: bytes | None = None) -> bytes:
    everything = gate.outbox.all()
    asked = [Draft(s, gate.outbox.verdicts(s.digest), previous_release(s, everything)) for s in drafts]
    return write_request(registry or signed_registry(), gate.policy, asked)


def opened(data: bytes) -> Request:
    return open_request(data, ROOTS, world.TODAY)


def test_the_stewards_page_elsewhere_is_the_page_at_the_site(gate: Gate) -> None:
    draft = draft_after_a_release(gate)
    request = opened(request_for(gate, draft))
    (asked,) = request.drafts
    previous = previous_release(draft, gate.outbox.all())
    assert previous is not None
    here = make_page(draft, REGISTRY, gate.policy, gate.outbox.verdicts(draft.digest), previous)
    assert make_page(asked.submission, request.registry, request.policy, asked.verdicts, asked.previous) == here
    assert request.roots == (world.ROOT.public,)


def test_what_was_signed_elsewhere_is_what_signing_here_gives(gate: Gate, tmp_path: Path) -> None:
    draft = draft_after_a_release(gate)
    request = opened(request_for(gate, draft))
    signed = countersign(request.drafts[0].submission, request.registry, request.policy, world.STEWARD)
    (back,) = read_signed(write_signed([signed]))
    done = take(gate, back)
    assert done.state is State.APPROVED
    assert len(read_ledger(gate.outbox.ledger, LEDGER_KEY).entries) == 2
    twin = site_gate(tmp_path / "twin")
    assert done.data == sign(twin, draft_after_a_release(twin)).data


def edit(data: bytes, how: Callable[[Any], None]) -> bytes:
    value = json.loads(data)
    how(value)
    return json.dumps(value).encode()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def with_part(request: bytes, part: str, content: bytes) -> bytes:
    return edit(request, lambda value: value["drafts"][0].update({part: b64(content)}))


@pytest.mark.parametrize("part", ["envelope", "previous"])
def test_any_byte_changed_on_the_way_to_the_steward_is_noticed(gate: Gate, part: str) -> None:
    draft = draft_after_a_release(gate)
    data = request_for(gate, draft)
    bytes_of_part = base64.b64decode(json.loads(data)["drafts"][0][part])
    for position in range(0, len(bytes_of_part), 23):
        changed = bytearray(bytes_of_part)
        changed[position] ^= 1
        with pytest.raises(DisclosureError):
            opened(with_part(data, part, bytes(changed)))


def test_a_registry_with_other_names_is_not_signed_by_the_roots(gate: Gate) -> None:
    """Its maker's own root signs that the model is called something else, or that the policy is loose."""
    draft = draft_after_a_release(gate)
    renamed = {
        digest: Model(m.name, "Another name", "", is_language_model=True) for digest, m in REGISTRY.models.items()
    }
    forged = replace(REGISTRY, models=renamed, roots=(world.STRANGER.public,))
    data = request_for(gate, draft, registry=signed_registry(forged, world.STRANGER))
    with pytest.raises(DisclosureError, match="under_threshold"):
        opened(data)
    # Who names no root is shown whose word this is.
    assert open_request(data, [], world.TODAY).roots == (world.STRANGER.public,)
    with pytest.raises(DisclosureError, match="unknown_key"):
        open_request(request_for(gate, draft, registry=signed_registry(REGISTRY, world.STRANGER)), [], world.TODAY)


def test_an_expired_registry_is_not_used(gate: Gate) -> None:
    data = request_for(gate, draft_after_a_release(gate))
    with pytest.raises(DisclosureError, match="registry_expired"):
        open_request(data, ROOTS, REGISTRY.expires_day)


def test_a_loose_policy_in_the_request_loosens_nothing(gate: Gate) -> None:
    """Figures off the federation's grid under the agent's own signature, with a policy that would let them."""
    draft = draft_after_a_release(gate)
    forged = replace(draft.result, cells={**draft.result.cells, "ward/exact_match": 733})
    data = envelope.sign(build_statement(forged), [world.AGENT])
    loose = replace(world.STRICT, min_units=1, min_events=1, grid_units=1)

    def forge(value: Any) -> None:
        value["drafts"][0]["envelope"] = b64(data)
        value["policy"] = loose.to_json()

    with pytest.raises(DisclosureError, match="off_grid"):
        opened(edit(request_for(gate, draft), forge))


def test_a_draft_for_another_aggregator_is_not_shown_as_this_ones(gate: Gate) -> None:
    draft = draft_after_a_release(gate)
    header = replace(draft.result.header, deployment="evil.example")
    data = envelope.sign(build_statement(replace(draft.result, header=header)), [world.AGENT])
    request = request_for(gate, draft)
    with pytest.raises(DisclosureError, match="another aggregator"):
        opened(with_part(request, "envelope", data))


def test_a_release_before_that_nobody_released_is_refused(gate: Gate) -> None:
    """Compared with invented figures, today's would look like no change at all."""
    draft = draft_after_a_release(gate)
    request = request_for(gate, draft)
    both: list[Signer] = [world.AGENT, world.STEWARD]
    (before,) = (s for s in gate.outbox.all() if s.state is State.APPROVED)
    other = envelope.sign(build_statement(replace(before.result, model=model_digest(OTHER_MODEL))), both)
    half = envelope.sign(before.payload, [world.AGENT])
    later = envelope.sign(draft.payload, both)
    for invented in (half, other, later):
        with pytest.raises(DisclosureError, match="no earlier release"):
            opened(with_part(request, "previous", invented))


@pytest.mark.parametrize(
    "lies",
    [
        {"cells": {"ward/exact_match": "\x1b[2J"}, "data": {"ward": {"known": "x", "asked": "\x1b", "available": 1}}},
        {"cells": [], "data": 7},
        {"cells": {"ward/exact_match": ["rounded"]}, "data": {"ward": [1, 2, 3]}},
        {"cells": {"ward/exact_match": "rounded"}, "data": {"ward": {"known": {}, "asked": "\x1b", "available": None}}},
        {},
    ],
)
def test_verdicts_made_elsewhere_put_nothing_but_known_words_on_the_page(gate: Gate, lies: dict[str, Any]) -> None:
    request = opened(
        edit(request_for(gate, draft_after_a_release(gate)), lambda v: v["drafts"][0].update(verdicts=lies))
    )
    page = make_page(request.drafts[0].submission, request.registry, request.policy, request.drafts[0].verdicts, None)
    assert all("\x1b" not in figure.verdict for figure in page.figures)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b"[" * 10_000, b'{"schema": 1, "kind": "approval request"}'])
def test_something_else_is_neither_a_request_nor_signed_drafts(data: bytes) -> None:
    with pytest.raises(DisclosureError, match="not a request"):
        opened(data)
    with pytest.raises(DisclosureError, match="not a file of signed drafts"):
        read_signed(data)


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
def test_only_the_sites_agent_and_one_of_its_stewards_approve(gate: Gate, signers: list[Signer]) -> None:
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


def test_what_the_ledger_would_keep_is_checked_when_the_signed_draft_comes_back(gate: Gate) -> None:
    draft = draft_after_a_release(gate)
    signed = countersign(draft, REGISTRY, gate.policy, world.STEWARD)
    path = gate.outbox.directory / f"{draft.digest}.release.json"
    path.write_bytes(path.read_bytes().replace(b'"value":', b'"value":1'))
    with pytest.raises(DisclosureError, match="was changed after it was prepared"):
        take(gate, signed)
    assert gate.outbox.get(draft.digest).state is State.PREPARED


def test_signed_drafts_are_taken_in_the_order_of_the_chain_alone(gate: Gate) -> None:
    first, second = sorted(
        prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}).submissions, key=lambda s: s.place
    )
    with pytest.raises(DisclosureError, match="comes before it"):
        take(gate, countersign(second, REGISTRY, gate.policy, world.STEWARD))
    for draft in (first, second):
        take(gate, countersign(draft, REGISTRY, gate.policy, world.STEWARD))
