"""Agreement of raters: published examples, other ways to the same figure, and what intervals promise."""

from collections import Counter
from itertools import permutations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agent.statistics import agreement
from agent.statistics.agreement import (
    ICC_FORMS,
    NO_ICC,
    Icc,
    IccForm,
    Level,
    Ratings,
    compute_krippendorff_alpha,
    estimate_icc_gain,
    estimate_mean_icc,
    icc,
)

# Shrout and Fleiss 1979, table 2: six targets, four judges.
SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]

# Krippendorff 2011, Computing Krippendorff's alpha-reliability, part C: four observers, twelve units.
KRIPPENDORFF = list(
    zip(
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        strict=True,
    )
)

RATING = st.one_of(st.none(), st.integers(1, 5).map(float))


def tables(
    rating: st.SearchStrategy[float | None], most: int = 12
) -> st.SearchStrategy[list[list[float | None]]]:
    return st.integers(2, 4).flatmap(
        lambda k: st.lists(st.lists(rating, min_size=k, max_size=k), min_size=2, max_size=most)
    )


def drawn(
    seed: int, n: int, k: int, between: float, noise: float = 1.0, severity: float = 0.0
) -> list[list[float]]:
    """Normal ratings of n items by k raters."""
    random = np.random.default_rng(seed)
    items, raters = random.normal(0, between, (n, 1)), random.normal(0, severity, (1, k))
    found: list[list[float]] = (items + raters + random.normal(0, noise, (n, k))).tolist()
    return found


# intraclass correlations


def test_shrout_and_fleiss_table_gives_their_six_figures():
    found = icc(SHROUT_FLEISS)
    assert {form: round(found[form].value or 0, 2) for form in ICC_FORMS} == {
        "ICC1": 0.17,
        "ICC2": 0.29,
        "ICC3": 0.71,
        "ICC1k": 0.44,
        "ICC2k": 0.62,
        "ICC3k": 0.91,
    }


def test_shrout_and_fleiss_table_gives_the_intervals_that_psych_and_pingouin_print_for_it():
    found = icc(SHROUT_FLEISS)
    assert {
        form: (round(found[form].low or 0, 2), round(found[form].high or 0, 2))
        for form in ICC_FORMS
    } == {
        "ICC1": (-0.13, 0.72),
        "ICC2": (0.02, 0.76),
        "ICC3": (0.34, 0.95),
        "ICC1k": (-0.88, 0.91),
        "ICC2k": (0.07, 0.93),
        "ICC3k": (0.68, 0.99),
    }


def by_sums_of_squares(rows: list[list[float]], form: IccForm) -> float | None:
    """The textbook's way: deviations from means, squared and summed; formulas of Shrout and Fleiss 1979."""
    n, k = len(rows), len(rows[0])
    grand = sum(map(sum, rows)) / (n * k)
    item, rater = (
        [sum(row) / k for row in rows],
        [sum(column) / n for column in zip(*rows, strict=True)],
    )
    bms = k * sum((mean - grand) ** 2 for mean in item) / (n - 1)
    jms = n * sum((mean - grand) ** 2 for mean in rater) / (k - 1)
    wms = sum((rows[i][j] - item[i]) ** 2 for i in range(n) for j in range(k)) / (n * (k - 1))
    ems = sum(
        (rows[i][j] - item[i] - rater[j] + grand) ** 2 for i in range(n) for j in range(k)
    ) / ((n - 1) * (k - 1))
    above, below = {
        "ICC1": (bms - wms, bms + (k - 1) * wms),
        "ICC2": (bms - ems, bms + (k - 1) * ems + k * (jms - ems) / n),
        "ICC3": (bms - ems, bms + (k - 1) * ems),
        "ICC1k": (bms - wms, bms),
        "ICC2k": (bms - ems, bms + (jms - ems) / n),
        "ICC3k": (bms - ems, bms),
    }[form]
    return above / below if below > 1e-9 else None


@given(tables(st.integers(0, 50).map(float)))
def test_every_form_is_what_sums_of_squares_give(table: list[list[float]]):
    found = icc(table)
    if len({value for row in table for value in row}) == 1:
        assert set(found.values()) == {NO_ICC}
        return
    for form in ICC_FORMS:
        expected = by_sums_of_squares(table, form)
        value, low, high = found[form].value, found[form].low, found[form].high
        assert value == (
            None if expected is None else pytest.approx(expected, abs=1e-6, rel=1e-6)
        ), form
        if (
            value is not None
            and low is not None
            and high is not None
            and form not in ("ICC2", "ICC2k")
        ):
            assert low - 1e-9 <= value <= high + 1e-9 <= 1 + 2e-9, form


def test_raters_who_all_say_the_same_agree_fully_and_without_doubt():
    assert set(icc([[1, 1, 1], [2, 2, 2], [5, 5, 5]]).values()) == {Icc(1.0, 1.0, 1.0)}


def test_a_harsh_rater_counts_against_absolute_agreement_and_not_against_consistency():
    found = icc([[1, 2], [2, 3], [3, 4], [4, 5]])
    assert found["ICC3"] == Icc(1.0, 1.0, 1.0)
    assert found["ICC2"].value == pytest.approx(10 / 13)
    assert found["ICC1"].value is not None
    assert found["ICC1"].value < 10 / 13


@pytest.mark.parametrize(
    "table",
    [[], [[1, 2]], [[1], [2]], [[3, 3], [3, 3]], [[None, 1], [2, None], [1, 1]]],
    ids=range(5),
)
def test_ratings_that_say_nothing_have_no_correlation(table: Ratings):
    assert set(icc(table).values()) == {NO_ICC}


def test_an_item_that_a_rater_left_out_is_left_out_whole():
    with_gaps = [*SHROUT_FLEISS[:3], [None, 9, 9, 9], *SHROUT_FLEISS[3:], [1, 1, 1, None]]
    assert icc(with_gaps) == icc(SHROUT_FLEISS)


@pytest.mark.full
@pytest.mark.parametrize(
    ("form", "between", "severity"),
    [("ICC1", 1.0, 0.0), ("ICC2", 1.0, 0.5), ("ICC3", 1.0, 0.5), ("ICC3k", 0.7, 0.0)],
)
def test_nominal_95_percent_of_intervals_hold_the_truth(
    form: IccForm, between: float, severity: float
):
    k, runs = 3, 400
    true = between**2 / (between**2 + 1 + (severity**2 if form == "ICC2" else 0))
    true = k * true / (1 + (k - 1) * true) if form.endswith("k") else true
    found = [icc(drawn(seed, 25, k, between, severity=severity))[form] for seed in range(runs)]
    hit = (
        sum(
            one.low is not None and one.high is not None and one.low <= true <= one.high
            for one in found
        )
        / runs
    )
    assert 0.93 <= hit <= 0.97


# bootstrap over units


def test_the_bootstrapped_mean_of_one_group_is_the_correlation_of_that_group():
    for form in ICC_FORMS:
        assert estimate_mean_icc(SHROUT_FLEISS, [(0, 1, 2, 3)], form).value == pytest.approx(
            icc(SHROUT_FLEISS)[form].value
        )


def test_z_scores_of_a_pair_give_pearsons_correlation_on_any_scale():
    table = [[row[0], 1000 - 3.5 * row[1]] for row in drawn(1, 40, 2, 1.0)]
    pearson = stats.pearsonr([row[0] for row in table], [row[1] for row in table]).statistic
    found = estimate_mean_icc(table, [(0, 1)], "ICC3", standardised=True)
    assert found.value == pytest.approx(pearson)
    assert found.low is not None
    assert found.high is not None
    assert found.low < pearson < found.high < 0


def test_missing_ratings_take_an_item_out_of_their_own_pairs_only():
    table: list[list[float | None]] = [list(row) for row in drawn(2, 30, 3, 1.0)]
    for place in range(0, 30, 3):
        table[place][2] = None
    alone = [
        icc([[row[a], row[b]] for row in table])["ICC2"].value or 0
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    found = estimate_mean_icc(table, [(0, 1), (0, 2), (1, 2)], "ICC2")
    assert found.value == pytest.approx((30 * alone[0] + 20 * alone[1] + 20 * alone[2]) / 70)


def test_far_from_zero_nothing_is_lost():
    near = drawn(3, 30, 2, 1.0)
    far = [[1e6 + value for value in row] for row in near]
    for form in ICC_FORMS:
        assert estimate_mean_icc(far, [(0, 1)], form).value == pytest.approx(
            estimate_mean_icc(near, [(0, 1)], form).value, abs=1e-6
        )


def test_copies_of_a_patients_items_make_nothing_surer():
    items = drawn(4, 30, 2, 1.0)
    once = estimate_mean_icc(items, [(0, 1)], "ICC3")
    units = [place for place in range(30) for _ in range(5)]
    again = estimate_mean_icc(
        [row for row in items for _ in range(5)], [(0, 1)], "ICC3", units=units
    )
    as_if_free = estimate_mean_icc([row for row in items for _ in range(5)], [(0, 1)], "ICC3")
    assert once.low is not None
    assert again.low == pytest.approx(once.low, abs=0.02)
    assert as_if_free.low is not None
    assert as_if_free.low > once.low + 0.05


def test_a_jury_that_copies_one_clinician_stands_above_the_two_and_the_interval_says_so():
    table = [[a, b, a] for a, b in drawn(5, 60, 2, 1.0)]
    found = estimate_icc_gain(table, 2, [(0, 1)])
    pearson = stats.pearsonr([row[0] for row in table], [row[1] for row in table]).statistic
    assert found.value == pytest.approx((1 - pearson) / 2)
    assert found.low is not None
    assert found.low > 0
    none = estimate_icc_gain([[a, a, a] for a, _ in drawn(5, 60, 2, 1.0)], 2, [(0, 1)])
    assert none == Icc(pytest.approx(0), None, None)  # whatever is resampled: nothing varies


def test_a_colleague_stands_neither_above_nor_below_whichever_answers_a_clinician_left_out(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(agreement, "RESAMPLES", 400)
    random = np.random.default_rng(8)
    hold = 0
    for _ in range(100):
        qualities = np.concatenate(
            [random.normal(3, 2, 20), random.normal(3, 0.3, 100)]
        )  # wide ones first
        table: list[list[float | None]] = (
            qualities[:, None] + random.normal(0, 0.5, (120, 3))
        ).tolist()
        for row in table[20:]:
            row[1] = None
        found = estimate_icc_gain(table, 2, [(0, 1)])
        assert found.low is not None
        assert found.high is not None
        hold += found.low <= 0 <= found.high
    assert hold >= 88


def test_a_rater_with_few_items_weighs_little_and_one_who_never_varies_not_at_all():
    table: list[list[float | None]] = [[*row, None, 3.0] for row in drawn(2, 60, 2, 1.0)]
    for row in table[:12]:
        row[2] = -(row[0] or 0)
    alone = estimate_mean_icc(table, [(0, 1)], "ICC3", standardised=True)
    at_odds = estimate_mean_icc(table, [(0, 2)], "ICC3", standardised=True)
    assert at_odds.value == pytest.approx(-1)
    both = estimate_mean_icc(table, [(0, 1), (0, 2), (0, 3)], "ICC3", standardised=True)
    assert both.value == pytest.approx((60 * (alone.value or 0) - 12) / 72)


def test_no_correlation_is_below_minus_one():
    table = [[value, noise - value] for value, noise in drawn(3, 12, 2, 0.0)]
    assert (icc([[row[0], row[1]] for row in table])["ICC3k"].value or 0) < -1
    found = estimate_mean_icc(table, [(0, 1)], "ICC3k", standardised=True)
    assert found.value == -1
    assert found.low == -1


def test_nothing_is_said_of_one_unit():
    found = estimate_mean_icc([[1, 2], [2, 2], [4, 5]], [(0, 1)], "ICC2", units=["p", "p", "p"])
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
    assert estimate_mean_icc([], [(0, 1)], "ICC2") == NO_ICC
    assert estimate_mean_icc([[1, 1], [1, 1]], [(0, 1)], "ICC3") == NO_ICC
    assert estimate_mean_icc([[1, 1], [1, 2]], [(0, 1)], "ICC3", standardised=True) == NO_ICC
    assert estimate_mean_icc([[1, 2], [3, 4]], [], "ICC3") == NO_ICC


def test_fewer_than_ten_units_that_count_have_no_interval_whatever_others_there_are():
    table: list[list[float | None]] = [[*row] for row in drawn(6, 40, 2, 1.0)]
    for row in table[9:]:
        row[1] = None
    assert estimate_mean_icc(table, [(0, 1)], "ICC3").low is None
    table[9] = [1.0, 2.0]
    assert estimate_mean_icc(table, [(0, 1)], "ICC3").low is not None


def test_bootstrapped_intervals_of_a_sample_of_the_usual_size_hold_the_truth(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(agreement, "RESAMPLES", 400)
    runs = 300
    found = [estimate_mean_icc(drawn(seed, 60, 2, 1.0), [(0, 1)], "ICC3") for seed in range(runs)]
    hit = (
        sum(
            one.low is not None and one.high is not None and one.low <= 0.5 <= one.high
            for one in found
        )
        / runs
    )
    assert 0.93 <= hit <= 0.97


# Krippendorff's alpha


@pytest.mark.parametrize(("level", "published"), [("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_example_gives_his_figures(level: Level, published: float):
    assert compute_krippendorff_alpha(KRIPPENDORFF, level) == pytest.approx(published, abs=0.0005)


def test_krippendorffs_binary_example_of_two_observers():
    # Part A of the same paper: ten units, 0.095.
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    for level in get_args(Level):
        found = compute_krippendorff_alpha(list(zip(first, second, strict=True)), level)
        assert found == pytest.approx(0.095, abs=0.0005)


def by_coincidences(table: Ratings, level: Level) -> float | None:
    """The paper's own way: a matrix of coincidences, and a difference for each pair of values."""
    items = [[rating for rating in row if rating is not None] for row in table]
    matrix: Counter[tuple[float, float]] = Counter()
    for item in items:
        for a, b in permutations(range(len(item)), 2):
            matrix[item[a], item[b]] += 1 / (len(item) - 1)  # type: ignore[assignment]
    totals: Counter[float] = Counter()
    for (value, _), weight in matrix.items():
        totals[value] += weight  # type: ignore[assignment]
    values, n = sorted(totals), sum(totals.values())

    def difference(a: float, b: float) -> float:
        if level == "interval":
            return (a - b) ** 2
        low, high = sorted((values.index(a), values.index(b)))
        return (
            sum(totals[value] for value in values[low : high + 1]) - (totals[a] + totals[b]) / 2
        ) ** 2

    observed = sum(weight * difference(a, b) for (a, b), weight in matrix.items())
    expected = sum(
        totals[a] * totals[b] * difference(a, b) for a in values for b in values if a != b
    )
    return None if len(values) < 2 else 1 - (n - 1) * observed / expected


@given(tables(RATING), st.sampled_from(["ordinal", "interval"]))
def test_alpha_is_what_the_matrix_of_coincidences_gives(
    table: list[list[float | None]], level: Level
):
    found, expected = compute_krippendorff_alpha(table, level), by_coincidences(table, level)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))
    assert found is None or found <= 1


@pytest.mark.parametrize(
    "table", [[], [[1, None], [None, 2]], [[2, 2], [2, 2]]], ids=["none", "no pair", "constant"]
)
def test_ratings_that_say_nothing_have_no_alpha(table: Ratings):
    assert compute_krippendorff_alpha(table, "interval") is None
