"""The interval of an alpha is that of a plain bootstrap, and covers as often as it says."""

from typing import Literal

import numpy as np
import pytest

from agent.statistics import alpha_interval
from agent.statistics.agreement import compute_krippendorff_alpha
from agent.statistics.alpha_interval import Alpha, _Interval, _Ordinal, estimate_alpha

RATINGS: list[list[float | None]] = [
    [1, 1, None], [2, 2, 3], [3, 3, 3], [3, 3.5, 3], [2, 2, 2], [1, 2, 3], [4, 4, 4], [1, 1, 2], [2, 2, 2],
    [None, 5, 5], [None, None, 1], [1, 1, 1], [5, 4, 4],
]  # fmt: skip


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_each_resample_has_the_alpha_of_its_rows_written_out(level: Literal["ordinal", "interval"]):
    table = np.array(
        [
            [np.nan if one is None else one for one in row]
            for row in RATINGS
            if row != [None, None, 1]
        ]
    )
    there = ~np.isnan(table)
    figure = _Ordinal(table, there) if level == "ordinal" else _Interval(table, there)
    weights = np.random.default_rng(1).integers(0, 4, (50, len(table)))
    ours = figure.compute_alphas(weights.astype(float))
    kept = [row for row in RATINGS if row != [None, None, 1]]
    for times, alpha in zip(weights, ours, strict=True):
        written_out = [row for row, count in zip(kept, times, strict=True) for _ in range(count)]
        assert alpha == pytest.approx(compute_krippendorff_alpha(written_out, level))


def test_answers_of_one_patient_are_drawn_together_so_that_the_interval_is_wider():
    rows = RATINGS * 8
    alone = estimate_alpha(rows, "interval")
    patients = estimate_alpha(
        rows, "interval", [place % len(RATINGS) for place in range(len(rows))]
    )
    assert alone.value == patients.value == compute_krippendorff_alpha(rows, "interval")
    assert alone.low is not None
    assert alone.high is not None
    assert patients.low is not None
    assert patients.high is not None
    assert patients.high - patients.low > 2 * (alone.high - alone.low)


def test_what_the_ratings_do_not_say_is_left_empty():
    assert estimate_alpha([], "interval") == Alpha(None, None, None)
    assert estimate_alpha([[1, 1], [1, 1]], "ordinal") == Alpha(None, None, None)
    assert estimate_alpha([[1, 2], [None, 1]], "ordinal").low is None


def test_it_covers_the_truth_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(alpha_interval, "RESAMPLES", 400)
    generator, covered, tries = np.random.default_rng(7), 0, 200
    for _ in range(
        tries
    ):  # an item's value of variance 2, a judge's error of variance 1: alpha 2/3
        table = generator.normal(0, np.sqrt(2), (80, 1)) + generator.normal(0, 1, (80, 3))
        found = estimate_alpha(table.tolist(), "interval")
        assert found.low is not None
        assert found.high is not None
        covered += found.low < 2 / 3 < found.high
    assert 0.92 <= covered / tries <= 0.98
