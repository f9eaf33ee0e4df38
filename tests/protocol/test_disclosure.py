"""From exact scores to what may be published: the gate makes nothing that the board refuses or that tells of few."""

import itertools
import math
from dataclasses import fields, replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.disclosure import (
    HIGH_CODED,
    LOW_CODED,
    NO_SPREAD,
    NOT_RUN,
    SUPPRESSED,
    check_result,
    release,
    release_cell,
    release_groups,
    release_spread,
)
from protocol.errors import Code
from protocol.policy import BUCKETS, DisclosurePolicy, bucket_of, bucket_range, grid_step, parse_policy, stricter
from protocol.scorecard import Cell
from tests.protocol.world import RESULT, SCORECARD, STRICT, STRICTER, refused

BINARY = Cell("ward", "exact_match", None, "private", True, 0, 1)
GRADED = Cell("ward", "rubric", None, "gated", False, 1, 5)
PUBLIC = Cell("exam", "exact_match", None, "public", True, 0, 1)


def rate(successes: int, n: int) -> list[float]:
    return [1.0] * successes + [0.0] * (n - successes)


def published(cell: Cell, scores: list[float], policy: DisclosurePolicy = STRICT) -> int:
    bucket = bucket_of(len(scores))
    if cell.protected and bucket_range(bucket)[0] < policy.min_units:
        bucket = 0
    return release_cell(cell, scores, bucket, policy)


def test_the_buckets_are_64_wide_enough_and_split_at_11():
    assert len(BUCKETS) == 64
    assert BUCKETS[0] == (0, 0)
    assert 11 in {low for low, _ in BUCKETS}
    assert all(high - low >= 4 for low, high in BUCKETS[1:])
    assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(BUCKETS))
    assert all((high - low + 1) / low <= 0.2 for low, high in BUCKETS[10:-1])


@given(st.integers(0, 200_000))
def test_every_number_of_units_is_in_its_bucket(n: int):
    low, high = bucket_range(bucket_of(n))
    assert low <= n <= high


@given(st.integers(1, 200_000))
def test_the_grid_is_never_finer_than_5_over_n(n: int):
    step = grid_step(bucket_range(bucket_of(n))[0], STRICT)
    assert 1000 % step == 0
    assert step * n >= 5000 or step == 1000 or (n >= 5000 and step == 1)


@pytest.mark.parametrize("n", [-1, 10**9])
def test_no_bucket_holds_an_impossible_number(n: int):
    with pytest.raises(ValueError, match="units"):
        bucket_of(n)
    with pytest.raises(ValueError, match="bucket"):
        bucket_range(n)


@pytest.mark.parametrize(
    ("successes", "n", "expected"),
    [
        pytest.param(7, 10, SUPPRESSED, id="10-units"),
        pytest.param(7, 14, SUPPRESSED, id="fewer-than-11-on-both-sides"),
        pytest.param(197, 200, HIGH_CODED, id="3-failures-of-200"),
        pytest.param(190, 200, HIGH_CODED, id="10-failures-of-200"),
        pytest.param(189, 200, HIGH_CODED, id="11-failures-of-200-would-stand-alone-at-96-percent"),
        pytest.param(187, 200, 920, id="13-failures-of-200"),
        pytest.param(10, 200, LOW_CODED, id="10-successes-of-200"),
        pytest.param(11, 200, LOW_CODED, id="11-successes-of-200-would-stand-alone-at-4-percent"),
        pytest.param(12, 200, 80, id="12-successes-of-200"),
        pytest.param(200, 200, HIGH_CODED, id="all"),
        pytest.param(0, 200, LOW_CODED, id="none"),
        pytest.param(147, 200, 720, id="on-the-grid"),
        pytest.param(148, 201, 720, id="one-patient-more-changes-nothing"),
    ],
)
def test_a_binary_rate(successes: int, n: int, expected: int):
    assert published(BINARY, rate(successes, n)) == expected


def test_no_exact_numerator_follows_from_a_published_rate():
    for n in (*range(22, 120), *range(120, 500, 13)):
        values = [published(BINARY, rate(k, n)) for k in range(n + 1)]
        for value in {v for v in values if v >= 0}:  # even for whoever knows n
            assert values.count(value) >= 5, (n, value)


def test_dominance_codes_a_mean_that_two_units_carry():
    assert published(GRADED, [5.0, 5.0] + [1.0] * 28) == LOW_CODED
    assert published(GRADED, [1.0, 1.0] + [5.0] * 28) == HIGH_CODED
    assert published(GRADED, [5.0] * 15 + [1.0] * 15) == 600  # mean 3 of 1..5 is 0.5; the grid is 0.2


def test_one_unit_with_too_large_a_share_suppresses():
    greedy = replace(STRICT, min_units=1, max_share_percent=4)
    assert published(GRADED, [1.0, 5.0] * 10, greedy) == SUPPRESSED


def test_public_figures_are_exact_to_the_thousandth():
    assert published(PUBLIC, rate(1, 3)) == 333
    assert published(PUBLIC, rate(3, 3)) == 1000
    assert release_cell(PUBLIC, [], 0, STRICT) == NOT_RUN


def test_not_run_and_nobody_there_are_told_apart_only_where_that_is_harmless():
    assert release_cell(BINARY, None, 0, STRICT) == NOT_RUN
    assert release_cell(BINARY, [], 0, STRICT) == SUPPRESSED


@pytest.mark.parametrize("scores", [[0.5, 7.0] * 20, [-0.1] * 40, [math.nan] * 40, [math.inf] * 40], ids=repr)
def test_scores_outside_the_range_are_not_published(scores: list[float]):
    with pytest.raises(ValueError, match="outside"):
        published(GRADED, scores)


def test_a_bucket_larger_than_the_number_of_units_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        release_cell(BINARY, rate(20, 50), bucket_of(500), STRICT)
    with pytest.raises(ValueError, match="do not fit"):
        release_cell(PUBLIC, rate(2, 5), 0, STRICT)


def test_a_spread_is_coarse_and_never_0_for_protected_units():
    assert release_spread(GRADED, [1.0, 5.0] * 30, 500) == 25
    assert release_spread(GRADED, [3.0] * 60, 500) == NO_SPREAD
    assert release_spread(replace(GRADED, access="public"), [3.0] * 60, 500) == 0
    assert release_spread(GRADED, [1.0, 5.0] * 30, LOW_CODED) == NO_SPREAD


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
    units = {"exam": 4, "ward": total, "ward/sex.female": female, "ward/sex.male": male}
    groups = release_groups(SCORECARD, units, STRICT)
    hidden = {group.rpartition(".")[2] if "." in group else "" for group, bucket in groups.items() if not bucket}
    assert groups["exam"] == 1
    if withheld == {"female", "male"} and male == 95:
        assert hidden in ({"male"}, {"female", "male"})  # enough to hide the rest of 5
    else:
        assert hidden == withheld


scores = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
samples = st.one_of(
    st.lists(scores, max_size=60),
    st.tuples(st.integers(0, 300), st.integers(0, 300)).map(lambda pair: rate(pair[0], sum(pair))),
)


@given(samples, samples, samples, samples, st.sampled_from([STRICT, STRICTER, replace(STRICT, min_units=30)]))
@settings(max_examples=300, deadline=None)
def test_whatever_the_gate_makes_the_board_accepts(exam, female, male, unknown, policy):
    ward = female + male + unknown
    unit_scores = {
        "exam/exact_match": exam or None,
        "ward/exact_match": ward or None,
        "ward/exact_match/sex.female": female,
        "ward/exact_match/sex.male": male,
        "ward/rouge_l": ward[: max(1, len(ward) - 3)] or None,  # some units unscored
    }
    units = {
        "exam": len(exam),
        "ward": len(ward[: max(1, len(ward) - 3)]),
        "ward/sex.female": len(female),
        "ward/sex.male": len(male),
    }
    units["ward/sex.male"] = min(units["ward/sex.male"], units["ward"])
    made = release(SCORECARD, units, unit_scores, policy)
    result = replace(RESULT, groups=made.groups, cells=made.cells, spreads=made.spreads, outcome="partial")
    if set(made.cells.values()) <= {SUPPRESSED, NOT_RUN}:
        with refused(Code.NOTHING_PUBLISHED):
            check_result(result, SCORECARD, policy)
    else:
        check_result(result, SCORECARD, policy)
    for cell in SCORECARD.cells:
        value = made.cells[cell.key]
        if cell.protected and value >= 0:
            exact = Fraction(math.fsum(unit_scores[cell.key])) / len(unit_scores[cell.key])
            step = grid_step(bucket_range(made.groups[cell.group])[0], policy)
            assert abs(exact * 1000 - value) <= Fraction(step, 2)
            assert len(unit_scores[cell.key]) >= policy.min_units
            if cell.binary:
                assert policy.min_events <= math.fsum(unit_scores[cell.key])


def test_the_stricter_policy_wins_number_by_number():
    loose = replace(STRICT, name="loose", min_units=5, dominance_percent=95, max_share_percent=5)
    merged = stricter(STRICT, loose)
    assert (merged.min_units, merged.dominance_percent, merged.max_share_percent) == (11, 90, 5)
    assert stricter(STRICT, STRICT) == STRICT


numbers = st.fixed_dictionaries(
    {f.name: st.integers(0, 100) for f in fields(DisclosurePolicy) if f.name not in {"name", "version"}}
)
policies = numbers.map(lambda chosen: DisclosurePolicy(name="any", version=1, **chosen))


@given(policies, policies, st.integers(1, 500), samples)
@settings(deadline=None)
def test_merging_is_symmetric_and_publishes_nothing_below_a_threshold_of_either(a, b, n, sample):
    merged = stricter(a, b)
    assert replace(merged, name="") == replace(stricter(b, a), name="")
    assert replace(stricter(merged, a), name="") == replace(merged, name="")
    assert grid_step(n, merged) >= max(grid_step(n, a), grid_step(n, b))
    # On the coarser grid of the merged policy a figure may stand that the finer grid of one of both withheld: more
    # counts round to it, and all of them pass. What must hold are the thresholds of both.
    if sample and published(BINARY, sample, merged) >= 0:
        assert len(sample) >= max(a.min_units, b.min_units)
        assert min(sum(sample), len(sample) - sum(sample)) >= max(a.min_events, b.min_events)


@given(policies)
def test_a_policy_comes_out_as_it_went_in(policy: DisclosurePolicy):
    assert parse_policy(policy.to_json()) == policy
    assert replace(policy, min_units=policy.min_units + 1).digest != policy.digest


@pytest.mark.parametrize(
    "change",
    [{"min_units": "11"}, {"min_units": 1.5}, {"min_units": True}, {"p_percent": 101}, {"name": "../x"}, {"extra": 1}],
    ids=repr,
)
def test_a_policy_with_a_wrong_number_is_refused(change):
    with refused(Code.SCHEMA):
        parse_policy({**STRICT.to_json(), **change})
    with refused(Code.SCHEMA):
        parse_policy(None)
