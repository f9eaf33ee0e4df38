"""Names of lists of instances: each is read as it was written, and nothing else is a range of scores."""

import re

import pytest

from agent.service.instance_lists import STEM, ScoreRange, read_score_range


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.5, 0.75), (None, 1.0), (0.0, None), (-1.0, -0.5), (1e-6, 3.0), (2.0, 2.0), (-0.0, 1e9 - 1)],
)
def test_a_range_is_read_as_it_was_written(low: float | None, high: float | None):
    chosen = ScoreRange(low, high)
    assert read_score_range(chosen.stem) == chosen
    found = re.fullmatch(rf"({STEM})-([1-9]\d*)", f"{chosen.stem}-12")
    assert found is not None
    assert found.groups() == (chosen.stem, "12")


def test_a_range_without_bounds_is_the_list_of_all():
    assert ScoreRange().stem == "instances"
    assert read_score_range("instances") is None


@pytest.mark.parametrize(
    "stem",
    [
        "instances-right",
        "instances-unscored-unparsed",
        "instances-from",
        "instances-from-x",
        "instances-from-1e9",
        "instances-from-nan",
        "instances-to-1-from-0",
        "instances-from-٣",
        "instances-beside-1",
    ],
)
def test_other_lists_are_no_range(stem: str):
    assert read_score_range(stem) is None


def test_two_runs_beside_each_other_are_no_list():
    assert re.fullmatch(rf"{STEM}-1", "instances-beside-abc-1") is None
