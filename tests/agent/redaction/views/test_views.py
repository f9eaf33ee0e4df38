"""Every character of a view knows its place, nothing drawn as one is split, and ordinary text has one view."""

import unicodedata

import pytest
import regex
from hypothesis import example, given, settings

from agent.redaction.spans.span import Span
from tests.agent.redaction.views.disguised_texts import TEXTS, list_views


@settings(max_examples=300, deadline=None)
@given(TEXTS)
@example("J\u0336\u200b\u0301ohn")
@example("\U0001f1e6\U0001f1ef4 1 2")
@example("\U0001f1e6\U0001f1ef\u0336")
def test_every_character_of_a_reading_has_a_place_that_splits_nothing_drawn_as_one(text: str):
    edges = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    for view in list_views(text):
        for place in range(len(view.text)):
            start, end = view.locate(place, place + 1)
            assert 0 <= start <= end <= len(text)
            # What is drawn as one stays together, but for a line end of two characters and text without marks.
            assert (
                start in edges
                or text[start].isascii()
                or unicodedata.category(text[start])[0] not in "MC"
            )
            assert end in edges or unicodedata.category(text[end])[0] != "M"


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_the_readings_together_are_no_longer_than_so_many_times_the_text(text: str):
    assert sum(len(view.text) for view in list_views(text)) <= 30 * (len(text) + 10)


@pytest.mark.parametrize(
    "text",
    [
        "BP 120/80 mmHg, HbA1c 8.4%, eGFR 42 mL/min/1.73 m2, SpO2 97%, pT3aN1M0, IL-6 and A1AT.",
        "Options: A B C D. Grade 1 2 3 4. A. B. C. D. Rate it 1 2 3 4 5.",
        "He takes 1-2 tablets every 4-6 hours; reversed by naloxone, then p.r.n., q.i.d.",
        "Dr. Lee of St. Mary's with no SOB; s/p CABG x 3, 8 x 5 x 2.5 cm.",
        "One or two of the three had four episodes.",
        "EKG and follow-up; non-small-cell; x-ray at noon.",
    ],
)
def test_ordinary_clinical_text_has_no_second_reading(text: str):
    assert [view.text for view in list_views(text)[1:]] == []


def test_a_finding_in_an_excerpt_counts_only_where_the_text_reads_otherwise():
    plain, decoded, *_ = list_views("Seen by Anna Smith on rounds; then H\\u006flloway came.")
    start = decoded.text.index("Anna")
    assert not decoded.is_new(Span(start, start + 10, "ID"))
    start = decoded.text.index("Holloway")
    assert decoded.is_new(Span(start, start + 8, "ID"))
    assert plain.is_new(Span(0, 1, "ID"))
