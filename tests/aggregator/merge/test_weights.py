"""No claim of a size, however large, lets one site outvote the others."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.merge.weights import limit_by_median, limit_share, lower_median, size_weight
from protocol.policy import MAX_UNITS


def test_weights_grow_with_units_and_above_ten_thousand_with_their_square_root() -> None:
    assert [size_weight(units) for units in (0, 1, 9_999, 10_000)] == [0, 1, 9_999, 10_000]
    assert size_weight(40_000) == 20_000
    assert size_weight(MAX_UNITS) == 100_000


@given(st.integers(0, MAX_UNITS - 1))
def test_more_units_never_weigh_less(units: int) -> None:
    assert size_weight(units) <= size_weight(units + 1)


@given(
    st.lists(st.integers(1, 100_000), min_size=1, max_size=9),
    st.integers(1, 100),
    st.integers(0, 50_000),
)
def test_no_site_is_above_the_share(weights: list[int], share: int, others: int) -> None:
    limited = limit_share(numpy.array(weights), share, others)
    total = int(limited.sum()) + others
    assert (limited <= numpy.array(weights)).all()
    assert (limited > 0).all()
    if len(weights) == 1 and not others:
        assert limited[0] == weights[0]
    elif share * len(weights) >= 200 or share >= 50:
        assert 100 * int(limited.max()) <= share * total or limited.max() == 1


def test_a_site_that_is_cut_off_weighs_its_share() -> None:
    assert limit_share(numpy.array([9_000, 300, 300]), 60).tolist() == [900, 300, 300]


@pytest.mark.parametrize(
    ("weights", "median"), [([5], 5), ([1, 9], 1), ([3, 1, 2], 2), ([4, 1, 3, 2], 2)]
)
def test_of_an_even_number_the_smaller_middle_is_the_median(
    weights: list[int], median: int
) -> None:
    assert lower_median(numpy.array(weights)) == median


def test_one_site_counts_at_most_four_times_the_median() -> None:
    assert limit_by_median(numpy.array([500, 500, 100_000]), 500).tolist() == [500, 500, 2_000]
