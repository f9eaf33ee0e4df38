"""Whatever a structured text contains, redaction returns a text of the same format, with the same keys and shape."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.redaction.engine import Engine

PIECES = [
    *(
        "Anna Kowalski",
        "Dr. Nguyễn Văn Hùng",
        "MRN 00451234",
        "03/14/2022",
        "617-555-0143",
        "a.k@ward.example",
    ),
    *(
        "5.4 mg/dL",
        "Leukocytes",
        "12 Oak Street",
        "O'Brien",
        "[NAME-1]",
        "93",
        "true",
        "é",
        "𝒜",
        "&amp;",
        "<b>",
    ),
    *("]]>", "-->", '":"', "//", "\\n", *"\"'\\,;|^~&{}[]=: \t\n"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
LABELS = st.sampled_from(
    [
        "patient_name",
        "dob",
        "mrn",
        "value",
        "unit",
        "note",
        "family",
        "id",
        "name",
        "display",
        "phone",
        "x",
        "items",
        "ssn",
    ]
)
SCALARS = st.one_of(
    TEXTS, st.integers(-10, 10**12), st.floats(allow_nan=False, width=32), st.booleans(), st.none()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(LABELS, inner, max_size=4),
    max_leaves=12,
)
ROWS = st.lists(st.lists(TEXTS, min_size=4, max_size=4), min_size=1, max_size=4)
CHECK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def same_shape(before: Any, after: Any) -> bool:
    """Return whether two values of JSON have the same keys and lengths; strings may replace texts and numbers."""
    match before:
        case dict():
            return list(before) == list(after) and all(
                same_shape(before[key], after[key]) for key in before
            )
        case list():
            return len(before) == len(after) and all(map(same_shape, before, after))
        case bool() | None:
            return before is after
        case int() | float():
            return after == before or isinstance(after, str)
        case _:
            return isinstance(after, str)


@CHECK
@given(
    st.dictionaries(LABELS, VALUES, min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_json_keeps_its_shape(engine: Engine, value: Any, ascii_only: bool, indent: int | None):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert same_shape(value, json.loads(engine.redact(text)))


@CHECK
@given(st.lists(st.dictionaries(LABELS, SCALARS, min_size=1, max_size=4), min_size=2, max_size=4))
def test_json_lines_keep_their_shape(engine: Engine, values: list[Any]):
    text = "\n".join(json.dumps(value, separators=(",", ":")) for value in values)
    after = [json.loads(line) for line in engine.redact(text).split("\n")]
    assert same_shape(values, after)


@CHECK
@given(ROWS, st.sampled_from(",;\t"), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_delimited_files_keep_their_shape(
    engine: Engine, rows: list[list[str]], separator: str, quoting: Any
):
    head = ["patient_name", "dob", "value", "note"]
    assert check_delimited(engine, [head, *rows], separator, quoting)[0] == head


@CHECK
@given(ROWS, st.sampled_from(",;\t"))
def test_delimited_files_with_unknown_heads_keep_their_shape(
    engine: Engine, rows: list[list[str]], separator: str
):
    plain = [[" ".join(text.replace(separator, "").split()) for text in row] for row in rows]
    check_delimited(engine, [["a", "b", "c", "d"], *plain, *plain], separator, csv.QUOTE_ALL)


def check_delimited(
    engine: Engine, rows: list[list[str]], separator: str, quoting: Any
) -> list[list[str]]:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(rows)
    redacted = engine.redact(written.getvalue())
    after = list(csv.reader(io.StringIO(redacted, newline=""), delimiter=separator))
    assert [len(row) for row in after] == [4] * len(rows)
    return after


def names_of(element: ET.Element) -> list[Any]:
    return [element.tag, sorted(element.attrib), [names_of(child) for child in element]]


@CHECK
@given(st.lists(st.tuples(LABELS, TEXTS, st.dictionaries(LABELS, TEXTS, max_size=3)), max_size=5))
def test_xml_keeps_its_shape(engine: Engine, children: list[tuple[str, str, dict[str, str]]]):
    root = ET.Element("record", id="00451234")
    for name, text, attributes in children:
        ET.SubElement(root, name, attributes).text = text
    text = ET.tostring(root, encoding="unicode")
    assert names_of(ET.fromstring(engine.redact(text))) == names_of(root)


@CHECK
@given(st.lists(st.lists(TEXTS, min_size=3, max_size=12), min_size=1, max_size=4))
def test_hl7_keeps_its_shape(engine: Engine, segments: list[list[str]]):
    lines = ["MSH|^~\\&|LAB|Ward 7B|EHR||20220314||ORU^R01|1|P|2.5.1"]
    for number, fields in enumerate(segments):
        name = ("PID", "OBX", "NTE", "ZZ1")[number % 4]
        lines.append("|".join([name, *(" ".join(field.split()) for field in fields)]))
    text = "\r".join(lines)
    redacted = engine.redact(text)
    assert shape_of(redacted) == shape_of(text)


def shape_of(message: str) -> list[Any]:
    return [
        [segment[:3], [[field.count(mark) for mark in "^~&"] for field in segment.split("|")]]
        for segment in message.split("\r")
    ]
