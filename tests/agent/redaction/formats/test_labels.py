"""The meaning of labels, and which values fit them."""

import pytest

from agent.redaction.entities import PRECEDENCE
from agent.redaction.formats import hl7, labels
from agent.redaction.formats.cells import FREE, KEEP, REFERENCE
from agent.redaction.formats.labels import (
    find_certain_part,
    find_meaning,
    is_identifying_label,
    is_telling_key,
)


def meaning(label: str, value: str, *siblings: str) -> str:
    return find_meaning((label,), (dict.fromkeys((label, *siblings), ""),), value)


@pytest.mark.parametrize(
    ("label", "value", "expected"),
    [
        ("patientName", "Anna Kowalski", "NAME"),
        ("PATIENT_NAME", "unknown", FREE),
        ("patient", "No.", FREE),
        ("doctor", "How do you feel?", FREE),
        ("Emergency Contact Phone", "617 555 0143", "PHONE"),
        ("Fecha_nacimiento", "2/3/1950", "DATE"),
        ("Geburtsdatum", "02.03.1950", "DATE"),
        ("age", "93", "AGE"),
        ("age", "61", "AGE_BELOW_90"),
        ("birth_year", "1931", FREE),
        ("value", "5.4 mg/dL", KEEP),
        ("loinc", "2345-7", KEEP),
        ("code", "385093006", KEEP),
        ("flag", "6175550143", FREE),
        ("diagnosis", "Bell palsy", KEEP),
        ("diagnosis", "per Dr. Kowalski", FREE),
        ("type", "Anna Kowalski", FREE),
        ("answer", "B", KEEP),
        ("answer", "Anna", FREE),
        ("hemoglobin_a1c", "7.1 % [4.0-5.6]", KEEP),
        ("contacts", "636-555-0168", FREE),
        ("result", "Szczepanik", FREE),
        ("code", "Okonkwo", FREE),
        ("result", "Klebsiella", KEEP),
        ("drug", "Ativan", KEEP),
        ("code", "LOINC", KEEP),
        ("patient name", "name", KEEP),
        ("initials", "KLM", "NAME"),
        ("medicare_number", "3QW8TN4RD61", "PLAN"),
        ("medicaid_code", "AB12345C", "PLAN"),
    ],
)
def test_value_has_the_meaning_of_its_label_if_it_fits(label: str, value: str, expected: str):
    assert meaning(label, value) == expected


def test_name_is_of_a_person_or_of_a_test_as_its_neighbours_say():
    assert meaning("name", "Anna Kowalski", "dob", "test") == "NAME"
    assert meaning("name", "ALT", "unit", "value") == KEEP
    assert find_meaning(("hospital", "name"), (), "Elm Clinic") == "FACILITY"


def test_comment_after_a_name_is_not_part_of_it():
    value = "O'Shea Aoife (brother) +49 551 340016"
    assert find_certain_part("NAME", value) == (0, len("O'Shea Aoife"))
    assert find_certain_part(REFERENCE, "Patient/p7") == (8, 10)
    assert find_certain_part(REFERENCE, "Observation/obs") is None


def test_keys_that_may_be_identifiers_are_searched():
    assert [is_telling_key(key) for key in ("Kowalski", "00451234", "a@b.example")] == [True] * 3
    assert [is_telling_key(key) for key in ("patient_name", "Date", "x", "seq")] == [False] * 4


def test_every_meaning_in_the_data_files_is_an_entity():
    meanings = set(labels._read_labels()[0].values()) | set(labels._read_elements().values())
    types = hl7._read_types()
    meanings |= {meaning for components in types.values() for meaning in components}
    assert meanings - {FREE, KEEP, REFERENCE, "NEIGHBOURS"} <= set(PRECEDENCE)
    assert {kind for kind, _ in hl7._read_fields().values()} <= set(types)


@pytest.mark.parametrize("ending", ["number", "no", "id", "code"])
def test_a_label_that_identifies_does_so_with_a_word_behind_it_that_says_little(ending: str):
    identifying = [label for label in labels._read_labels()[0] if is_identifying_label(label)]
    lost = [label for label in identifying if not is_identifying_label(f"{label}_{ending}")]
    assert len(identifying) > 300
    assert lost == []
