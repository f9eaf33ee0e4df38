"""Which texts have a format, and what their cells are."""

import time

import pytest

from agent.redaction.formats.cells import FREE, KEEP
from agent.redaction.formats.recognise import read_cells


def cells_of(source: str) -> list[tuple[str, str]]:
    cells = read_cells(source)
    assert cells is not None
    for cell in cells.items:
        start, end = cell.value.starts[0], cell.value.ends[-1]
        assert 0 <= start < end <= len(source)
    return [(cell.value.text, cell.meaning) for cell in cells.items]


@pytest.mark.parametrize(
    "prose",
    [
        "",
        "Patient was seen, examined, and sent home.\nNo pain, no fever, no cough.",
        "Doctor: Do you smoke?\nPatient: No.\nDoctor: Any pain?\nPatient: Yes.",
        "[1] Smith et al. {sic}",
        "<unknown> was seen",
        "MSH is a segment of HL7.",
        "A | B: which one?",
    ],
)
def test_prose_has_no_format(prose: str):
    assert read_cells(prose) is None


def test_escapes_are_decoded_and_keep_their_position():
    source = '{"patient_name":"Nguy\\u1ec5n \\"V\\" H\\u00f9ng","value":4.1}'
    cells = read_cells(source)
    assert cells is not None
    name = cells.items[0]
    assert (name.value.text, name.meaning) == ('Nguyễn "V" Hùng', "NAME")
    assert source[slice(*name.value.locate(0, 6))] == "Nguy\\u1ec5n"


def test_half_of_a_surrogate_pair_is_dropped():
    assert cells_of('{"note":"a\\ud83db\\u0000c"}') == [("abc", FREE)]


def test_json_within_json_within_json_is_read():
    source = r'{"payload":"{\"body\":\"{\\\"mrn\\\":451234,\\\"value\\\":4.1}\"}"}'
    assert cells_of(source) == [("451234", "MRN"), ("4.1", KEEP)]


def test_json_within_prose_is_read():
    cells = cells_of('The record is {"patient":"Anna Kowalski"}, as asked.')
    assert cells == [("The record is", FREE), ("Anna Kowalski", "NAME"), (", as asked.", FREE)]


def test_fields_of_hl7_have_their_meaning():
    source = (
        "MSH|^~\\&|LAB|Elm Hospital\rPID|1||451234^^^H^MR||Kowalski^Anna||19500302|F\r"
        "OBX|1|NM|2345-7^Glucose^LN||98|mg/dL"
    )
    meanings = dict(cells_of(source))
    assert meanings["Kowalski"] == meanings["Anna"] == "NAME"
    assert (meanings["19500302"], meanings["451234"]) == ("DATE", "MRN")
    assert meanings["Elm Hospital"] == "FACILITY"
    assert {meanings[text] for text in ("98", "mg/dL", "Glucose", "2345-7")} == {KEEP}


def test_columns_and_elements_have_their_meaning():
    table = dict(cells_of('patient_name,dob,test,value\n"Kowalski, Anna",1950-03-02,ALT,41\n'))
    assert table == {"Kowalski, Anna": "NAME", "1950-03-02": "DATE", "ALT": KEEP, "41": KEEP}
    xml = dict(
        cells_of(
            '<patient name="Anna Kowalski" dob="1950-03-02"><lab code="777-3">41</lab></patient>'
        )
    )
    assert xml == {"Anna Kowalski": "NAME", "1950-03-02": "DATE", "777-3": KEEP, "41": KEEP}


def test_display_of_a_practitioner_is_a_name_and_of_a_code_is_not():
    source = (
        '{"resourceType":"Observation","code":{"coding":[{"code":"2708-6","display":"Oxygen saturation"}]},'
        '"performer":[{"reference":"Practitioner/p7","display":"Anna Kowalski"}]}'
    )
    meanings = dict(cells_of(source))
    assert (meanings["Oxygen saturation"], meanings["Anna Kowalski"]) == (KEEP, "NAME")


@pytest.mark.parametrize(
    "source",
    [
        '{"a":' * 400 + "1" + "}" * 400,
        '{"a":"' + "<!-- > " * 30_000 + '"}',
        "<a>" + "-->" * 20_000 + "<!-- >" * 20_000 + "</a>",
        "<a>" + "<p>x" * 40_000 + "</a>",
        "[" + "1," * 90_000 + "1]",
        "name: x\n" * 3 + " " * 150_000,
        '{"' * 50_000,
        "a|b\n" * 40_000,
        '{"reference":"' + "a/" * 90_000 + '"}',
        "MSH|^~\\&|" + "\\" * 150_000,
        "patient,dob\n" + '"' * 150_001,
    ],
)
def test_hostile_texts_take_little_time(source: str):
    start = time.process_time()
    read_cells(source)
    assert time.process_time() - start < 5
