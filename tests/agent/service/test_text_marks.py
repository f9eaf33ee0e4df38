"""Words, tags and readings marked in a text: whatever is marked, the text stays the same, and is never markup."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.service.text_marks import MOST_HITS, cut_around_hit, find_words, render_text

TEXTS = st.text("aAbBß<&\"'İıé [NAME-1] \n", max_size=60)


@given(TEXTS, st.text("aAbBßsSi<&", max_size=4), st.integers(0, 30), st.integers(0, 30))
def test_marks_change_no_character(text: str, words: str, start: int, length: int):
    start = min(start, len(text))
    read = [(start, min(start + length, len(text)))] if length else []
    marked = render_text(text, words, read)
    assert html.unescape(re.sub(r"</?(?:mark|span)[^>]*>", "", marked)) == text


@given(TEXTS, st.text("aAbBßsSi", min_size=1, max_size=3))
def test_words_are_found_exactly_if_a_search_finds_them(text: str, words: str):
    assert bool(find_words(text, words)) == (words.casefold() in text.casefold())


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("Straße und STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("aaa", "aa", ["aa"]),
        ("ßß", "s", ["ß", "ß"]),
        ("none", "x", []),
        ("none", "", []),
    ],
)
def test_places_are_those_of_the_text(text: str, words: str, found: list[str]):
    assert [text[start:end] for start, end in find_words(text, words)] == found


def test_a_letter_in_a_large_text_makes_a_bounded_page():
    assert len(find_words("e" * 1_000_000, "e")) == MOST_HITS


def test_a_hit_in_a_tag_and_a_reading_keeps_all_three_marks():
    marked = render_text("Dr [NAME-1] says B", "name", [(3, 18)])
    assert '<mark class="hit">NAME</mark>' in marked
    assert marked.count('<span class="tag">') == 3  # before, in and behind the hit
    assert '<mark class="read">' in marked


def test_the_passage_around_a_hit_is_short_and_on_one_line():
    text = "word " * 100 + "the\nfever\nrose " + "word " * 100
    passage = cut_around_hit(text, "fever")
    assert passage is not None
    assert "the fever rose" in passage
    assert passage.startswith("… word")
    assert passage.endswith("…")
    assert len(passage) < 130
    assert cut_around_hit("short fever", "fever") == "short fever"
    assert cut_around_hit("short", "fever") is None
