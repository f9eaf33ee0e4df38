"""What two models' meeting comes to, from scores alone."""

from dataclasses import replace

import pytest

from agent.results.compare_models import compare_models, shows_difference
from agent.results.paired_instances import ModelSide, PairedBenchmark
from agent.results.paired_models import Pairing
from agent.statistics.paired import NOTHING, Pair
from agent.store import KeptMetric
from protocol.figures import mean_win_rates
from tests.agent.results.pairs import JURY, SHARE, noisy, paired


def test_a_jurys_points_and_shares_weigh_the_same_together():
    jury, rouge = (
        paired("open", JURY, noisy(1, 0.4, 50, 4.0)),
        paired("closed", SHARE, noisy(2, 0.1, 80)),
    )
    found = compare_models(Pairing("a", "b", (jury, rouge), {}))
    points, share = (benchmark.difference.value for benchmark in found.benchmarks)
    assert points == pytest.approx(0.4, abs=0.2)  # on its own scale
    assert found.overall.value == pytest.approx((points / 4 + share) / 2)
    assert found.in_overall == ("open", "closed")


def test_p_values_are_corrected_for_the_benchmarks_that_have_one():
    tables = [paired(f"b{n}", SHARE, noisy(n, 0.05 if n == 3 else 0.0, 60)) for n in range(6)]
    found = compare_models(Pairing("a", "b", tuple(tables), {}))
    ps = [benchmark.difference.p for benchmark in found.benchmarks]
    assert found.benchmarks[3].holm_p == pytest.approx(min(1.0, 6 * ps[3]))
    assert all(benchmark.holm_p >= benchmark.difference.p for benchmark in found.benchmarks)
    assert [benchmark.sure for benchmark in found.benchmarks].count(True) == 1


def test_two_models_in_a_pairing_win_as_a_leaderboard_of_two_says():
    tables = [
        paired(f"b{n}", SHARE, noisy(n, above, 60)) for n, above in enumerate((0.2, 0.2, -0.2))
    ]
    found = compare_models(Pairing("a", "b", tuple(tables), {}))
    rows = {
        m: {d.paired.benchmark: getattr(d.difference, f"mean_{m}") for d in found.benchmarks}
        for m in "ab"
    }
    assert mean_win_rates(rows)["a"] == pytest.approx(2 / 3)
    assert [benchmark.describe() for benchmark in found.benchmarks] == [
        "A better",
        "A better",
        "B better",
    ]


def test_where_interval_and_p_disagree_nothing_was_found():
    unsure = replace(NOTHING, n=40, units=40, value=0.04, low=-0.001, high=0.08, p=0.049)
    assert not shows_difference(unsure, unsure.p)
    assert shows_difference(replace(unsure, low=0.001), 0.049)
    assert not shows_difference(replace(unsure, low=0.001), 0.06)
    assert shows_difference(replace(unsure, low=None, high=None), 0.01)


def unanswered(name: str, right: tuple[int, int], shy: int, n: int = 60) -> PairedBenchmark:
    """A alone is right `right[0]` times and B alone `right[1]` times; A leaves the last `shy` without an answer."""
    scores = (
        [(1.0, 0.0)] * right[0] + [(0.0, 1.0)] * right[1] + [(1.0, 1.0)] * (n - sum(right) - shy)
    )
    both = [Pair(unit, *pair) for unit, pair in enumerate(scores)]
    lacking = [Pair(len(both) + unit, None, 1.0) for unit in range(shy)]
    floor = [replace(pair, a=0.0) for pair in lacking]
    metric = KeptMetric(name="exact_match", low=0, high=1, binary=True)
    side_a = ModelSide(unscored={"unparsed": shy})
    return PairedBenchmark(name, metric, (*both, *lacking), (*both, *floor), side_a=side_a)


def test_a_doubt_about_what_was_left_unanswered_goes_by_p_as_the_finding_does():
    table = unanswered("one", (26, 2), 8)
    (alone,) = compare_models(Pairing("a", "b", (table,), {})).benchmarks
    assert alone.at_floor.p < 0.05
    assert "unanswered questions" not in alone.describe()
    others = [paired(f"b{n}", SHARE, noisy(n, 0.0, 20)) for n in range(36)]
    among = compare_models(Pairing("a", "b", (table, *others), {})).benchmarks[0]
    assert among.describe().startswith("A better; not if unanswered questions count as wrong")


def test_bounds_that_nearly_reach_no_difference_raise_the_doubt_of_their_own_sampling():
    table = unanswered("one", (26, 4), 12)
    (benchmark,) = compare_models(Pairing("a", "b", (table,), {})).benchmarks
    assert (
        benchmark.bounds.low > 0
    )  # whatever A's missing answers are worth it was better on these questions
    assert "unscored answers could reverse it" in benchmark.describe()
    still = [Pair(n, 0.9, 0.1) for n in range(40)]
    lacking = paired("one", SHARE, [])
    same = replace(
        lacking, pairs=(*still, Pair(40, None, 0.5)), at_floor=(*still, Pair(40, 0.0, 0.5))
    )
    assert (
        compare_models(Pairing("a", "b", (same,), {})).benchmarks[0].describe() == "A better"
    )  # it varies in nothing: no interval
    sure = unanswered("one", (40, 1), 2)
    assert compare_models(Pairing("a", "b", (sure,), {})).benchmarks[0].describe() == "A better"


def test_what_could_be_seen_shrinks_among_many_benchmarks():
    table = paired("one", SHARE, noisy(1, 0.0, 60))
    (alone,) = compare_models(Pairing("a", "b", (table,), {})).benchmarks
    many = compare_models(
        Pairing(
            "a", "b", (table, *(paired(f"b{n}", SHARE, noisy(n, 0.0, 20)) for n in range(36))), {}
        )
    )
    assert many.benchmarks[0].difference.detectable > 1.3 * alone.difference.detectable
    few = paired("few", SHARE, [(0.9, 0.1), (0.8, 0.7)])
    assert compare_models(Pairing("a", "b", (few,), {})).benchmarks[0].difference.detectable is None
