"""From findings to two signatures, through every crash, repetition and trick that the way knows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.delivery.outbox import Outbox, State, Submission
from agent.disclosure import prepare as preparing
from agent.disclosure.approval import check_draft
from agent.disclosure.findings import Extent, Finding
from agent.disclosure.ledger import ReleaseEntry, append_entry, read_ledger
from agent.disclosure.prepare import Gate, Prepared
from agent.errors import DisclosureError, StoreError
from agent.vocabulary import AccessLevel
from protocol import envelope
from protocol.errors import Code
from protocol.identity import agent_digest
from protocol.keys import Signer
from protocol.policy import bucket_range, grid_step
from protocol.predicates import DatasetPredicate
from protocol.refusal import Refusal, sign_refusal
from protocol.scorecard import Scorecard
from protocol.statements import build_statement
from protocol.verification import History, authenticate, verify_link
from tests.agent.disclosure.ward import (
    CARD,
    LEDGER_KEY,
    MODEL,
    OTHER_MODEL,
    REGISTRY,
    finding,
    register,
    right,
    sign,
    site_gate,
    tomorrow,
    whole_ward,
)
from tests.protocol import world


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)


def prepare(gate: Gate, card: Scorecard, findings: Mapping[str, Sequence[Finding]]) -> Prepared:
    """Register what the findings are of, and prepare."""
    if gate.signer is world.AGENT:
        register(gate, findings)
    return preparing.prepare(gate, card, findings)


def prepare_one(gate: Gate, count: int = 140, model: str = MODEL) -> Submission:
    (submission,) = prepare(gate, CARD, {model: whole_ward(count)}).submissions
    return submission


def results(gate: Gate) -> list[Submission]:
    return [submission for submission in gate.outbox.list_submissions() if submission.is_result]


def released(gate: Gate) -> tuple[ReleaseEntry, ...]:
    return tuple(release for _, release in read_ledger(gate.outbox.ledger, LEDGER_KEY).iterate_releases())


def refuse(gate: Gate, digest: str, code: Code) -> None:
    """Keep a refusal that the log's key has signed."""
    gate.outbox.put_refusal(digest, sign_refusal(Refusal(digest, code, 5), world.ORIGIN, world.RECEIPT))


def test_what_was_prepared_and_approved_is_accepted_by_the_aggregators_rules(gate: Gate) -> None:
    prepared = prepare(gate, CARD, {MODEL: whole_ward(140), OTHER_MODEL: whole_ward(90)})
    assert [s.state for s in prepared.submissions] == [State.PREPARED, State.PREPARED]
    history = History(head=None)
    for submission in gate.outbox.list_submissions():
        done = sign(gate, submission)
        authentic = authenticate(done.data, REGISTRY, log_index=5)
        accepted = verify_link(authentic, REGISTRY, history, today_day=world.TODAY)
        datasets = dict(history.datasets)
        if isinstance(accepted.statement, DatasetPredicate):
            datasets[accepted.digest] = accepted.statement
        history = History(head=accepted.head, ledger=accepted.statement.header.ledger, datasets=datasets)
    assert history.head is not None
    assert history.head.seq == 3  # the dataset, and two results
    assert history.ledger.length == 3


def test_the_same_release_again_is_the_same_bytes(gate: Gate) -> None:
    first = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    again = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert [s.data for s in again.submissions] == [s.data for s in first.submissions]
    assert again.new == frozenset()
    assert again.dropped == ()
    # Another site directory with the same keys and scores makes the same bytes, too.
    elsewhere = site_gate(gate.outbox.directory.parent / "elsewhere")
    register(elsewhere, {MODEL: whole_ward()})
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
    assert [s.digest for s in results(gate)] == [s.digest for s in second.submissions]


def test_a_second_model_is_added_behind_the_draft_that_waits(gate: Gate) -> None:
    first = prepare_one(gate, model=MODEL)
    second = prepare_one(gate, 60, model=OTHER_MODEL)
    assert [s.digest for s in results(gate)] == [first.digest, second.digest]
    assert second.result.header.prev == first.digest


def test_approving_out_of_order_is_refused(gate: Gate) -> None:
    first, second = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}).submissions
    later = max(first, second, key=lambda s: s.result.header.seq)
    with pytest.raises(DisclosureError, match="comes before it in the site's chain"):
        sign(gate, later)


def test_the_second_release_of_nearly_the_same_patients_repeats_the_first(gate: Gate) -> None:
    first = sign(gate, prepare_one(gate, 147))
    second = prepare_one(gate, 149)
    assert second == first  # another statement, of another root, would say that some score has changed
    assert len(released(gate)) == 1


def test_drafts_are_debited_whether_anybody_approves_them_or_not(gate: Gate) -> None:
    """Otherwise one could prepare until a figure pleases."""
    for count in range(20, 100, 20):
        prepare_one(gate, count)
    assert len(results(gate)) == 1
    assert len(released(gate)) == 4
    with pytest.raises(DisclosureError, match="are spent"):
        prepare_one(gate, 100)


def test_what_the_gate_refuses_costs_nothing(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="every figure is suppressed"):
        prepare(gate, CARD, {MODEL: [finding("ward", "exact_match", right(3, 8))]})
    assert released(gate) == ()


def test_the_fifth_approved_release_of_a_month_cannot_even_be_prepared(gate: Gate) -> None:
    for count in (40, 70, 100, 130):
        sign(gate, prepare_one(gate, count))
    with pytest.raises(DisclosureError, match="are spent"):
        prepare_one(gate, 160)
    assert all(s.state is State.APPROVED for s in results(gate))


class Crash(BaseException):
    """The power went out."""


def crash_at(step: int) -> Callable[..., None]:
    """Return a `write_atomically` that dies before its `step`-th write."""
    from agent.io.atomic_files import write_atomically

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
    register(gate, work)
    expected = [s.data for s in prepare(site_gate(tmp_path / "calm"), CARD, work).submissions]
    with pytest.MonkeyPatch.context() as patch:
        patch_writes(patch, crash_at(step))
        with pytest.raises(Crash):
            prepare(gate, CARD, work)
    assert [s.data for s in prepare(gate, CARD, work).submissions] == expected
    assert len(released(gate)) == 2


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


def test_a_release_that_was_debited_stays_debited_when_other_scores_come(gate: Gate) -> None:
    draft = prepare_one(gate, 100)
    second = prepare_one(gate, 103)
    assert second.result.cells["ward/exact_match"] == draft.result.cells["ward/exact_match"]
    sign(gate, second)
    assert len(released(gate)) == 2


def test_approving_twice_is_approving_once(gate: Gate) -> None:
    draft = prepare_one(gate)
    assert sign(gate, draft).data == sign(gate, draft).data
    assert len(released(gate)) == 1


def test_the_agents_own_key_does_not_approve(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="agent's key"):
        sign(gate, prepare_one(gate), world.AGENT)


@pytest.mark.parametrize("key", [world.OTHER_STEWARD, world.OTHER_AGENT, world.ROOT, world.STRANGER])
def test_nobody_elses_key_approves(gate: Gate, key: Signer) -> None:
    with pytest.raises(DisclosureError, match="not a steward's key of this site"):
        sign(gate, prepare_one(gate), key)
    assert all(s.state is State.PREPARED for s in results(gate))


def test_a_revoked_steward_does_not_approve(gate: Gate) -> None:
    site = REGISTRY.sites[world.SITE]
    keys = tuple(replace(key, revoked_from=3) if key.role == "steward" else key for key in site.keys)
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


def test_a_ledger_without_its_tail_stops_the_next_release_and_the_next_approval(gate: Gate) -> None:
    for count in (40, 100):
        sign(gate, prepare_one(gate, count))
    waiting = prepare_one(gate, 150)
    sorted(gate.outbox.ledger.iterdir())[-1].unlink()
    with pytest.raises(DisclosureError, match="lacks entry"):
        sign(gate, waiting)
    with pytest.raises(DisclosureError, match="lacks entry"):
        prepare_one(gate, 60)


def test_an_entry_that_says_other_figures_stops_the_next_release(gate: Gate) -> None:
    """Its seal is real and it follows from the same entry; but submissions name another."""
    first = prepare_one(gate, 140)
    ledger = gate.ledger()
    before = replace(ledger, entries=ledger.entries[:-1])
    sorted(gate.outbox.ledger.iterdir())[-1].unlink()
    (release,) = released(gate) or (ledger.entries[-1].content,)
    assert isinstance(release, ReleaseEntry)
    empty = before.followed_by(replace(release, cells={}), world.TODAY)
    append_entry(gate.outbox.ledger, empty, LEDGER_KEY)
    with pytest.raises(DisclosureError, match="lacks entry"):
        sign(gate, first)


def test_a_ledger_of_another_site_is_not_ours(gate: Gate) -> None:
    sign(gate, prepare_one(gate))
    with pytest.raises(DisclosureError, match="made with another seal key"):
        preparing.prepare(replace(gate, seal_key=b"e" * 32), CARD, {MODEL: whole_ward(60)})


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
    eight = [*whole_ward()[:1], finding("ward", "exact_match", right(4, 8))]
    (tight,) = prepare(loose, CARD, {MODEL: eight}).submissions
    assert tight.result.cells["ward/exact_match"] == -1


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


def test_a_baseline_does_not_pass_for_a_language_model(gate: Gate) -> None:
    baseline = [replace(found, language_model=False) for found in whole_ward()]
    with pytest.raises(DisclosureError, match="its server says that it is none") as caught:
        prepare(gate, CARD, {MODEL: baseline})
    assert "--not-a-language-model" in caught.value.advice
    known = {digest: replace(model, is_language_model=False) for digest, model in REGISTRY.models.items()}
    assert prepare(replace(gate, registry=replace(REGISTRY, models=known)), CARD, {MODEL: baseline}).new


def test_a_refused_link_is_replaced_and_what_followed_it_becomes_void(gate: Gate) -> None:
    work: dict[str, int] = {MODEL: 140, OTHER_MODEL: 60}
    prepared = prepare(gate, CARD, {name: whole_ward(count) for name, count in work.items()})
    first, second = (sign(gate, s) for s in sorted(prepared.submissions, key=lambda s: s.result.header.seq))
    gate.outbox.mark_sent(first.digest, world.TODAY)
    refuse(gate, first.digest, Code.WRONG_ROOT)
    again = prepare(tomorrow(gate), CARD, {name: whole_ward(count) for name, count in work.items()})
    states = {s.digest: s.state for s in results(gate)}
    assert states[first.digest] is states[second.digest] is State.VOID
    assert [s.result.header.seq for s in sorted(again.submissions, key=lambda s: s.result.header.seq)] == [2, 3]
    assert len(released(gate)) == 2  # the same scores again are the same release


def approved_pair(gate: Gate) -> list[Submission]:
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    return [sign(gate, draft) for draft in results(gate)]


def test_a_refused_release_prepared_again_the_same_day_takes_its_place_again(gate: Gate) -> None:
    """The aggregator lacked the model, say; by now it is registered. The bytes are the same, and so are they."""
    pair = approved_pair(gate)
    gate.outbox.mark_sent(pair[0].digest, world.TODAY)
    refuse(gate, pair[0].digest, Code.UNKNOWN_MODEL)
    again = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert again.new == frozenset()
    assert {s.digest: s.data for s in again.submissions} == {s.digest: s.data for s in pair}
    assert [(s.digest, s.state) for s in results(gate)] == [
        (pair[0].digest, State.SENT),
        (pair[1].digest, State.APPROVED),
    ]
    assert gate.outbox.read_verdicts(pair[0].digest)["cells"]
    assert len(released(gate)) == 2  # not debited again
    assert sign(gate, pair[0]).state is State.SENT


def test_a_draft_that_was_stuck_beside_its_void_twin_comes_free(gate: Gate) -> None:
    first, _ = approved_pair(gate)
    refuse(gate, first.digest, Code.WRONG_SEQ)
    gate.outbox.make_void(first.digest)
    gate.outbox.put_draft(first.digest, first.data, gate.outbox.read_verdicts(first.digest))
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert [s.state for s in results(gate)] == [State.APPROVED] * 2
    assert not list(gate.outbox.directory.glob("*.draft.dsse.json"))


def test_a_crash_while_a_void_release_takes_its_place_again_is_mended_by_preparing_again(gate: Gate) -> None:
    pair = approved_pair(gate)
    gate.outbox.mark_sent(pair[0].digest, world.TODAY)
    refuse(gate, pair[0].digest, Code.UNKNOWN_MODEL)

    def crash(self: Path, target: Path) -> Path:
        if self.name.endswith(".void.dsse.json"):
            raise Crash
        return replace_file(self, target)

    replace_file = Path.replace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(Crash):
            prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert [s.digest for s in results(gate)] == [s.digest for s in pair]
    assert State.VOID not in {s.state for s in gate.outbox.list_submissions()}


def test_a_refusal_on_the_last_submission_of_the_month_can_still_be_mended(gate: Gate) -> None:
    for count in (40, 70, 100):
        sign(gate, prepare_one(gate, count))
    last = sign(gate, prepare_one(gate, 130))
    refuse(gate, last.digest, Code.UNKNOWN_MODEL)
    assert prepare_one(gate, 130) == last
    refuse(gate, last.digest, Code.WRONG_DAY)
    another = prepare_one(tomorrow(gate), 130)  # of another day, so of other bytes; of the same scores
    assert (another.state, another.result.cells) == (State.PREPARED, last.result.cells)
    sign(gate, another)
    with pytest.raises(DisclosureError, match="are spent"):
        prepare_one(tomorrow(gate), 160)


def test_two_commands_at_once_do_not_mix(gate: Gate) -> None:
    register(gate, {MODEL: whole_ward()})
    with gate.outbox.held(), pytest.raises(StoreError, match="another command"):
        prepare_one(gate)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "complete"),
        ({"known": "sample"}, "partial"),
        ({"known": "invented"}, "partial"),
        ({"known": "unknown"}, "partial"),  # nobody else can run it
        ({"available": 41}, "partial"),
    ],
)
def test_a_sample_or_a_short_run_goes_nowhere_without_its_label(
    gate: Gate, changes: dict[str, Any], outcome: str
) -> None:
    exam, *ward = whole_ward()
    (draft,) = prepare(gate, CARD, {MODEL: [replace(exam, **changes), *ward]}).submissions
    assert draft.result.outcome == outcome


@pytest.mark.parametrize(
    ("extent", "access", "enough"),
    [
        (Extent("official", 1000, 12_723), "public", True),  # as many as the published runs of MedHELM take
        (Extent("official", 999, 12_723), "public", False),
        (Extent("official", 500, 500), "gated", True),
        (Extent("sample", 1000, 1000), "public", False),
        (Extent("unknown", 60, 60), "private", True),
        (Extent("unknown", 1000, 1001), "private", False),
        (Extent("invented", 60, 60), "private", False),
    ],
)
def test_how_much_of_the_data_stands_for_all_of_it(extent: Extent, access: AccessLevel, enough: bool) -> None:
    assert extent.enough(access) is enough


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
