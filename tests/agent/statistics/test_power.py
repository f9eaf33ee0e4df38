"""Detectable differences and the units they take: noncentral t, and the textbook's approximation."""

import math

import pytest
from scipy.stats import nct
from scipy.stats import t as student

from agent.statistics.power import count_units_needed, find_detectable_difference


@pytest.mark.parametrize("units", [10, 30, 200])
def test_a_difference_of_the_detectable_size_is_seen_four_times_in_five(units: int):
    error = 1 / math.sqrt(units)
    effect = find_detectable_difference(error, units) / error
    critical = student.ppf(0.975, units - 1)
    power = 1 - nct.cdf(critical, units - 1, effect) + nct.cdf(-critical, units - 1, effect)
    assert power == pytest.approx(0.8, abs=0.01)


def test_what_is_detectable_among_many_benchmarks_is_seen_by_holms_p_four_times_in_five():
    units, tests = 200, 37
    effect = find_detectable_difference(1.0, units, tests)
    critical = student.ppf(1 - 0.05 / tests / 2, units - 1)  # what Holm's first step asks for
    assert 1 - nct.cdf(critical, units - 1, effect) == pytest.approx(0.8, abs=0.01)
    assert effect > 1.4 * find_detectable_difference(1.0, units)
    assert count_units_needed(1.0, 0.1, tests) > 1.8 * count_units_needed(1.0, 0.1)


def test_a_difference_that_cannot_be_or_that_no_test_would_believe_is_not_detectable():
    assert find_detectable_difference(0.4, 20, most=1.0) is None  # larger than the metric's range
    assert find_detectable_difference(0.01, 5) is None  # five patients that agree: p is 0.0625
    assert find_detectable_difference(0.01, 6) is not None
    assert find_detectable_difference(0.01, 10, tests=37) is None


def test_units_needed_are_those_from_which_on_it_is_seen():
    assert find_detectable_difference(0.1, 1) is None
    assert count_units_needed(0.0, 0.1) is None
    assert count_units_needed(1.0, 0.0) is None
    assert count_units_needed(1.0, 1e-9) is None
    needed = count_units_needed(0.5, 0.1)
    assert needed == pytest.approx(
        (1.959964 + 0.841621) ** 2 * 25, rel=0.02
    )  # the textbook's normal approximation
    assert find_detectable_difference(0.5 / math.sqrt(needed), needed) <= 0.1
    assert find_detectable_difference(0.5 / math.sqrt(needed - 1), needed - 1) > 0.1
