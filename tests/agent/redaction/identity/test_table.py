"""What is known of a record is found in its other texts, however they write it, and nothing else is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.deadline import Deadline
from agent.redaction.identity.table import KnownValues, search_known_values
from agent.redaction.rules.en import everyday
from tests.agent.redaction.identity.covered_texts import covered

HARMLESS = [
    ("AGE", "94", "94 mg"),
    ("UNKNOWN_WORD", "Fever", "fever"),
]


@pytest.mark.parametrize(
    ("entity", "value", "text"), HARMLESS, ids=[f"{row[1]}: {row[2]}" for row in HARMLESS]
)
def test_what_only_resembles_a_known_value_stays(entity: str, value: str, text: str):
    assert covered(text, (entity, value)) == text


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=20), max_size=4))
def test_any_text_can_be_searched_for_any_value(text: str, values: list[str]):
    kinds = ("NAME", "MRN", "PHONE", "DATE", "ADDRESS", "FACILITY", "EMAIL", "LOCATION")
    covered(text + " ".join(values), *((kind, value) for kind in kinds for value in values))


@pytest.mark.sample(3)
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Smith " * 20_000, [("NAME", f"{a}{b}a Smith") for a in "BCDFGHJKLMNPQRSTVWXZ" for b in "aeiou"]),
        ("smiht " * 20_000, [("NAME", f"Smit{a}{b}") for a in "bcdfgh" for b in "aeiou"]),
        ("1 " * 30_000, [("MRN", "1" * 40), ("PHONE", "1" * 12)]),
        ("0-" * 30_000, [("MRN", "0" * 30 + "12345")]),
        ("the " * 20_000, [("FACILITY", "the " * n + "Vale") for n in range(2, 15)]),
        ("J. " * 20_000, [("NAME", "Jan Jansen Jonker")]),
        ("may 1 " * 10_000, [("DATE", "May 2, 1951")]),
        ("1/1/" * 20_000, [("DATE", "May 2, 1951")]),
    ],
    ids=["many-of-a-family", "mistyped", "digits", "zeros", "phrases", "initials", "months", "slashes"],
)  # fmt: skip
def test_hostile_text_takes_a_time_that_grows_with_it(text: str, values: list[tuple[str, str]]):
    deadline = Deadline()
    deadline.start(60)
    known = KnownValues(values, everyday())
    began = time.process_time()
    for _ in search_known_values(text, known, deadline):
        pass
    assert time.process_time() - began < 3.0
