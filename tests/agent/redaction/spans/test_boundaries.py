"""Where findings begin and end: nobody's number is half shown, and no sense is lost with a name."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction import Redactor, engine
from agent.redaction.entities import PRECEDENCE
from agent.redaction.spans.merge import merge_spans
from agent.redaction.spans.span import Span
from tests.agent.redaction.spans.shown_spans import spans


@pytest.mark.parametrize(
    ("text", "found", "entity", "whole"),
    [
        ("order 24-D-00017 filed", "00017", "ID", "24-D-00017"),
        ("tag QF 448-RTD, locked", "448", "VEHICLE", "448-RTD"),
        ("plate TX BZR-4471", "BZR-4471", "VEHICLE", "TX BZR-4471"),
        ("unit W2037 24 551902 00, verified", "W2037 24 551902", "ID", "W2037 24 551902 00"),
        ("on file xxx-xx-6642.", "xx-6642", "SSN", "xxx-xx-6642"),
        ("out of 3-22-9 Kitamachi", "9 Kitamachi", "ADDRESS", "3-22-9 Kitamachi"),
        ("MRN 0045 1234 50 mg given", "0045 1234", "MRN", "0045 1234"),
        ("chart 4471209-related notes", "4471209", "MRN", "4471209"),
    ],
)
def test_a_number_found_in_part_is_taken_with_all_of_its_groups(
    text: str, found: str, entity: str, whole: str
):
    assert spans(text, (found, entity)) == [(whole, entity)]


@pytest.mark.parametrize(
    ("text", "found", "days"),
    [
        ("infused 4/1 and 4/15 at home", "4/15", ["4/1", "4/15"]),
        ("seen 4/1, 4/8 and 4/15.", "4/1", ["4/1", "4/8", "4/15"]),
        ("admitted 12/30/23 to 1/4/24", "12/30/23", ["12/30/23", "1/4/24"]),
        ("on 4/15 pain was 8/10", "4/15", ["4/15"]),
        ("on 4/15 and 45/90 later", "4/15", ["4/15"]),
    ],
)
def test_both_days_of_a_pair_are_days(text: str, found: str, days: list[str]):
    assert spans(text, (found, "DATE")) == [(day, "DATE") for day in days]


@pytest.mark.parametrize(
    ("text", "found", "left"),
    [
        ("his father Tyrell Sr. NOT be told", "Tyrell Sr. NOT", ["Tyrell Sr."]),
        ("MARY SMITH DENIES pain", "MARY SMITH DENIES", ["MARY SMITH"]),
        ("smith no fever", "smith no", ["smith"]),
        ("told Smith NOT Jones", "Smith NOT Jones", ["Smith", "Jones"]),
        ("Holloway WITH fever", "Holloway WITH", ["Holloway"]),
        ("John Smith DO NOT call", "John Smith DO", ["John Smith"]),
        ("Shaniqua Dupree MVC today", "Shaniqua Dupree MVC", ["Shaniqua Dupree"]),
        ("seen by Miami J.\nMTP begun", "Miami J.\nMTP", ["Miami J."]),
        ("NOT today", "NOT", []),
        ("Mary SMITH came", "Mary SMITH", ["Mary SMITH"]),
        ("Anna Lee RN came", "Anna Lee RN", ["Anna Lee RN"]),
        ("ANH DO came", "ANH DO", ["ANH DO"]),
    ],
)
def test_what_is_said_of_somebody_stays(text: str, found: str, left: list[str]):
    assert spans(text, (found, "NAME")) == [(name, "NAME") for name in left]


@pytest.mark.parametrize(
    ("text", "found", "entity", "whole"),
    [
        ("(928.555.0104)", "(928.555.0104", "PHONE", "928.555.0104"),
        ("(928) 555-0104", "(928) 555-0104", "PHONE", "(928) 555-0104"),
        ('Edgar "Junior" Espinoza', 'Junior" Espinoza', "NAME", '"Junior" Espinoza'),
        ('maybe "Darnell" came', '"Darnell', "NAME", "Darnell"),
        ("tel. 555-0104", ". 555-0104", "PHONE", "555-0104"),
        ("on 13 June. Then", "13 June.", "DATE", "13 June"),
        ("at 5 p.m. Then", "5 p.m.", "DATE", "5 p.m."),
        (
            "Vehicle VIN 1HGBH41JXMN109186",
            "Vehicle VIN 1HGBH41JXMN109186",
            "VEHICLE",
            "1HGBH41JXMN109186",
        ),
        ("Ann Whitehorse, M.D. came", "Ann Whitehorse, M.", "NAME", "Ann Whitehorse, M.D."),
        ("Mr. J. Long Jr. came", "Mr. J. Long Jr.", "NAME", "Mr. J. Long Jr."),
        ("at 12 Elm St. today", "12 Elm St.", "ADDRESS", "12 Elm St."),
        ("see Mayo Clinic: today", "Mayo Clinic:", "FACILITY", "Mayo Clinic"),
    ],
)
def test_brackets_labels_and_full_stops_stay_outside(
    text: str, found: str, entity: str, whole: str
):
    assert spans(text, (found, entity)) == [(whole, entity)]


WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "(",
                ")",
                '"',
                "“",
                "”",
                "[",
                "]",
                "{",
                "}",
                ". ",
                ", ",
                "4/1",
                " and ",
                "-",
                "17",
                "NOT",
                " ",
                "VIN ",
                "Ann",
            ]
        ),
        st.text(max_size=4),
    ),
    max_size=14,
)
PLACES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 20), st.sampled_from(PRECEDENCE)), max_size=5
)
PARTNER = {")": "(", "]": "[", "}": "{", "”": "“"}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(WORDS, PLACES)
def test_no_finding_holds_half_a_bracket_and_uniting_again_changes_nothing(
    words: list[str], places: list[tuple[int, int, str]]
):
    text = "".join(words)
    found = [
        Span(a, min(a + length, len(text)), entity) for a, length, entity in places if a < len(text)
    ]
    union = merge_spans(found, text)
    for one, other in itertools.pairwise(union):
        assert one.end <= other.start
    for span in union:
        opened: list[str] = []
        for sign in text[span.start : span.end]:
            if sign in PARTNER:
                assert opened
                assert opened.pop() == PARTNER[sign]
            elif sign in "([{“":
                opened.append(sign)
        assert not opened
        assert text[span.start : span.end].count('"') % 2 == 0
    assert [(s.start, s.end) for s in merge_spans(union, text)] == [(s.start, s.end) for s in union]


@pytest.mark.full
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(
            [
                "Dr. Anna Kowalski",
                "(",
                ")",
                '"',
                "NOT",
                "DENIES",
                "4/1 and 4/15/22",
                "MRN: 0045 1234",
                "Sr.",
                ".",
                "fever",
            ]
        ),
        max_size=8,
    ).map(" ".join)
)
def test_redacting_what_was_redacted_changes_nothing(redactor: Redactor, text: str):
    once = redactor.redact(text)
    assert redactor.redact(once) == once
    for word in ("NOT", "DENIES", "fever", "(", ")"):
        assert once.count(word) == text.count(word)


def test_a_diagnosis_is_not_lost_with_what_was_taken_for_a_name(redactor: Redactor):
    shown = redactor.redact_record(
        [
            "Ms. Wren Preschool-Orlowska came.",
            "Impression: preschool wheeze. Orlowska is well; Wren agrees.",
        ]
    )
    assert shown[1] == "Impression: preschool wheeze. [NAME-1] is well; [NAME-1] agrees."


@pytest.mark.full
def test_a_record_of_more_names_than_can_be_told_apart_is_withheld_and_soon(
    redactor: Redactor, monkeypatch: pytest.MonkeyPatch
):
    letters = "bcdfghklmnprstvz"
    names = [
        f"{a}{b}a{c}{d}o"
        for a in letters.upper()
        for b in "aeiou"
        for c in letters
        for d in "aeiou"
    ]
    texts = [
        " ".join(f"Mr. {name}." for name in names[n : n + 400]) for n in range(0, len(names), 400)
    ]
    monkeypatch.setattr(engine, "_MAX_VALUES", 10_000)  # of 100,000, which would take a minute
    shown = redactor.redact_record([*texts, *(text.replace("Mr. ", "Mr. Q") for text in texts)])
    assert set(shown) == {"[WITHHELD: too long]"}


def test_telephone_numbers_of_a_list_are_one_finding_each():
    text = "call 617-555-2345 and (617) 555-9876, +1 617 555 1111 today"
    found = merge_spans([Span(5, 53, "PHONE")], text)
    assert [text[span.start : span.end] for span in found] == [
        "617-555-2345",
        "(617) 555-9876",
        "+1 617 555 1111",
    ]
