"""Random effects against published analyses and against statsmodels, which was written by others."""

import numpy
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.meta_analysis import combine_effects

from aggregator.merge.random_effects import combine_sites, estimate_tau2, student_quantile

# DerSimonian and Kacker, Contemporary Clinical Trials 28 (2007), table 1: nine laboratories measured one thing.
LABORATORIES = numpy.array([61, 61.4, 62.21, 62.3, 62.34, 62.6, 62.7, 62.84, 65.9])
LABORATORY_VARIANCES = numpy.array(
    [0.2025, 1.21, 0.09, 0.2025, 0.3844, 0.5625, 0.0676, 0.0225, 1.8225]
)

# Colditz et al., JAMA 271 (1994): 13 trials of the BCG vaccine, log relative risks (dat.bcg of metafor).
VACCINE_TABLE = (
    *(
        (4, 123, 11, 139),
        (6, 306, 29, 303),
        (3, 231, 11, 220),
        (62, 13598, 248, 12867),
        (33, 5069, 47, 5808),
    ),
    *((180, 1541, 372, 1451), (8, 2545, 10, 629), (505, 88391, 499, 88391), (29, 7499, 45, 7277)),
    *((17, 1716, 65, 1665), (186, 50634, 141, 27338), (5, 2498, 3, 2341), (27, 16913, 29, 17854)),
)


def vaccine_trials() -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return log relative risks of tuberculosis and their variances, from (ill, all) vaccinated and not."""
    ill, treated, ill_control, control = numpy.array(VACCINE_TABLE, dtype=float).T
    values = numpy.log((ill / treated) / (ill_control / control))
    return values, 1 / ill - 1 / treated + 1 / ill_control - 1 / control


def test_nine_laboratories_give_what_metafor_gives() -> None:
    """metafor's rma(method="PM") of these data, as statsmodels' own tests quote it."""
    found = combine_sites(LABORATORIES, LABORATORY_VARIANCES)
    assert found.tau2 == pytest.approx(0.705395309224248, abs=1e-9)
    assert found.mean == pytest.approx(62.4076199113286, abs=1e-9)
    assert 100 * found.i2 == pytest.approx(83.7218626490482, abs=1e-6)
    total = (1 / (LABORATORY_VARIANCES + found.tau2)).sum()
    assert total**-0.5 == pytest.approx(0.338030602684471, abs=1e-9)


def test_the_vaccine_trials_give_what_metafor_documents() -> None:
    """tau2 0.3181 by empirical Bayes, which is the estimator of Paule and Mandel."""
    found = combine_sites(*vaccine_trials())
    assert round(found.tau2, 4) == 0.3181
    assert round(found.mean, 3) == -0.715


sites = st.integers(3, 30).flatmap(
    lambda count: st.tuples(
        st.lists(st.floats(0, 1), min_size=count, max_size=count),
        st.lists(st.floats(1e-4, 0.05), min_size=count, max_size=count),
    )
)


@pytest.mark.filterwarnings(
    "ignore:divide by zero"
)  # in the oracle, for sites that are all the same
@settings(max_examples=300, deadline=None)
@given(sites)
def test_any_sites_give_what_statsmodels_gives(drawn: tuple[list[float], list[float]]) -> None:
    values, variances = numpy.array(drawn[0]), numpy.array(drawn[1])
    oracle = combine_effects(
        values, variances, method_re="iterated", use_t=True, atol=1e-8, maxiter=10_000
    )
    found = combine_sites(values, variances, floor_at_inverse_variance=False)
    # The oracle's loop ends at 0 if its last step passes the root by a rounding error; those draws are the next test's.
    assume(oracle.tau2 > 0 or found.tau2 == 0)
    assert found.tau2 == pytest.approx(oracle.tau2, abs=1e-6)
    assert found.mean == pytest.approx(oracle.mean_effect_re, abs=1e-6)
    assert found.standard_error == pytest.approx(oracle.sd_eff_w_re_hksj, abs=1e-6)
    half = stats.t.ppf(0.975, len(values) - 1) * oracle.sd_eff_w_re_hksj
    assert found.low == pytest.approx(oracle.mean_effect_re - half, abs=1e-6)
    assert found.high == pytest.approx(oracle.mean_effect_re + half, abs=1e-6)


@settings(max_examples=300, deadline=None)
@given(sites)
def test_the_variance_between_any_sites_is_where_q_is_as_expected(
    drawn: tuple[list[float], list[float]],
) -> None:
    values, variances = numpy.array(drawn[0]), numpy.array(drawn[1])

    def excess(tau2: float) -> float:
        weights = 1 / (variances + tau2)
        return float(weights @ (values - numpy.average(values, weights=weights)) ** 2) - (
            len(values) - 1
        )

    expected = optimize.brentq(excess, 0, 10, xtol=1e-12) if excess(0) > 0 else 0.0
    assert estimate_tau2(values, variances) == pytest.approx(expected, abs=1e-8)


def test_sites_that_agree_by_chance_get_no_narrower_an_interval_than_chance_gives() -> None:
    values, variances = numpy.array([0.6, 0.6, 0.6001]), numpy.array([0.01, 0.01, 0.01])
    plain = combine_sites(values, variances, floor_at_inverse_variance=False)
    assert plain.high - plain.low < 0.001
    found = combine_sites(values, variances)
    assert found.standard_error == pytest.approx((0.01 / 3) ** 0.5)


def test_sites_that_differ_by_chance_alone_have_no_variance_between_them() -> None:
    assert estimate_tau2(numpy.array([0.6, 0.62, 0.58]), numpy.array([0.01, 0.01, 0.01])) == 0


def test_a_site_that_claims_to_be_exact_does_not_move_the_mean_over_sites_to_itself() -> None:
    values = numpy.array([0.6] * 10 + [1.0])
    found = combine_sites(values, numpy.array([0.0005] * 10 + [1e-9]))
    assert found.mean < 0.65


@pytest.mark.parametrize("degrees", [1, 2, 7, 30, 31, 32, 50, 499, 9_999])
def test_quantiles_are_those_of_students_t(degrees: int) -> None:
    assert student_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), abs=1e-7)
