"""A steward of the site, and nobody else, signs a draft that is the one that was prepared and debited."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.delivery.outbox import State, Submission
from agent.disclosure.approval import check_draft
from agent.disclosure.prepare import Gate
from agent.errors import DisclosureError
from protocol import envelope
from protocol.errors import Code
from protocol.keys import Signer
from protocol.policy import bucket_range, grid_step
from protocol.statements import build_statement
from tests.agent.disclosure.drafts import (
    Crash,
    crash_at,
    patch_writes,
    prepare,
    prepare_one,
    released,
    results,
)
from tests.agent.disclosure.ward import (
    CARD,
    MODEL,
    OTHER_MODEL,
    REGISTRY,
    sign,
    whole_ward,
)
from tests.protocol import world


def test_approving_out_of_order_is_refused(gate: Gate) -> None:
    first, second = prepare(
        gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}
    ).submissions
    later = max(first, second, key=lambda s: s.result.header.seq)
    with pytest.raises(
        DisclosureError, match=r"comes before draft [0-9a-f]{12} in the site's chain"
    ):
        sign(gate, later)


@pytest.mark.parametrize("step", [1])
def test_a_crash_while_approving_leaves_the_draft(gate: Gate, step: int) -> None:
    draft = prepare_one(gate)
    with pytest.MonkeyPatch.context() as patch:
        patch_writes(patch, crash_at(step))
        with pytest.raises(Crash):
            sign(gate, draft)
    assert gate.outbox.get(draft.digest).state is State.PREPARED
    assert sign(gate, prepare_one(gate)).state is State.APPROVED
    assert len(released(gate)) == 1


def test_approving_twice_is_approving_once(gate: Gate) -> None:
    draft = prepare_one(gate)
    assert sign(gate, draft).data == sign(gate, draft).data
    assert len(released(gate)) == 1


def test_the_agents_own_key_does_not_approve(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="agent's key"):
        sign(gate, prepare_one(gate), world.AGENT)


@pytest.mark.parametrize(
    "key", [world.OTHER_STEWARD, world.OTHER_AGENT, world.ROOT, world.STRANGER]
)
def test_nobody_elses_key_approves(gate: Gate, key: Signer) -> None:
    with pytest.raises(DisclosureError, match="not a steward's key of this site"):
        sign(gate, prepare_one(gate), key)
    assert all(s.state is State.PREPARED for s in results(gate))


def test_a_revoked_steward_does_not_approve(gate: Gate) -> None:
    site = REGISTRY.sites[world.SITE]
    keys = tuple(
        replace(key, revoked_from=3) if key.role == "steward" else key for key in site.keys
    )
    after = replace(REGISTRY, sites={**REGISTRY.sites, world.SITE: replace(site, keys=keys)})
    draft = prepare_one(gate)
    with pytest.raises(DisclosureError, match="not a steward's key"):
        sign(replace(gate, registry=after), draft)


def draft_path(gate: Gate, draft: Submission) -> Path:
    return gate.outbox.directory / f"{draft.digest}.draft.dsse.json"


def test_any_byte_changed_after_preparing_voids_it(gate: Gate) -> None:
    draft = prepare_one(gate)
    path = draft_path(gate, draft)
    for position in range(0, len(draft.data), 7):
        changed = bytearray(draft.data)
        changed[position] ^= 1
        path.write_bytes(changed)
        with pytest.raises(DisclosureError):
            sign(gate, draft)
    path.write_bytes(draft.data)
    assert sign(gate, draft).state is State.APPROVED


def test_a_better_figure_under_the_agents_own_signature_is_still_checked(gate: Gate) -> None:
    """Whoever holds the agent's key can sign anything; the steward's tool applies the rules again."""
    draft = prepare_one(gate)
    forged = replace(draft.result, cells={**draft.result.cells, "ward/exact_match": 733})
    data = envelope.sign(build_statement(forged), [world.AGENT])
    digest = envelope.decode(data).digest
    gate.outbox.drop_draft(draft.digest)
    gate.outbox.put_draft(digest, data, {"policy": "", "cells": {}})
    with pytest.raises(DisclosureError, match=Code.OFF_GRID.value):
        sign(gate, gate.outbox.get(digest))


def test_a_figure_that_was_never_debited_is_not_approved(gate: Gate) -> None:
    """The rules of the protocol allow it; but the ledger does not know it."""
    draft = prepare_one(gate)
    step = grid_step(bucket_range(draft.result.groups["ward"])[0], world.STRICT)
    other = draft.result.cells["ward/exact_match"] - step
    forged = replace(draft.result, cells={**draft.result.cells, "ward/exact_match": other})
    data = envelope.sign(build_statement(forged), [world.AGENT])
    digest = envelope.decode(data).digest
    gate.outbox.drop_draft(draft.digest)
    gate.outbox.put_draft(digest, data, {"policy": "", "cells": {}})
    with pytest.raises(DisclosureError, match="no debit"):
        sign(gate, gate.outbox.get(digest))


def test_a_draft_made_under_a_looser_policy_is_not_approved_after_tightening(gate: Gate) -> None:
    draft = prepare_one(gate)
    tighter = replace(world.STRICT, min_units=500)
    with pytest.raises(DisclosureError, match=Code.BELOW_THRESHOLD.value):
        check_draft(draft, gate.registry, tighter)
