"""Several tests at once: p values that stay honest over a whole table of benchmarks. Pure."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Return adjusted p values: those up to 0.05 are all true findings, in 95 of 100 such tables.

    Holm (1979): step down from the smallest, each times the number of tests not yet passed; never less than the one
    before, never above 1. Nothing is assumed about how the tests depend on each other.
    """
    adjusted: dict[Name, float] = {}
    worst = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        worst = max(worst, min(1.0, (len(p_values) - place) * p_values[name]))
        adjusted[name] = worst
    return {name: adjusted[name] for name in p_values}
