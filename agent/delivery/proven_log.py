"""The site's record of the aggregator's log: stored receipts, and the proofs that the log is append-only.

A receipt that came as a file is marked as `carried` until a network command has proven that its log is the
aggregator's.
"""

import json
from collections.abc import Sequence
from typing import Final

from agent.delivery.outbox import Outbox, State, Submission
from agent.delivery.receipts import (
    GrowthProof,
    KeptReceipt,
    LogError,
    check_order,
    check_receipt,
    check_same_size,
    follow_log,
    read_head,
    write_head,
)
from agent.delivery.transport import Aggregator
from agent.errors import DeliveryError, StoreError
from protocol.checkpoint import Checkpoint, verify_checkpoint
from protocol.errors import ProtocolError
from protocol.receipt import read_receipt
from protocol.registry import Registry

_MAX_NOTE: Final = 64 * 1024  # bytes; maximum size of a checkpoint with witnesses' signatures
_MAX_PROOF: Final = 128 * 1024
_HASH_BYTES: Final = 32


def read_kept_receipts(outbox: Outbox) -> list[KeptReceipt]:
    """Return the stored receipts of all links. Raises StoreError if a receipt is damaged."""
    kept = []
    for submission in outbox.list_submissions():
        if submission.state is State.RECEIPTED:
            try:
                receipt = read_receipt(outbox.read_receipt(submission.digest))
            except (ProtocolError, UnicodeDecodeError):
                raise StoreError(
                    f"submissions/{submission.digest}.receipt is damaged",
                    "Restore the file from a backup, or move it elsewhere: `intramural submission send` then fetches "
                    "the receipt again.",
                ) from None
            kept.append(KeptReceipt(submission.place, receipt))
    return kept


def keep_proven_receipt(
    outbox: Outbox,
    registry: Registry,
    aggregator: Aggregator,
    submission: Submission,
    text: str,
    kept: Sequence[KeptReceipt],
) -> KeptReceipt:
    """Verify a receipt that came over the network, prove that its log continues the one seen before, and store it.

    Raises:
        LogError: the log contradicts what this site has seen of it.
        DeliveryError: the receipt does not verify, or the proof is not available.
    """
    receipt = check_receipt(text, submission.envelope.pae, registry)
    _follow(outbox, receipt.checkpoint, _growth_proof(aggregator))
    check_order(receipt, submission.place, kept, registry, submission.envelope)
    outbox.put_receipt(submission.digest, text)
    return KeptReceipt(submission.place, receipt)


def keep_carried_receipt(
    outbox: Outbox,
    registry: Registry,
    submission: Submission,
    text: str,
    made_under: Registry | None,
) -> None:
    """Store a receipt that came as a file, and mark it as one whose log has yet to be proven.

    Args:
        outbox: the site's outbox.
        registry: the newest registry that the site has.
        submission: the link that the receipt is for.
        text: the receipt.
        made_under: the registry version that the link names, or None if it is not stored here.

    Raises:
        LogError: the receipt contradicts what this site has seen of the log.
        DeliveryError: the receipt does not verify, or a replaced key of the log signed it.
    """
    receipt = check_receipt(text, submission.envelope.pae, registry)
    check_order(
        receipt, submission.place, read_kept_receipts(outbox), registry, submission.envelope
    )
    head = read_head(outbox.directory / "head.json", registry.log_name)
    check_same_size(receipt.checkpoint, head)
    _check_key_had_not_ended(receipt.checkpoint, registry, made_under, head)
    outbox.put_carried_receipt(submission.digest, text)


def _check_key_had_not_ended(
    checkpoint: Checkpoint, registry: Registry, made_under: Registry | None, head: Checkpoint
) -> None:
    """Check that a replaced log key cannot have signed a checkpoint after it was replaced.

    A file does not show when a key signed it. If the key was replaced before the link was made, a genuine receipt
    would be signed by a later key. If this site has already seen a larger log than the key covers, it has a network
    connection, over which the receipt can be fetched and proven.

    Raises:
        LogError: according to the registry under which the link was made, the key had been replaced.
        DeliveryError: this site has seen the log beyond the size that the key covers.
    """
    end = _find_end_of_key(checkpoint, registry)
    if end is None:
        return
    if made_under is not None and _find_end_of_key(checkpoint, made_under) is not None:
        raise LogError(
            f"the receipt cannot be genuine: the key that signed it was replaced when the log had {end} entries, "
            "before the submission was made",
            "The receipt was not stored. Keep the file as evidence and tell the central team: someone is misusing an "
            "old key of the log.",
        )
    if head.size >= end:
        raise DeliveryError(
            f"the receipt is signed by a key that was replaced when the log had {end} entries, but this site has "
            f"already seen {head.size} entries, so a file cannot prove that the receipt is genuine",
            "The receipt was not stored. `intramural submission send` fetches and proves the receipt.",
        )


def _find_end_of_key(checkpoint: Checkpoint, registry: Registry) -> int | None:
    """Return the log size from which the key of a checkpoint is no longer valid, or None if it is still valid."""
    return next((key.until_size for key in registry.log_keys if key.covers(checkpoint.size)), None)


def follow_newest_checkpoint(outbox: Outbox, registry: Registry, aggregator: Aggregator) -> int:
    """Fetch the log's newest checkpoint, check that it continues the log seen before, and return its size.

    Receipts that came as files are proven with it.

    Raises:
        LogError: the log contradicts what this site has seen of it, or a receipt that came as a file.
        DeliveryError: the log's key did not sign the checkpoint, or the checkpoint or its proof is not available.
    """
    with outbox.held():
        return _follow_newest_checkpoint(outbox, registry, aggregator)


def prove_carried_receipts(outbox: Outbox, registry: Registry, aggregator: Aggregator) -> None:
    """Prove the receipts that came as files, if there are any. The caller holds the outbox.

    Raises:
        LogError, DeliveryError: see `follow_newest_checkpoint`.
    """
    if _find_carried(outbox):
        _follow_newest_checkpoint(outbox, registry, aggregator)


def _follow_newest_checkpoint(outbox: Outbox, registry: Registry, aggregator: Aggregator) -> int:
    note = aggregator.get("/v1/log/checkpoint", limit=_MAX_NOTE).decode("utf-8", "replace")
    try:
        checkpoint = verify_checkpoint(note, registry.log_keys, registry.log_name)
    except ProtocolError as error:
        raise DeliveryError(
            f"the head of the aggregator's log does not verify ({error.code})",
            "Nothing was changed. If this persists, something between here and the aggregator alters its answers: tell "
            "its operators.",
        ) from None
    proof_of = _growth_proof(aggregator)
    _follow(outbox, checkpoint, proof_of)
    for submission in _find_carried(outbox):
        _prove_carried_receipt(outbox, registry, submission, checkpoint, proof_of)
    return checkpoint.size


def _find_carried(outbox: Outbox) -> list[Submission]:
    return [submission for submission in outbox.list_submissions() if submission.receipt_is_carried]


def _prove_carried_receipt(
    outbox: Outbox,
    registry: Registry,
    submission: Submission,
    newest: Checkpoint,
    proof_of: GrowthProof,
) -> None:
    """Prove that the log of a carried receipt is a prefix of the newest one. Raises LogError or DeliveryError."""
    try:
        receipt = check_receipt(
            outbox.read_receipt(submission.digest), submission.envelope.pae, registry
        )
    except DeliveryError as error:
        # According to the present registry, the key that signed it covers less of the log than it did before.
        raise _contradicts(submission, error) from None
    size = receipt.checkpoint.size
    if size > newest.size:
        raise _contradicts(
            submission, f"the log has {newest.size} entries, but {size} according to the receipt"
        )
    try:
        follow_log(newest, receipt.checkpoint, proof_of)
    except LogError as error:
        raise _contradicts(submission, error) from None
    outbox.mark_proven(submission.digest)


def _contradicts(submission: Submission, why: object) -> LogError:
    return LogError(
        f"submissions/{submission.digest}.receipt came as a file, and the aggregator's registry or log contradicts it: "
        f"{why}",
        "Send nothing more until the central team has compared the file with its log. If the file is "
        "forged, or signed by a replaced key, move it elsewhere as evidence; `intramural submission send` then fetches "
        "the genuine one.",
    )


def _follow(outbox: Outbox, checkpoint: Checkpoint, proof_of: GrowthProof) -> None:
    path = outbox.directory / "head.json"
    head = read_head(path, checkpoint.origin)
    after = follow_log(head, checkpoint, proof_of)
    if after != head:
        write_head(path, after)


def _growth_proof(aggregator: Aggregator) -> GrowthProof:
    def proof(old_size: int, new_size: int) -> Sequence[bytes]:
        answer = aggregator.get(
            f"/v1/log/consistency?from={old_size}&to={new_size}", limit=_MAX_PROOF
        )
        try:
            nodes = [bytes.fromhex(node) for node in json.loads(answer)["proof"]]
        except (ValueError, TypeError, KeyError, RecursionError):
            nodes = [b""]
        if any(len(node) != _HASH_BYTES for node in nodes):
            raise DeliveryError("the aggregator's answer is not a consistency proof")
        return nodes

    return proof
