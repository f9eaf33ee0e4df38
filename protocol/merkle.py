"""Merkle trees of RFC 6962 (proof algorithms of RFC 9162, section 2.1). Hashes are 32 bytes of SHA-256."""

import hashlib
import hmac
from collections.abc import Sequence

from protocol.errors import Code, ProtocolError


def leaf_hash(data: bytes) -> bytes:
    """Return SHA-256(0x00 || data)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 || left || right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the root of a tree; without leaves it is the SHA-256 of the empty string."""
    level = list(leaf_hashes)
    if not level:
        return hashlib.sha256().digest()
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []  # a node without a sibling moves up unchanged
        level = [node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)] + odd
    return level[0]


def _split(size: int) -> int:
    """Return the largest power of two below `size` (at least 2)."""
    return 1 << (size - 1).bit_length() - 1


def inclusion_proof(leaf_hashes: Sequence[bytes], index: int) -> list[bytes]:
    """Return the path from leaf `index` to the root of all `leaf_hashes`, with the leaf's sibling first."""
    if not 0 <= index < len(leaf_hashes):
        raise ValueError(f"leaf {index} does not exist: the tree has {len(leaf_hashes)} leaves")
    if len(leaf_hashes) == 1:
        return []
    middle = _split(len(leaf_hashes))
    left, right = leaf_hashes[:middle], leaf_hashes[middle:]
    if index < middle:
        return [*inclusion_proof(left, index), root(right)]
    return [*inclusion_proof(right, index - middle), root(left)]


def verify_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], tree_root: bytes
) -> None:
    """Check that `leaf` (a leaf hash) is at `index` in the tree of `size` leaves.

    Raises:
        ProtocolError: BAD_PROOF.
    """
    _check_hashes([leaf, tree_root, *proof])
    if not 0 <= index < size:
        raise ProtocolError(Code.BAD_PROOF, f"a tree of {size} leaves has no leaf {index}")
    node, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise ProtocolError(Code.BAD_PROOF, "the inclusion proof is too long")
        if node & 1 or node == last:
            found = node_hash(sibling, found)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        node, last = node >> 1, last >> 1
    if last or found != tree_root:
        raise ProtocolError(Code.BAD_PROOF, "the inclusion proof does not lead to the root")


def consistency_proof(leaf_hashes: Sequence[bytes], old_size: int) -> list[bytes]:
    """Return the proof that the first `old_size` leaves (1 <= old_size <= len) are a prefix of the tree."""
    if not 1 <= old_size <= len(leaf_hashes):
        raise ValueError(f"there is no tree of {old_size} leaves within {len(leaf_hashes)}")
    return _consistency(leaf_hashes, old_size, known=True)


def _consistency(leaf_hashes: Sequence[bytes], old_size: int, *, known: bool) -> list[bytes]:
    """Build SUBPROOF of RFC 9162; `known` means that the verifier already has the root of this subtree."""
    if old_size == len(leaf_hashes):
        return [] if known else [root(leaf_hashes)]
    middle = _split(len(leaf_hashes))
    left, right = leaf_hashes[:middle], leaf_hashes[middle:]
    if old_size <= middle:
        return [*_consistency(left, old_size, known=known), root(right)]
    return [*_consistency(right, old_size - middle, known=False), root(left)]


def verify_consistency(
    old_size: int, new_size: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes
) -> None:
    """Check that the old tree, which must not be empty, is a prefix of the new one.

    Raises:
        ProtocolError: BAD_PROOF.
    """
    _check_hashes([old_root, new_root, *proof])
    if not 1 <= old_size <= new_size:
        raise ProtocolError(
            Code.BAD_PROOF, f"a tree of {old_size} leaves cannot be a prefix of one of {new_size}"
        )
    if old_size == new_size:
        if proof or old_root != new_root:
            raise ProtocolError(
                Code.BAD_PROOF,
                "two trees of equal size have different roots, or the proof is unnecessary",
            )
        return
    path = [old_root, *proof] if old_size & (old_size - 1) == 0 else list(proof)
    if not proof:
        raise ProtocolError(Code.BAD_PROOF, "the consistency proof is empty")
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old_found = new_found = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise ProtocolError(Code.BAD_PROOF, "the consistency proof is too long")
        if node & 1 or node == last:
            old_found, new_found = node_hash(sibling, old_found), node_hash(sibling, new_found)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            new_found = node_hash(new_found, sibling)
        node, last = node >> 1, last >> 1
    if last or old_found != old_root or new_found != new_root:
        raise ProtocolError(Code.BAD_PROOF, "the consistency proof does not lead to both roots")


def _check_hashes(hashes: Sequence[bytes]) -> None:
    if any(len(found) != 32 for found in hashes):
        raise ProtocolError(Code.BAD_PROOF, "a hash is not 32 bytes")


def record_salt(site_secret: bytes, dataset_id: str, index: int) -> bytes:
    """Return HMAC-SHA256(site secret, dataset id || 0x00 || index as 8 bytes, big-endian)."""
    return hmac.new(
        site_secret, dataset_id.encode() + b"\x00" + index.to_bytes(8, "big"), hashlib.sha256
    ).digest()


def salted_root(records: Sequence[bytes], salts: Sequence[bytes]) -> bytes:
    """Return the root of the tree with leaves SHA-256(0x00 || salt_i || record_i). Each salt has 32 bytes."""
    if any(len(salt) != 32 for salt in salts):
        raise ValueError("a salt is not 32 bytes")
    return root([leaf_hash(salt + record) for salt, record in zip(salts, records, strict=True)])
