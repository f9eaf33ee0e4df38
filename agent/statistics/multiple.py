"""Correct p values for a whole table of tests. Pure."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def correct_by_holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Return adjusted p values: those up to 0.05 are all true findings, in 95 of 100 such tables.

    Holm (1979): step down from the smallest, each times the number of tests not yet passed; never less than the one
    before, never above 1. Nothing is assumed about how the tests depend on each other.
    """
    adjusted: dict[Name, float] = {}
    largest = 0.0
    remaining = len(p_values)
    for name in sorted(p_values, key=lambda name: p_values[name]):
        largest = max(largest, min(1.0, remaining * p_values[name]))
        adjusted[name] = largest
        remaining -= 1
    return {name: adjusted[name] for name in p_values}
