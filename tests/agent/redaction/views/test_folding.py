"""Plain text keeps its order, and characters are read as the plain ones they look like."""

import unicodedata

import pytest
from hypothesis import given, settings

from agent.redaction.views.folding import fold
from tests.agent.redaction.views.disguised_texts import TEXTS, list_views


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_the_plain_reading_keeps_the_order_and_leaves_out_only_what_shows_nothing(text: str):
    folded = fold(text)
    if folded.starts is None or folded.ends is None:
        assert len(folded.text) == len(text)
        return
    assert list(folded.starts) == sorted(folded.starts)
    assert list(folded.ends) == sorted(folded.ends)
    covered = {
        place for s, e in zip(folded.starts, folded.ends, strict=True) for place in range(s, e)
    }
    left = "".join(character for place, character in enumerate(text) if place not in covered)
    assert all(
        unicodedata.category(character)[0] in "CM" or fold(character).text == ""
        for character in left
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\uff2a\uff4f\uff48\uff4e", "John"),
        ("\U0001d409\U0001d428\U0001d421\U0001d427", "John"),
        ("J\u200bo\u2060h\u00adn", "John"),
        ("J\u0336o\u0336h\u0336n\u0336", "John"),
        ("\u0408ohn", "John"),
        ("\u0430\u0441\u0435", "ace"),
        ("\u1d0a\u1d0f\u029c\u0274", "john"),
        ("\u0660\u0661\u0662", "012"),
        ("12\u201334\u221256", "12-34-56"),
        ("\u2460\u2776", "11"),
        ("e\u0301", "é"),
        ("\ufb01", "fi"),
        ("a\\nb", "a \nb"),
        ("4\u20e38\u20e32\u20e3", "482"),  # keycaps without their variation selector
        ("\u24a3\u24aa\u24a7\u24a7\u24aa\u24b2", "hollow"),
        ("\U0001f117\U0001f11e", "HO"),
    ],
)
def test_characters_are_read_as_the_plain_ones_they_look_like(written: str, read: str):
    assert list_views(written)[0].text == read


@pytest.mark.parametrize(
    "text", ["TNF-α 5 μg/L", "½ tablet, 37.2 °C, ±2 — “stable”", "β-blocker γ-GT", "niño señaló"]
)
def test_signs_of_the_trade_and_letters_with_accents_stay(text: str):
    (plain,) = list_views(text)
    assert [c for c in plain.text if c.isalnum()] == [c for c in text if c.isalnum()]
    assert plain.marked == ()
