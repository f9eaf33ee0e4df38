"""The measures of harmless text against counts made by hand, and against a second, slower writing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.measuring.measures import compare_text, summarise_texts
from agent.redaction.measuring.utility import Utility

Spans = list[tuple[int, int, str]]


def measure(*texts: tuple[str, Spans, Spans]) -> Utility:
    return summarise_texts([compare_text(*text) for text in texts]).utility


def span(text: str, part: str, kind: str = "NAME") -> tuple[int, int, str]:
    start = text.index(part)
    return start, start + len(part), kind


def test_tags_are_counted_in_texts_without_identifiers_alone():
    harmless = "Foley catheter and Braden scale today"
    identifying = "Foley catheter of Anna"
    found = measure(
        (harmless, [], [span(harmless, "Foley"), span(harmless, "Braden"), span(harmless, "today", "DATE")]),
        ("no tag in these five", [], []),
        (identifying, [span(identifying, "Anna")], [span(identifying, "Foley")]),
    )  # fmt: skip
    assert found.tags == {"NAME": 2, "DATE": 1}
    assert found.words == 11
    assert found.tags_per_1000_words == pytest.approx(3000 / 11)
    assert found.find_rate(found.tags["DATE"]) == pytest.approx(1000 / 11)


def test_without_harmless_words_there_is_no_rate():
    assert measure(("Anna", [(0, 4, "NAME")], [])).tags_per_1000_words is None
    assert measure().tags_per_1000_words is None


def test_a_redacted_word_is_right_if_any_of_it_identifies():
    text = "Dr. Anna Kowalski takes metformin"
    found = measure(
        (text, [span(text, "Anna Kowalski")], [(0, 16, "NAME"), span(text, "metformin")])
    )
    assert (found.token_precision.n, found.token_precision.value) == (4, 0.5)


@pytest.mark.parametrize(
    ("text", "taken", "is_changed"),
    [
        ("K is 4.1 mmol/L", "4.1", True),
        ("K is 4.1 mmol/L", "mmol", True),
        ("K is 4.1 mmol/L", "K", False),
        ("give 5mg/kg/day now", "day", True),
        ("give 5mg/kg/day now", "now", False),
        ("SpO2 was 92%", "92%", True),
        ("taken on 20 mondays", "mondays", False),
        ("Which? A. Aspirin B. Foley C. none", "Foley", True),
        ("Which? A. Aspirin B. Foley C. none", "A. Aspirin", True),
        ("Which? A. Aspirin B. Foley C. none", "Which", False),
        ("Choose:\n(a) rest\n(b) Epley\nand go on", "Epley", True),
        ("Choose:\n(a) rest\n(b) Epley\nand go on", "and go on", False),
        ("1) Foley out\n2) home", "home", True),
        ("B. Foley and C. Barrett wrote in 2020", "Barrett", False),
    ],
)
def test_options_numbers_and_units_are_noticed(text: str, taken: str, is_changed: bool):
    changed = measure((text, [], [span(text, taken)])).changed
    assert (changed.n, changed.value) == (1, float(is_changed))


def test_an_identifier_among_numbers_may_be_taken():
    text = "seen on 03/14/2022 with K 4.1"
    found = measure((text, [span(text, "03/14/2022")], [span(text, "03/14/2022")]))
    assert (found.changed.n, found.changed.value) == (1, 0)
    alone = "seen on 03/14/2022"
    assert measure((alone, [span(alone, "03/14/2022")], [])).changed.n == 0
    assert measure(("no figures", [], [])).changed.value is None


@given(st.text("ab 1.é%\n", max_size=30), st.data())
def test_rates_are_those_of_a_second_writing(text: str, data: st.DataObject):
    places = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=3)
    gold, taken = (
        [(low, high, "NAME") for low, high in data.draw(places) if low < high <= len(text)]
        for _ in range(2)
    )
    found = measure((text, gold, taken))
    covered = {place for low, high, _ in taken for place in range(low, high)}
    identifying = {place for low, high, _ in gold for place in range(low, high)}
    tokens = [set(range(*token.span())) for token in re.finditer(r"[^\W_]+", text)]
    touched = [token for token in tokens if token & covered]
    right = [token for token in touched if token & identifying]
    assert found.token_precision.n == len(touched)
    assert (found.token_precision.value or 0) * len(touched) == pytest.approx(len(right))
    assert found.words == (0 if gold else len(text.split()))
    assert sum(found.tags.values()) == (0 if gold else len(taken))
