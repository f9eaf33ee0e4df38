"""From findings to two signatures, through every crash, repetition and trick that the way knows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.delivery.outbox import Outbox, State
from agent.disclosure.prepare import Gate, Prepared
from agent.errors import DisclosureError, StoreError
from protocol.identity import agent_digest
from protocol.predicates import DatasetPredicate
from protocol.verification import History, authenticate, verify_link
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
    finding,
    register,
    right,
    sign,
    site_gate,
    tomorrow,
    whole_ward,
)
from tests.protocol import world


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
        history = History(
            head=accepted.head, ledger=accepted.statement.header.ledger, datasets=datasets
        )
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
        s.data
        for s in prepare(
            elsewhere, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}
        ).submissions
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


def test_the_second_release_of_nearly_the_same_patients_repeats_the_first(gate: Gate) -> None:
    first = sign(gate, prepare_one(gate, 147))
    second = prepare_one(gate, 149)
    assert (
        second == first
    )  # another statement, of another root, would say that some score has changed
    assert len(released(gate)) == 1


def test_drafts_are_debited_whether_anybody_approves_them_or_not(gate: Gate) -> None:
    """Otherwise one could prepare until a figure pleases."""
    for count in range(20, 100, 20):
        prepare_one(gate, count)
    assert len(results(gate)) == 1
    assert len(released(gate)) == 4
    with pytest.raises(DisclosureError, match="are used up"):
        prepare_one(gate, 100)


def test_what_the_gate_refuses_costs_nothing(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="every figure is suppressed"):
        prepare(gate, CARD, {MODEL: [finding("ward", "exact_match", right(3, 8))]})
    assert released(gate) == ()


def test_the_fifth_approved_release_of_a_month_cannot_even_be_prepared(gate: Gate) -> None:
    for count in (40, 70, 100, 130):
        sign(gate, prepare_one(gate, count))
    with pytest.raises(DisclosureError, match="are used up"):
        prepare_one(gate, 160)
    assert all(s.state is State.APPROVED for s in results(gate))


@pytest.mark.sample(2)
@pytest.mark.parametrize("step", range(1, 7))
def test_a_crash_while_preparing_changes_nothing_in_the_end(
    gate: Gate, tmp_path: Path, step: int
) -> None:
    work = {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}
    register(gate, work)
    expected = [s.data for s in prepare(site_gate(tmp_path / "calm"), CARD, work).submissions]
    with pytest.MonkeyPatch.context() as patch:
        patch_writes(patch, crash_at(step))
        with pytest.raises(Crash):
            prepare(gate, CARD, work)
    assert [s.data for s in prepare(gate, CARD, work).submissions] == expected
    assert len(released(gate)) == 2


def test_a_release_that_was_debited_stays_debited_when_other_scores_come(gate: Gate) -> None:
    draft = prepare_one(gate, 100)
    second = prepare_one(gate, 103)
    assert second.result.cells["ward/exact_match"] == draft.result.cells["ward/exact_match"]
    sign(gate, second)
    assert len(released(gate)) == 2


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


def test_nothing_to_publish_is_nothing_to_send(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="every figure is suppressed"):
        prepare(gate, CARD, {MODEL: [finding("ward", "exact_match", right(3, 8))]})
    with pytest.raises(DisclosureError, match="no benchmark of the scorecard was run"):
        prepare(
            gate, CARD, {MODEL: [finding("exam", "exact_match", [None] * 4, reason="not_asked")]}
        )


def test_what_is_not_registered_is_refused_by_name(gate: Gate) -> None:
    with pytest.raises(DisclosureError, match="example/unknown"):
        prepare(gate, CARD, {"example/unknown": whole_ward()})
    with pytest.raises(DisclosureError, match=r"version 9\.9\.9 of the agent"):
        prepare(replace(gate, agent_version="9.9.9"), CARD, {MODEL: whole_ward()})
    with pytest.raises(DisclosureError, match="retired"):
        prepare(gate, world.RETIRED, {MODEL: whole_ward()})
    with pytest.raises(DisclosureError, match="this site's agent key is not in the registry"):
        prepare(replace(gate, signer=world.STRANGER), CARD, {MODEL: whole_ward()})
    with pytest.raises(DisclosureError, match="this site's agent key is not in the registry"):
        prepare(replace(gate, signer=world.STEWARD), CARD, {MODEL: whole_ward()})
    assert agent_digest("9.9.9") not in REGISTRY.agents


def test_a_baseline_does_not_pass_for_a_language_model(gate: Gate) -> None:
    baseline = [replace(found, language_model=False) for found in whole_ward()]
    with pytest.raises(DisclosureError, match="its server reports that it is not one") as caught:
        prepare(gate, CARD, {MODEL: baseline})
    assert "--not-a-language-model" in caught.value.advice
    known = {
        digest: replace(model, is_language_model=False) for digest, model in REGISTRY.models.items()
    }
    assert prepare(
        replace(gate, registry=replace(REGISTRY, models=known)), CARD, {MODEL: baseline}
    ).new


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
