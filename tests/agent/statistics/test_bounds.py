"""Bounds of figures by everything unscored wrong or right: by hand, and by filling in every gap."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.statistics.bounds import bound_difference, bound_mean


def test_what_is_unscored_is_bounded_by_all_wrong_and_all_right():
    found = bound_mean(0.8, 90, 10)
    assert (found.low, found.high, found.matters) == (
        pytest.approx(0.72),
        pytest.approx(0.82),
        True,
    )
    assert not bound_mean(0.8, 995, 5).matters
    assert bound_mean(None, 0, 4, 1, 5) == bound_mean(3.0, 0, 4, 1, 5)
    assert bound_mean(None, 0, 0) is None
    assert bound_mean(3.0, 1, 1, 1, 5).high == 4.0


def test_a_differences_bounds_count_each_models_gaps_against_it_and_for_it():
    found = bound_difference([(1.0, 0.0), (None, 1.0), (0.0, None), (None, None)])
    assert (found.low, found.high) == ((1 - 1 - 1 - 1) / 4, (1 + 0 + 0 + 1) / 4)
    assert bound_difference([]) is None
    assert not bound_difference([(1.0, 0.0)]).matters


@pytest.mark.parametrize(("unscored", "told"), [(1, False), (2, True), (4, True)])
def test_bounds_are_told_from_a_hundredth_of_the_range_on(unscored: int, told: bool):
    for low, high in ((0.0, 1.0), (1.0, 5.0)):
        assert bound_mean((low + high) / 2, 150 - unscored, unscored, low, high).matters is told
        scores = [((low + high) / 2, low)] * (150 - unscored) + [(None, low)] * unscored
        assert bound_difference(scores, low, high).matters is told


@given(st.lists(st.tuples(*[st.one_of(st.none(), st.floats(0, 1))] * 2), min_size=1, max_size=20))
def test_no_filling_in_of_gaps_leaves_the_bounds(scores):
    found = bound_difference(scores)
    for fill_a, fill_b in itertools.product((0.0, 0.3, 1.0), repeat=2):
        filled = [(fill_a if a is None else a, fill_b if b is None else b) for a, b in scores]
        value = sum(a - b for a, b in filled) / len(filled)
        assert found.low - 1e-9 <= value <= found.high + 1e-9
