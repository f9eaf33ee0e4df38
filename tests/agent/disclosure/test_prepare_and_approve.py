"""From findings to two signatures, through every crash, repetition and trick that the way knows."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.delivery.outbox import Outbox, State, Submission
from agent.disclosure.approval import approve, check_draft
from agent.disclosure.ledger import read_ledger
from agent.disclosure.prepare import Gate, Prepared, prepare
from agent.disclosure.preview import make_page, previous_release, print_page
from agent.errors import DisclosureError, StoreError
from protocol import envelope
from protocol.errors import Code
from protocol.identity import agent_digest
from protocol.keys import Signer
from protocol.statements import build_statement
from protocol.verification import ChainHead, History, authenticate, verify_submission
from tests.agent.disclosure.ward import (
    CARD,
    MODEL,
    OTHER_MODEL,
    REGISTRY,
    finding,
    right,
    site_gate,
    tomorrow,
    whole_ward,
)
from tests.protocol import world


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)


def prepare_one(gate: Gate, count: int = 140, model: str = MODEL) -> Submission:
    (submission,) = prepare(gate, CARD, {model: whole_ward(count)}).submissions
    return submission


def quiet(event: str, detail: str) -> None:
    """An audit log that nobody reads."""


def sign(gate: Gate, submission: Submission, steward: Signer = world.STEWARD) -> Submission:
    return approve(gate.outbox, gate.registry, gate.policy, submission.digest, steward, quiet)


def test_what_was_prepared_and_approved_is_accepted_by_the_aggregators_rules(gate: Gate) -> None:
    prepared = prepare(gate, CARD, {MODEL: whole_ward(140), OTHER_MODEL: whole_ward(90)})
    assert [s.state for s in prepared.submissions] == [State.PREPARED, State.PREPARED]
    history = History(head=None)
    for submission in gate.outbox.all():
        done = sign(gate, submission)
        authentic = authenticate(done.data, REGISTRY, log_index=5)
        accepted = verify_submission(authentic, REGISTRY, history, today_day=world.TODAY)
        history = History(head=ChainHead(accepted.head.epoch, accepted.head.seq, accepted.head.digest))
    assert history.head is not None
    assert history.head.seq == 2


def test_the_same_release_again_is_the_same_bytes(gate: Gate) -> None:
    first = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    again = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert [s.data for s in again.submissions] == [s.data for s in first.submissions]
    assert again.new == frozenset()
    assert again.dropped == ()
    # Another site directory with the same keys and scores makes the same bytes, too.
    elsewhere = site_gate(gate.outbox.directory.parent / "elsewhere")
    assert [
        s.data for s in prepare(elsewhere, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}).submissions
    ] == [s.data for s in first.submissions]


def test_an_approved_release_is_not_prepared_again_tomorrow(gate: Gate) -> None:
    done = sign(gate, prepare_one(gate))
    again = prepare(tomorrow(gate), CARD, {MODEL: whole_ward()})
    assert again.submissions == (done,)
    assert again.new == frozenset()


def test_other_scores_replace_the_draft_and_those_after_it(gate: Gate) -> None:
    first = prepare(gate, CARD, {MODEL: whole_ward(140), OTHER_MODEL: whole_ward(60)})
    second = prepare(gate, CARD, {OTHER_MODEL: whole_ward(75)})
    # OTHER_MODEL comes first in the chain, so MODEL's draft, which named it, had to go as well.
    assert set(second.dropped) == {s.digest for s in first.submissions}
    assert [s.digest for s in gate.outbox.all()] == [s.digest for s in second.submissions]


def test_a_second_model_is_added_behind_the_draft_that_waits(gate: Gate) -> None:
    first = prepare_one(gate, model=MODEL)
    second = prepare_one(gate, 60, model=OTHER_MODEL)
    assert [s.digest for s in gate.outbox.all()] == [first.digest, second.digest]
    assert second.result.header.prev == first.digest


def test_approving_out_of_order_is_refused(gate: Gate) -> None:
    first, second = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}).submissions
    later = max(first, second, key=lambda s: s.result.header.seq)
    with pytest.raises(DisclosureError, match="moved on"):
        sign(gate, later)
    assert read_ledger(gate.outbox.ledger).entries == ()


def test_the_second_release_of_nearly_the_same_patients_repeats_the_first(gate: Gate) -> None:
    first = sign(gate, prepare_one(gate, 147))
    second = sign(gate, prepare_one(gate, 149))
    assert second.digest != first.digest
    assert second.result.cells == first.result.cells
    assert second.result.groups == first.result.groups
    assert second.result.scores_root != first.result.scores_root


def test_drafts_that_nobody_approves_cost_no_budget(gate: Gate) -> None:
    for count in range(20, 180, 20):
        prepare_one(gate, count)
    assert len(gate.outbox.all()) == 1
    assert read_ledger(gate.outbox.ledger).entries == ()


def test_the_fifth_approved_release_of_a_month_cannot_even_be_prepared(gate: Gate) -> None:
    for count in (40, 70, 100, 130):
        sign(gate, prepare_one(gate, count))
    with pytest.raises(DisclosureError, match="are spent"):
        prepare_one(gate, 160)
    assert all(s.state is State.APPROVED for s in gate.outbox.all())


class Crash(BaseException):
    """The power went out."""


def crash_at(step: int) -> Callable[..., None]:
    """Return a `write_atomically` that dies before its `step`-th write."""
    from agent.files import write_atomically

    seen = 0

    def write(path: Path, content: bytes) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            raise Crash
        write_atomically(path, content)

    return write


def patch_writes(monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]) -> None:
    for module in ("agent.delivery.outbox", "agent.disclosure.ledger"):
        monkeypatch.setattr(f"{module}.write_atomically", write)


@pytest.mark.parametrize("step", range(1, 7))
def test_a_crash_while_preparing_changes_nothing_in_the_end(gate: Gate, tmp_path: Path, step: int) -> None:
    work = {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}
    expected = [s.data for s in prepare(site_gate(tmp_path / "calm"), CARD, work).submissions]
    with pytest.MonkeyPatch.context() as patch:
        patch_writes(patch, crash_at(step))
        with pytest.raises(Crash):
            prepare(gate, CARD, work)
    assert [s.data for s in prepare(gate, CARD, work).submissions] == expected


@pytest.mark.parametrize("step", [1, 2])
def test_a_crash_while_approving_costs_the_release_once_and_refunds_nothing(gate: Gate, step: int) -> None:
    draft = prepare_one(gate)
    with pytest.MonkeyPatch.context() as patch:
        patch_writes(patch, crash_at(step))
        with pytest.raises(Crash):
            sign(gate, draft)
    assert len(read_ledger(gate.outbox.ledger).entries) == step - 1
    assert sign(gate, prepare_one(gate)).state is State.APPROVED
    assert len(read_ledger(gate.outbox.ledger).entries) == 1


def test_a_release_that_was_debited_stays_debited_when_other_scores_come(gate: Gate) -> None:
    draft = prepare_one(gate, 100)
    with pytest.MonkeyPatch.context() as patch:
        patch_writes(patch, crash_at(2))
        with pytest.raises(Crash):
            sign(gate, draft)
    second = prepare_one(gate, 103)
    assert second.result.cells["ward/exact_match"] == draft.result.cells["ward/exact_match"]
    sign(gate, second)
    assert len(read_ledger(gate.outbox.ledger).entries) == 2


def test_approving_twice_is_approving_once(gate: Gate) -> None:
    draft = prepare_one(gate)
    assert sign(gate, draft).data == sign(gate, draft).data
    assert len(read_ledger(gate.outbox.ledger).entries) == 1


def test_the_agents_own_key_does_not_approve(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="agent's key"):
        sign(gate, prepare_one(gate), world.AGENT)


@pytest.mark.parametrize("key", [world.OTHER_STEWARD, world.OTHER_AGENT, world.ROOT, world.STRANGER])
def test_nobody_elses_key_approves(gate: Gate, key: Signer) -> None:
    with pytest.raises(DisclosureError, match="not a steward's key of this site"):
        sign(gate, prepare_one(gate), key)
    assert read_ledger(gate.outbox.ledger).entries == ()


def test_a_revoked_steward_does_not_approve(gate: Gate) -> None:
    site = REGISTRY.sites[world.SITE]
    keys = tuple(replace(key, revoked_from=3) if key.role == "steward" else key for key in site.keys)
    after = replace(REGISTRY, sites={**REGISTRY.sites, world.SITE: replace(site, keys=keys)})
    draft = prepare_one(gate)
    with pytest.raises(DisclosureError, match="not a steward's key"):
        approve(gate.outbox, after, gate.policy, draft.digest, world.STEWARD, quiet)


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
    gate.outbox.put_draft(digest, data, {"policy": "", "cells": {}}, gate.outbox.release(draft.digest))
    with pytest.raises(DisclosureError, match=Code.OFF_GRID.value):
        approve(gate.outbox, gate.registry, gate.policy, digest, world.STEWARD, quiet)


def test_a_ledger_entry_that_says_something_else_than_the_payload_is_refused(gate: Gate) -> None:
    draft = prepare_one(gate)
    path = gate.outbox.directory / f"{draft.digest}.release.json"
    value = json.loads(path.read_bytes())
    value["cells"]["ward/exact_match"]["value"] = 500
    path.write_bytes(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())
    with pytest.raises(DisclosureError, match="not what the submission says"):
        sign(gate, draft)
    value["cells"] = {}  # nor may it forget the figures
    path.write_bytes(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())
    with pytest.raises(DisclosureError, match="not what the submission says"):
        sign(gate, draft)


def test_a_cut_ledger_stops_the_next_release(gate: Gate) -> None:
    sign(gate, prepare_one(gate))
    next(gate.outbox.ledger.iterdir()).unlink()
    with pytest.raises(DisclosureError, match="lacks submissions that were approved"):
        prepare_one(gate, 60)


def test_a_stricter_site_wins_and_names_the_federations_floor(gate: Gate, tmp_path: Path) -> None:
    own = replace(world.STRICT, name="ours", min_units=500)
    strict = replace(gate, policy=own)
    submission = prepare_one(strict)
    assert submission.result.cells["ward/exact_match"] == -1
    assert submission.result.policy == world.STRICT.digest
    loose = replace(
        gate,
        policy=replace(world.STRICT, name="loose", min_units=1, min_events=1, grid_units=1),
        outbox=Outbox(tmp_path / "loose"),
    )
    eight = [*whole_ward()[:1], finding("ward", "rouge_l", [0.5] * 8)]
    (tight,) = prepare(loose, CARD, {MODEL: eight}).submissions
    assert tight.result.cells["ward/rouge_l"] == -1


def test_a_draft_made_under_a_looser_policy_is_not_approved_after_tightening(gate: Gate) -> None:
    draft = prepare_one(gate)
    tighter = replace(world.STRICT, min_units=500)
    with pytest.raises(DisclosureError, match=Code.BELOW_THRESHOLD.value):
        check_draft(draft, gate.registry, tighter)


def test_nothing_to_publish_is_nothing_to_send(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="every figure is suppressed"):
        prepare(gate, CARD, {MODEL: [finding("ward", "exact_match", right(3, 8))]})
    with pytest.raises(DisclosureError, match="no benchmark of the scorecard was run"):
        prepare(gate, CARD, {MODEL: [finding("exam", "exact_match", [None] * 4, reason="not_asked")]})


def test_what_is_not_registered_is_refused_by_name(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="example/unknown"):
        prepare(gate, CARD, {"example/unknown": whole_ward()})
    with pytest.raises(DisclosureError, match=r"version 9\.9\.9 of the agent"):
        prepare(replace(gate, agent_version="9.9.9"), CARD, {MODEL: whole_ward()})
    with pytest.raises(DisclosureError, match="retired"):
        prepare(gate, world.RETIRED, {MODEL: whole_ward()})
    with pytest.raises(DisclosureError, match="does not know this site's agent key"):
        prepare(replace(gate, signer=world.STRANGER), CARD, {MODEL: whole_ward()})
    with pytest.raises(DisclosureError, match="does not know this site's agent key"):
        prepare(replace(gate, signer=world.STEWARD), CARD, {MODEL: whole_ward()})
    assert agent_digest("9.9.9") not in REGISTRY.agents


def test_a_refused_link_is_replaced_and_what_followed_it_becomes_void(gate: Gate) -> None:
    work: dict[str, int] = {MODEL: 140, OTHER_MODEL: 60}
    prepared = prepare(gate, CARD, {name: whole_ward(count) for name, count in work.items()})
    first, second = (sign(gate, s) for s in sorted(prepared.submissions, key=lambda s: s.result.header.seq))
    gate.outbox.mark_sent(first.digest, world.TODAY)
    gate.outbox.mark_refused(first.digest, Code.WRONG_ROOT)
    again = prepare(tomorrow(gate), CARD, {name: whole_ward(count) for name, count in work.items()})
    states = {s.digest: s.state for s in gate.outbox.all()}
    assert states[first.digest] is states[second.digest] is State.VOID
    assert [s.result.header.seq for s in sorted(again.submissions, key=lambda s: s.result.header.seq)] == [1, 2]
    assert len(read_ledger(gate.outbox.ledger).entries) == 2  # a refused release still left the site


def test_two_commands_at_once_do_not_mix(gate: Gate) -> None:
    with gate.outbox.held(), pytest.raises(StoreError, match="another command"):
        prepare_one(gate)


def test_the_page_shows_figures_verdicts_change_and_the_exact_bytes(
    gate: Gate, capsys: pytest.CaptureFixture[str]
) -> None:
    first = sign(gate, prepare_one(gate, 100))
    second = prepare_one(gate, 150)
    previous = previous_release(second, gate.outbox.all())
    assert previous == first
    page = make_page(second, REGISTRY, gate.policy, gate.outbox.verdicts(second.digest), previous)
    figure = next(figure for figure in page.figures if figure.cell == "ward/exact_match")
    # On the grid that 180 to 209 units allow: steps of 0.04.
    assert (figure.value, figure.before, figure.change) == ("0.760", "0.520", "+0.240")
    assert "rounded" in figure.verdict
    assert page.payload.encode() == second.payload
    assert 0 < page.bits < 400
    print_page(page)
    shown = capsys.readouterr().out
    for text in (second.digest, page.payload, "General Hospital", first.digest, world.AGENT.public.keyid):
        assert text in shown


def test_a_verdict_file_that_lies_changes_no_figure_on_the_page(gate: Gate) -> None:
    draft = prepare_one(gate)
    lies = {"cells": dict.fromkeys(draft.result.cells, "not_run") | {"ward/rouge_l": "<script>"}}
    page = make_page(draft, REGISTRY, gate.policy, lies, None)
    honest = make_page(draft, REGISTRY, gate.policy, gate.outbox.verdicts(draft.digest), None)
    assert [f.value for f in page.figures] == [f.value for f in honest.figures]
    assert next(f for f in page.figures if f.cell == "ward/rouge_l").verdict == "unknown"


def test_the_commitment_binds_every_score_and_differs_between_models(gate: Gate) -> None:
    def root(prepared: Prepared) -> str:
        return prepared.submissions[0].result.scores_root

    base = root(prepare(gate, CARD, {MODEL: whole_ward()}))
    one_changed = whole_ward()
    scores = list(one_changed[1].scores)
    scores[0] = replace(scores[0], value=0.0)
    one_changed[1] = replace(one_changed[1], scores=scores)
    elsewhere = site_gate(gate.outbox.directory.parent / "b")
    assert root(prepare(elsewhere, CARD, {MODEL: one_changed})) != base
    elsewhere = site_gate(gate.outbox.directory.parent / "c")
    assert root(prepare(elsewhere, CARD, {OTHER_MODEL: whole_ward()})) != base
    elsewhere = replace(site_gate(gate.outbox.directory.parent / "d"), data_key=b"e" * 32)
    assert root(prepare(elsewhere, CARD, {MODEL: whole_ward()})) != base
