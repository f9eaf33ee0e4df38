"""Threshold, dominance and p percent at their limits."""

import pytest

from protocol.dominance import is_below_threshold, is_dominated, violates_p_percent


def test_ten_units_are_below_a_threshold_of_eleven():
    assert is_below_threshold(10, 11)
    assert not is_below_threshold(11, 11)


def test_two_units_with_exactly_nine_tenths_dominate():
    assert is_dominated([4.5, 4.5, 0.5, 0.5], 2, 90)
    assert not is_dominated([4.5, 4.25, 0.5, 0.5], 2, 90)


def test_sums_that_floating_point_would_round_are_exact():
    assert not is_dominated([0.9, 0.05, 0.05], 1, 90)  # 0.05 is stored as slightly more, twice
    assert not violates_p_percent(
        [1.0, 1.0, 0.1], 10
    )  # the float 0.1 is slightly more than a tenth


def test_a_second_unit_that_knows_itself_does_not_learn_the_largest_within_a_tenth():
    assert violates_p_percent([20.0, 10.0, 1.75], 10)
    assert not violates_p_percent([20.0, 10.0, 2.0], 10)


def test_a_sum_of_nothing_tells_every_contribution():
    assert violates_p_percent([0.0, 0.0, 0.0], 10)
    assert not violates_p_percent([0.0, 0.0, 0.0], 0)
    assert not is_dominated([0.0, 0.0, 0.0], 2, 90)


def test_an_empty_cell_is_not_dominated():
    assert not is_dominated([], 2, 90)
    assert not violates_p_percent([], 10)


@pytest.mark.parametrize(
    "rule", [is_dominated, lambda values, _, percent: violates_p_percent(values, percent)]
)
def test_negative_contributions_raise(rule):
    with pytest.raises(ValueError, match="negative"):
        rule([1.0, -1.0], 2, 90)
