"""Quantiles of the F distribution are scipy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agent.statistics.f_distribution import compute_f_cdf, compute_f_quantile


@given(
    st.floats(0.001, 0.999),
    st.one_of(st.floats(0.05, 5), st.floats(1, 5_000)),
    st.one_of(st.floats(0.3, 5), st.floats(1, 5_000)),
)
def test_quantiles_of_f_are_scipys(p: float, d1: float, d2: float):
    expected = stats.f.ppf(p, d1, d2)
    found = compute_f_quantile(p, d1, d2)
    if 1e-200 < expected < 1e200:
        assert found == pytest.approx(expected, rel=1e-7)
        assert compute_f_cdf(found, d1, d2) == pytest.approx(p, rel=1e-7)


def test_quantiles_of_f_refuse_what_is_no_distribution():
    for p, d1, d2 in ((0.0, 1, 1), (1.0, 1, 1), (0.5, 0, 1), (0.5, 1, -1)):
        with pytest.raises(ValueError, match="need 0 < p < 1"):
            compute_f_quantile(p, d1, d2)
