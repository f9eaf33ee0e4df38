"""The stored nodes of the log's Merkle tree that make up a root or a proof. Pure: callers load and store the hashes.

A stored node is the root of a complete subtree, identified by its level and its position within that level. It covers
the leaves from position * 2^level up to, but not including, (position + 1) * 2^level. Such a node never changes when
the log grows. Every hash of a proof of RFC 9162 is a stored node, or is folded from the few nodes at the right edge.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from protocol.merkle import node_hash, root


class Node(NamedTuple):
    """The level and position of a complete subtree."""

    level: int
    position: int


Cover = tuple[
    Node, ...
]  # the complete subtrees combined in one hash of a proof, from left to right


def cover_leaves(start: int, end: int) -> Cover:
    """Return the largest complete subtrees that cover the leaves start <= index < end, from left to right.

    Args:
        start: first leaf: 0, or the start of a subtree of RFC 9162.
        end: greater than `start`; the range is at most twice the size of the largest subtree that may begin there.
    """
    nodes = []
    while start < end:
        level = (end - start).bit_length() - 1
        nodes.append(Node(level, start >> level))
        start += 1 << level
    return tuple(nodes)


def cover_tree(size: int) -> Cover:
    """Return the complete subtrees that make up the tree of `size` leaves, one for each bit set in `size`."""
    return cover_leaves(0, size)


def complete_nodes(
    index: int, leaf_hash: bytes, peaks: Sequence[bytes]
) -> list[tuple[Node, bytes]]:
    """Return the nodes that the leaf at `index` completes, itself first.

    Args:
        index: index of the new leaf, and size of the tree before it.
        leaf_hash: hash of the new leaf.
        peaks: the hashes of `cover_tree(index)`.
    """
    completed = [(Node(0, index), leaf_hash)]
    left_siblings = list(peaks)
    node_position = index
    level = 0
    while node_position & 1:
        merged = node_hash(left_siblings.pop(), completed[-1][1])
        node_position >>= 1
        level += 1
        completed.append((Node(level, node_position), merged))
    return completed


def grow_peaks(peaks: Sequence[bytes], completed: Sequence[tuple[Node, bytes]]) -> list[bytes]:
    """Return the peaks after adding a leaf, given the peaks before it and the nodes that it completed."""
    merged = len(completed) - 1
    return [*peaks[: len(peaks) - merged], completed[-1][1]]


def fold(hashes: Sequence[bytes]) -> bytes:
    """Return the hash over adjacent subtrees, each at most as large as the one to its left.

    Without subtrees, it is the root of the empty tree.
    """
    if not hashes:
        return root([])
    folded = hashes[-1]
    for left in reversed(hashes[:-1]):
        folded = node_hash(left, folded)
    return folded


def cover_consistency(old_size: int, new_size: int) -> list[Cover]:
    """Return the nodes for each hash of the proof that the tree of `old_size` leaves is a prefix of the new one.

    Raises:
        ValueError: the sizes do not satisfy 1 <= old_size <= new_size.
    """
    if not 1 <= old_size <= new_size:
        raise ValueError(f"there is no tree of {old_size} leaves within {new_size}")
    hashes: list[Cover] = []
    start, end = 0, new_size
    while end != old_size:
        middle = start + _split(end - start)
        if old_size <= middle:
            hashes.append(cover_leaves(middle, end))
            end = middle
        else:
            hashes.append(cover_leaves(start, middle))
            start = middle
    if start > 0:
        # The verifier knows the old tree's root, but not that of its last subtree.
        hashes.append(cover_leaves(start, end))
    hashes.reverse()
    return hashes


def fold_covers(covers: Sequence[Cover], hashes: Mapping[Node, bytes]) -> list[bytes]:
    """Return the hashes of a proof, given the hashes of all nodes in its covers."""
    proof = []
    for cover in covers:
        proof.append(fold([hashes[node] for node in cover]))
    return proof


def _split(size: int) -> int:
    """Return the largest power of two below `size` (at least 2)."""
    return 1 << (size - 1).bit_length() - 1
