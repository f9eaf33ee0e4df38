"""Who wants to subtract one version of a dataset from another is refused; who gains patients every day still works."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.datasets.frozen import find_newest_frozen, read_frozen_versions
from agent.delivery.outbox import State
from agent.disclosure.preview import read_notes
from agent.errors import AgentError, DisclosureError, StoreError
from protocol.identity import NONE
from protocol.policy import bucket_of
from protocol.registry import RegisteredScorecard
from protocol.verification import check_dataset_version
from tests.agent.disclosure.patients import (
    ReleasedWard,
    Ward,
    benchmark_of,
    count_differences,
    list_files,
    open_ward,
    patient,
    patients,
    refuse_version,
    with_new_pseudonyms,
    write_patients,
    write_rows,
)
from tests.protocol import world

ROOT = Path(__file__).parents[3]


# What attackers try


def test_one_more_patient_is_refused_while_the_old_version_stays_in_use(released: ReleasedWard):
    ward, first = released.ward, released.first
    write_patients(ward.site, patients(201))
    error = refuse_version(ward)
    assert "1 units added, 0 removed, 0 changed" in str(error)
    assert "version 1 of ward" in str(error)
    assert "can be evaluated on version 1" in error.advice
    newest = find_newest_frozen(benchmark_of(ward.site), ward.site.data)
    assert newest is not None
    assert newest.commitment == first.candidate.entry.commitment


def test_one_more_patient_is_refused_although_nothing_was_released_yet(ward: Ward):
    write_patients(ward.site, patients(200))
    ward.approve(ward.register())
    write_patients(ward.site, patients(201))
    assert "1 units added" in str(refuse_version(ward))


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(4))
def test_one_more_patient_is_refused_under_new_pseudonyms(released: ReleasedWard, seed: int):
    ward = released.ward
    write_patients(ward.site, with_new_pseudonyms(patients(201), seed))
    assert "this version differs too little" in str(refuse_version(ward))


def test_two_benchmarks_on_nearly_the_same_patients_are_refused(tmp_path: Path):
    ward = open_ward(tmp_path / "site", "ward", "clinic")
    first = ward.released(patients(200))
    write_patients(ward.site, with_new_pseudonyms(patients(203)), "clinic")
    error = refuse_version(ward, "clinic")
    assert "this version differs too little from version 1 of ward" in str(error)
    assert "the same patients" in error.advice
    write_patients(ward.site, with_new_pseudonyms(patients(200)), "clinic")
    second = ward.register("clinic")
    assert second.candidate.shared_with == ("ward",)
    assert second.candidate.entry.lineage == first.candidate.entry.commitment
    assert second.candidate.never_seen == 0
    assert second.candidate.previous_statement == NONE


def test_two_benchmarks_that_nobody_has_released_yet_are_compared_too(tmp_path: Path):
    ward = open_ward(tmp_path / "site", "ward", "clinic")
    write_patients(ward.site, patients(200))
    ward.register()
    write_patients(ward.site, patients(201), "clinic")
    assert "1 units added" in str(refuse_version(ward, "clinic"))


@pytest.mark.parametrize("count", [1, 10])
def test_a_few_edited_patients_are_refused(released: ReleasedWard, count: int):
    ward = released.ward
    edited = [
        replace(one, answer="no" if one.answer == "yes" else "yes") for one in patients(count)
    ]
    write_patients(ward.site, edited + patients(200)[count:])
    assert f"0 units added, 0 removed, {count} changed" in str(refuse_version(ward))


def test_edits_of_case_and_spacing_are_no_change_to_hide_a_patient_behind(released: ReleasedWard):
    ward = released.ward
    rows = [one.row() for one in patients(200)]
    for row in rows[:11]:
        row["note"] = row["note"].upper().replace(" ", "  ")
    write_rows(ward.site, rows)
    assert "nothing new since version 1" in str(refuse_version(ward))
    rows[0]["answer"] = "no" if rows[0]["answer"] == "yes" else "yes"
    write_rows(ward.site, rows)
    assert "1 changed" in str(refuse_version(ward))


def test_the_same_ids_on_other_patients_do_not_hide_one_who_came(ward: Ward):
    known = patients(200)
    ward.released(known)
    shuffled = [
        replace(one, identifier=known[(i + 1) % 200].identifier) for i, one in enumerate(known)
    ]
    write_patients(ward.site, [*shuffled, patient(200)])
    assert "1 units added" in str(refuse_version(ward))


def test_steps_of_five_do_not_reach_what_one_step_may_not(released: ReleasedWard):
    ward = released.ward
    for count in (205, 210):
        write_patients(ward.site, patients(count))
        assert "this version differs too little" in str(refuse_version(ward))


def test_a_version_near_an_older_one_is_refused_although_it_is_far_from_the_last(
    released: ReleasedWard,
):
    ward = released.ward
    ward.released(patients(240))
    write_patients(ward.site, patients(201))
    assert "this version differs too little from version 1 of ward" in str(refuse_version(ward))


def test_going_back_to_an_earlier_version_is_nothing_new(released: ReleasedWard):
    ward = released.ward
    ward.released(patients(240))
    write_patients(ward.site, patients(200))
    assert "nothing new since version 1 of ward" in str(refuse_version(ward))


def test_199_template_rows_and_one_patient_are_only_shown_to_the_steward(ward: Ward):
    """What no rule can know: rows that say different things may be patients. docs/datasets.md says so."""
    template = "The patient is {} years old, weighs {} kg and has no complaints."
    rows = [
        {"patient": f"T{i}", "note": template.format(20 + i % 70, 50 + i), "answer": "yes"}
        for i in range(199)
    ]
    write_rows(ward.site, [*rows, patient(1).row()])
    done = ward.register()
    assert done.submission is not None
    notes = ward.gate.outbox.read_verdicts(done.submission.digest)["notes"]
    assert (notes["units"], notes["never_seen"]) == (200, 200)
    assert read_notes({"notes": notes})["never_seen"] == 200


def test_nothing_in_the_ledger_or_the_statement_holds_a_word_of_a_record_or_an_id(ward: Ward):
    write_patients(ward.site, patients(40))
    done = ward.register()
    assert done.submission is not None
    written = b"".join(
        path.read_bytes() for path in ward.site.submissions.rglob("*") if path.is_file()
    )
    for one in patients(40):
        assert one.identifier.encode() not in written
        assert one.last.encode() not in written
    assert b"metoprolol" not in written
    statement = done.submission.dataset
    assert statement is not None
    assert statement.units == bucket_of(40) != 40


# What honest people do


def test_rows_in_another_order_are_nothing_new(ward: Ward):
    ward.released(patients(50))
    write_patients(ward.site, patients(50)[::-1])
    assert "nothing new since version 1 of ward, which has the same rows" in str(
        refuse_version(ward)
    )


def test_the_first_version_is_a_lineage_of_its_own(ward: Ward):
    write_patients(ward.site, patients(200))
    done = ward.register()
    assert done.submission is not None
    statement = done.submission.dataset
    assert statement is not None
    assert (statement.lineage, statement.previous, statement.origin) == (
        statement.commitment,
        NONE,
        "own",
    )
    assert (statement.units, statement.added) == (bucket_of(200), 0)
    assert ward.gate.outbox.read_verdicts(done.submission.digest)["notes"] == {
        "units": 200,
        "rows": 200,
        "added": 0,
        "removed": 0,
        "changed": 0,
        "never_seen": 200,
        "merged": 0,
    }
    assert ward.approve(done).state is State.APPROVED


def test_eleven_more_patients_make_the_next_version(released: ReleasedWard):
    ward, first = released.ward, released.first
    write_patients(ward.site, patients(211))
    second = ward.register()
    assert count_differences(second) == (11, 0, 0)
    assert second.submission is not None
    statement = second.submission.dataset
    assert statement is not None
    assert statement.lineage == first.candidate.entry.commitment
    assert first.submission is not None
    assert statement.previous == first.submission.digest
    ledger_entry = ward.gate.ledger().list_datasets()[-1]
    assert ledger_entry.previous == first.candidate.entry.commitment
    newest = find_newest_frozen(benchmark_of(ward.site), ward.site.data)
    assert newest is not None
    assert (newest.number, newest.instances) == (2, 211)
    assert ward.approve(second).state is State.APPROVED


def test_what_the_site_registers_the_aggregator_takes(ward: Ward):
    known = {}
    for count in (200, 211, 240):
        done = ward.released(patients(count))
        assert done.submission is not None
        statement = done.submission.dataset
        assert statement is not None
        check_dataset_version(statement, known, world.STRICT)
        known[done.submission.digest] = statement


def test_a_draft_that_nobody_approved_is_replaced(ward: Ward):
    write_patients(ward.site, patients(200))
    first = ward.register()
    write_patients(ward.site, patients(201))
    second = ward.register()
    assert first.submission is not None
    assert second.dropped == (first.submission.digest,)
    assert [one.digest for one in ward.gate.outbox.list_submissions()] == [
        second.submission.digest if second.submission else ""
    ]
    assert second.candidate.previous_statement == NONE
    assert second.candidate.entry.lineage == second.candidate.entry.commitment
    assert ward.approve(second).state is State.APPROVED


def test_a_draft_whose_figures_were_prepared_is_not_forgotten_with_it(ward: Ward):
    write_patients(ward.site, patients(200))
    ward.release(ward.register())
    write_patients(ward.site, patients(201))
    assert "from which figures were prepared" in str(refuse_version(ward))


def test_registering_again_shows_the_draft_that_waits(ward: Ward):
    write_patients(ward.site, patients(200))
    first, second = ward.register(), ward.register()
    assert first.submission is not None
    assert second.submission is not None
    assert (second.submission.digest, second.is_new) == (first.submission.digest, False)
    assert len(ward.gate.ledger().entries) == 1


def test_a_discarded_draft_is_drafted_again(ward: Ward):
    write_patients(ward.site, patients(200))
    first = ward.register()
    assert first.submission is not None
    ward.gate.outbox.drop_draft(first.submission.digest)
    second = ward.register()
    assert second.is_new
    assert ward.approve(second).state is State.APPROVED
    assert len(ward.gate.ledger().list_datasets()) == 1


def test_a_lost_frozen_copy_is_made_again_from_the_same_data(ward: Ward):
    write_patients(ward.site, patients(200))
    first = ward.register()
    ward.approve(first)
    newest = find_newest_frozen(benchmark_of(ward.site), ward.site.data)
    assert newest is not None
    (newest.folder / ".frozen.json").unlink()
    (newest.folder / "files" / "data.csv").unlink()
    (newest.folder / "files").rmdir()
    newest.folder.rmdir()
    with pytest.raises(DisclosureError, match="nothing new since version 1 of ward"):
        ward.register()
    again = find_newest_frozen(benchmark_of(ward.site), ward.site.data)
    assert again is not None
    assert again.commitment == first.candidate.entry.commitment


def test_a_dry_run_writes_nothing(ward: Ward):
    write_patients(ward.site, patients(30))
    before = list_files(ward)
    done = ward.register(dry_run=True)
    assert (len(done.candidate.entry.list_persons()), done.submission) == (30, None)
    assert list_files(ward) == before


def test_what_cannot_be_registered_is_refused_with_advice(tmp_path: Path):
    no_units = open_ward(tmp_path / "a", more="")
    write_patients(no_units.site, patients(30))
    with pytest.raises(DisclosureError) as caught:
        no_units.register()
    assert "unit_column" in caught.value.advice
    unknown = open_ward(tmp_path / "b")
    write_patients(unknown.site, patients(30))
    unknown = Ward(unknown.site, replace(unknown.gate, registry=world.REGISTRY))
    with pytest.raises(DisclosureError, match="no registered scorecard"):
        unknown.register()


def test_a_broken_row_registers_nothing(ward: Ward):
    write_rows(
        ward.site,
        [
            *(one.row() for one in patients(20)),
            {"patient": "P", "note": "x y z", "answer": "maybe"},
        ],
    )
    with pytest.raises(AgentError, match="row 21"):
        ward.register()
    assert read_frozen_versions(ward.site.data, "ward") == []


def test_two_registrations_at_once_do_not_both_happen(ward: Ward):
    write_patients(ward.site, patients(30))
    with ward.gate.outbox.held(), pytest.raises(StoreError, match="another command"):
        ward.register()


def test_the_ledger_survives_a_version_without_any_word_in_common(ward: Ward):
    ward.released(patients(50))
    ward.released(patients(60, first=1000))
    entries = ward.gate.ledger().list_datasets()
    assert entries[0].lineage != entries[1].lineage


# kill -9

KILLER = """
import os, signal, sys
from pathlib import Path
import agent.datasets.frozen as frozen
import agent.disclosure.registration as registration
from agent.delivery.outbox import Outbox
from agent.disclosure.prepare import Gate
from agent.site.directory import Site
from tests.agent.disclosure.patients import Ward, gate_of_site

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def after(module, name):
    original = getattr(module, name)
    def then_kill(*args, **more):
        original(*args, **more)
        kill()
    setattr(module, name, then_kill)

point = sys.argv[2]
if point == "before the copy": frozen._copy_file = kill
if point == "during the copy": after(frozen, "_copy_file")
if point == "before the copy has its name": after(frozen, "_write_record")
if point == "after the copy": after(registration, "freeze")
if point == "before the ledger": Gate.append = kill
if point == "after the ledger": after(Gate, "append")
if point == "before the commitment": registration.mark_registered = kill
if point == "after the commitment": after(registration, "mark_registered")
if point == "before the draft goes": Outbox.drop_draft = kill
if point == "after the draft went": after(Outbox, "drop_draft")
if point == "before the draft": registration.draft_statement = kill
if point == "within the draft": Outbox.put_draft = kill
if point == "after the draft": after(registration, "draft_statement")
site = Site(Path(sys.argv[1]))
Ward(site, gate_of_site(site)).register()
"""

POINTS = (
    "before the copy",
    "during the copy",
    "before the copy has its name",
    "after the copy",
    "before the ledger",
    "after the ledger",
    "before the commitment",
    "after the commitment",
    "before the draft goes",
    "after the draft went",
    "before the draft",
    "within the draft",
    "after the draft",
)


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize("point", POINTS)
def test_whatever_a_kill_interrupts_registering_again_finishes_it_once(ward: Ward, point: str):
    write_patients(ward.site, patients(30))
    first = ward.register()  # a draft that the next version replaces
    write_patients(ward.site, patients(31))
    killed = subprocess.run(
        [sys.executable, "-c", KILLER, str(ward.site.directory), point],
        cwd=ROOT,
        env=dict(os.environ),
        check=False,
        capture_output=True,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    done = ward.register()
    assert done.submission is not None
    assert first.submission is not None
    ledger = ward.gate.ledger()
    commitments = [dataset.commitment for dataset in ledger.list_datasets()]
    assert len(commitments) == len(set(commitments)) == 2
    assert [one.digest for one in ward.gate.outbox.list_submissions()] == [done.submission.digest]
    versions = read_frozen_versions(ward.site.data, "ward")
    assert [version.commitment for version in versions] == commitments
    assert not list(ward.site.data.rglob(".new-*"))
    assert ward.approve(done).state is State.APPROVED


def test_a_kill_before_the_draft_and_a_patient_more_leave_one_version_to_approve(ward: Ward):
    write_patients(ward.site, patients(30))
    killed = subprocess.run(
        [sys.executable, "-c", KILLER, str(ward.site.directory), "before the commitment"],
        cwd=ROOT,
        env=dict(os.environ),
        check=False,
        capture_output=True,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    write_patients(ward.site, patients(31))
    done = ward.register()
    assert done.candidate.difference is None
    assert done.submission is not None
    assert [one.digest for one in ward.gate.outbox.list_submissions()] == [done.submission.digest]
    newest = find_newest_frozen(benchmark_of(ward.site), ward.site.data)
    assert newest is not None
    assert newest.commitment == done.candidate.entry.commitment


def test_a_dataset_larger_than_it_was_published_is_refused_before_anybody_signs(ward: Ward):
    write_patients(ward.site, patients(60))
    (card,) = [
        entry.scorecard
        for entry in ward.gate.registry.scorecards.values()
        if entry.scorecard.name == "own"
    ]
    for units, is_refused in ((20, True), (60, False)):
        sized = replace(card, benchmarks=(replace(card.benchmarks[0], units=units),))
        registry = replace(
            ward.gate.registry, scorecards={sized.digest: RegisteredScorecard(sized)}
        )
        gate = replace(ward.gate, registry=registry)
        if is_refused:
            error = refuse_version(Ward(ward.site, gate))
            assert "wrong_dataset" in str(error)
            assert "exceeds the published size of 20 units" in str(error)
        else:
            assert Ward(ward.site, gate).register().submission is not None
