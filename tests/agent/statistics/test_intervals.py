"""Means and intervals against published values and an independent implementation."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap, sem
from scipy.stats import t as student

from agent.statistics import intervals as statistics
from agent.statistics.intervals import MIN_RESAMPLES, estimate_figure, estimate_mean
from protocol.figures import mean_win_rates, normal_interval, wilson


def bytes_of(number: int) -> bytes:
    return str(number).encode()


def units(values):
    return [(bytes_of(i), value) for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("successes", "n"), [(0, 10), (1, 10), (81, 263), (15, 148), (500, 500), (390, 500)]
)
def test_wilson_agrees_with_scipy(successes: int, n: int):
    expected = binomtest(successes, n).proportion_ci(0.95, "wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_gives_newcombes_published_example():
    low, high = wilson(81, 263)  # Newcombe 1998, table I: 0.2553 to 0.3662
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_impossible_counts_have_no_interval(successes: int, n: int):
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, n)


def test_no_score_is_no_number():
    mean = estimate_mean([], binary=True)
    assert (mean.n, mean.value, mean.low, mean.high, mean.method) == (0, None, None, None, "none")


def test_binary_scores_of_independent_units_get_wilson():
    mean = estimate_mean(units([1.0] * 390 + [0.0] * 110), binary=True)
    assert mean.method == "wilson"
    assert (mean.low, mean.high) == pytest.approx(wilson(390, 500))


def test_the_bootstrap_agrees_with_scipy():
    values = np.random.default_rng(5).beta(2, 5, 200)
    mean = estimate_mean(units(values.tolist()), binary=False)
    expected = bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=1
    ).confidence_interval
    assert mean.method == "bca"
    assert (mean.low, mean.high) == pytest.approx((expected.low, expected.high), abs=0.004)


def test_several_instances_of_one_patient_widen_the_interval():
    values = [1.0, 0.0] * 30
    alone = estimate_mean(units([v for v in values for _ in range(5)]), binary=True)
    clustered = estimate_mean(
        [(str(i).encode(), v) for i, v in enumerate(values) for _ in range(5)], binary=True
    )
    assert clustered.value == alone.value
    assert clustered.units == 60
    assert clustered.high - clustered.low > 1.8 * (alone.high - alone.low)


def test_many_answers_of_one_patient_are_worth_one():
    mean = estimate_mean([(b"p", 1.0), (b"p", 0.0)] * 50, binary=True)
    assert (mean.low, mean.high) == pytest.approx(wilson(0.5, 1))
    assert estimate_mean([(b"p", 0.2), (b"p", 0.9)], binary=False).low is None


def test_answers_that_are_all_right_leave_doubt_about_the_next_patient():
    clustered = estimate_mean([(str(i % 12).encode(), 1.0) for i in range(24)], binary=True)
    assert (clustered.low, clustered.high) == pytest.approx(wilson(12, 12))
    nearly = estimate_mean([*units([1.0] * 500), (b"0", 1.0)], binary=True)
    assert (nearly.low, nearly.high) == pytest.approx(wilson(500, 500))


def test_equal_scores_say_nothing_about_how_much_they_vary():
    mean = estimate_mean(units([0.5] * 5), binary=False)
    assert (mean.value, mean.low, mean.high, mean.method) == (0.5, None, None, "none")


def test_the_clustered_interval_covers_the_truth_as_often_as_it_says():
    """600 studies of 40 patients with 1 to 6 questions each, alike within a patient; the truth is 0.7."""
    draw, covered, alone = np.random.default_rng(1), 0, 0
    for _ in range(600):
        patients = np.repeat(np.arange(40), draw.integers(1, 7, 40)).tolist()
        chances = draw.beta(7 / 2, 3 / 2, 40)[patients]
        scores = list(
            zip(
                map(bytes_of, patients),
                (draw.random(len(patients)) < chances).astype(float),
                strict=True,
            )
        )
        mean = estimate_mean(scores, binary=True)
        covered += mean.low <= 0.7 <= mean.high
        low, high = wilson(sum(score for _, score in scores), len(scores))
        alone += low <= 0.7 <= high
    assert 0.93 <= covered / 600 <= 0.975
    assert alone < covered  # pretending that the instances are independent covers less


@pytest.mark.parametrize("patients", [2, 3, 5, 8])
def test_a_proportion_of_many_questions_about_few_patients_is_no_surer_than_it_says(patients: int):
    """400 studies of 20 questions a patient, whose chances lie anywhere; the truth is 0.5."""
    draw, covered = np.random.default_rng(3), 0
    names = [bytes_of(patient) for patient in range(patients) for _ in range(20)]
    for _ in range(400):
        right = draw.random((patients, 20)) < draw.random((patients, 1))
        mean = estimate_mean(
            list(zip(names, right.ravel().astype(float), strict=True)), binary=True
        )
        covered += mean.low <= 0.5 <= mean.high
    assert covered / 400 >= 0.93


def skewed(draw: np.random.Generator) -> list[tuple[bytes, float]]:
    """50 documents with a few high scores; their mean is 1 / 7."""
    return units(draw.beta(0.5, 3, 50).tolist())


def clustered(draw: np.random.Generator) -> list[tuple[bytes, float]]:
    """50 patients with 1 to 5 scores each, alike within a patient, skewed between them; the mean is 0.2."""
    found = []
    for patient, (level, notes) in enumerate(
        zip(draw.beta(1, 4, 50), draw.integers(1, 6, 50), strict=True)
    ):
        found += [
            (bytes_of(patient), score) for score in (level * draw.uniform(0.5, 1.5, notes)).tolist()
        ]
    return found


def mostly_nothing(draw: np.random.Generator) -> list[tuple[bytes, float]]:
    """50 documents of which one in five scores anything at all; the mean is 1 / 7."""
    return units(np.where(draw.random(50) < 0.2, draw.beta(5, 2, 50), 0).tolist())


@pytest.mark.parametrize(
    ("study", "truth"), [(skewed, 1 / 7), (clustered, 0.2), (mostly_nothing, 1 / 7)]
)
def test_a_bootstrap_interval_covers_the_truth_as_often_as_it_says(
    study, truth, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(statistics, "RESAMPLES", 300)
    draw, covered = np.random.default_rng(2), 0
    for _ in range(500):
        mean = estimate_mean(study(draw), binary=False)
        covered += mean.low <= truth <= mean.high
    assert 0.925 <= covered / 500 <= 0.975


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds of any number of resamples holds of 200, in a tenth of the time."""
    monkeypatch.setattr(statistics, "RESAMPLES", 200)


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize("n", range(2, 8))
def test_an_interval_of_a_handful_of_patients_covers_the_truth_as_often_as_it_says(n: int):
    draw, covered, skewed_covered = np.random.default_rng(n), 0, 0
    for _ in range(250):
        mean = estimate_mean(units(draw.normal(0.5, 0.1, n).tolist()), binary=False)
        covered += mean.low <= 0.5 <= mean.high
        mean = estimate_mean(units(draw.beta(2, 5, n).tolist()), binary=False)
        skewed_covered += mean.low <= 2 / 7 <= mean.high
    assert covered / 250 >= 0.92
    assert skewed_covered / 250 >= 0.9


@pytest.mark.parametrize(
    "values", [[0.4, 0.5], [0.2, 0.3, 0.25], [0.4, 0.1, 0.3, 0.35, 0.5, 0.2, 0.3]]
)
def test_an_interval_of_a_handful_of_patients_is_at_least_students(values):
    expected = student.interval(0.95, len(values) - 1, np.mean(values), sem(values))
    for found in (
        estimate_mean(units(values), binary=False),
        estimate_figure(list(enumerate(values)), average),
    ):
        assert found.low <= expected[0] + 0.03 * (expected[1] - expected[0])
        assert found.high >= expected[1] - 0.03 * (expected[1] - expected[0])
        assert found.high - found.low < 1.5 * (expected[1] - expected[0])


def test_an_interval_ends_where_the_scale_does():
    mean = estimate_mean(units([4.5, 5.0]), binary=False, within=(1, 5))
    assert (mean.low, mean.high) == (pytest.approx(4.75 - 12.706 * 0.25, abs=0.15), 5)
    assert estimate_figure(list(enumerate([0.9, 1.0])), average, within=(0, 1)).high == 1
    guessed = estimate_mean(
        units([1.2] * 5 + [1.3]), binary=False, within=(0, 1)
    )  # a range that was guessed
    assert guessed.low <= guessed.value <= guessed.high


@pytest.mark.usefixtures("few_resamples")
def test_a_jury_that_gives_nearly_every_answer_its_best_grade_leaves_doubt():
    """250 studies of 60 answers, one in twenty two points below the best; the mean is 4.9."""
    draw, covered, shown = np.random.default_rng(5), 0, 0
    for _ in range(250):
        mean = estimate_mean(units(5 - 2.0 * (draw.random(60) < 0.05)), binary=False, within=(1, 5))
        if mean.low is not None:
            shown += 1
            covered += mean.low <= 4.9 <= mean.high
    assert covered / shown >= 0.93


@pytest.mark.usefixtures("few_resamples")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_the_interval_holds_the_mean_and_stays_in_range(values):
    mean = estimate_mean(units(values), binary=False, within=(0, 1))
    if mean.method == "none":
        assert len(set(values)) == 1
    else:
        assert 0 <= mean.low <= mean.value + 1e-9
        assert mean.value - 1e-9 <= mean.high <= 1


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60))
def test_a_proportions_interval_is_never_narrower_than_for_independent_answers(pairs):
    mean = estimate_mean([(bytes([unit]), score) for unit, score in pairs], binary=True)
    assert 0 <= mean.low <= mean.value <= mean.high <= 1
    low, high = wilson(sum(score for _, score in pairs), len(pairs))
    assert mean.high - mean.low >= high - low - 1e-12


@pytest.mark.usefixtures("few_resamples")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=30))
def test_a_repeated_summary_gives_the_same_interval(values):
    assert estimate_mean(units(values), binary=False) == estimate_mean(units(values), binary=False)


def test_the_normal_interval_stays_in_the_range():
    assert normal_interval(0.98, 0.2, 25, 0, 1) == (pytest.approx(0.9016, abs=1e-4), 1)


def test_win_rates_as_helm_counts_them():
    table = {"a": {"x": 0.9, "y": 0.5, "z": 1.0}, "b": {"x": 0.5, "y": 0.5}, "c": {"x": 0.1}}
    # x: a beats 2 of 2, b 1 of 2, c none; y: a tie counts half; z: one model only, no column
    assert mean_win_rates(table) == {"a": (1 + 0.5) / 2, "b": (0.5 + 0.5) / 2, "c": 0.0}


def average(values: list[float]) -> float:
    return sum(values) / len(values)


def test_a_figure_of_all_items_has_the_interval_of_their_mean_where_it_is_their_mean():
    values = np.random.default_rng(7).beta(2, 5, 300).tolist()
    found = estimate_figure(list(enumerate(values)), average)
    mean = estimate_mean(units(values), binary=False)
    assert (found.n, found.units, found.method) == (300, 300, "percentile")
    assert found.value == pytest.approx(mean.value)
    assert (found.low, found.high) == pytest.approx((mean.low, mean.high), abs=0.002)
    assert found == estimate_figure(list(enumerate(values)), average)


def test_items_of_one_patient_are_drawn_together():
    values = [1.0, 0.0] * 30
    alone = estimate_figure(
        [(n, v) for n, v in enumerate(v for v in values for _ in range(5))], average
    )
    together = estimate_figure([(n, v) for n, v in enumerate(values) for _ in range(5)], average)
    assert together.units == 60
    assert together.high - together.low > 1.8 * (alone.high - alone.low)


def test_a_figure_without_items_or_without_variation_has_no_interval():
    assert estimate_figure([], average).value is None
    assert estimate_figure([(1, 0.5), (1, 0.7)], average).method == "none"
    assert estimate_figure([(1, 0.5), (2, 0.5)], average).low is None


def test_a_figure_of_very_many_items_is_resampled_less_often(monkeypatch: pytest.MonkeyPatch):
    calls = []

    def counted(items: list[float]) -> float:
        calls.append(len(items))
        return items[0]

    monkeypatch.setattr(statistics, "MAX_WORK", 200_000)
    estimate_figure([(n, float(n % 2)) for n in range(2_000)], counted)
    assert len(calls) == 1 + MIN_RESAMPLES
