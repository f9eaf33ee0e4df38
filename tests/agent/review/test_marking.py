"""What a reviewer says of a text becomes gold and figures; nothing is counted twice."""

from hypothesis import given
from hypothesis import strategies as st

from agent.review.marking import MarkedSpan, ReviewVerdict, find_missed_spans

TEXT = "Anna Kowalska saw Dr. Lee. ANNA\n kowalska, Annabel and Lee's cat."
FOUND = (MarkedSpan(0, 4, "NAME"), MarkedSpan(22, 25, "NAME"))


def words_at(places: list[MarkedSpan]) -> list[str]:
    return [TEXT[place.start : place.end] for place in places]


def test_a_name_found_in_part_is_missed_wherever_a_letter_of_it_is_left():
    assert words_at(find_missed_spans(TEXT, FOUND, "anna kowalska", "NAME")) == [
        "Anna Kowalska",
        "ANNA\n kowalska",
    ]


def test_a_word_within_another_is_not_that_word():
    assert words_at(find_missed_spans(TEXT, FOUND, "Anna", "NAME")) == ["ANNA"]


def test_what_is_marked_already_is_not_missed():
    assert words_at(find_missed_spans(TEXT, FOUND, "Lee", "NAME")) == ["Lee"]
    assert TEXT[find_missed_spans(TEXT, FOUND, "Lee", "NAME")[0].start :].startswith("Lee's cat")


def test_nothing_is_missed_where_nothing_was_typed():
    assert find_missed_spans(TEXT, FOUND, "  ", "NAME") == []
    assert find_missed_spans(TEXT, FOUND, "Wrzesniewski", "NAME") == []


def test_what_is_typed_is_no_pattern():
    assert find_missed_spans("a.b aXb (c", (), "a.b", "ID") == [MarkedSpan(0, 3, "ID")]
    assert find_missed_spans("a.b aXb (c", (), "(c", "ID") == [MarkedSpan(8, 10, "ID")]


def test_a_name_found_in_part_counts_once_as_missed():
    verdict = ReviewVerdict(FOUND, frozenset({1}), (MarkedSpan(0, 13, "NAME"),))
    assert verdict.count_figures() == {"NAME": (0, 1, 1)}
    assert verdict.list_gold() == [MarkedSpan(0, 4, "NAME"), MarkedSpan(0, 13, "NAME")]


places = st.lists(
    st.builds(lambda a, b: MarkedSpan(a, a + b, "NAME"), st.integers(0, 50), st.integers(1, 9)),
    unique=True,
    max_size=6,
)


@given(places, places, st.data())
def test_every_mark_is_right_wrong_or_part_of_something_missed(found, missed, data):
    wrong = (
        frozenset(data.draw(st.sets(st.integers(0, max(0, len(found) - 1)))))
        if found
        else frozenset()
    )
    figures = ReviewVerdict(tuple(found), wrong, tuple(missed)).count_figures()
    right, gone, false = figures.get("NAME", (0, 0, 0))
    assert (gone, false) == (len(missed), len(wrong))
    assert right <= len(found) - len(wrong)
