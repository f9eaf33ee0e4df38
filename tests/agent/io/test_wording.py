"""Words in messages: the name that was meant, counts, and characters that a terminal would obey."""

import pytest

from agent.io.wording import find_unseen, format_count, format_range_s, nearest


def test_the_nearest_name_is_found_whatever_its_case_and_nothing_is_guessed():
    assert nearest("MAX_TOKEN", ["min_tokens", "max_tokens"]) == " (did you mean 'max_tokens'?)"
    assert nearest("zebra", ["min_tokens", "max_tokens"]) == ""


def test_counts_agree_with_their_noun():
    assert [format_count(n, "run") for n in (0, 1, 2, 12_000)] == [
        "0 runs",
        "1 run",
        "2 runs",
        "12,000 runs",
    ]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (24.2, 38.4, "24 to 38 s"),
        (1.0, 2.54, "1.0 to 2.5 s"),
        (2.01, 2.02, "about 2.0 s"),
        (80, 125, "1.3 to 2.1 min"),
        (900, 1800, "15 to 30 min"),
        (3000, 16000, "0.8 to 4.4 h"),
        (0, 0, "about 0.0 s"),
    ],
)
def test_intervals_of_time_have_the_unit_of_their_end(low: float, high: float, text: str):
    assert format_range_s(low, high) == text


@pytest.mark.parametrize(
    ("text", "in_a_name", "in_a_text"),
    [
        ("Größe 中文 µg", "", ""),
        ("two\n\tlines", "U+000A", ""),
        ("a\x1b[2J", "U+001B", "U+001B"),
        ("a\u202eb", "U+202E", "U+202E"),
        ("a\ud800b", "U+D800", "U+D800"),
        ("a\u200bb", "U+200B", ""),
    ],
)
def test_what_is_not_seen_as_it_is_has_its_number(text: str, in_a_name: str, in_a_text: str):
    assert (find_unseen(text), find_unseen(text, one_line=False)) == (in_a_name, in_a_text)
