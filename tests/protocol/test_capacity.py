"""How much a hospital's numbers can carry: counted exactly, compared with trying every payload."""

import itertools
from collections.abc import Iterable
from dataclasses import replace

import pytest

from protocol.capacity import ROOT_BITS, capacity_bits, payload_count
from protocol.disclosure import check_result
from protocol.errors import ProtocolError
from protocol.identity import NONE
from protocol.policy import BUCKETS, DisclosurePolicy
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.protocol.world import RESULT, SCORECARD, STRICT, cell

APPROVALS, DAYS, REGISTRIES = 2, 128, 8
FIXED = APPROVALS * DAYS * REGISTRIES * (2**256 - 1)
HUGE = replace(STRICT, min_units=100_000)  # leaves two buckets, so that everything can be tried
COARSE = replace(HUGE, grid_units=27_000)  # and a grid of 0.25


def scorecard(*cells: Cell) -> Scorecard:
    ids = dict.fromkeys(entry.benchmark for entry in cells)
    return Scorecard("tried", 1, tuple(BenchmarkEntry(id, id, "Any", "ab" * 32) for id in ids), cells)


def tried(card: Scorecard, policy: DisclosurePolicy, values: Iterable[int], spreads: Iterable[int] = (-1,)) -> int:
    """Count, by trying, the combinations of groups, cells, spreads and outcome that check_result accepts."""
    keys = [cell.key for cell in card.cells]
    graded = [cell.key for cell in card.cells if not cell.binary]
    values, spreads = list(values), list(spreads)
    accepted = 0
    for buckets in itertools.product(range(len(BUCKETS)), repeat=len(card.group_keys)):
        if any(bucket and BUCKETS[bucket][0] < policy.min_units and card.cells[0].protected for bucket in buckets):
            continue  # refused for the group alone, as test_result_meaning shows
        for chosen in itertools.product(values, repeat=len(keys)):
            for spread in itertools.product(spreads, repeat=len(graded)):
                result = replace(
                    RESULT,
                    data={benchmark.id: NONE for benchmark in card.benchmarks},
                    groups=dict(zip(card.group_keys, buckets, strict=True)),
                    cells=dict(zip(keys, chosen, strict=True)),
                    spreads=dict(zip(graded, spread, strict=True)),
                )
                for outcome in ("complete", "partial"):
                    try:
                        check_result(replace(result, outcome=outcome), card, policy)
                    except ProtocolError:
                        continue
                    accepted += 1
    return accepted


EVERY_VALUE = range(-4, 1001)
FEW_VALUES = (-4, -3, -2, -1, 0, 250, 300, 500, 750, 1000)

CASES = {
    "a-protected-rate": (scorecard(cell("ward", "exact_match")), HUGE, EVERY_VALUE, (-1,)),
    "a-public-rate": (scorecard(cell("exam", "exact_match")), STRICT, EVERY_VALUE, (-1,)),
    "a-protected-mean": (scorecard(cell("ward", "rouge_l", binary=False)), COARSE, FEW_VALUES, range(-1, 26)),
    "two-metrics": (scorecard(cell("ward", "exact_match"), cell("ward", "f1")), COARSE, FEW_VALUES, (-1,)),
    "two-benchmarks": (scorecard(cell("ward", "f1"), cell("clinic", "f1")), COARSE, FEW_VALUES, (-1,)),
}


@pytest.mark.parametrize(
    ("card", "policy", "values", "spreads"), [pytest.param(*case, id=name) for name, case in CASES.items()]
)
def test_the_count_is_what_trying_every_payload_gives(card, policy, values, spreads):
    assert payload_count(card, policy) == FIXED * tried(card, policy, values, spreads)


def test_with_subgroups_the_count_is_an_upper_bound():
    card = scorecard(cell("ward", "f1"), cell("ward", "f1", "sex.female"), cell("ward", "f1", "sex.male"))
    found = tried(card, COARSE, FEW_VALUES)
    assert 0 < FIXED * found < payload_count(card, COARSE)


def test_the_bits_stay_below_the_sum_of_the_fields():
    fields = (
        3 + 7 + 1 + 1 + ROOT_BITS + 6 * 4 + 10 * 5 + 5 * 1
    )  # registry, day, outcome, approval, root, groups, cells, spreads
    assert capacity_bits(SCORECARD, STRICT) < fields


def test_the_capacity_of_the_small_scorecard_does_not_grow_unnoticed():
    assert round(capacity_bits(SCORECARD, STRICT) - ROOT_BITS, 3) == 86.383


def test_a_stricter_policy_lets_less_through():
    assert capacity_bits(SCORECARD, replace(STRICT, min_units=200)) < capacity_bits(SCORECARD, STRICT)
    assert capacity_bits(SCORECARD, replace(STRICT, grid_units=20)) < capacity_bits(SCORECARD, STRICT)
