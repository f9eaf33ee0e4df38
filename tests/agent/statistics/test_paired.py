"""Two models on the same instances: published examples, exact enumeration, scipy, and simulations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, sem
from scipy.stats import t as student

from agent.statistics import paired
from agent.statistics.paired import (
    ItemPair,
    Pair,
    compute_mcnemar_exact_p,
    compute_mcnemar_mid_p,
    compute_newcombe_interval,
    estimate_figure_difference,
    estimate_overall_difference,
    estimate_paired_difference,
)
from agent.statistics.resampling import resample_means


def pairs(differences, units=None):
    """Pairs whose first model is above the second by so much."""
    units = range(len(differences)) if units is None else units
    return [Pair(unit, 0.5 + d, 0.5) for unit, d in zip(units, differences, strict=True)]


def table(both: int, only_a: int, only_b: int, neither: int) -> list[Pair]:
    cells = (
        [(1.0, 1.0)] * both + [(1.0, 0.0)] * only_a + [(0.0, 1.0)] * only_b + [(0.0, 0.0)] * neither
    )
    return [Pair(unit, a, b) for unit, (a, b) in enumerate(cells)]


@pytest.mark.parametrize(
    ("cells", "exact", "mid"),
    [
        (
            (1, 1, 7, 12),
            0.0703,
            0.0391,
        ),  # airway hyper-responsiveness, Fagerland, Lydersen and Laake 2013
        ((59, 6, 16, 80), 0.0525, 0.0347),  # complete responses, the same
    ],
)
def test_mcnemars_tests_give_the_published_examples(cells, exact, mid):
    found = estimate_paired_difference(table(*cells), binary=True)
    assert found.test == "mcnemar mid-p"
    assert (round(found.exact_p, 4), round(found.p, 4)) == (exact, mid)


def test_newcombes_interval_gives_the_published_example():
    """Complete responses before and after consolidation: Fagerland, Lydersen and Laake 2017, chapter 8."""
    found = estimate_paired_difference(table(59, 6, 16, 80), binary=True)
    assert (round(found.value, 4), round(found.low, 4), round(found.high, 4)) == (
        -0.0621,
        -0.1186,
        -0.0046,
    )


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemars_exact_test_is_the_binomial_one_and_the_mid_p_is_below_it(b, c):
    exact = compute_mcnemar_exact_p(b, c)
    assert exact == pytest.approx(binomtest(b, b + c).pvalue if b + c else 1.0, abs=1e-12)
    assert exact == compute_mcnemar_exact_p(c, b)
    assert 0 < compute_mcnemar_mid_p(b, c) <= exact


def test_ten_thousand_discordant_pairs_overflow_nothing():
    assert compute_mcnemar_mid_p(6_000, 4_000) < 1e-80
    assert compute_mcnemar_exact_p(5_000, 5_000) == 1.0


@given(st.tuples(*[st.integers(0, 30)] * 4).filter(lambda cells: sum(cells) > 0))
def test_newcombes_interval_holds_the_difference_and_turns_round_with_the_models(cells):
    both, a, b, neither = cells
    n = sum(cells)
    low, high = compute_newcombe_interval(*cells)
    assert -1 - 1e-9 <= low <= (a - b) / n + 1e-9
    assert (a - b) / n - 1e-9 <= high <= 1 + 1e-9
    assert compute_newcombe_interval(both, b, a, neither) == pytest.approx((-high, -low), abs=1e-9)


def test_newcombes_interval_covers_as_often_as_it_says():
    """4,000 comparisons of 60 instances; the second model is right in 70 %, the first in 60 %, often on the same."""
    draw = np.random.default_rng(4)
    counts = draw.multinomial(60, [0.52, 0.08, 0.18, 0.22], 4_000)
    inside = [
        low <= -0.1 <= high
        for low, high in (compute_newcombe_interval(*map(int, row)) for row in counts)
    ]
    assert 0.93 <= np.mean(inside) <= 0.97


def test_the_paired_interval_is_of_the_differences_not_of_the_models():
    draw = np.random.default_rng(3)
    hard = draw.random(200)
    found = estimate_paired_difference(
        [Pair(n, h * 0.9 + 0.05, h * 0.9) for n, h in enumerate(hard)], binary=False
    )
    assert found.value == pytest.approx(0.05)
    assert (found.low, found.high, found.method) == (
        None,
        None,
        "none",
    )  # nothing but rounding varies
    noisy = estimate_paired_difference(
        [
            Pair(n, h + e, h)
            for n, (h, e) in enumerate(zip(hard, draw.normal(0.02, 0.05, 200), strict=True))
        ],
        binary=False,
    )
    assert noisy.high - noisy.low < 0.02  # the models' own means are known to 0.08 at best
    assert noisy.low <= noisy.value <= noisy.high


def test_instances_of_one_patient_make_nothing_surer():
    differences = np.random.default_rng(5).normal(0.1, 0.3, 40).tolist()
    alone = estimate_paired_difference(pairs(differences * 5), binary=False)
    together = estimate_paired_difference(
        pairs(differences * 5, [n % 40 for n in range(200)]), binary=False
    )
    assert (together.n, together.units) == (200, 40)
    assert together.high - together.low > 1.8 * (alone.high - alone.low)
    assert together.p > alone.p
    assert together.detectable > 1.8 * alone.detectable


def test_right_and_wrong_of_one_patients_questions_are_no_mcnemar_table():
    asked = [Pair(n // 4, 1.0, float(n % 8 > 3)) for n in range(40)]
    found = estimate_paired_difference(asked, binary=True)
    assert (found.test, found.exact_p, found.method) == ("bootstrap", None, "bca")
    assert found.p >= 2 ** (1 - 5)  # five patients differ


@pytest.mark.parametrize(("units", "least"), [(1, 1.0), (2, 0.5), (5, 0.0625)])
def test_few_units_that_agree_are_not_sure(units: int, least: float):
    assert estimate_paired_difference(pairs([0.3] * units), binary=False).p == least
    varied = estimate_paired_difference(
        pairs([0.3 + 0.001 * n for n in range(units)]), binary=False
    )
    assert varied.p >= least


def test_no_number_of_resamples_makes_a_p_of_nothing():
    """All of 60 patients differ the same way, none of the resamples comes near 0: p is of one resample more."""
    differences = np.random.default_rng(14).uniform(0.2, 0.4, 60)
    found = estimate_paired_difference(pairs(differences.tolist()), binary=False)
    drawn = resample_means(differences, np.ones(60), paired.choose_resamples(60))
    assert not (np.abs(drawn - differences.mean()) >= differences.mean() / 2).any()
    assert found.p == 1 / (1 + len(drawn))


def test_a_p_counts_the_resamples_that_lie_as_far_and_one_more():
    sums = np.arange(1.0, 101.0)
    drawn = sums.mean() + np.array([60.0, -60.0, 10.0, 0.0, 1.0])
    assert paired.compute_bootstrap_p(float(sums.mean()), drawn, sums) == pytest.approx(
        (1 + 2) / (1 + 5)
    )


def test_equal_scores_are_no_difference():
    found = estimate_paired_difference(pairs([0.0] * 50), binary=False)
    assert (found.value, found.p, found.low, found.better_a, found.better_b) == (
        0.0,
        1.0,
        None,
        0,
        0,
    )


def test_instances_that_one_model_has_no_score_for_do_not_count():
    found = estimate_paired_difference(
        [Pair(1, None, 0.4), Pair(2, 0.3, None), Pair(3, None, None)], binary=False
    )
    assert (found.n, found.value, found.p) == (0, None, None)
    assert estimate_paired_difference([Pair(1, None, 1.0), *table(1, 1, 0, 0)], binary=True).n == 2


def test_where_there_is_no_difference_the_bootstrap_seldom_sees_one():
    """2,000 comparisons of 25 patients with 1 to 4 skewed scores each; 5 % may be below 0.05."""
    draw = np.random.default_rng(6)
    sizes = draw.integers(1, 5, (2_000, 25)).astype(float)
    there = np.arange(4) < sizes[:, :, None]
    apart = (draw.gamma(0.7, 1, there.shape) - draw.gamma(0.7, 1, there.shape)) * there
    sums = apart.sum(axis=2) + draw.normal(0, 0.5, sizes.shape) * sizes
    low = 0
    for study, n in zip(sums, sizes, strict=True):
        drawn = resample_means(study, n, 500)
        low += paired.compute_bootstrap_p(float(study.sum() / n.sum()), drawn, study) <= 0.05
    assert 0.035 <= low / 2_000 <= 0.06


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "RESAMPLES", 300)
    monkeypatch.setattr(paired, "MIN_RESAMPLES", 300)


@pytest.mark.usefixtures("few_resamples")
def test_a_jury_that_grades_few_answers_differently_leaves_doubt():
    """400 comparisons of 50 answers, of which one in twenty differs, skewed; resamples alone hold 0.83."""
    draw, covered, shown = np.random.default_rng(11), 0, 0
    for _ in range(400):
        differences = (draw.random(50) < 0.05) * draw.exponential(0.5, 50)
        found = estimate_paired_difference(pairs(differences.tolist()), binary=False)
        if found.low is not None:
            shown += 1
            covered += found.low <= 0.025 <= found.high
    assert covered / shown >= 0.89


def test_two_patients_do_not_exclude_what_their_p_does_not():
    found = estimate_paired_difference(pairs([0.1, 0.2]), binary=False, reach=1)
    assert found.p >= 0.5
    assert found.low <= 0 <= found.high
    assert found.high - found.low > 0.5
    assert (found.detectable, found.low >= -1, found.high <= 1) == (None, True, True)


@given(st.tuples(*[st.integers(0, 12)] * 4).filter(lambda cells: sum(cells) > 0))
def test_an_interval_never_excludes_what_mcnemars_test_does_not(cells):
    found = estimate_paired_difference(table(*cells), binary=True)
    assert found.p <= 0.05 or found.low <= 0 <= found.high
    assert found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high


def test_no_discordant_pair_is_not_certainty():
    found = estimate_paired_difference(table(30, 0, 0, 10), binary=True)
    assert (found.value, found.p) == (0.0, 1.0)
    assert found.low < -0.05 < 0.05 < found.high
    assert found.detectable > 0.05


def accuracy(items):
    return sum(items) / len(items) if items else None


def test_a_figure_of_all_items_that_is_a_mean_differs_as_means_do():
    draw = np.random.default_rng(8)
    a, b = draw.random(80).tolist(), draw.random(80).tolist()
    by_figure = estimate_figure_difference(list(map(ItemPair, range(80), a, b)), accuracy)
    by_pair = estimate_paired_difference(
        [Pair(n, x, y) for n, (x, y) in enumerate(zip(a, b, strict=True))], binary=False
    )
    assert by_figure.value == pytest.approx(by_pair.value)
    assert (by_figure.low, by_figure.high) == pytest.approx((by_pair.low, by_pair.high), abs=0.015)
    assert by_figure.p == pytest.approx(by_pair.p, abs=0.04)
    assert by_figure.detectable == pytest.approx(by_pair.detectable, rel=0.1)


def test_a_figure_of_equal_items_or_of_none_has_no_interval():
    same = estimate_figure_difference([ItemPair(n, 1.0, 1.0) for n in range(5)], accuracy)
    assert (same.value, same.low, same.p) == (0.0, None, 1.0)
    assert estimate_figure_difference([], accuracy).value is None


def test_a_clear_difference_of_a_large_runs_figure_survives_the_correction_for_many_benchmarks():
    draw = np.random.default_rng(12)
    items = [
        ItemPair(n, 1.0, b) for n, b in enumerate((draw.random(5_000) < 0.3).astype(float).tolist())
    ]
    found = estimate_figure_difference(items, accuracy)
    assert found.value == pytest.approx(0.7, abs=0.03)
    assert 37 * found.p < 1e-6
    unclear = estimate_figure_difference(
        [ItemPair(n, float(n % 2), float(n % 3 > 0)) for n in range(6)], accuracy
    )
    assert unclear.p >= 2 ** (1 - 4)


def test_few_noisy_patients_are_not_surer_for_many_quiet_ones_of_another_benchmark():
    """Where one benchmark of ten makes the doubt, it is Student's t of nine degrees that holds; not of 508."""
    draw = np.random.default_rng(13)
    noisy, quiet = draw.normal(0.1, 0.3, 10), draw.normal(0, 0.02, 500)
    found = estimate_overall_difference([pairs(noisy.tolist()), pairs(quiet.tolist())])
    errors = sem(noisy), sem(quiet)
    freedom = (errors[0] ** 2 + errors[1] ** 2) ** 2 / (errors[0] ** 4 / 9 + errors[1] ** 4 / 499)
    reach = student.ppf(0.975, freedom) * math.hypot(*errors) / 2
    assert (found.high - found.low) / 2 == pytest.approx(reach, rel=0.1)
    assert reach > 1.1 * 1.96 * math.hypot(*errors) / 2


def test_all_benchmarks_weigh_the_same_whatever_their_size():
    draw = np.random.default_rng(9)
    large = pairs(draw.normal(0.1, 0.2, 900).tolist())
    small = pairs(draw.normal(-0.1, 0.2, 30).tolist())
    found = estimate_overall_difference([large, small])
    means = [np.mean([pair.a - pair.b for pair in table]) for table in (large, small)]
    assert found.value == pytest.approx(np.mean(means))
    spreads = [np.std([pair.a - pair.b for pair in table], ddof=1) for table in (large, small)]
    error = math.sqrt(spreads[0] ** 2 / 900 + spreads[1] ** 2 / 30) / 2
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.06)
    assert found.low < found.value < found.high


def test_a_benchmark_of_one_question_does_not_decide_over_all():
    sure = [Pair(1, 1.0, 0.0)]
    found = estimate_overall_difference(
        [sure, pairs(np.random.default_rng(1).normal(0, 0.2, 100).tolist())]
    )
    assert found.counted == (1,)
    assert found.p > 0.05
    assert estimate_overall_difference([sure]) is None


@pytest.mark.parametrize(("units", "counts"), [(9, False), (10, True)])
def test_fewer_than_ten_patients_do_not_count_over_all_however_many_their_answers(
    units: int, counts: bool
):
    draw = np.random.default_rng(15)
    few = pairs(draw.normal(0.2, 0.1, 60).tolist(), [n % units for n in range(60)])
    found = estimate_overall_difference([few, pairs(draw.normal(0, 0.2, 100).tolist())])
    assert found.counted == ((0, 1) if counts else (1,))
    assert (estimate_overall_difference([few]) is not None) is counts
