"""What a reviewer says of a text becomes gold and figures; nothing is counted twice."""

from hypothesis import given
from hypothesis import strategies as st

from agent.review.estimate import estimates
from agent.review.marking import MarkedSpan, ReviewVerdict, missed_places
from agent.store import ReviewedText

TEXT = "Anna Kowalska saw Dr. Lee. ANNA\n kowalska, Annabel and Lee's cat."
FOUND = (MarkedSpan(0, 4, "NAME"), MarkedSpan(22, 25, "NAME"))


def words_at(places: list[MarkedSpan]) -> list[str]:
    return [TEXT[place.start : place.end] for place in places]


def test_a_name_found_in_part_is_missed_wherever_a_letter_of_it_is_left():
    assert words_at(missed_places(TEXT, FOUND, "anna kowalska", "NAME")) == ["Anna Kowalska", "ANNA\n kowalska"]


def test_a_word_within_another_is_not_that_word():
    assert words_at(missed_places(TEXT, FOUND, "Anna", "NAME")) == ["ANNA"]


def test_what_is_marked_already_is_not_missed():
    assert words_at(missed_places(TEXT, FOUND, "Lee", "NAME")) == ["Lee"]
    assert TEXT[missed_places(TEXT, FOUND, "Lee", "NAME")[0].start :].startswith("Lee's cat")


def test_nothing_is_missed_where_nothing_was_typed():
    assert missed_places(TEXT, FOUND, "  ", "NAME") == []
    assert missed_places(TEXT, FOUND, "Wrzesniewski", "NAME") == []


def test_what_is_typed_is_no_pattern():
    assert missed_places("a.b aXb (c", (), "a.b", "ID") == [MarkedSpan(0, 3, "ID")]
    assert missed_places("a.b aXb (c", (), "(c", "ID") == [MarkedSpan(8, 10, "ID")]


def test_a_name_found_in_part_counts_once_as_missed():
    verdict = ReviewVerdict(FOUND, frozenset({1}), (MarkedSpan(0, 13, "NAME"),))
    assert verdict.figures() == {"NAME": (0, 1, 1)}
    assert verdict.gold() == [MarkedSpan(0, 4, "NAME"), MarkedSpan(0, 13, "NAME")]


places = st.lists(
    st.builds(lambda a, b: MarkedSpan(a, a + b, "NAME"), st.integers(0, 50), st.integers(1, 9)), unique=True, max_size=6
)


@given(places, places, st.data())
def test_every_mark_is_right_wrong_or_part_of_something_missed(found, missed, data):
    wrong = frozenset(data.draw(st.sets(st.integers(0, max(0, len(found) - 1))))) if found else frozenset()
    figures = ReviewVerdict(tuple(found), wrong, tuple(missed)).figures()
    right, gone, false = figures.get("NAME", (0, 0, 0))
    assert (gone, false) == (len(missed), len(wrong))
    assert right <= len(found) - len(wrong)


def test_recall_is_of_identifiers_and_its_interval_of_records():
    texts = [ReviewedText(n, n // 10, {}, {"NAME": (9, 1, 2), "MRN": (1, 0, 0)}) for n in range(100)]
    every, mrn, name = estimates(texts)
    assert (every.entity, every.found, every.missed, every.wrong) == ("all", 1000, 100, 200)
    assert (name.found, name.missed, mrn.found, mrn.missed) == (900, 100, 100, 0)
    assert name.recall.value == 0.9
    assert name.recall.low is not None
    assert 0.85 < name.recall.low < 0.9
    assert mrn.recall.low is not None
    assert 0.6 < mrn.recall.low < 1  # 100 of 100, but of ten records
