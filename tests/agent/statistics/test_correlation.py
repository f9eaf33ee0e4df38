"""Rank correlations: those of an independent implementation, and what tells models apart is no part of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agent.statistics import correlation as module
from agent.statistics.correlation import (
    RankedItem,
    compute_stratified_spearman,
    estimate_rank_correlation,
)
from agent.statistics.resampling import SEED, compute_percentile_interval

VALUES = st.lists(
    st.tuples(st.integers(-5, 5), st.floats(-9, 9, allow_subnormal=False)), min_size=2, max_size=40
)


def spearman(pairs: list[tuple[float, float]]) -> float | None:
    return compute_stratified_spearman([RankedItem(None, "all", *pair) for pair in pairs])


@given(VALUES)
def test_it_is_scipys_with_ties_and_without(pairs: list[tuple[float, float]]):
    first, second = zip(*pairs, strict=True)
    ours = spearman(pairs)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-12)


def test_iq_and_hours_of_television_have_the_textbooks_value():
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert spearman(list(zip(iq, hours, strict=True))) == pytest.approx(-29 / 165)


def test_a_model_that_is_better_and_writes_more_makes_no_bias_of_length():
    short = [
        RankedItem(None, "small", length, grade)
        for length, grade in ((10, 2), (20, 1), (30, 1), (40, 2))
    ]
    long = [RankedItem(None, "large", item.x + 1000, item.y + 3) for item in short]
    assert compute_stratified_spearman([*short, *long]) == pytest.approx(0)
    assert spearman([(item.x, item.y) for item in (*short, *long)]) > 0.7  # type: ignore[operator]


def test_a_stratum_without_variation_counts_for_nothing():
    varied = [RankedItem(None, 1, x, y) for x, y in ((1.0, 3.0), (2.0, 4.0), (3.0, 9.0))]
    assert compute_stratified_spearman([*varied, RankedItem(None, 2, 5.0, 5.0)]) == pytest.approx(1)
    assert (
        compute_stratified_spearman([RankedItem(None, 2, 5.0, 5.0), RankedItem(None, 3, 6.0, 7.0)])
        is None
    )
    assert compute_stratified_spearman([]) is None
    assert not math.isnan(spearman([(1, 1), (1, 1)]) or 0)


def test_its_interval_is_that_of_resamples_written_out(monkeypatch: pytest.MonkeyPatch):
    generator = np.random.default_rng(3)
    items = [
        RankedItem(unit, model, float(length), float(length // 7 + generator.integers(0, 6)))
        for model in "ab"
        for unit, length in enumerate(generator.integers(1, 60, 40).tolist())
    ]
    again = np.random.default_rng(SEED)
    monkeypatch.setattr(module, "RESAMPLES", 200)
    found = estimate_rank_correlation(items)
    drawn = []
    for _ in range(200):
        chosen = again.integers(0, 40, 40)
        resample = [item for number in chosen for item in items if item.unit == number]
        drawn.append(compute_stratified_spearman(resample))
    assert found.value is not None
    low, high = compute_percentile_interval(
        found.value, [one for one in drawn if one is not None], 40
    )
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.value == compute_stratified_spearman(items)
    assert (found.n, found.units) == (80, 40)


def test_one_unit_has_no_interval():
    found = estimate_rank_correlation([RankedItem(1, "a", 1.0, 2.0), RankedItem(1, "a", 2.0, 3.0)])
    assert (found.value, found.low, found.method) == (pytest.approx(1), None, "none")
    assert estimate_rank_correlation([]).value is None
