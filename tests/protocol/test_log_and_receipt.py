"""Bad inputs G 108 and 109: receipts and checkpoints of a server that lies, forgets, or is not the log at all."""

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import envelope, merkle
from protocol.checkpoint import Checkpoint, LogKey, check_growth, sign_checkpoint, verify_checkpoint
from protocol.errors import Code, ProtocolError
from protocol.keys import load_public
from protocol.merkle import leaf_hash, node_hash
from protocol.receipt import build_receipt, verify_receipt
from protocol.signed_note import note_key_id
from tests.protocol.world import LOG, LOG_KEYS, ORIGIN, STEWARD, STRANGER, refused, submission

# The reference tree of RFC 6962 implementations: eight leaves, the root after each, and some proofs.
LEAVES = [
    bytes.fromhex(leaf)
    for leaf in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
A, B, C, D, E, F = (
    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
    "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
)
INCLUSION = {
    (0, 8): [A, B, C],
    (5, 8): [D, E, ROOTS[3]],
    (2, 3): [ROOTS[1]],
    (1, 5): [ROOTS[0], B, D],
}
CONSISTENCY = {(1, 8): [A, B, C], (6, 8): [F, E, ROOTS[3]], (2, 5): [B, D], (1, 1): []}
HASHES = [leaf_hash(leaf) for leaf in LEAVES]


def unhex(hashes: Sequence[str]) -> list[bytes]:
    return [bytes.fromhex(found) for found in hashes]


def test_the_published_reference_tree():
    assert (
        merkle.root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    for size, expected in enumerate(ROOTS, start=1):
        assert merkle.root(HASHES[:size]).hex() == expected


@pytest.mark.parametrize(("index", "size"), INCLUSION)
def test_the_published_inclusion_proofs(index: int, size: int):
    proof = unhex(INCLUSION[index, size])
    assert merkle.inclusion_proof(HASHES[:size], index) == proof
    merkle.verify_inclusion(HASHES[index], index, size, proof, bytes.fromhex(ROOTS[size - 1]))


@pytest.mark.parametrize(("old", "new"), CONSISTENCY)
def test_the_published_consistency_proofs(old: int, new: int):
    proof = unhex(CONSISTENCY[old, new])
    assert merkle.consistency_proof(HASHES[:new], old) == proof
    merkle.verify_consistency(
        old, new, proof, bytes.fromhex(ROOTS[old - 1]), bytes.fromhex(ROOTS[new - 1])
    )


def naive_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, section 2.1, word by word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + naive_root(leaves[:k]) + naive_root(leaves[k:])).digest()


def naive_path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    """RFC 6962, section 2.1.1."""
    if len(leaves) == 1:
        return []
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m < k:
        return [*naive_path(m, leaves[:k]), naive_root(leaves[k:])]
    return [*naive_path(m - k, leaves[k:]), naive_root(leaves[:k])]


trees = st.lists(st.binary(max_size=4), min_size=1, max_size=40)


@given(trees, st.data())
def test_inclusion_agrees_with_a_naive_tree_and_holds_for_nothing_else(
    leaves: list[bytes], data: st.DataObject
):
    hashes = [leaf_hash(leaf) for leaf in leaves]
    index = data.draw(st.integers(0, len(leaves) - 1))
    tree_root, proof = merkle.root(hashes), merkle.inclusion_proof(hashes, index)
    assert (tree_root, proof) == (naive_root(leaves), naive_path(index, leaves))
    merkle.verify_inclusion(hashes[index], index, len(leaves), proof, tree_root)
    stranger = hashlib.sha256(b"stranger").digest()
    for bad in (
        proof[:-1] if proof else [stranger],
        [*proof, stranger],
        [stranger, *proof[1:]] if proof else [stranger],
    ):
        with refused(Code.BAD_PROOF):
            merkle.verify_inclusion(hashes[index], index, len(leaves), bad, tree_root)
    with refused(Code.BAD_PROOF):
        merkle.verify_inclusion(stranger, index, len(leaves), proof, tree_root)
    with refused(Code.BAD_PROOF):
        merkle.verify_inclusion(hashes[index], len(leaves), len(leaves), proof, tree_root)


@given(trees, st.data())
def test_consistency_holds_for_every_prefix_and_for_no_rewritten_history(
    leaves: list[bytes], data: st.DataObject
):
    hashes = [leaf_hash(leaf) for leaf in leaves]
    old = data.draw(st.integers(1, len(leaves)))
    proof = merkle.consistency_proof(hashes, old)
    old_root, new_root = naive_root(leaves[:old]), naive_root(leaves)
    merkle.verify_consistency(old, len(leaves), proof, old_root, new_root)
    rewritten = naive_root([*leaves[: old - 1], b"rewritten"])
    with refused(Code.BAD_PROOF):
        merkle.verify_consistency(old, len(leaves), proof, rewritten, new_root)
    with refused(Code.BAD_PROOF):
        merkle.verify_consistency(old, len(leaves), [*proof, old_root], old_root, new_root)
    if proof:
        with refused(Code.BAD_PROOF):
            merkle.verify_consistency(old, len(leaves), proof[:-1], old_root, new_root)


@pytest.mark.parametrize(("old", "new"), [(0, 3), (4, 3), (-1, 3)])
def test_a_log_cannot_be_consistent_with_an_impossible_size(old: int, new: int):
    with refused(Code.BAD_PROOF):
        merkle.verify_consistency(old, new, [], HASHES[0], HASHES[0])
    with pytest.raises(ValueError, match="tree of"):
        merkle.consistency_proof(HASHES[:new], old)


def test_no_proof_of_a_leaf_that_is_not_there():
    with pytest.raises(ValueError, match="does not exist"):
        merkle.inclusion_proof(HASHES, 8)


def test_score_records_are_salted():
    salts = [merkle.record_salt(b"secret of the site", "pubmed_qa", i) for i in range(3)]
    assert len(set(salts)) == 3
    assert salts[0] != merkle.record_salt(b"secret of the site", "pubmed_q", 0)
    records = [b"1", b"0", b"1"]
    expected = naive_root([salt + record for salt, record in zip(salts, records, strict=True)])
    assert merkle.salted_root(records, salts) == expected
    with pytest.raises(ValueError, match="32 bytes"):
        merkle.salted_root([b"1"], [b"short"])
    with pytest.raises(ValueError, match="zip"):
        merkle.salted_root(records, salts[:2])


def test_the_key_of_a_well_known_public_log_has_the_id_it_publishes():
    # The verifier key of Go's checksum database, as its clients have it built in.
    name, key_id, key = "sum.golang.org", "033de0ae", "Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
    der = bytes.fromhex("302a300506032b6570032100") + base64.b64decode(key)[1:]
    assert note_key_id(name, load_public(der)).hex() == key_id


SUBMISSION = envelope.decode(submission()).pae
ENTRIES = [leaf_hash(entry) for entry in (b"enrolment", SUBMISSION, b"third", b"fourth", b"fifth")]
HEAD = Checkpoint(ORIGIN, 5, merkle.root(ENTRIES))
NOTE = sign_checkpoint(HEAD, LOG)
SMALLER = Checkpoint(ORIGIN, 3, merkle.root(ENTRIES[:3]))
RECEIPT = build_receipt(1, merkle.inclusion_proof(ENTRIES, 1), NOTE)


def check_note(note: str) -> Checkpoint:
    return verify_checkpoint(note, LOG_KEYS, ORIGIN)


def check_receipt(text: str) -> int:
    return verify_receipt(text, SUBMISSION, LOG_KEYS, ORIGIN).index


def signed_text(text: str) -> str:
    """Any text, rightly signed by the log's key as a note."""
    signature = note_key_id(ORIGIN, LOG.public) + LOG.sign(text.encode())
    return f"{text}\n— {ORIGIN} {base64.b64encode(signature).decode()}\n"


def test_a_checkpoint_and_a_receipt_of_the_log_are_taken():
    assert check_note(NOTE) == HEAD
    assert verify_receipt(RECEIPT, SUBMISSION, LOG_KEYS, ORIGIN).checkpoint == HEAD
    assert check_receipt(RECEIPT) == 1
    assert signed_text(NOTE.partition("\n\n")[0] + "\n") == NOTE


HANDED_OVER = (LogKey(STRANGER.public, 0, 5), LogKey(LOG.public, 5))


def test_G109_each_log_key_signs_for_its_own_sizes_alone():
    old, new = sign_checkpoint(SMALLER, STRANGER), sign_checkpoint(HEAD, LOG)
    assert verify_checkpoint(old, HANDED_OVER, ORIGIN) == SMALLER
    assert verify_checkpoint(new, HANDED_OVER, ORIGIN) == HEAD
    for forged in (sign_checkpoint(HEAD, STRANGER), sign_checkpoint(SMALLER, LOG)):
        with refused(Code.UNSIGNED_CHECKPOINT):
            verify_checkpoint(forged, HANDED_OVER, ORIGIN)
    with refused(Code.UNSIGNED_CHECKPOINT):
        verify_checkpoint(new, HANDED_OVER[:1], ORIGIN)


ROOT64 = base64.b64encode(HEAD.root).decode()
STRANGERS_LINE = sign_checkpoint(HEAD, STRANGER).rpartition("\n\n")[2]
OUR_LINE = NOTE.rpartition("\n\n")[2]
WITNESS_LINE = OUR_LINE.replace(ORIGIN, "witness.example")
FORGED_LINE = OUR_LINE.replace(OUR_LINE[-20:-10], "A" * 10)

NOTES: dict[str, tuple[str, Code]] = {
    "G109-other-origin": (
        sign_checkpoint(replace(HEAD, origin="other.example"), LOG),
        Code.WRONG_ORIGIN,
    ),
    "G109-leading-zero": (signed_text(f"{ORIGIN}\n05\n{ROOT64}\n"), Code.BAD_CHECKPOINT),
    "G109-negative-size": (signed_text(f"{ORIGIN}\n-5\n{ROOT64}\n"), Code.BAD_CHECKPOINT),
    "G109-size-beyond-2-to-53": (
        signed_text(f"{ORIGIN}\n{2**53}\n{ROOT64}\n"),
        Code.BAD_CHECKPOINT,
    ),
    "G109-arabic-digits": (signed_text(f"{ORIGIN}\n٥\n{ROOT64}\n"), Code.BAD_CHECKPOINT),
    "G109-short-root": (signed_text(f"{ORIGIN}\n5\nYQ==\n"), Code.BAD_CHECKPOINT),
    "G109-root-not-canonical-base64": (
        signed_text(f"{ORIGIN}\n5\n{ROOT64[:-2]}B=\n"),
        Code.BAD_CHECKPOINT,
    ),
    "G109-empty-log-with-a-root": (signed_text(f"{ORIGIN}\n0\n{ROOT64}\n"), Code.BAD_CHECKPOINT),
    "G109-extension-line": (signed_text(f"{ORIGIN}\n5\n{ROOT64}\nnote\n"), Code.BAD_CHECKPOINT),
    "G109-line-missing": (signed_text(f"{ORIGIN}\n5\n"), Code.BAD_CHECKPOINT),
    "G109-no-final-newline": (NOTE.removesuffix("\n"), Code.BAD_CHECKPOINT),
    "G109-text-after-the-signatures": (NOTE + "x", Code.BAD_CHECKPOINT),
    "G109-carriage-returns": (NOTE.replace("\n", "\r\n"), Code.BAD_CHECKPOINT),
    "G109-no-signature": (NOTE.rpartition("— ")[0], Code.BAD_CHECKPOINT),
    "G109-unknown-key-only": (sign_checkpoint(HEAD, STRANGER), Code.UNSIGNED_CHECKPOINT),
    "G109-our-name-with-another-key-id": (
        NOTE.replace(OUR_LINE, STRANGERS_LINE),
        Code.UNSIGNED_CHECKPOINT,
    ),
    "G109-our-key-id-under-another-name": (
        NOTE.replace(OUR_LINE, WITNESS_LINE),
        Code.UNSIGNED_CHECKPOINT,
    ),
    "G109-known-key-bad-signature": (NOTE.replace(OUR_LINE, FORGED_LINE), Code.BAD_SIGNATURE),
    "G109-good-and-bad-signature-of-the-log": (NOTE + FORGED_LINE, Code.BAD_SIGNATURE),
    "G109-signature-of-another-head": (NOTE.replace("\n5\n", "\n6\n"), Code.BAD_SIGNATURE),
    "G109-hyphen-for-the-dash": (NOTE.replace("— ", "- "), Code.BAD_CHECKPOINT),
    "G109-17-signatures": (NOTE + STRANGERS_LINE * 16, Code.BAD_CHECKPOINT),
    "G113-login-page": ("<html>\n\nPlease log in\n</html>\n", Code.BAD_CHECKPOINT),
    "A01-empty": ("", Code.BAD_CHECKPOINT),
}


@pytest.mark.parametrize(
    ("note", "code"), [pytest.param(*case, id=name) for name, case in NOTES.items()]
)
def test_a_checkpoint_that_is_not_the_logs_is_refused(note: str, code: Code):
    assert note != NOTE
    with refused(code):
        check_note(note)


def test_G110_a_witness_counts_for_nothing_however_often_it_signs():
    assert check_note(NOTE + WITNESS_LINE * 2) == HEAD
    with refused(Code.UNSIGNED_CHECKPOINT):
        check_note(NOTE.replace(OUR_LINE, WITNESS_LINE * 2))


def test_G110_the_logs_signature_twice_is_no_more_than_once():
    assert check_note(NOTE + OUR_LINE) == HEAD


def test_G111_the_time_of_a_cosignature_is_not_read():
    # C2SP's timestamped cosignature: key id, 8 bytes of time, 64 bytes of signature. Here the time is in 2500.
    future = b"wit1" + (16_725_225_600).to_bytes(8, "big") + bytes(64)
    line = f"— witness.example {base64.b64encode(future).decode()}\n"
    assert check_note(NOTE + line) == HEAD
    with refused(Code.UNSIGNED_CHECKPOINT):
        check_note(NOTE.replace(OUR_LINE, line))


def test_signatures_of_witnesses_we_do_not_know_are_ignored():
    assert check_note(NOTE + STRANGERS_LINE + WITNESS_LINE) == HEAD


@pytest.mark.parametrize("origin", ["board\nexample", "board example", "board+example", ""])
def test_no_checkpoint_is_signed_that_could_not_be_read_back(origin: str):
    with refused(Code.BAD_CHECKPOINT):
        sign_checkpoint(replace(HEAD, origin=origin), LOG)


def test_a_note_is_signed_with_ed25519_only():
    with pytest.raises(ValueError, match="Ed25519"):
        sign_checkpoint(HEAD, STEWARD)


PROOF = merkle.inclusion_proof(ENTRIES, 1)
GROWTHS: dict[str, tuple[Checkpoint, Checkpoint, list[bytes], Code]] = {
    "G109-log-shrank": (HEAD, SMALLER, [], Code.LOG_SHRANK),
    "G109-split-view": (HEAD, replace(HEAD, root=bytes(32)), [], Code.SPLIT_VIEW),
    "G109-other-history": (
        replace(SMALLER, root=bytes(32)),
        HEAD,
        merkle.consistency_proof(ENTRIES, 3),
        Code.BAD_PROOF,
    ),
    "G109-no-proof": (SMALLER, HEAD, [], Code.BAD_PROOF),
    "G109-other-log": (replace(SMALLER, origin="other.example"), HEAD, [], Code.WRONG_ORIGIN),
    "G109-proof-from-nothing": (
        Checkpoint(ORIGIN, 0, merkle.root([])),
        HEAD,
        [bytes(32)],
        Code.BAD_PROOF,
    ),
    "G108-33-byte-hash": (SMALLER, HEAD, [bytes(33)], Code.BAD_PROOF),
}


@pytest.mark.parametrize(
    ("old", "new", "proof", "code"),
    [pytest.param(*case, id=name) for name, case in GROWTHS.items()],
)
def test_a_log_that_does_not_continue_the_last_seen_head_is_refused(
    old: Checkpoint, new: Checkpoint, proof: list[bytes], code: Code
):
    with refused(code):
        check_growth(old, new, proof)


def test_a_log_may_grow_or_stay():
    check_growth(SMALLER, HEAD, merkle.consistency_proof(ENTRIES, 3))
    check_growth(HEAD, HEAD, [])
    check_growth(Checkpoint(ORIGIN, 0, merkle.root([])), HEAD, [])


def with_proof(change: Callable[[list[bytes]], list[bytes]], index: int = 1) -> str:
    return build_receipt(index, change(list(PROOF)), NOTE)


RECEIPTS: dict[str, tuple[str, Code]] = {
    "G108-other-index": (with_proof(lambda proof: proof, index=2), Code.BAD_PROOF),
    "G108-index-at-size": (with_proof(lambda proof: proof, index=5), Code.BAD_PROOF),
    "G108-index-beyond": (with_proof(lambda proof: proof, index=2**40), Code.BAD_PROOF),
    "G108-negative-index": (with_proof(lambda proof: proof, index=-1), Code.BAD_RECEIPT),
    "G108-index-with-leading-zero": (RECEIPT.replace("index 1", "index 01"), Code.BAD_RECEIPT),
    "G108-proof-too-long": (with_proof(lambda proof: [*proof, bytes(32)]), Code.BAD_PROOF),
    "G108-proof-too-short": (with_proof(lambda proof: proof[:-1]), Code.BAD_PROOF),
    "G108-no-proof": (with_proof(lambda _: []), Code.BAD_PROOF),
    "G108-54-hashes": (with_proof(lambda _: [bytes(32)] * 54), Code.BAD_RECEIPT),
    "G108-33-byte-hash": (
        with_proof(lambda proof: [proof[0] + b"\x00", *proof[1:]]),
        Code.BAD_RECEIPT,
    ),
    "G108-proof-reversed": (with_proof(lambda proof: proof[::-1]), Code.BAD_PROOF),
    "G108-extra-line": (RECEIPT.replace("index", "extra YQ==\nindex"), Code.BAD_RECEIPT),
    "G108-other-version": (RECEIPT.replace("@v1", "@v2"), Code.BAD_RECEIPT),
    "G108-no-index": (RECEIPT.replace("index 1\n", ""), Code.BAD_RECEIPT),
    "G108-receipt-of-another-log": (
        build_receipt(1, PROOF, sign_checkpoint(HEAD, STRANGER)),
        Code.UNSIGNED_CHECKPOINT,
    ),
    "G109-no-final-newline": (RECEIPT.removesuffix("\n"), Code.BAD_CHECKPOINT),
    "G113-login-page": ("<html>Please log in</html>", Code.BAD_RECEIPT),
    "G113-truncated": (RECEIPT[: len(RECEIPT) // 3], Code.BAD_RECEIPT),
    "G113-1-MB": (RECEIPT + "x" * 1_000_000, Code.BAD_RECEIPT),
}


@pytest.mark.parametrize(
    ("text", "code"), [pytest.param(*case, id=name) for name, case in RECEIPTS.items()]
)
def test_a_receipt_that_proves_nothing_is_refused(text: str, code: Code):
    assert text != RECEIPT
    with refused(code):
        check_receipt(text)


def test_G108_a_receipt_for_another_payload_is_refused():
    with refused(Code.BAD_PROOF):
        verify_receipt(RECEIPT, SUBMISSION + b" ", LOG_KEYS, ORIGIN)


def test_G108_an_inner_node_cannot_pose_as_a_leaf():
    inner = ENTRIES[0] + ENTRIES[1]
    assert leaf_hash(inner) != node_hash(ENTRIES[0], ENTRIES[1])
    with refused(Code.BAD_PROOF):
        verify_receipt(
            build_receipt(0, merkle.inclusion_proof(ENTRIES, 0)[1:], NOTE), inner, LOG_KEYS, ORIGIN
        )


def test_C51_a_site_key_signs_no_receipt():
    with refused(Code.UNSIGNED_CHECKPOINT):
        check_receipt(build_receipt(1, PROOF, sign_checkpoint(HEAD, STRANGER)))


@given(st.integers(0, len(RECEIPT.encode()) - 1), st.integers(1, 255))
@settings(deadline=None)
def test_no_byte_of_a_receipt_can_change_unnoticed(place: int, mask: int):
    bent = bytearray(RECEIPT.encode())
    bent[place] ^= mask
    text = bent.decode("utf-8", "replace")
    with pytest.raises(ProtocolError):
        check_receipt(text)
