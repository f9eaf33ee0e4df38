"""Figures of a statistic are kept only where they are consistent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.exchange.helm.redaction.walk import FolderRedactors
from tests.agent.exchange.helm.redaction.redacted_folders import redact_file


@pytest.mark.parametrize(
    "figures",
    [
        {"count": 1, "sum": 84736251},
        {
            "count": 1,
            "sum": 84736251,
            "min": 84736251,
            "max": 84736251,
            "mean": 84736251,
            "sum_squared": 84736251**2,
        },
        {"count": 1, "sum": 482559, "mean": 13},
        {"count": 84736251},
        {"count": 0, "mean": 6174829},
        {"count": 2, "sum": 1, "sum_squared": 1, "mean": 0.5, "variance": 4825.59},
        {"count": 2, "sum": 1, "sum_squared": 1, "mean": 0.5, "variance": 0.25, "stddev": 482.559},
        {"count": 2, "sum": 1, "sum_squared": 1, "mean": 0.5, "min": 0, "max": 10**400},
        {"count": 1, "sum": 10**400},
        {"count": 10**400, "sum": 1},
        {"count": 1, "sum": 1, "sum_squared": 10**400},
        {"count": 1, "sum": 1, "sum_squared": 1, "min": -(10**400)},
        {"count": 1, "sum": 1, "sum_squared": 1, "mean": 10**400},
        {"count": 1, "sum": 1, "sum_squared": 1, "variance": 10**400},
        {"count": 1, "sum": 1, "sum_squared": 1, "stddev": -(10**400)},
        {"count": 1, "sum": 1, "sum_squared": 84736251},
    ],
)
def test_figures_that_do_not_follow_from_each_other_are_left_out(
    figures: dict[str, Any], redactors: FolderRedactors
):
    stats = [{"name": {"name": "exact_match", "split": "test"}, **figures}]
    assert redact_file("stats.json", stats, redactors) == [
        {"name": {"name": "exact_match", "split": "test"}}
    ]


@given(st.lists(st.floats(-1e5, 1e5) | st.integers(0, 900_000), min_size=1, max_size=30))
def test_figures_that_helm_computes_stay(values: list[float]):
    mean = sum(values) / len(values)
    variance = max(sum(one * one for one in values) / len(values) - mean**2, 0)
    stat = {
        "name": {"name": "exact_match"}, "count": len(values), "sum": sum(values), "min": min(values),
        "max": max(values),
        "sum_squared": sum(one * one for one in values), "mean": mean, "variance": variance, "stddev": variance**0.5,
    }  # fmt: skip
    unused: Any = None
    assert redact_file("stats.json", [stat], FolderRedactors(unused, bool)) == [stat]
