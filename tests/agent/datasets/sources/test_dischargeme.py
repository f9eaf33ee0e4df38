"""Discharge Me!: the section that is asked for is cut out of its summary, and nothing of it stays."""

import csv
import gzip
import io
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.datasets.sources.dischargeme import remove_section
from tests.agent.datasets.sources.gated import gold, load, problem, prompt, sample_copy, write_csv


def read_gz(path: Path) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    return header, rows


TEST_PHASE = "files/discharge-me/1.3/test_phase_1"


def test_two_documents_an_admission_and_the_patient_is_the_unit():
    made = load("dischargeme")
    assert [instance.id.split("/")[1] for instance in made] == [
        "brief_hospital_course",
        "discharge_instructions",
    ] * 4
    assert len({instance.unit for instance in made}) == 3
    for instance in made:
        other = made[made.index(instance) ^ 1]
        assert " ".join(gold(other).split()) in " ".join(
            prompt(instance).split()
        )  # only its own section is out


def test_the_target_is_cut_out_by_its_section_and_its_words_elsewhere_stay():
    course = {
        instance.unit: instance for instance in load("dischargeme") if "course" in instance.id
    }
    third = course["8000002"]
    assert gold(third) == "Stable."
    assert "Vital signs: Stable." in prompt(third)
    assert "Brief Hospital Course:\n___\n\nMedications on Admission:" in prompt(third)


def test_all_radiology_reports_stand_there_in_the_order_of_their_time():
    first = prompt(load("dischargeme")[0])
    days = [first.index(f"finding of day {day} for admission 1") for day in (1, 2, 3)]
    assert days == sorted(days)
    assert "admission 2" not in first


def test_a_target_whose_lines_are_broken_otherwise_or_that_was_cut_short_leaves_nothing_behind():
    text = (
        "History:\nWell.\n\nBRIEF HOSPITAL COURSE:\nOne two\n "
        "three four.\nFive six.\n\nDischarge Disposition:\nHome\n"
    )
    for target in ("One two three four. Five six.", "One two three", "something else altogether"):
        left = remove_section(text, "Brief Hospital Course", target)
        assert "two" not in left
        assert "Five" not in left
        assert left.startswith("History:\nWell.\n\nBRIEF HOSPITAL COURSE:")
        assert left.endswith("Discharge Disposition:\nHome\n")
    assert (
        remove_section("No heading, no section.", "Brief Hospital Course", "Stable.")
        == "No heading, no section."
    )
    # The last section of a note ends where its target does: a signature is no part of it.
    assert remove_section(
        "Brief Hospital Course:\nWent home.\n\nDr. Nobody", "Brief Hospital Course", "Went home."
    ) == ("Brief Hospital Course:\n___\n\n\n\nDr. Nobody")
    quoted = remove_section(
        'He wrote: "a b c\nd e f g h i."', "Brief Hospital Course", "a b c d e f g h i"
    )
    assert quoted == 'He wrote: "\n___\n\n."'


@given(
    st.text(st.characters(codec="ascii"), max_size=60),
    st.lists(st.sampled_from(["alpha", "beta", "g(m)a", "d."]), min_size=9),
)
def test_a_long_target_is_nowhere_in_what_is_left(rest, words):
    target = " ".join(words)
    for text in (
        f"{rest}\nBrief Hospital Course:\n{target}\n{rest}",
        f"{rest} {'  '.join(words)} {rest}",
    ):
        left = remove_section(text, "Brief Hospital Course", target)
        assert target not in " ".join(left.split())


def test_a_join_that_does_not_fit_is_named(tmp_path):
    folder = sample_copy("dischargeme", tmp_path)
    place = folder / TEST_PHASE / "discharge.csv.gz"
    header, rows = read_gz(place)
    write_csv(place, header, *rows[:-1])
    assert "has no text for 1 admission of discharge_target.csv.gz" in problem(
        "dischargeme", folder
    )
    write_csv(place, header, *rows, rows[1])
    assert "discharge.csv.gz: row 5" in problem("dischargeme", folder)
    write_csv(place, [name if name != "text" else "note" for name in header], *rows)
    assert "discharge.csv.gz: columns: 'text' is missing" in problem("dischargeme", folder)
    write_csv(place, header, *rows)
    place.write_bytes(place.read_bytes()[:-9])
    assert "is not a complete gzip file" in problem("dischargeme", folder)
    place.unlink()
    assert "discharge.csv.gz: is missing" in problem("dischargeme", folder)


def test_an_empty_target_and_a_second_one_are_named_by_row(tmp_path):
    folder = sample_copy("dischargeme", tmp_path)
    place = folder / TEST_PHASE / "discharge_target.csv.gz"
    header, rows = read_gz(place)
    rows[2][header.index("discharge_instructions")] = " "
    write_csv(place, header, *rows, rows[0])
    said = problem("dischargeme", folder)
    assert "discharge_target.csv.gz: row 3" in said
    assert "the column 'discharge_instructions' is empty" in said
    assert "is a second row for the same hadm_id" in said


def test_the_files_that_nobody_uses_may_be_absent(tmp_path):
    folder = sample_copy("dischargeme", tmp_path)
    for name in ("diagnosis", "edstays", "triage"):
        (folder / TEST_PHASE / f"{name}.csv.gz").unlink()
    assert len(load("dischargeme", folder)) == 8
