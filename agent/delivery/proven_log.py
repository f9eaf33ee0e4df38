"""The aggregator's log as this site has seen it: what is kept of it, and the proofs that it only ever grew.

A receipt that came as a file is kept with a mark (`carried`) until a network command has proven that its log is the
one that the aggregator shows.
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

_MAX_NOTE: Final = 64 * 1024  # bytes of a checkpoint with the signatures of witnesses
_MAX_PROOF: Final = 128 * 1024
_HASH_BYTES: Final = 32


def read_kept_receipts(outbox: Outbox) -> list[KeptReceipt]:
    """Return the receipts of all links. Raises StoreError: one is damaged."""
    kept = []
    for submission in outbox.list_submissions():
        if submission.state is State.RECEIPTED:
            try:
                receipt = read_receipt(outbox.read_receipt(submission.digest))
            except (ProtocolError, UnicodeDecodeError):
                raise StoreError(
                    f"submissions/{submission.digest}.receipt is damaged",
                    "Restore it from a back-up, or move it away: `intramural submission send` fetches it again.",
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
    """Keep a receipt that came over the network, once its log is proven to be the one seen here.

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
    """Keep a receipt that came as a file, marked as one whose log is still to be proven.

    Args:
        outbox, registry: the site's, and the newest registry that it has.
        submission: the link that it proves.
        text: the receipt.
        made_under: the registry that the link names, None if it is not kept here.

    Raises:
        LogError: it contradicts what this site has seen of the log.
        DeliveryError: it does not verify, or is signed by a key that signed for the log only in the past.
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
    """Check that a log key whose time is over did not sign for the log after its end.

    A file cannot show when a key signed it. Where the log had outgrown the key before the link was made, a true receipt
    would be signed by a later key; where this site has seen the larger log, it has a network that can prove more.

    Raises:
        LogError: the key's end is in the registry under which the link was made.
        DeliveryError: this site has seen the log beyond the key's end.
    """
    end = _find_end_of_key(checkpoint, registry)
    if end is None:
        return
    if made_under is not None and _find_end_of_key(checkpoint, made_under) is not None:
        raise LogError(
            f"the receipt cannot be true: a key signed it that was replaced at {end} entries of the log, before the "
            "submission was made",
            "It was not kept. Keep it as evidence and tell the aggregator's people: somebody holds an old key of the "
            "log.",
        )
    if head.size >= end:
        raise DeliveryError(
            f"the receipt is signed by a key of the log that was replaced at {end} entries, and this site has seen "
            f"{head.size}: a file cannot prove that it is true",
            "It was not kept. `intramural submission send` fetches the receipt, and proves it.",
        )


def _find_end_of_key(checkpoint: Checkpoint, registry: Registry) -> int | None:
    """Return the first size of the log that the key of a checkpoint no longer signs for, None if it has no end."""
    return next((key.until_size for key in registry.log_keys if key.covers(checkpoint.size)), None)


def follow_newest_checkpoint(outbox: Outbox, registry: Registry, aggregator: Aggregator) -> int:
    """Fetch the log's newest checkpoint, and demand that it continues all that was seen here; return its size.

    Receipts that came as files are proven with it.

    Raises:
        LogError: the log shows this site another history than before, or than a receipt that came as a file.
        DeliveryError: the log's key has not signed it, or it or its proof is not available.
    """
    with outbox.held():
        return _follow_newest_checkpoint(outbox, registry, aggregator)


def prove_carried_receipts(outbox: Outbox, registry: Registry, aggregator: Aggregator) -> None:
    """Prove the receipts that came as files, if there are any. The caller holds the outbox.

    Raises:
        LogError, DeliveryError: as `follow_newest_checkpoint`.
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
            "Nothing was changed. If this stays so, something on the way changes its answers: tell its people.",
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
    """Prove that the log of a carried receipt is a part of the newest one. Raises LogError or DeliveryError."""
    try:
        receipt = check_receipt(
            outbox.read_receipt(submission.digest), submission.envelope.pae, registry
        )
    except (
        DeliveryError
    ) as error:  # the key that signed it counts for less of the log than the registry said then
        raise _contradicts(submission, error) from None
    size = receipt.checkpoint.size
    if size > newest.size:
        raise _contradicts(
            submission, f"the log has {newest.size} entries, and {size} by the receipt"
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
        "Send nothing more before the aggregator's people have compared the file with their log. If the file is false, "
        "or of a key that was replaced, move it elsewhere as evidence: `intramural submission send` then fetches the "
        "true one.",
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
            raise DeliveryError(
                "the aggregator answered with something that is no consistency proof"
            )
        return nodes

    return proof
