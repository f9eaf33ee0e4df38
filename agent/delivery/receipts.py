"""Receipts: proofs that a submission is in the log, and that the log only ever grew. Verified before they are kept.

`head.json` keeps the largest log this site has seen proven. A receipt that came over the network is kept only when the
log it is about continues that one, or is a part of it. One that came as a file cannot be proven so and never moves the
head: it must fit the site's other receipts and the registry, and is proven by the next command that has a network.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.errors import DeliveryError, StoreError
from agent.io.atomic_files import read_bounded, write_atomically
from protocol.checkpoint import Checkpoint, check_growth
from protocol.envelope import Envelope
from protocol.errors import Code, ProtocolError
from protocol.receipt import Receipt, verify_receipt
from protocol.registry import Registry

GrowthProof = Callable[[int, int], Sequence[bytes]]
"""Returns the consistency proof between two sizes of the log; raises DeliveryError."""


Place = tuple[int, int]
"""Epoch and number of a link."""


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """The receipt of one link as it lies in the outbox; it was verified before it was kept."""

    place: Place
    receipt: Receipt


class LogError(DeliveryError):
    """The log shows this site another history than before: somebody lies, and trying again cannot help."""


_MAX_HEAD: Final = 4096
_NO_LOG: Final = b""


def read_head(path: Path, origin: str) -> Checkpoint:
    """Return the last proven head of the log; an empty log if there is none yet. Raises StoreError."""
    if not path.exists():
        return Checkpoint(origin, 0, _NO_LOG)
    try:
        found = json.loads(read_bounded(path, _MAX_HEAD, "the head of the log"))
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


def follow_log(head: Checkpoint, seen: Checkpoint, proof_of: GrowthProof) -> Checkpoint:
    """Return the head to keep after seeing a checkpoint: the larger of both, once proven to be one history.

    Raises:
        LogError: the log shows this site another history than before.
        DeliveryError: the proof is not available.
    """
    old, new = (head, seen) if head.size <= seen.size else (seen, head)
    try:
        if old.size in (0, new.size):
            check_growth(old, new, ())
        else:
            check_growth(old, new, proof_of(old.size, new.size))
    except ProtocolError as error:
        what = (
            "two different histories"
            if error.code is Code.SPLIT_VIEW
            else "a history that cannot be proven"
        )
        raise LogError(
            f"the aggregator's log shows this site {what} ({error.code})",
            "Do not send anything more. Keep the folder submissions as evidence and ask the other sites what they saw.",
        ) from None
    return new


def check_order(
    receipt: Receipt, place: Place, kept: Sequence[KeptReceipt], registry: Registry, link: Envelope
) -> None:
    """Check what holds of every true receipt, with a network or without.

    The log takes a site's links in the order of its chain, and a key signs no entry before the registry names it. So
    whoever holds a key that signed for the log in the past, and has forged an early log with it, contradicts himself.

    Args:
        receipt: verified, of one link.
        place: epoch and number of that link.
        kept: the site's other receipts.
        registry: the newest.
        link: the link's envelope.

    Raises:
        LogError: it contradicts another receipt, or the registry.
    """
    for other in kept:
        before, after = (
            (receipt.index, other.receipt.index)
            if place < other.place
            else (other.receipt.index, receipt.index)
        )
        if other.place != place and before >= after:
            raise _contradicts(
                f"it has entry {receipt.index} of the log for link {place[1]} of epoch {place[0]}, but link "
                f"{other.place[1]} of epoch {other.place[0]} is entry {other.receipt.index}"
            )
        check_same_size(receipt.checkpoint, other.receipt.checkpoint)
    first = _find_first_index(registry, link)
    if receipt.index < first:
        raise _contradicts(
            f"it has entry {receipt.index} of the log, and a key that signed it counts from {first} on"
        )


def check_same_size(seen: Checkpoint, known: Checkpoint) -> None:
    """Check that two checkpoints of one size have one root. Raises LogError."""
    if seen.size == known.size and seen.root != known.root:
        raise _contradicts(
            f"the log that it shows has other entries among the first {seen.size} than one seen before"
        )


def _find_first_index(registry: Registry, link: Envelope) -> int:
    """Return the first entry that all of a link's signers may have signed.

    A key that comes into force by the very link that it signs is named from the entry after it on.
    """
    first = 0
    for signature in link.signatures:
        found = registry.site_of(signature.keyid)
        if found is not None:
            first = max(first, found[1].from_index - 1)
    return first


def _contradicts(why: str) -> LogError:
    return LogError(
        f"the receipt cannot be true: {why}",
        "It was not kept. Keep it as evidence and tell the aggregator's people: somebody may hold a key of the log.",
    )
