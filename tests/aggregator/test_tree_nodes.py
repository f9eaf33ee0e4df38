"""Roots and proofs from stored nodes are those that hashing all leaves gives, and RFC 9162's verifier takes them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.log.tree_nodes import (
    Node,
    complete_nodes,
    cover_consistency,
    cover_tree,
    fold,
    fold_covers,
    grow_peaks,
)
from protocol import merkle

LEAVES = [merkle.leaf_hash(bytes([number % 256, number // 256])) for number in range(600)]


def store_nodes(size: int) -> tuple[dict[Node, bytes], list[bytes]]:
    """Add leaves one by one, each from the peaks that the one before left; return all nodes and the last peaks."""
    stored: dict[Node, bytes] = {}
    peaks: list[bytes] = []
    for index, leaf in enumerate(LEAVES[:size]):
        assert peaks == [stored[node] for node in cover_tree(index)]
        completed = complete_nodes(index, leaf, peaks)
        stored.update(completed)
        peaks = grow_peaks(peaks, completed)
        assert fold(peaks) == merkle.root(LEAVES[: index + 1])
    return stored, peaks


STORED, _ = store_nodes(len(LEAVES))
SIZES = st.integers(1, len(LEAVES))


def test_the_empty_tree_has_the_root_of_nothing() -> None:
    assert fold([]) == merkle.root([])
    assert cover_tree(0) == ()


def test_fewer_than_two_nodes_are_stored_for_each_leaf() -> None:
    assert len(STORED) < 2 * len(LEAVES)


@given(new_size=SIZES, data=st.data())
@settings(deadline=None)
def test_every_consistency_proof_is_that_of_the_whole_tree(
    new_size: int, data: st.DataObject
) -> None:
    old_size = data.draw(st.integers(1, new_size))
    proof = fold_covers(cover_consistency(old_size, new_size), STORED)
    assert proof == merkle.consistency_proof(LEAVES[:new_size], old_size)
    roots = merkle.root(LEAVES[:old_size]), merkle.root(LEAVES[:new_size])
    merkle.verify_consistency(old_size, new_size, proof, *roots)


@pytest.mark.parametrize("size", range(1, 70))
def test_the_newest_leaf_is_proven_by_the_peaks_before_it(size: int) -> None:
    peaks = [STORED[node] for node in cover_tree(size - 1)]
    assert merkle.inclusion_proof(LEAVES[:size], size - 1) == peaks[::-1]


@given(size=st.integers(2, 2**40), data=st.data())
@settings(deadline=None)
def test_a_proof_reads_few_nodes_however_long_the_log(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    deep = size.bit_length()
    assert sum(map(len, cover_consistency(index + 1, size))) <= 3 * deep


@pytest.mark.parametrize(("old_size", "new_size"), [(0, 5), (6, 5), (-1, 3)])
def test_a_tree_outside_the_tree_has_no_proof(old_size: int, new_size: int) -> None:
    with pytest.raises(ValueError, match="no tree"):
        cover_consistency(old_size, new_size)
