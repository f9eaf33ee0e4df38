"""Receipts: proofs that a submission is in the log, and that the log only ever grew. Verified before they are kept.

`head.json` keeps the largest log this site has seen proven. A receipt is kept only when the log it is about continues
that one (or is a part of it); without a network that proof cannot be had, and the head stays where it was.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.errors import DeliveryError, StoreError
from agent.files import read_bounded, write_atomically
from protocol.checkpoint import Checkpoint, check_growth
from protocol.errors import Code, ProtocolError
from protocol.receipt import Receipt, verify_receipt
from protocol.registry import Registry

GrowthProof = Callable[[int, int], Sequence[bytes]]
"""Returns the consistency proof between two sizes of the log; raises DeliveryError."""


class LogError(DeliveryError):
    """The log shows this site another history than before: somebody lies, and trying again cannot help."""


_LARGEST_HEAD: Final = 4096
_NO_LOG: Final = b""


def read_head(path: Path, origin: str) -> Checkpoint:
    """Return the last proven head of the log; an empty log if there is none yet. Raises StoreError."""
    if not path.exists():
        return Checkpoint(origin, 0, _NO_LOG)
    try:
        found = json.loads(read_bounded(path, _LARGEST_HEAD, "the head of the log"))
        return Checkpoint(str(found["origin"]), int(found["size"]), bytes.fromhex(found["root"]))
    except (ValueError, KeyError, TypeError):
        raise StoreError("submissions/head.json is damaged", "Restore it from a back-up.") from None


def write_head(path: Path, head: Checkpoint) -> None:
    """Keep the head of the log."""
    value = {"origin": head.origin, "size": head.size, "root": head.root.hex()}
    write_atomically(path, json.dumps(value, sort_keys=True).encode() + b"\n")


def check_receipt(text: str, payload_pae: bytes, registry: Registry) -> Receipt:
    """Verify offline that the payload is in the log.

    Raises:
        DeliveryError: the proof, the log's signature or its name is not right.
    """
    try:
        return verify_receipt(text, payload_pae, registry.log_keys, registry.log_name)
    except ProtocolError as error:
        raise DeliveryError(
            f"the receipt does not verify ({error.code}): the submission counts as not delivered",
            "Send it again. If this stays so, something between here and the aggregator changes its answers.",
        ) from None


def follow_log(head: Checkpoint, seen: Checkpoint, proof_of: GrowthProof | None) -> Checkpoint:
    """Return the head to keep after seeing a checkpoint: the larger of both, once proven to be one history.

    Without `proof_of` (no network) only checkpoints of the same size can be compared; another size changes nothing.

    Raises:
        LogError: the log shows this site another history than before.
        DeliveryError: the proof cannot be had.
    """
    old, new = (head, seen) if head.size <= seen.size else (seen, head)
    try:
        if old.size in (0, new.size):
            check_growth(old, new, ())
        elif proof_of is None:
            return head
        else:
            check_growth(old, new, proof_of(old.size, new.size))
    except ProtocolError as error:
        what = "two different histories" if error.code is Code.SPLIT_VIEW else "a history that cannot be proven"
        raise LogError(
            f"the aggregator's log shows this site {what} ({error.code})",
            "Do not send anything more. Keep the folder submissions as evidence and ask the other sites what they saw.",
        ) from None
    return new
