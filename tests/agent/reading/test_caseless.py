"""Patterns that ignore case find the same places as `re.IGNORECASE`, also beside letters that change their length."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reading.caseless import compile_caseless, lower

PATTERNS = (
    r"\bnot\b|n't\b",
    r"(?P<Name>[A-Z]\w{1,5})(?: |-)(?P=Name)",
    r"^\W*Total\b[^A-F\n]{0,9}\d",
    r"(?<!\w)beträgt|È",
    r"\S\Bs\Z",
)
LETTERS = st.text(alphabet="aAnNoOtTsS'ſıİIiKkèÈß \n-5", max_size=40)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=LETTERS)
def test_the_same_places_are_found_as_with_ignorecase(pattern, text):
    caseless = compile_caseless(pattern, re.MULTILINE)
    reference = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    spans = [match.regs for match in caseless.finditer(text)]
    assert spans == [match.regs for match in reference.finditer(text)]


def test_a_search_begins_and_ends_where_it_is_told():
    negation = compile_caseless(r"\bNOT\b")
    text = "Not this, NOT that, knot."
    assert negation.search(text, 1).start() == 10
    assert negation.search(text, 1, 12) is None
    assert negation.match(text, 10).end() == 13
    assert negation.match(text, 21) is None  # "not" within "knot"


@given(text=st.text())
def test_every_character_keeps_its_position(text):
    assert len(lower(text)) == len(text)


def test_a_long_text_is_searched_like_a_short_one():
    text = "The answer is B. " * 100 + "NOT A."
    found = compile_caseless("not a").search(text)
    assert found.span() == (len(text) - 6, len(text) - 1)
    assert found[0] == "not a"
