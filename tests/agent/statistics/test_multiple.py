"""Holm's correction: the published example, and closed testing written out."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.statistics.multiple import correct_by_holm


def closed_testing(p_values: dict[str, float]) -> dict[str, float]:
    """Every set of hypotheses gets Bonferroni's p; a hypothesis the largest of the sets it is in."""
    names = list(p_values)
    sets = [s for size in range(1, len(names) + 1) for s in itertools.combinations(names, size)]
    return {
        name: max(min(1.0, len(s) * min(p_values[one] for one in s)) for s in sets if name in s)
        for name in names
    }


@given(st.dictionaries(st.sampled_from("abcdefg"), st.floats(0, 1), max_size=7))
def test_holms_p_values_are_those_of_closed_testing(p_values):
    assert correct_by_holm(p_values) == pytest.approx(closed_testing(p_values), abs=1e-12)


def test_holms_published_example():
    found = correct_by_holm(
        {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}
    )  # as R's p.adjust gives them
    assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert list(found) == ["a", "b", "c", "d"]
