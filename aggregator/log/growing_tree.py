"""A Merkle tree that grows leaf by leaf and gives its root after each leaf, without hashing everything again."""

from collections.abc import Sequence

from protocol.merkle import node_hash, root


class GrowingTree:
    """The tree of RFC 6962 over the leaf hashes added so far."""

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        """Start with an empty tree, or with an earlier tree of `size` leaves with these `peaks`.

        Raises:
            ValueError: the number of peaks does not match the size.
        """
        if len(peaks) != size.bit_count():
            raise ValueError(f"{len(peaks)} peaks do not match a tree of {size} leaves")
        self.size = size
        self._full_trees = list(
            peaks
        )  # roots of full subtrees, largest first: one for each bit of the size

    def add(self, leaf_hash: bytes) -> None:
        """Append a leaf, given its hash."""
        node, older = leaf_hash, self.size
        while older & 1:
            node = node_hash(self._full_trees.pop(), node)
            older >>= 1
        self._full_trees.append(node)
        self.size += 1

    @property
    def peaks(self) -> tuple[bytes, ...]:
        """The roots of the full subtrees that the tree consists of, largest first."""
        return tuple(self._full_trees)

    @property
    def root(self) -> bytes:
        """The root of all leaves so far; without leaves, the root of the empty tree."""
        if not self._full_trees:
            return root([])
        node = self._full_trees[-1]
        for left in reversed(self._full_trees[:-1]):
            node = node_hash(left, node)
        return node
