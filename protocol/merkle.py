"""Merkle trees of RFC 6962 (proof algorithms of RFC 9162, section 2.1). Hashes are 32 bytes of SHA-256."""

from collections.abc import Sequence


def leaf_hash(data: bytes) -> bytes:
    """Return SHA-256(0x00 || data)."""
    raise NotImplementedError


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 || left || right)."""
    raise NotImplementedError


def root(leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the root; of no leaves, SHA-256 of nothing."""
    raise NotImplementedError


def inclusion_proof(leaf_hashes: Sequence[bytes], index: int) -> list[bytes]:
    """Return the path from leaf `index` to the root of all `leaf_hashes`, leaf's sibling first."""
    raise NotImplementedError


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], tree_root: bytes) -> None:
    """Return if `leaf` (a leaf hash) is at `index` in the tree of `size` leaves. Raises ProtocolError BAD_PROOF."""
    raise NotImplementedError


def consistency_proof(leaf_hashes: Sequence[bytes], old_size: int) -> list[bytes]:
    """Return the proof that the first `old_size` leaves (1 <= old_size <= len) are a prefix of the tree."""
    raise NotImplementedError


def verify_consistency(old_size: int, new_size: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    """Return if the old tree is a prefix of the new one. Raises ProtocolError BAD_PROOF."""
    raise NotImplementedError


def record_salt(site_secret: bytes, dataset_id: str, index: int) -> bytes:
    """Return HMAC-SHA256(site secret, dataset id || 0x00 || index as 8 bytes, big-endian)."""
    raise NotImplementedError


def salted_root(records: Sequence[bytes], salts: Sequence[bytes]) -> bytes:
    """Return the root over leaves SHA-256(0x00 || salt_i || record_i). Salts are 32 bytes each."""
    raise NotImplementedError
