"""Sums of further values lie in the interval four times of five."""

import random

import pytest

from agent.statistics.prediction import Range, Sample


def draw(dice: random.Random, number: int) -> list[float]:
    return [dice.gammavariate(4.0, 25.0) for _ in range(number)]


def make_sample(values: list[float]) -> Sample:
    sample = Sample()
    for value in values:
        sample.add(value)
    return sample


@pytest.mark.parametrize("number", [20, 500])
def test_four_of_five_sums_lie_in_the_interval(number: int):
    held = 0
    for seed in range(400):
        dice = random.Random(seed)
        expected = make_sample(draw(dice, 20)).predict_more(number)
        held += expected.low <= sum(draw(dice, number)) <= expected.high
    assert 0.7 <= held / 400 <= 0.9


def test_the_values_of_the_sample_are_part_of_the_total():
    sample = make_sample([1.0, 2.0, 3.0])
    assert sample.predict_total(3) == Range(6.0, 6.0)
    assert sample.predict_total(2) == Range(6.0, 6.0)
    total, more = sample.predict_total(10), sample.predict_more(7)
    assert total == more.shift(6.0)


def test_equal_values_have_no_spread_and_no_values_no_sum():
    assert make_sample([5.0] * 4).predict_more(10) == Range(50.0, 50.0)
    assert Sample().predict_more(10) == Range(0.0, 0.0)
    assert make_sample([0.0] * 4).predict_more(10) == Range(0.0, 0.0)
    assert Sample().mean == 0.0


def test_intervals_are_added_moved_and_stretched():
    assert Range(1, 2) + Range(3, 5) == Range(4, 7)
    assert Range(1, 2).shift(-1.5) == Range(0, 0.5)
    assert Range(2, 4).scale(0.5, 2) == Range(1, 8)
