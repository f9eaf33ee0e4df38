"""Verification of receipts: proofs that a submission is in the log, and that the log is append-only.

`head.json` contains the head of the largest log that was proven to this site. A receipt that came over the network is
stored only if its log continues that log or is a prefix of it. A receipt that came as a file cannot be proven in
this way and never changes the head. It must be consistent with the site's other receipts and the registry, and is
proven by the next command that uses the network.
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
"""The position of a link in the site's chain: its epoch and sequence number."""


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A stored receipt of one link, which was verified before it was stored."""

    place: Place
    receipt: Receipt


class LogError(DeliveryError):
    """The log contradicts what this site has seen of it before. Trying again cannot help."""


_MAX_HEAD: Final = 4096
_NO_LOG: Final = b""


def read_head(path: Path, origin: str) -> Checkpoint:
    """Return the last proven head of the log, or that of an empty log. Raises StoreError if it is damaged."""
    if not path.exists():
        return Checkpoint(origin, 0, _NO_LOG)
    try:
        fields = json.loads(read_bounded(path, _MAX_HEAD, "the head of the log"))
        return Checkpoint(str(fields["origin"]), int(fields["size"]), bytes.fromhex(fields["root"]))
    except (ValueError, KeyError, TypeError):
        raise StoreError("submissions/head.json is damaged", "Restore it from a backup.") from None


def write_head(path: Path, head: Checkpoint) -> None:
    """Store the head of the log."""
    value = {"origin": head.origin, "size": head.size, "root": head.root.hex()}
    write_atomically(path, json.dumps(value, sort_keys=True).encode() + b"\n")


def check_receipt(text: str, payload_pae: bytes, registry: Registry) -> Receipt:
    """Verify a receipt offline: it must prove that the payload is in the log.

    Raises:
        DeliveryError: the proof, the log's signature or its name is wrong.
    """
    try:
        return verify_receipt(text, payload_pae, registry.log_keys, registry.log_name)
    except ProtocolError as error:
        raise DeliveryError(
            f"the receipt does not verify ({error.code}): the submission counts as not delivered",
            "Send it again. If this persists, something between here and the aggregator alters its answers.",
        ) from None


def follow_log(head: Checkpoint, seen: Checkpoint, proof_of: GrowthProof) -> Checkpoint:
    """Return the larger of the stored head and a new checkpoint, after proving that it continues the smaller one.

    Raises:
        LogError: the log contradicts what this site has seen of it.
        DeliveryError: the proof is not available.
    """
    old, new = (head, seen) if head.size <= seen.size else (seen, head)
    try:
        if old.size in (0, new.size):
            check_growth(old, new, ())
        else:
            check_growth(old, new, proof_of(old.size, new.size))
    except ProtocolError as error:
        history = (
            "two different histories"
            if error.code is Code.SPLIT_VIEW
            else "a history that cannot be proven"
        )
        raise LogError(
            f"the aggregator's log shows this site {history} ({error.code})",
            "Send nothing more. Keep the folder submissions as evidence, and compare with what other sites have seen.",
        ) from None
    return new


def check_order(
    receipt: Receipt, place: Place, kept: Sequence[KeptReceipt], registry: Registry, link: Envelope
) -> None:
    """Check that a receipt is consistent with the site's other receipts and the registry; needs no network.

    The log contains a site's links in the order of its chain, and a key signs no entry before the registry lists it. A
    log that was forged with an old log key breaks these rules.

    Args:
        receipt: the verified receipt of one link.
        place: epoch and sequence number of that link.
        kept: the site's other receipts.
        registry: the newest registry.
        link: the link's envelope.

    Raises:
        LogError: the receipt contradicts another receipt or the registry.
    """
    for other in kept:
        before, after = (
            (receipt.index, other.receipt.index)
            if place < other.place
            else (other.receipt.index, receipt.index)
        )
        if other.place != place and before >= after:
            raise _contradicts(
                f"link {place[1]} of epoch {place[0]} is entry {receipt.index} of its log, but link "
                f"{other.place[1]} of epoch {other.place[0]} is entry {other.receipt.index}"
            )
        check_same_size(receipt.checkpoint, other.receipt.checkpoint)
    first = _find_first_index(registry, link)
    if receipt.index < first:
        raise _contradicts(
            f"it is for entry {receipt.index} of the log, but a key that signed the submission is valid only from "
            f"entry {first} on"
        )


def check_same_size(seen: Checkpoint, known: Checkpoint) -> None:
    """Check that two checkpoints of the same size have the same root. Raises LogError."""
    if seen.size == known.size and seen.root != known.root:
        raise _contradicts(
            f"the first {seen.size} entries of its log differ from those of a log seen before"
        )


def _find_first_index(registry: Registry, link: Envelope) -> int:
    """Return the index of the first log entry that all of a link's signers may have signed.

    A rotation is also signed by the new key, which the registry lists only from the following entry on.
    """
    first = 0
    for signature in link.signatures:
        site_and_key = registry.site_of(signature.keyid)
        if site_and_key is not None:
            first = max(first, site_and_key[1].from_index - 1)
    return first


def _contradicts(why: str) -> LogError:
    return LogError(
        f"the receipt cannot be genuine: {why}",
        "The receipt was not stored. Keep the file as evidence and tell the central team: a key of the log may have "
        "been stolen.",
    )
