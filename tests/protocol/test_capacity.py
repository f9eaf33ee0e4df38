"""How much a hospital's envelope can carry: counted exactly, compared with trying every payload, and numbered."""

import functools
import hashlib
import itertools
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.capacity import (
    SIGNATURES,
    capacity_bits,
    count_payloads,
    measure_capacity,
    rank_result,
    unrank_result,
)
from protocol.disclosure import check_result
from protocol.errors import Code, ProtocolError
from protocol.figure_space import Figures, FigureSpace
from protocol.identity import NONE
from protocol.policy import BUCKETS, DisclosurePolicy
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.statements import build_statement
from tests.protocol import edwards
from tests.protocol.test_keys_and_signatures import ed25519_scalar, encode
from tests.protocol.world import (
    AGENT,
    RESULT,
    SCORECARD,
    STRICT,
    TODAY,
    cell,
    refused,
    result,
    signed,
    submit,
)

DAYS, REGISTRIES = 128, 8
HUGE = replace(STRICT, min_units=100_000)  # leaves two buckets, so that everything can be tried
COARSE = replace(HUGE, grid_units=27_000)  # and a grid of 0.25


def scorecard(*cells: Cell) -> Scorecard:
    ids = dict.fromkeys(entry.benchmark for entry in cells)
    return Scorecard(
        "tried", 1, tuple(BenchmarkEntry(id, id, "Any", "ab" * 32) for id in ids), cells
    )


def tried(
    card: Scorecard, policy: DisclosurePolicy, values: Iterable[int], spreads: Iterable[int] = (-1,)
) -> int:
    """Count, by trying, the combinations of groups, cells, spreads and outcome that check_result accepts."""
    keys = [cell.key for cell in card.cells]
    graded = [cell.key for cell in card.cells if not cell.binary]
    values, spreads = list(values), list(spreads)
    accepted = 0
    for buckets in itertools.product(range(len(BUCKETS)), repeat=len(card.group_keys)):
        if any(
            bucket and BUCKETS[bucket][0] < policy.min_units and card.cells[0].protected
            for bucket in buckets
        ):
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
    "a-protected-mean": (
        scorecard(cell("ward", "rouge_l", binary=False)),
        COARSE,
        FEW_VALUES,
        range(-1, 26),
    ),
    "two-metrics": (
        scorecard(cell("ward", "exact_match"), cell("ward", "f1")),
        COARSE,
        FEW_VALUES,
        (-1,),
    ),
    "a-mean-beside-a-rate": (
        scorecard(cell("ward", "exact_match"), cell("ward", "rouge_l", binary=False)),
        COARSE,
        FEW_VALUES,
        (-1, 0, 7),
    ),
    "two-benchmarks": (
        scorecard(cell("ward", "f1"), cell("clinic", "f1")),
        COARSE,
        FEW_VALUES,
        (-1,),
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("card", "policy", "values", "spreads"),
    [pytest.param(*case, id=name) for name, case in CASES.items()],
)
def test_the_count_is_what_trying_every_payload_gives(card, policy, values, spreads):
    assert count_payloads(card, policy) == DAYS * REGISTRIES * tried(card, policy, values, spreads)


@pytest.mark.full
def test_the_size_of_a_published_dataset_narrows_the_way_out():
    card = scorecard(cell("exam", "exact_match"))
    sized = replace(card, benchmarks=(replace(card.benchmarks[0], units=40),))
    found = count_payloads(sized, STRICT)
    assert found == DAYS * REGISTRIES * tried(sized, STRICT, EVERY_VALUE)
    assert found < count_payloads(card, STRICT)


def test_with_subgroups_the_count_is_an_upper_bound():
    card = scorecard(
        cell("ward", "f1"), cell("ward", "f1", "sex.female"), cell("ward", "f1", "sex.male")
    )
    found = tried(card, COARSE, FEW_VALUES)
    assert 0 < found < FigureSpace(card, COARSE).count


def test_with_two_metrics_of_a_group_the_count_is_an_upper_bound():
    card = scorecard(cell("ward", "exact_match"), cell("ward", "f1"))
    noiseless = replace(COARSE, metrics_per_group=2, perturbation_units=0)
    found = tried(card, noiseless, FEW_VALUES)
    assert 0 < found <= FigureSpace(card, noiseless).count


def test_the_bits_stay_below_the_sum_of_the_fields():
    fields = 3 + 7 + 1 + 6 * 5 + 10 * 6 + 5 * 2  # registry, day, outcome, groups, cells, spreads
    assert capacity_bits(SCORECARD, STRICT) < fields


def test_the_capacity_of_the_small_scorecard_does_not_grow_unnoticed():
    capacity = measure_capacity(SCORECARD, STRICT, ("ed25519", "ecdsa-p256-sha256"))
    assert round(capacity.payload_bits, 3) == 90.834
    assert capacity.determined_bits == 256 + 256 + 31
    assert round(capacity.signature_bits) == 252 + 255
    assert (
        capacity.total_bits
        == capacity.payload_bits + capacity.determined_bits + capacity.signature_bits
    )


@pytest.mark.full
def test_a_stricter_policy_lets_less_through():
    assert capacity_bits(SCORECARD, replace(STRICT, min_units=200)) < capacity_bits(
        SCORECARD, STRICT
    )
    assert capacity_bits(SCORECARD, replace(STRICT, grid_units=20)) < capacity_bits(
        SCORECARD, STRICT
    )
    assert capacity_bits(SCORECARD, STRICT) < capacity_bits(
        SCORECARD, replace(STRICT, metrics_per_group=2)
    )


# Numbering: no two acceptable results share a number, and every number is a result.

FREE_OF_TIES = scorecard(  # no subgroups, one metric a protected group: the space is exact
    cell("exam", "exact_match"),
    cell("exam", "rouge_l", binary=False),
    cell("ward", "exact_match"),
    cell("ward", "rouge_l", binary=False),
    cell("notes", "rouge_l", binary=False),
)
SCORECARDS = {"free-of-ties": FREE_OF_TIES, "with-subgroups": SCORECARD}
NEWEST = {"newest_registry": 9, "today_day": TODAY}


@functools.cache
def count_space(name: str) -> FigureSpace:
    """Return the space of a scorecard; counting it takes a second."""
    return FigureSpace(SCORECARDS[name], STRICT)


@given(st.data(), st.sampled_from(sorted(SCORECARDS)))
@settings(max_examples=300)
def test_every_number_is_a_result_that_has_this_number(data: st.DataObject, name: str):
    space = count_space(name)
    last = space.count * DAYS * REGISTRIES - 1
    number = data.draw(st.integers(0, last) | st.integers(0, 10_000).map(lambda back: last - back))
    made = unrank_result(number, RESULT, space, **NEWEST)
    assert rank_result(made, space, **NEWEST) == number
    if space.scorecard is FREE_OF_TIES:
        check_result(made, FREE_OF_TIES, STRICT)


CHANGES: list[dict[str, object]] = [
    {},
    {"outcome": "partial"},
    {"day": TODAY - 127},
    {"header": {"registry": 2}},
    {"cells": {"exam/exact_match": 0}},
    {"cells": {"ward/exact_match/sex.female": -3, "ward/exact_match/sex.male": -4}},
    {"spreads": {"notes/rouge_l": -1}},
    {"cells": {"notes/rouge_l": -1}, "spreads": {"notes/rouge_l": -1}},
    {
        "groups": {"notes": 0},
        "cells": {"notes/rouge_l": -2},
        "spreads": {"notes/rouge_l": -1},
        "data": {"notes": NONE},
        "outcome": "partial",
    },
]


@pytest.mark.parametrize("changes", CHANGES, ids=repr)
def test_a_result_that_the_board_takes_comes_back_from_its_number(changes):
    taken = result(**changes)
    assert submit(signed(build_statement(taken))).statement == taken
    number = rank_result(taken, count_space("with-subgroups"), **NEWEST)
    assert unrank_result(number, RESULT, count_space("with-subgroups"), **NEWEST) == taken


@pytest.mark.parametrize(
    "name", ["a-protected-rate", "two-metrics", "a-mean-beside-a-rate", "two-benchmarks"]
)
def test_a_tiny_space_is_walked_from_end_to_end(name: str):
    card, policy, _, _ = CASES[name]
    space = FigureSpace(card, policy)
    walked = [space.unrank(number) for number in range(space.count)]
    assert [space.rank(figures) for figures in walked] == list(range(space.count))
    assert len({repr(figures) for figures in walked}) == space.count


@pytest.mark.parametrize(
    "changes",
    [
        {"cells": {"ward/exact_match": 725}},
        {"groups": {"ward": 1}},
        {"outcome": "done"},
        {"spreads": {"notes/rouge_l": 0}},
        {"cells": {"ward/rouge_l": 640}, "spreads": {"ward/rouge_l": 5}},
        {"cells": {"exam/exact_match": -2}, "outcome": "partial"},
        {"day": TODAY + 1},
        {"day": TODAY - 128},
        {"header": {"registry": 1}},
        {"header": {"registry": 10}},
    ],
    ids=repr,
)
def test_what_the_board_refuses_has_no_number(changes):
    with pytest.raises(ValueError, match="not"):
        rank_result(result(**changes), count_space("with-subgroups"), **NEWEST)


def test_nothing_published_has_no_number():
    space = FigureSpace(scorecard(cell("ward", "f1")), STRICT)
    with pytest.raises(ValueError, match="no value is published"):
        space.rank(Figures("partial", {"ward": 0}, {"ward/f1": -2}, {}))


@pytest.mark.parametrize("beyond", [-1, 0])
def test_a_number_outside_the_space_is_refused(beyond: int):
    space = count_space("with-subgroups")
    with pytest.raises(ValueError, match="is not from 0"):
        space.unrank(-1 if beyond else space.count)


# Signatures: who replaces a signer can choose among these many.


def order_of(curve: tuple[int, int, int], point: tuple[int, int]) -> list[tuple[int, int] | None]:
    """Return the multiples 0, 1, 2 ... of a point of y^2 = x^3 + a*x + b over the field of p elements."""
    a, _, p = curve

    def add(left, right):
        if left is None or right is None:
            return right if left is None else left
        if left[0] == right[0] and (left[1] + right[1]) % p == 0:
            return None
        if left == right:
            slope = (3 * left[0] ** 2 + a) * pow(2 * left[1], -1, p)
        else:
            slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, p)
        x = (slope * slope - left[0] - right[0]) % p
        return x, (slope * (left[0] - x) - left[1]) % p

    multiples: list[tuple[int, int] | None] = [None, point]
    while multiples[-1] is not None:
        multiples.append(add(multiples[-1], point))
    return multiples[:-1]


def test_low_s_leaves_half_of_the_signatures_of_ecdsa():
    # All of them, tried on a curve like P-256 (a = -3, prime order below the field's) that has 71 points.
    a, b, p = curve = (-3, 10, 73)
    base = next(
        (x, y) for x in range(p) for y in range(1, p) if (y * y - x**3 - a * x - b) % p == 0
    )
    multiples = order_of(curve, base)
    n = len(multiples)
    assert n == 71
    secret, message = 29, 41
    valid = 0
    for r in range(1, n):
        for s in range(1, n // 2 + 1):
            inverse = pow(s, -1, n)
            point = multiples[(message * inverse + r * secret * inverse) % n]
            valid += point is not None and point[0] % n == r
    lost = [
        k
        for k in range(1, n)
        if multiples[k][0] % n == 0 or (message + multiples[k][0] * secret) % n == 0
    ]
    assert valid == (n - 1 - len(lost)) // 2
    assert len(lost) <= 8
    assert SIGNATURES["ecdsa-p256-sha256"].bit_length() == 255


def test_any_nonce_gives_an_ed25519_signature_and_each_nonce_just_one():
    scalar, public = ed25519_scalar(1)
    base = edwards.decompress((4 * pow(5, -1, edwards.P) % edwards.P).to_bytes(32, "little"))
    message = b"a statement"
    for text in (b"Erika Mustermann, 12.08.1957", b"HIV"):
        nonce = int.from_bytes(text, "little") % edwards.L  # a signer that hides text in its nonce
        r = encode(edwards.multiply(nonce, base))
        k = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % edwards.L
        s = (nonce + k * scalar) % edwards.L
        AGENT.public.verify(r + s.to_bytes(32, "little"), message)
        for other in (s - 1, s + 1):
            with refused(Code.BAD_SIGNATURE):
                AGENT.public.verify(r + other.to_bytes(32, "little"), message)
    assert SIGNATURES["ed25519"] == edwards.L - 1
