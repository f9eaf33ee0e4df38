"""Predict sums of values that resemble those that were measured, as intervals."""

import math
from dataclasses import dataclass

NORMAL_DEVIATE = 1.28  # of an interval that holds four of five values


@dataclass(frozen=True, slots=True)
class Range:
    """An interval from `low` to `high`."""

    low: float
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)

    def shift(self, amount: float) -> "Range":
        """Return the interval with `amount` added to both ends, but never below 0."""
        return Range(max(0.0, self.low + amount), max(0.0, self.high + amount))

    def scale(self, low: float, high: float) -> "Range":
        """Return the interval with its ends multiplied by these factors."""
        return Range(self.low * low, self.high * high)


@dataclass(slots=True)
class Sample:
    """Number, sum, sum of squares and maximum of measured values, none of which is negative."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    highest: float = 0.0

    def add(self, value: float) -> None:
        """Add a value."""
        self.count += 1
        self.total += value
        self.squares += value * value
        self.highest = max(self.highest, value)

    @property
    def mean(self) -> float:
        """The mean; 0 without values."""
        return self.total / self.count if self.count else 0.0

    @property
    def variation(self) -> float:
        """The standard deviation as a share of the mean; 0 below two values."""
        if self.count < 2 or not self.total:
            return 0.0
        variance = (self.squares - self.count * self.mean**2) / (self.count - 1)
        return math.sqrt(max(0.0, variance)) / self.mean

    def predict_total(self, number: int) -> Range:
        """Return the sum over `number` values, of which those of the sample are a part."""
        if number <= self.count:
            return Range(self.total, self.total)
        return self.predict_more(number - self.count).shift(self.total)

    def predict_more(self, number: int) -> Range:
        """Return the sum over `number` further values."""
        if not number or not self.count:
            return Range(0.0, 0.0)
        expected = self.mean * number
        spread = NORMAL_DEVIATE * self.variation * math.sqrt(1 / self.count + 1 / number)
        return Range(max(0.0, expected * (1 - spread)), expected * (1 + spread))
