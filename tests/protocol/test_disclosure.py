"""From exact scores to what may be published: the gate makes nothing that the board refuses or that tells of few."""

import itertools
import random
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.disclosure import (
    NO_SPREAD,
    CellSums,
    check_result,
    release,
    release_cell,
    release_groups,
    release_spread,
)
from protocol.errors import Code
from protocol.policy import (
    BUCKETS,
    DisclosurePolicy,
    bucket_of,
    bucket_range,
    grid_step,
    parse_policy,
    stricter,
)
from protocol.scorecard import Cell, Scorecard
from tests.protocol.world import RESULT, SCORECARD, STRICT, STRICTER, cell, refused

BINARY = Cell("ward", "exact_match", None, "private", True, 0, 1)
GRADED = Cell("ward", "rubric", None, "gated", False, 1, 5)
F1 = Cell("ward", "f1_score", None, "private", False, 0, 1)
PUBLIC = Cell("exam", "exact_match", None, "public", True, 0, 1)


POLICY_FILES = sorted((Path(__file__).parents[2] / "policies" / "disclosure").glob("*.yaml"))
POLICIES = {
    path.stem: parse_policy(yaml.safe_load(path.read_text("utf-8"))) for path in POLICY_FILES
}


def rate(successes: float, n: int) -> CellSums:
    """Return the sums of a binary metric; `successes` may be perturbed, the squares then are as much off."""
    return CellSums(n, successes, successes)


def published(cell: Cell, sums: CellSums, policy: DisclosurePolicy = STRICT) -> int:
    bucket = bucket_of(sums.n)
    if cell.protected and bucket_range(bucket)[0] < policy.min_units:
        bucket = 0
    return release_cell(cell, sums, bucket, policy)


def test_the_strict_policy_of_these_tests_is_the_one_that_ships():
    assert POLICIES["strict"] == STRICT


def test_the_buckets_are_64_wide_enough_and_split_at_11():
    assert len(BUCKETS) == 64
    assert BUCKETS[0] == (0, 0)
    assert 11 in {low for low, _ in BUCKETS}
    assert all(high - low >= 4 for low, high in BUCKETS[1:])
    assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(BUCKETS))
    assert all((high - low + 1) / low <= 0.2 for low, high in BUCKETS[10:-1])


def test_the_scale_of_buckets_ends_at_a_million_so_that_no_site_can_claim_more():
    assert BUCKETS[-1][1] == 1_000_000
    assert bucket_of(1_000_000) == bucket_of(10**12) == len(BUCKETS) - 1


@given(st.integers(0, 200_000))
def test_every_number_of_units_is_in_its_bucket(n: int):
    low, high = bucket_range(bucket_of(n))
    assert low <= n <= high


@given(st.integers(1, 200_000))
def test_the_grid_is_never_finer_than_5_over_n(n: int):
    step = grid_step(bucket_range(bucket_of(n))[0], STRICT)
    assert 1000 % step == 0
    assert step * n >= 5000 or step == 1000 or (n >= 5000 and step == 1)


def test_no_bucket_holds_an_impossible_number():
    with pytest.raises(ValueError, match="units"):
        bucket_of(-1)
    for number in (-1, len(BUCKETS)):
        with pytest.raises(ValueError, match="bucket"):
            bucket_range(number)


@pytest.mark.parametrize(
    ("successes", "n", "expected"),
    [
        pytest.param(7, 10, SUPPRESSED, id="10-units"),
        pytest.param(7, 14, SUPPRESSED, id="fewer-than-11-on-both-sides"),
        pytest.param(4, 8, SUPPRESSED, id="surely-few-on-both-sides"),
        pytest.param(197, 200, HIGH_CODED, id="3-failures-of-200"),
        pytest.param(194, 200, SUPPRESSED, id="6-failures-of-200-may-be-12"),
        pytest.param(190, 200, SUPPRESSED, id="10-failures-of-200"),
        pytest.param(189, 200, SUPPRESSED, id="11-failures-of-200-would-stand-alone-at-95-percent"),
        pytest.param(185, 200, 920, id="15-failures-of-200"),
        pytest.param(4, 200, LOW_CODED, id="4-successes-of-200"),
        pytest.param(5, 200, SUPPRESSED, id="5-successes-of-200-may-be-11"),
        pytest.param(10, 200, SUPPRESSED, id="10-successes-of-200"),
        pytest.param(15, 200, 80, id="15-successes-of-200"),
        pytest.param(200, 200, HIGH_CODED, id="all"),
        pytest.param(0, 200, LOW_CODED, id="none"),
        pytest.param(-9.5, 200, LOW_CODED, id="below-none-because-of-the-noise"),
        pytest.param(209.5, 200, HIGH_CODED, id="more-than-all-because-of-the-noise"),
        pytest.param(147, 200, 720, id="on-the-grid"),
        pytest.param(148, 201, 720, id="one-patient-more-changes-nothing"),
    ],
)
def test_a_binary_rate(successes: float, n: int, expected: int):
    assert published(BINARY, rate(successes, n)) == expected


def noisy(total: float, most: float) -> list[float]:
    """Return every half of a unit from `total` - `most` to `total` + `most`."""
    halves = round(2 * most)
    return [total + half / 2 for half in range(-halves, halves + 1)]


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_13_of_26_is_never_said_to_be_few(policy: DisclosurePolicy):
    certain = 3 * policy.perturbation_units
    values = {published(BINARY, rate(total, 26), policy) for total in noisy(13, certain)}
    assert not values & {LOW_CODED, HIGH_CODED}


@pytest.mark.sample(1)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("n", [11, 16, 21, 26, 60, 200])
def test_a_code_is_true_of_every_count_that_the_noise_may_have_come_from(
    policy: DisclosurePolicy, n: int
):
    certain = 3 * policy.perturbation_units
    for successes in range(n + 1):
        for total in noisy(successes, certain):
            value = published(BINARY, rate(total, n), policy)
            assert value != LOW_CODED or successes < policy.min_events
            assert value != HIGH_CODED or n - successes < policy.min_events


@pytest.mark.parametrize("total", noisy(3, 6))
def test_3_of_60_does_not_leave_through_another_metric(total: float):
    card = Scorecard("two", 1, (SCORECARD.benchmarks[1],), (cell("ward", "exact_match"), F1))
    sums = {"ward/exact_match": rate(total, 60), "ward/f1_score": CellSums(60, 60.0, 60.3)}
    made = release(card, {"ward": 60}, sums, STRICT)
    assert made.cells["ward/exact_match"] in {LOW_CODED, SUPPRESSED}
    assert made.cells["ward/f1_score"] == SUPPRESSED
    assert made.spreads == {"ward/f1_score": NO_SPREAD}


def test_a_second_metric_leaves_only_if_both_together_leave_five_sums():
    card = Scorecard("two", 1, (SCORECARD.benchmarks[1],), (cell("ward", "exact_match"), F1))
    noiseless = replace(
        STRICT, metrics_per_group=2, perturbation_units=0
    )  # on a grid of 0.1 for 100 units: 10 sums
    fine = replace(
        noiseless, grid_units=4
    )  # on a grid of 0.05: at the bucket's lower end fewer than 5 sums

    def made(first: float, second: float, policy: DisclosurePolicy) -> tuple[int, int]:
        sums = {
            "ward/exact_match": rate(first, 100),
            "ward/f1_score": CellSums(100, second, second),
        }
        cells = release(card, {"ward": 100}, sums, policy).cells
        return cells["ward/exact_match"], cells["ward/f1_score"]

    assert made(70, 70, noiseless) == (700, 700)
    assert made(70, 30, noiseless) == (700, 300)  # too far apart to be of the same scores
    assert made(70, 70, fine) == (700, SUPPRESSED)
    both = replace(
        RESULT,
        data={"ward": "none"},
        groups={"ward": bucket_of(100)},
        cells={"ward/exact_match": 700, "ward/f1_score": 700},
        spreads={"ward/f1_score": 12},
    )
    check_result(both, card, noiseless)
    with refused(Code.TOO_MANY_METRICS):
        check_result(both, card, fine)


def test_no_exact_numerator_follows_from_a_published_rate():
    for n in (*range(22, 120, 3), *range(120, 500, 37)):
        values = [published(BINARY, rate(k, n)) for k in range(n + 1)]
        for value in {
            v for v in values if v >= 0
        }:  # even for whoever knows n, and that there was no noise
            assert values.count(value) >= 5, (n, value)


def test_a_mean_that_few_units_make_is_suppressed_and_not_said_to_be_low():
    assert published(GRADED, CellSums(60, 30, 30)) == 500
    loose = replace(
        STRICT, min_events=1, grid_units=1
    )  # else the rule of fewest events comes first
    assert published(GRADED, CellSums(60, 2.1, 2.1), loose) == SUPPRESSED
    assert (
        published(
            GRADED, CellSums(60, 2.1, 2.1), replace(loose, dominance_percent=100, p_percent=0)
        )
        == 40
    )


def test_one_unit_with_too_large_a_share_suppresses():
    greedy = replace(STRICT, min_units=1, max_share_percent=4)
    assert published(GRADED, CellSums(20, 10, 10), greedy) == SUPPRESSED


def test_public_figures_are_exact_to_the_thousandth():
    assert published(PUBLIC, rate(1, 3)) == 333
    assert published(PUBLIC, rate(3, 3)) == 1000
    assert release_cell(PUBLIC, CellSums(0, 0, 0), 0, STRICT) == NOT_RUN


def test_not_run_and_nobody_there_are_told_apart_only_where_that_is_harmless():
    assert release_cell(BINARY, None, 0, STRICT) == NOT_RUN
    assert release_cell(BINARY, CellSums(0, 0, 0), 0, STRICT) == SUPPRESSED


def test_a_bucket_larger_than_the_number_of_units_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        release_cell(BINARY, rate(20, 50), bucket_of(500), STRICT)
    with pytest.raises(ValueError, match="do not fit"):
        release_cell(PUBLIC, rate(2, 5), 0, STRICT)


def test_a_spread_is_coarse_and_never_0_for_protected_units():
    halves = CellSums(60, 30, 30)  # 30 times 0, 30 times 1
    alike = CellSums(60, 30, 15)  # 60 times a half
    assert release_spread(GRADED, halves, 500) == 25
    assert release_spread(GRADED, alike, 500) == NO_SPREAD
    assert release_spread(replace(GRADED, access="public"), alike, 500) == 0
    assert release_spread(GRADED, halves, LOW_CODED) == NO_SPREAD
    assert (
        release_spread(GRADED, CellSums(60, 30, -9), 500) == NO_SPREAD
    )  # squares below 0 because of the noise
    assert release_spread(GRADED, CellSums(60, 30, 90), 500) == 25


@pytest.mark.parametrize(
    ("total", "female", "male", "withheld"),
    [
        pytest.param(200, 90, 110, set(), id="both-large"),
        pytest.param(200, 195, 5, {"female", "male"}, id="E80-small-complement"),
        pytest.param(200, 100, 95, {"female"} | {"male"}, id="a-rest-of-5-without-a-group"),
        pytest.param(200, 200, 0, {"female", "male"}, id="nobody-in-one-group"),
        pytest.param(10, 6, 4, {"", "female", "male"}, id="whole-below-threshold"),
        pytest.param(200, 90, 90, set(), id="a-rest-of-20-without-a-group"),
    ],
)
def test_groups_of_a_margin(total: int, female: int, male: int, withheld: set[str]):
    units = {"exam": 4, "notes": 0, "ward": total, "ward/sex.female": female, "ward/sex.male": male}
    groups = release_groups(SCORECARD, units, STRICT)
    assert groups.pop("notes") == 0
    hidden = {
        group.rpartition(".")[2] if "." in group else ""
        for group, bucket in groups.items()
        if not bucket
    }
    assert groups["exam"] == 1
    if withheld == {"female", "male"} and male == 95:
        assert hidden in ({"male"}, {"female", "male"})  # enough to hide the rest of 5
    else:
        assert hidden == withheld


def sums_of(n: int) -> st.SearchStrategy[CellSums]:
    """Sums of `n` units, with whatever the noise may have made of them."""
    if not n:
        return st.just(CellSums(0, 0.0, 0.0))
    sums = st.floats(-30, n + 30) | st.floats(0, n)
    return st.builds(CellSums, st.just(n), sums, sums)


@st.composite
def releases(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, CellSums | None]]:
    """Units and perturbed sums of SCORECARD: some benchmarks not run, some units without a score."""
    size = st.integers(0, 60) | st.integers(0, 1000)
    female, male, unknown, exam, notes = (draw(size) for _ in range(5))
    ward = female + male + unknown
    unscored = draw(st.integers(0, 3))
    second = max(ward - unscored, min(ward, 1))
    correct = draw(st.integers(0, exam))
    sums: dict[str, CellSums | None] = {
        "exam/exact_match": rate(correct, exam) if exam else None,
        "ward/exact_match": draw(sums_of(ward)) if ward else None,
        "ward/exact_match/sex.female": draw(sums_of(female)),
        "ward/exact_match/sex.male": draw(sums_of(male)),
        "ward/rouge_l": draw(sums_of(second)) if ward else None,
        "notes/rouge_l": draw(sums_of(notes)) if notes else None,
    }
    units = {"exam": exam, "ward": ward, "notes": notes}
    return units | {"ward/sex.female": female, "ward/sex.male": male}, sums


RULES = [
    *POLICIES.values(),
    STRICTER,
    *(replace(STRICT, metrics_per_group=2, perturbation_units=p) for p in (0, 1, 2)),
]


@given(releases(), st.sampled_from(RULES))
@settings(max_examples=120, deadline=None)
def test_whatever_the_gate_makes_the_board_accepts(made_of, policy):
    units, sums = made_of
    second = sums["ward/rouge_l"]
    if (
        policy.metrics_per_group > 1 and second is not None
    ):  # two figures that leave are of the same units
        sums["ward/rouge_l"] = replace(second, n=units["ward"])
    made = release(SCORECARD, units, sums, policy)
    result = replace(
        RESULT, groups=made.groups, cells=made.cells, spreads=made.spreads, outcome="partial"
    )
    if set(made.cells.values()) <= {SUPPRESSED, NOT_RUN}:
        with refused(Code.NOTHING_PUBLISHED):
            check_result(result, SCORECARD, policy)
    else:
        check_result(result, SCORECARD, policy)
    for figure in SCORECARD.cells:
        value, found = made.cells[figure.key], sums[figure.key]
        if figure.protected and value >= 0:
            assert found is not None
            assert found.n >= policy.min_units
            step = grid_step(bucket_range(made.groups[figure.group])[0], policy)
            assert abs(found.total / found.n * 1000 - value) <= step / 2 + 1e-6
            assert min(found.total, found.n - found.total) >= policy.min_events


def published_share(n: int, policy: DisclosurePolicy) -> float:
    """Return the share of rates of `n` units that are published, after noise; all rates with 11 of both alike."""
    chance = random.Random(20_700 + n)
    sound = range(11, n - 10)
    asked = 600
    given_out = 0
    for _ in range(asked):
        noise = chance.choice((-1, 1)) * chance.expovariate(1 / policy.perturbation_units)
        given_out += published(BINARY, rate(chance.choice(sound) + noise, n), policy) >= 0
    return given_out / asked


@pytest.mark.full
@pytest.mark.parametrize("name", ["strict", "uk-tre", "cms"])
def test_of_sound_figures_of_100_units_and_more_nine_in_ten_are_published(name: str):
    """The floor of usefulness: a gate that suppresses everything would pass every other test here."""
    shares = {
        n: published_share(n, POLICIES[name])
        for n in (100, 101, 115, 120, 150, 200, 300, 500, 1000, 10_000)
    }
    print(name, {n: f"{share:.1%}" for n, share in shares.items()})
    assert sum(shares.values()) / len(shares) >= 0.9
    assert (
        min(shares.values()) >= 0.85
    )  # of 100 units the coarse grid and the noise withhold some with 11 or 12


def test_the_stricter_policy_wins_number_by_number():
    loose = replace(STRICT, name="loose", min_units=5, dominance_percent=95, max_share_percent=5)
    merged = stricter(STRICT, loose)
    assert (merged.min_units, merged.dominance_percent, merged.max_share_percent) == (11, 90, 5)
    assert stricter(STRICT, STRICT) == STRICT


numbers = st.fixed_dictionaries(
    {
        f.name: st.integers(0, 100)
        for f in fields(DisclosurePolicy)
        if f.name not in {"name", "version"}
    }
)
policies = numbers.map(lambda chosen: DisclosurePolicy(name="any", version=1, **chosen))


@given(policies, policies, st.integers(1, 500), st.integers(1, 300).flatmap(sums_of))
@settings(deadline=None)
def test_merging_is_symmetric_and_publishes_nothing_below_a_threshold_of_either(
    a, b, n, sample: CellSums
):
    merged = stricter(a, b)
    assert replace(merged, name="") == replace(stricter(b, a), name="")
    assert replace(stricter(merged, a), name="") == replace(merged, name="")
    assert grid_step(n, merged) >= max(grid_step(n, a), grid_step(n, b))
    # On the coarser grid of the merged policy a figure may stand that the finer grid of one of both withheld: more
    # counts round to it, and all of them pass. What must hold are the thresholds of both.
    if published(BINARY, sample, merged) >= 0:
        assert sample.n >= max(a.min_units, b.min_units)
        assert min(sample.total, sample.n - sample.total) >= max(a.min_events, b.min_events)


@given(policies)
def test_a_policy_comes_out_as_it_went_in(policy: DisclosurePolicy):
    assert parse_policy(policy.to_json()) == policy
    assert replace(policy, min_units=policy.min_units + 1).digest != policy.digest


@pytest.mark.parametrize(
    "change",
    [
        {"min_units": "11"},
        {"min_units": 1.5},
        {"min_units": True},
        {"p_percent": 101},
        {"name": "../x"},
        {"extra": 1},
    ],
    ids=repr,
)
def test_a_policy_with_a_wrong_number_is_refused(change):
    with refused(Code.SCHEMA):
        parse_policy({**STRICT.to_json(), **change})
    with refused(Code.SCHEMA):
        parse_policy(None)
