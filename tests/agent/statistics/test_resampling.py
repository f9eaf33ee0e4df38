"""The bootstrap over units: exact enumeration, scipy, and the textbook's formulas."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import bootstrap, norm
from scipy.stats import t as student

from agent.statistics import resampling
from agent.statistics.resampling import (
    compute_bca_interval,
    compute_reach,
    compute_student_quantile,
    resample_means,
)


def test_resampled_means_are_those_of_all_possible_resamples():
    sums, sizes = np.array([0.2, 1.5, 0.1, 2.0]), np.array([1.0, 2.0, 1.0, 3.0])
    every = [
        sum(sums[i] for i in drawn) / sum(sizes[i] for i in drawn)
        for drawn in itertools.product(range(4), repeat=4)
    ]
    found = resample_means(sums, sizes, 40_000)
    assert set(np.round(found, 9)) == set(np.round(every, 9))
    for level in (5, 25, 50, 75, 95):
        assert np.percentile(found, level) == pytest.approx(np.percentile(every, level), abs=0.02)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch):
    sums, sizes = np.random.default_rng(1).random(300), np.ones(300)
    whole = resample_means(sums, sizes, 500)
    monkeypatch.setattr(resampling, "BLOCK", 1_000)
    assert np.allclose(resample_means(sums, sizes, 500), whole)


@pytest.mark.parametrize("units", [20, 60])
def test_the_bca_interval_is_scipys_from_the_same_draws_at_the_levels_for_so_many_units(units: int):
    """Skewed, so that bias and acceleration both move it: by 7 and 12 % of its length where there are 20 units."""
    values = np.random.default_rng(2).exponential(1, units) ** 2
    drawn = resample_means(values, np.ones(units), 5_000)
    found = compute_bca_interval(float(values.mean()), drawn, values, np.ones(units))
    expected = bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=drawn),
        confidence_level=1 - 2 * norm.cdf(-compute_reach(units)),
        method="BCa",
    ).confidence_interval
    assert found == pytest.approx((expected.low, expected.high), abs=1e-6)
    plain = np.percentile(
        drawn, [100 * norm.cdf(-compute_reach(units)), 100 * norm.cdf(compute_reach(units))]
    )
    assert found[0] - plain[0] > 0.03 * (plain[1] - plain[0])
    assert found[1] - plain[1] > 0.03 * (plain[1] - plain[0])


def test_bias_and_acceleration_of_documents_with_several_answers_are_those_of_leaving_one_document_out():
    """The textbook's formulas (Efron and Tibshirani 1993, 14.14 and 14.15), from sums of unlike size."""
    draw = np.random.default_rng(4)
    sizes = draw.integers(1, 6, 25).astype(float)
    sums = sizes * draw.exponential(1, 25)
    value, drawn = float(sums.sum() / sizes.sum()), resample_means(sums, sizes, 4_000)
    left_out = [(sums.sum() - s) / (sizes.sum() - n) for s, n in zip(sums, sizes, strict=True)]
    away = np.mean(left_out) - np.array(left_out)
    acceleration, bias = (
        (away**3).sum() / (6 * (away**2).sum() ** 1.5),
        norm.ppf((drawn < value).mean()),
    )
    levels = [
        norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
        for z in (-compute_reach(25), compute_reach(25))
    ]
    assert compute_bca_interval(value, drawn, sums, sizes) == pytest.approx(
        np.quantile(drawn, levels), abs=1e-6
    )


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 30, 1_000, 100_000])
@pytest.mark.parametrize("p", [0.8, 0.975])
def test_students_quantiles_are_scipys(p: float, freedom: int):
    assert compute_student_quantile(p, freedom) == pytest.approx(student.ppf(p, freedom), rel=1e-7)


def test_an_interval_of_few_units_reaches_further():
    assert compute_reach(100_000) == pytest.approx(1.96, abs=1e-3)
    assert compute_reach(10) == pytest.approx(math.sqrt(10 / 9) * 2.2622, abs=1e-3)
    with pytest.raises(ValueError, match="two units"):
        compute_reach(1)
