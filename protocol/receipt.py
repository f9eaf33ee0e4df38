"""Receipts: `c2sp.org/tlog-proof@v1`, the offline proof that a submission is in the log.

The format's optional `extra` line is refused: it is not authenticated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from protocol.checkpoint import Checkpoint, LogKey, parse_hash, parse_number, verify_checkpoint
from protocol.envelope import encode_base64
from protocol.errors import Code, ProtocolError
from protocol.merkle import leaf_hash, verify_inclusion

FIRST_LINE = "c2sp.org/tlog-proof@v1"
MAX_RECEIPT = 16 * 1024  # characters
MAX_PROOF = 53  # hashes: the depth of a tree with 2^53 leaves


@dataclass(frozen=True, slots=True)
class Receipt:
    """A verified receipt: the entry's index in the log and the checkpoint that covers it."""

    index: int
    checkpoint: Checkpoint


def build_receipt(index: int, proof: Sequence[bytes], signed_checkpoint: str) -> str:
    """Return the receipt's text. `proof` is the inclusion proof of entry `index` in the checkpoint's tree."""
    return "\n".join(
        [FIRST_LINE, f"index {index}", *map(encode_base64, proof), "", signed_checkpoint]
    )


def verify_receipt(
    text: str, payload_pae: bytes, log_keys: Sequence[LogKey], origin: str
) -> Receipt:
    """Verify offline that the payload is in the log.

    Args:
        text: the receipt.
        payload_pae: `Envelope.pae` of the submission, which is its leaf.
        log_keys: the registry's `log_keys`.
        origin: the registry's `log_name`.

    Raises:
        ProtocolError: BAD_RECEIPT, BAD_PROOF, or as `verify_checkpoint`.
    """
    index, proof, note = _parse(text)
    checkpoint = verify_checkpoint(note, log_keys, origin)
    verify_inclusion(leaf_hash(payload_pae), index, checkpoint.size, proof, checkpoint.root)
    return Receipt(index, checkpoint)


def read_receipt(text: str) -> Receipt:
    """Parse a receipt that was verified before; nothing is verified again.

    Raises:
        ProtocolError: BAD_RECEIPT or BAD_CHECKPOINT.
    """
    index, _, note = _parse(text)
    lines = note.split("\n")
    if len(lines) < 3:
        raise ProtocolError(Code.BAD_CHECKPOINT, "expected the three lines origin, size and root")
    return Receipt(
        index,
        Checkpoint(lines[0], parse_number(lines[1], Code.BAD_CHECKPOINT), parse_hash(lines[2])),
    )


def _parse(text: str) -> tuple[int, list[bytes], str]:
    """Return index, proof and signed checkpoint without verifying them."""
    if len(text) > MAX_RECEIPT:
        raise ProtocolError(
            Code.BAD_RECEIPT, f"the receipt is longer than {MAX_RECEIPT} characters"
        )
    head, separator, note = text.partition("\n\n")
    lines = head.split("\n")
    if (
        not separator
        or len(lines) < 2
        or lines[0] != FIRST_LINE
        or not lines[1].startswith("index ")
    ):
        raise ProtocolError(
            Code.BAD_RECEIPT, f"expected the line {FIRST_LINE}, an index, a proof and a checkpoint"
        )
    if len(lines) - 2 > MAX_PROOF:
        raise ProtocolError(Code.BAD_RECEIPT, f"the receipt has more than {MAX_PROOF} hashes")
    index = parse_number(lines[1].removeprefix("index "), Code.BAD_RECEIPT)
    try:
        proof = [parse_hash(line) for line in lines[2:]]
    except ProtocolError as error:
        raise ProtocolError(Code.BAD_RECEIPT, error.detail) from None
    return index, proof, note
