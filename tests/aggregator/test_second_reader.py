"""Receipts and checkpoints read by code that shares nothing with ours: written from C2SP's pages and RFC 9162 alone."""

import base64
import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from protocol.envelope import decode
from tests.aggregator.federation import TestSite, registry_of, scores


def read_note(note: str, raw_key: bytes) -> list[str]:
    """Return the lines of a signed note (c2sp.org/signed-note) after checking one Ed25519 key's signature."""
    text, _, signatures = note.rpartition("\n\n")
    signed = (text + "\n").encode()
    name = text.split("\n")[0]
    wanted = hashlib.sha256(name.encode() + b"\n\x01" + raw_key).digest()[:4]
    for line in signatures.strip().split("\n"):
        dash, signer, encoded = line.split(" ")
        data = base64.b64decode(encoded)
        if (dash, signer, data[:4]) == ("\N{EM DASH}", name, wanted):
            Ed25519PublicKey.from_public_bytes(raw_key).verify(data[4:], signed)
            return text.split("\n")
    raise AssertionError("no signature of the log")


def climb(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """Return the root that an inclusion proof leads to: the recursion of RFC 9162, 2.1.3.1, run backwards."""
    if size == 1:
        assert not path
        return leaf
    k = 1 << ((size - 1).bit_length() - 1)
    beside = path[-1]
    if index < k:
        return hashlib.sha256(b"\x01" + climb(leaf, index, k, path[:-1]) + beside).digest()
    return hashlib.sha256(b"\x01" + beside + climb(leaf, index - k, size - k, path[:-1])).digest()


def read_receipt(receipt: str, leaf: bytes, raw_key: bytes) -> tuple[int, int]:
    """Verify a proof of inclusion (c2sp.org/tlog-proof) offline; return the index and the size of the tree."""
    first, rest = receipt.split("\n", 1)
    assert first == "c2sp.org/tlog-proof@v1"
    head, _, note = rest.partition("\n\n")
    index_line, *hashes = head.split("\n")
    index = int(index_line.removeprefix("index "))
    _origin, size, root = read_note(note, raw_key)
    proof = [base64.b64decode(line) for line in hashes]
    assert climb(leaf, index, int(size), proof) == base64.b64decode(root)
    return index, int(size)


def test_every_receipt_is_read_by_a_second_reader(home: Home, site: TestSite) -> None:
    raw_key = registry_of(home).log_key.raw
    for number in range(12):
        envelope = site.sign(site.result(registry_of(home), scores(number)))
        receipt = accept(home, envelope, today_day=today_day()).receipt
        site.accepted(envelope)
        opened = decode(envelope)
        kind = opened.payload_type.encode()
        leaf = b"\x00DSSEv1 %d %b %d %b" % (len(kind), kind, len(opened.payload), opened.payload)
        index, size = read_receipt(receipt, hashlib.sha256(leaf).digest(), raw_key)
        assert size == index + 1
        with pytest.raises(AssertionError):
            read_receipt(receipt, hashlib.sha256(leaf + b"!").digest(), raw_key)
        with pytest.raises(InvalidSignature):
            read_receipt(
                receipt.replace(f"\n{size}\n", f"\n{size + 1}\n"),
                hashlib.sha256(leaf).digest(),
                raw_key,
            )
    with home.database.reading() as connection:
        registry = registry_of(home)
        note = journal.checkpoint(
            connection, origin=registry.log_name, log_key=home.log_signer(registry)
        )
    assert read_note(note, raw_key)[1] == str(size)
