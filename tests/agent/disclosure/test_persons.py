"""Units with the same identifier or nearly the same records are one person, in one version and in the next."""

import random

import pytest

from tests.agent.disclosure.patients import (
    ReleasedWard,
    Ward,
    count_differences,
    patient,
    patients,
    refuse_version,
    with_new_pseudonyms,
    write_patients,
    write_rows,
)


@pytest.mark.full
def test_every_patient_is_recognised_under_new_pseudonyms(ward: Ward):
    ward.released(patients(400))
    write_patients(ward.site, with_new_pseudonyms(patients(440)))
    done = ward.register()
    assert count_differences(done)[:2] == (40, 0)
    assert done.candidate.never_seen == 40


@pytest.mark.full
@pytest.mark.parametrize("words", [60, 100, 300])
def test_patients_are_recognised_by_short_and_long_records(ward: Ward, words: int):
    known = [patient(number, words) for number in range(201)]
    ward.released(known[:200])
    write_patients(ward.site, with_new_pseudonyms(known))
    assert "differs too little" in str(refuse_version(ward))


def test_moved_dates_and_other_numbers_hide_nobody(ward: Ward):
    def dated(count: int, year: int) -> list[dict[str, str]]:
        rows = [one.row() for one in patients(count)]
        return [
            {**row, "note": f"Seen on {year}-03-{1 + i % 28:02d}. {row['note']}"}
            for i, row in enumerate(rows)
        ]

    write_rows(ward.site, dated(200, 2021))
    first = ward.register()
    ward.approve(first)
    ward.release(first)
    moved = [{**row, "patient": f"P{i}-{i * 7919}"} for i, row in enumerate(dated(201, 2024))]
    write_rows(ward.site, moved)
    assert "differs too little" in str(refuse_version(ward))


def test_one_patient_under_60_ids_is_one_person(ward: Ward):
    copies = [{**patient(500).row(), "patient": f"MRN{900000 + i}"} for i in range(60)]
    write_rows(ward.site, [one.row() for one in patients(140)] + copies)
    done = ward.register()
    assert len(done.candidate.entry.list_persons()) == 141
    assert done.candidate.merged == 59


def test_one_patient_under_60_ids_with_a_word_changed_in_each_copy_is_one_person(ward: Ward):
    rows = [one.row() for one in patients(140)]
    draw = random.Random(7)
    for i in range(60):
        words = patient(500, 150).row()["note"].split()
        words[draw.randrange(len(words))] = f"word{i}"
        rows.append({"patient": f"MRN{900000 + i}", "note": " ".join(words), "answer": "yes"})
    write_rows(ward.site, rows)
    assert 141 <= len(ward.register().candidate.entry.list_persons()) <= 143


def test_copies_do_not_make_a_patients_record_the_text_that_everybody_has(released: ReleasedWard):
    ward = released.ward
    copies = [{**patient(5).row(), "patient": f"MRN{900000 + i}"} for i in range(100)]
    renamed = [one.row() for one in with_new_pseudonyms(patients(201))]
    write_rows(ward.site, renamed + copies)
    assert "differs too little" in str(refuse_version(ward))


def test_ten_patients_are_no_dataset_however_many_ids_they_have(ward: Ward):
    rows = [
        {**one.row(), "patient": f"{one.identifier}-{i}"} for one in patients(10) for i in range(20)
    ]
    write_rows(ward.site, rows)
    assert "10 units, counted by their records" in str(refuse_version(ward))


def test_rows_that_all_say_the_same_are_one_person(ward: Ward):
    rows = [{"patient": f"T{i}", "note": "No complaints.", "answer": "yes"} for i in range(199)]
    write_rows(ward.site, [*rows, patient(1).row()])
    assert "2 units, counted by their records" in str(refuse_version(ward))
