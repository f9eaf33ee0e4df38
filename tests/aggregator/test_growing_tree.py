"""The growing tree has, after every leaf, the root that hashing everything again gives."""

from aggregator.log.growing_tree import GrowingTree
from protocol.merkle import leaf_hash, root


def test_every_size_has_the_root_of_rfc_6962() -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(70)]
    tree = GrowingTree()
    assert tree.root == root([])
    for size, leaf in enumerate(leaves, 1):
        tree.add(leaf)
        assert tree.size == size
        assert tree.root == root(leaves[:size])
