"""What was submitted, once more from the store: who changed scores, figures or verdict files since is found out."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agent.delivery.outbox import Submission
from agent.disclosure.collect import collect
from agent.disclosure.ledger import DatasetEntry, UnitRecord
from agent.disclosure.prepare import Gate, draft_statement, prepare
from agent.disclosure.recomputation import Recomputation, find_basis, recompute_submission
from agent.errors import ConfigError
from agent.runs.delete_run import delete_run
from agent.runs.privacy import share_run, unshare_run
from agent.site.directory import Site
from agent.store import Store, Vault
from protocol.identity import NONE
from protocol.policy import bucket_of
from protocol.predicates import DatasetPredicate
from protocol.registry import RegisteredScorecard
from tests.agent.disclosure.test_collect import ALL, DEFINITION, EXAM, LIMITS, card, fill, patients
from tests.agent.disclosure.ward import FINGERPRINTS, MODEL, REGISTRY, sign, site_gate, tomorrow
from tests.protocol import world

CARD = card(ALL, EXAM)
COMMITMENT = "da" * 32
PATIENTS = 200


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a store with a private ward of 200 patients, 140 of them answered rightly, and a public exam."""
    store = Store(tmp_path / "site.sqlite3", Vault(b"k" * 32), b"a" * 32)
    private = {
        "known": "unknown",
        "digest": "00" * 32,
        "instances": PATIENTS,
        "problems": [],
        "registered": COMMITMENT,
        "frozen_digest": "00" * 32,
    }
    public = {"known": "official", "digest": "00" * 32, "instances": 40, "problems": []}
    fill(store, ALL, patients(PATIENTS), right=140, data=private)
    fill(store, EXAM, [str(n) for n in range(40)], unit_named=False, data=public)
    yield store
    store.close()


@pytest.fixture
def gate(tmp_path: Path, store: Store) -> Gate:
    """Return the gate of an enrolled site whose ward is registered and approved."""
    registry = replace(REGISTRY, scorecards={CARD.digest: RegisteredScorecard(CARD)})
    gate = site_gate(tmp_path, registry=registry)
    keys = [store.identities.unit_key("site", patient) for patient in patients(PATIENTS)]
    units = {}
    for key in keys:
        person = FINGERPRINTS.of_unit(key)
        units[person] = UnitRecord(person, person, person, "")
    dataset = DatasetEntry(ALL, DEFINITION, COMMITMENT, COMMITMENT, "", "00" * 32, PATIENTS, units)
    with gate.outbox.held():
        gate.append(gate.ledger().followed_by(dataset, gate.today_day))
        size = bucket_of(PATIENTS)
        draft = draft_statement(
            gate,
            lambda header: DatasetPredicate(
                header, DEFINITION, COMMITMENT, COMMITMENT, "own", NONE, size, 0, 0, 0
            ),
        )
    sign(gate, draft)
    return gate


def submit(store: Store, gate: Gate) -> Submission:
    """Prepare the suite's figures and have the steward sign them."""
    findings = collect(store, "s", CARD, token_limits=LIMITS)
    (draft,) = prepare(gate, CARD, findings, "s").submissions
    return sign(gate, draft)


def recompute(store: Store, gate: Gate, submission: Submission) -> tuple[str, str]:
    found: Recomputation = recompute_submission(store, gate, submission, None)
    return found.outcome.value, found.finding


def change(tmp_path: Path, statement: str) -> None:
    with closing(sqlite3.connect(tmp_path / "site.sqlite3")) as database, database:
        assert database.execute(statement).rowcount


def test_honest_submission_comes_out_the_same_again_and_later(store: Store, gate: Gate) -> None:
    submission = submit(store, gate)
    assert submission.result.cells[f"{ALL}/exact_match"] >= 0
    assert recompute(store, gate, submission) == ("match", "")
    assert recompute(store, tomorrow(gate, 20), submission) == ("match", "")


def test_every_submission_is_recomputed_by_the_ledger_as_it_was_then(
    store: Store, gate: Gate, tmp_path: Path
) -> None:
    first = submit(store, gate)
    change(tmp_path, "UPDATE scores SET value = 1.0 WHERE value = 0 AND position < 40")
    second = submit(store, tomorrow(gate))
    assert second.digest != first.digest
    assert recompute(store, gate, second) == ("match", "")
    # The scores behind the first are gone, and its root says so.
    assert recompute(store, gate, first) == (
        "different",
        "scores_root: the scores in the store give a different root",
    )


def test_a_suite_that_was_run_on_other_data_since_is_told_from_one_that_was_changed(
    store: Store, gate: Gate
) -> None:
    submission = submit(store, gate)
    later = {
        "known": "unknown",
        "digest": "00" * 32,
        "instances": 220,
        "problems": [],
        "registered": "db" * 32,
    }
    fill(store, ALL, patients(220), right=140, data=later | {"frozen_digest": "00" * 32})
    assert recompute(store, gate, submission) == (
        "not_checkable",
        f"the submission's suite has been run again on other data since then: {ALL}",
    )


def test_one_score_changed_since_is_seen(store: Store, gate: Gate, tmp_path: Path) -> None:
    submission = submit(store, gate)
    change(tmp_path, "UPDATE scores SET value = 1.0 - value WHERE position = 7")
    assert recompute(store, gate, submission) == (
        "different",
        "scores_root: the scores in the store give a different root",
    )


@pytest.mark.parametrize("removal", ["deleted", "made private"])
def test_a_run_that_its_owner_removed_since_is_told_from_scores_that_were_changed(
    store: Store, gate: Gate, tmp_path: Path, removal: str
) -> None:
    submission = submit(store, gate)
    (tmp_path / "submissions" / f"{submission.digest}.receipt").write_text("a receipt\n")
    run = next(run for run in store.runs.select("s") if run.benchmark == EXAM)
    site = Site(tmp_path)
    if removal == "deleted":
        delete_run(site, store, run)
    else:
        unshare_run(site, store, run)
    outcome, finding = recompute(store, gate, submission)
    assert outcome == "not_checkable"
    assert f"a run behind it was {removal}" in finding
    if removal == "deleted":
        return
    share_run(store, run)
    assert recompute(store, gate, submission) == ("match", "")
    # Whoever hides a run for a while cannot excuse a change with it.
    change(tmp_path, "UPDATE scores SET value = 1.0 - value WHERE position = 7")
    assert recompute(store, gate, submission)[0] == "different"


def test_a_run_is_kept_while_a_submission_of_it_has_no_receipt(
    store: Store, gate: Gate, tmp_path: Path
) -> None:
    submission = submit(store, gate)
    run = next(run for run in store.runs.select("s") if run.benchmark == EXAM)
    for remove in (delete_run, unshare_run):
        with pytest.raises(ConfigError, match=f"submission {submission.digest[:12]}"):
            remove(Site(tmp_path), store, run)


def test_verdict_file_that_lies_is_named_with_its_first_lie(store: Store, gate: Gate) -> None:
    submission = submit(store, gate)
    path = gate.outbox.directory / f"{submission.digest}.verdicts.json"
    verdicts = json.loads(path.read_text())
    verdicts["cells"][f"{ALL}/exact_match"] = "public"
    path.write_text(json.dumps(verdicts))
    assert recompute(store, gate, submission) == (
        "different",
        f"verdict of {ALL}/exact_match: the verdict file has public, but rounded is computed now",
    )


def test_figure_signed_over_the_gates_head_is_named(store: Store, gate: Gate) -> None:
    """The agent's key signed another figure than its gate decided, and the steward signed it too."""
    honest = submit(store, gate)
    cell = f"{ALL}/exact_match"
    figure = honest.result.cells[cell]
    raised = replace(honest.result, cells={**honest.result.cells, cell: figure + 50})
    forged = replace(honest, statement=raised)
    assert recompute(store, gate, forged) == (
        "different",
        f"cell {cell}: {figure + 50} was signed, but {figure} is computed now",
    )


def test_purged_texts_hinder_no_recomputation(store: Store, gate: Gate) -> None:
    submission = submit(store, gate)
    store.purge(0)
    assert recompute(store, gate, submission) == ("match", "")


def test_what_cannot_be_recomputed_is_said_and_not_called_a_match(store: Store, gate: Gate) -> None:
    submission = submit(store, gate)
    path = gate.outbox.directory / f"{submission.digest}.verdicts.json"
    verdicts = json.loads(path.read_text())
    path.write_text(json.dumps({**verdicts, "suite": "gone"}))
    outcome, finding = recompute(store, gate, submission)
    assert (outcome, "there is no suite gone" in finding) == ("not_checkable", True)
    path.write_text(json.dumps({**verdicts, "suite": ""}))
    assert recompute(store, gate, submission)[1] == (
        "the verdict file does not name the suite from which the submission was prepared"
    )
    path.write_text(json.dumps(verdicts))
    stricter = replace(gate, policy=world.STRICTER)
    assert (
        "a disclosure policy that is no longer in force"
        in recompute(store, stricter, submission)[1]
    )
    emptied = replace(gate, registry=replace(gate.registry, models={}))
    assert (
        recompute(store, emptied, submission)[1]
        == "the submission's scorecard or model is no longer in the registry"
    )


def test_ledger_without_the_entry_that_a_submission_names_is_said(store: Store, gate: Gate) -> None:
    submission = submit(store, gate)
    last = sorted(gate.outbox.ledger.glob("*.json"))[-1]
    last.unlink()
    assert recompute(store, gate, submission) == (
        "not_checkable",
        f"the ledger of releases lacks entry {submission.header.ledger.length}, which the submission names",
    )


def test_leaves_of_a_submission_are_those_of_its_root(store: Store, gate: Gate) -> None:
    submission = submit(store, gate)
    basis = find_basis(store, gate, submission, None)
    assert basis.scores_root == submission.result.scores_root
    assert len(basis.records) == PATIENTS + 40
    assert [run.model for run in basis.runs] == [MODEL, MODEL]


def test_submission_that_was_prepared_twice_is_recomputed_by_the_ledger_with_its_own_debit(
    store: Store, gate: Gate
) -> None:
    """A newer registry makes the first draft void; its debit stays, and is there when the second is decided."""
    findings = collect(store, "s", CARD, token_limits=LIMITS)
    (first,) = prepare(gate, CARD, findings, "s").submissions
    newer = replace(gate, registry=replace(gate.registry, version=gate.registry.version + 1))
    (second,) = prepare(newer, CARD, findings, "s").submissions
    assert second.digest != first.digest
    assert recompute(store, newer, sign(newer, second)) == ("match", "")
