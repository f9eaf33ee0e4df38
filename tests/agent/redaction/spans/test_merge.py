"""Findings are united in order, without overlaps, each of the right kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.spans.merge import merge_spans
from agent.redaction.spans.span import Span
from tests.agent.redaction.spans.shown_spans import spans


@given(
    st.lists(
        st.tuples(
            st.integers(0, 40),
            st.integers(1, 12),
            st.sampled_from(["NAME", "DATE", "MRN", "FACILITY", "ID"]),
        ),
        max_size=12,
    )
)
def test_uniting_covers_exactly_what_was_found_in_order_and_without_overlaps(
    found: list[tuple[int, int, str]],
):
    text = "x" * 60
    spans = [Span(start, start + length, entity) for start, length, entity in found]
    covered = {place for span in spans for place in range(span.start, span.end)}
    union = merge_spans(spans, text)
    assert {place for span in union for place in range(span.start, span.end)} == covered
    assert sum(span.end - span.start for span in union) == len(covered)
    ends = [edge for span in union for edge in (span.start, span.end)]
    assert ends == sorted(ends)
    assert all(span.start < span.end for span in union)


@pytest.mark.parametrize(
    ("text", "found", "shown"),
    [
        ("Minh Duc", [("Minh Duc", "FACILITY"), ("Minh Duc", "NAME")], [("Minh Duc", "NAME")]),
        ("Holloway Clinic", [("Holloway Clinic", "FACILITY"), ("Holloway Clinic", "NAME")], None),
        (
            "Anke Dreyer left",
            [("Anke", "ORGANIZATION"), ("Dreyer", "NAME")],
            [("Anke Dreyer", "NAME")],
        ),
        (
            "Dr. Ames Sutter Imaging",
            [("Dr. Ames", "NAME"), ("Ames Sutter Imaging", "FACILITY")],
            [("Dr. Ames", "NAME"), ("Sutter Imaging", "FACILITY")],
        ),
        (
            "Pt Holloway, Tyrell  29 y",
            [("Holloway", "NAME"), ("Tyrell", "NAME")],
            [("Holloway, Tyrell", "NAME")],
        ),
        (
            "Seen by Smith, Jones and Lee",
            [("Smith", "NAME"), ("Jones", "NAME")],
            [("Smith", "NAME"), ("Jones", "NAME")],
        ),
    ],
)
def test_findings_that_overlap_keep_the_right_kind(
    text: str, found: list[tuple[str, str]], shown: list[tuple[str, str]] | None
):
    assert spans(text, *found) == (shown or found[:1])
