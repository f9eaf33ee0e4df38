"""Receipts: `c2sp.org/tlog-proof@v1`, the offline proof that a submission is in the log.

The format's optional `extra` line is refused: it is not authenticated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from protocol.checkpoint import Checkpoint
from protocol.keys import PublicKey


@dataclass(frozen=True, slots=True)
class Receipt:
    """A verified receipt: the entry's index in the log and the checkpoint that covers it."""

    index: int
    checkpoint: Checkpoint


def build_receipt(index: int, proof: Sequence[bytes], signed_checkpoint: str) -> str:
    """Return the receipt's text. `proof` is the inclusion proof of entry `index` in the checkpoint's tree."""
    raise NotImplementedError


def verify_receipt(text: str, payload_pae: bytes, log_key: PublicKey, origin: str) -> Receipt:
    """Verify offline that the payload is in the log.

    Args:
        text: the receipt.
        payload_pae: `Envelope.pae` of the submission; its leaf.
        log_key: the registry's `log_key`.
        origin: the registry's `log_name`.

    Raises:
        ProtocolError: BAD_RECEIPT, BAD_PROOF, or as `verify_checkpoint`.
    """
    raise NotImplementedError
