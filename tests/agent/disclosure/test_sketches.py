"""Sketches recognise records by their words, and tell nothing without the site's key."""

import random
import time

import numpy as np
import pytest

from agent.disclosure.sketches import (
    PERMUTATIONS,
    Shingler,
    Shingles,
    Sketcher,
    decode_sketches,
    drop_common,
    encode_sketch,
    find_similar,
    group_similar,
)

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
WORDS = [
    a + b + c
    for a in "bdfgklmnprst"
    for b in "aeiou"
    for c in ("ran", "lis", "mon", "tek", "vor", "shu")
]


def record(draw: random.Random, words: int = 150) -> str:
    return " ".join(draw.choices(WORDS, k=words))


def shingles(texts: list[str], key: bytes = KEY) -> list[Shingles]:
    shingler = Shingler(key)
    return [shingler.shingle([text]).exact for text in texts]


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_sketches_estimate_how_much_two_sets_overlap(share: float):
    draw = np.random.default_rng(1)
    off = 0
    for _ in range(50):
        both = draw.integers(0, 2**63, 1000, dtype=np.uint64)
        size = round(1000 / share - 1000) // 2
        one, other = (
            np.concatenate([both, draw.integers(0, 2**63, size, dtype=np.uint64)]) for _ in range(2)
        )
        left, right = Sketcher(KEY).sketch([one, other])
        off += (left == right).sum() / PERMUTATIONS - share
    assert abs(off / 50) < 0.03


def test_the_same_words_under_another_key_have_nothing_in_common():
    text = record(random.Random(1))
    one, other = shingles([text])[0], shingles([text], OTHER_KEY)[0]
    assert not np.intersect1d(one, other).size
    sketched, elsewhere = Sketcher(KEY).sketch([one])[0], Sketcher(OTHER_KEY).sketch([one])[0]
    assert (sketched == elsewhere).sum() <= 2


def test_numbers_do_not_count_where_they_should_not():
    shingler = Shingler(KEY)
    one, other = (
        shingler.shingle([f"seen on {day} with code A-{code} in the ward"])
        for day, code in (("2021-03-04", 7), ("1.5.2024", 99))
    )
    assert np.array_equal(one.numberless, other.numberless)
    assert not np.array_equal(one.exact, other.exact)


def test_scripts_without_spaces_have_words_too():
    one = Shingler(KEY).shingle(["患者因胸痛入院三天后出院"])
    assert len(one.exact) == 10


def test_common_text_goes_and_copies_count_once():
    draw = random.Random(2)
    fixed = record(draw, 40)
    texts = [f"{fixed} {record(draw, 60)}" for _ in range(20)]
    copied = record(draw, 60)
    units = shingles(texts + [copied] * 10)
    groups = [*range(20), *[20] * 10]
    left = drop_common(units, groups, 20)
    assert [len(unit) for unit in left[20:]] == [58] * 10
    assert all(len(unit) < 63 for unit in left[:20])
    assert not len(np.intersect1d(np.concatenate(left), shingles([fixed])[0]))
    assert [len(unit) for unit in drop_common(units, range(30), 20)[20:]] == [0] * 10


def test_sketches_come_back_as_they_were_written():
    sketches = Sketcher(KEY).sketch(shingles([record(random.Random(i)) for i in range(5)]))
    assert np.array_equal(decode_sketches([encode_sketch(one) for one in sketches]), sketches)
    assert decode_sketches([]).shape == (0, PERMUTATIONS)
    with pytest.raises(ValueError, match="every stored sketch must have"):
        decode_sketches(["00"])


def test_of_no_sketches_nothing_is_alike():
    none, one = decode_sketches([]), Sketcher(KEY).sketch(shingles([record(random.Random(1))]))
    assert find_similar(none, one, 50) == find_similar(one, none, 50) == {}
    assert group_similar(none, 90) == []


@pytest.mark.full
def test_20000_records_find_their_20000_others_in_seconds():
    draw = random.Random(3)
    texts = [record(draw, 80) for _ in range(20_000)]
    edited = [
        f"{text[: len(text) // 2]} and another name {text[len(text) // 2 :]}" for text in texts
    ]
    old, new = (Sketcher(KEY).sketch(shingles(some)) for some in (texts, edited))
    began = time.process_time()
    found = find_similar(new, old, 45)
    seconds = time.process_time() - began
    assert all(found[i].row == i for i in range(20_000))
    assert seconds < 20


def test_a_thousand_copies_are_one_group_and_strangers_are_not():
    draw = random.Random(4)
    base = record(draw).split()
    copies = []
    for i in range(1000):
        words = list(base)
        words[draw.randrange(len(words))] = f"{WORDS[i % 100]}x"
        copies.append(" ".join(words))
    strangers = [record(draw) for _ in range(1000)]
    groups = group_similar(Sketcher(KEY, 128).sketch(shingles(copies + strangers)), 85)
    assert len(set(groups[:1000])) == 1
    assert len(set(groups[1000:])) == 1000
