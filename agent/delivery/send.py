"""Delivering approved submissions, in the order of the chain, by HTTPS or as files. Twice is the same as once."""

import json
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Final

from agent.delivery.departure import check_departure
from agent.delivery.outbox import Outbox, State, Submission
from agent.delivery.proven_log import (
    keep_carried_receipt,
    keep_proven_receipt,
    prove_carried_receipts,
    read_kept_receipts,
)
from agent.delivery.receipts import check_receipt
from agent.delivery.transport import Aggregator, SubmissionRefusedError
from agent.errors import DeliveryError
from agent.io.atomic_files import read_bounded, write_atomically
from protocol.errors import ProtocolError
from protocol.predicates import FIRST_EPOCH
from protocol.refusal import verify_refusal
from protocol.registry import Registry

Audit = Callable[[str, str], None]
Versions = Callable[[int], Registry | None]
"""Returns the registry of a version that the site took; None where it is not kept."""

_MAX_RECEIPT: Final = 64 * 1024  # bytes; 63 hashes and a checkpoint have less than 4 KiB
_MAX_ANSWER: Final = 2 * _MAX_RECEIPT
_WAITING: Final = frozenset({State.APPROVED, State.SENT, State.REFUSED})
_DELIVERED: Final = frozenset({State.RECEIPTED})
_UNDER_WAY: Final = frozenset({State.SENT, State.RECEIPTED})


class OutOfOrderError(DeliveryError):
    """A submission whose predecessor in the chain has not arrived."""


class SignedRefusalError(SubmissionRefusedError):
    """The aggregator refused a submission, and the log's key has signed that."""


def list_waiting(outbox: Outbox, epoch: int = FIRST_EPOCH) -> list[Submission]:
    """Return the approved submissions without a receipt, from an epoch on, in the order of the chain."""
    submissions: list[Submission] = []
    for submission in outbox.list_submissions():
        if submission.state in _WAITING and submission.header.epoch >= epoch:
            submissions.append(submission)
    return submissions


def send(
    outbox: Outbox,
    registry: Registry,
    aggregator: Aggregator,
    submissions: Sequence[Submission],
    *,
    today_day: int,
    audit: Audit,
) -> list[Submission]:
    """Send submissions, verify their receipts and keep them; return them as they are now.

    A rotation of a key that waits for the aggregator's people ends it without an error.

    Raises:
        OutOfOrderError: one before them in the chain has no receipt; nothing was sent.
        SignedRefusalError: the aggregator refused one; those after it were not sent.
        LogError: the log contradicts what this site has seen of it, or a receipt that it took as a file.
        DeliveryError: one could not be delivered; those after it were not sent.
    """
    sent: list[Submission] = []
    with outbox.held():
        _check_order(outbox, submissions, _DELIVERED)
        prove_carried_receipts(outbox, registry, aggregator)
        receipts = read_kept_receipts(outbox)
        # All are checked before the first leaves.
        leaving = [check_departure(submission, registry) for submission in submissions]
        for submission, data in zip(submissions, leaving, strict=True):
            if submission.state is not State.RECEIPTED:
                # Before the first byte leaves, so that no crash can hide that it may have.
                outbox.mark_sent(submission.digest, today_day)
                audit("submission sent", f"digest={submission.digest} day={today_day}")
                text = _post(outbox, registry, aggregator, submission, data)
                if text is None:
                    break  # a rotation waits for a person, and everything after it for the rotation
                receipt = keep_proven_receipt(
                    outbox, registry, aggregator, submission, text, receipts
                )
                receipts.append(receipt)
                audit("submission receipted", f"digest={submission.digest} day={today_day}")
            sent.append(outbox.get(submission.digest))
    return sent


def export(
    outbox: Outbox,
    registry: Registry,
    submissions: Sequence[Submission],
    target: Path,
    *,
    today_day: int,
    audit: Audit,
) -> list[Path]:
    """Write envelopes to carry out by hand: one to the file `target`, or any number into the folder `target`.

    Raises:
        DeliveryError: several submissions and no folder, the file is there already, or one before them in the chain
            was neither sent nor exported.
    """
    if target.is_dir():
        paths = [target / f"{submission.digest}.dsse.json" for submission in submissions]
    elif len(submissions) == 1:
        paths = [target]
    else:
        raise DeliveryError(
            f"{len(submissions)} submissions wait, and the place to export to is not a folder",
            "Name a folder that exists, or one submission with --digest.",
        )
    with outbox.held():
        _check_order(outbox, submissions, _UNDER_WAY)
        leaving = [check_departure(submission, registry) for submission in submissions]
        for submission, path, data in zip(submissions, paths, leaving, strict=True):
            if path.exists() and path.read_bytes() != data:
                raise DeliveryError("there is another file where the submission should be exported")
            outbox.mark_sent(submission.digest, today_day)
            audit("submission exported", f"digest={submission.digest} day={today_day}")
            write_atomically(path, data)
    return paths


def import_receipt(
    outbox: Outbox,
    registry: Registry,
    path: Path,
    *,
    made_under: Versions,
    today_day: int,
    audit: Audit,
) -> Submission:
    """Take a receipt that came as a file, for the waiting submission that it proves.

    Args:
        outbox, registry: the site's, and the newest registry that it has.
        path: of the file.
        made_under: returns the registry of a version that the site took, None where it is not kept.
        today_day: days since 1970-01-01 UTC.
        audit: writes an event to the audit log.

    Raises:
        LogError: it contradicts what this site has seen of the log.
        DeliveryError: it proves none of them, or only a network can show that it is true.
    """
    try:
        text = read_bounded(path, _MAX_RECEIPT, "the receipt").decode()
    except UnicodeDecodeError:
        raise DeliveryError("the file is not a receipt") from None
    with outbox.held():
        reasons: list[DeliveryError] = []
        for submission in list_waiting(outbox):
            try:
                check_receipt(text, submission.envelope.pae, registry)
            except DeliveryError as error:
                reasons.append(error)
                continue
            keep_carried_receipt(
                outbox, registry, submission, text, made_under(submission.header.registry)
            )
            audit("submission receipted", f"digest={submission.digest} day={today_day}")
            return outbox.get(submission.digest)
    reason = f": {reasons[0]}" if reasons else ""
    raise DeliveryError(f"the receipt is for none of the submissions that wait for one{reason}")


def _check_order(outbox: Outbox, submissions: Sequence[Submission], gone: Container[State]) -> None:
    """Check that every link before a submission in the chain is `gone`, or goes before it now.

    The aggregator takes links in order alone: one that comes too early would be refused.
    """
    chain = [link for link in outbox.list_submissions() if link.state is not State.VOID]
    going: set[str] = set()
    for submission in submissions:
        for earlier in chain:
            if earlier.digest == submission.digest:
                break
            if earlier.header.epoch < submission.header.epoch:
                continue  # an epoch that is over: what did not arrive in it never will
            if earlier.state not in gone and earlier.digest not in going:
                raise OutOfOrderError(
                    f"submission {submission.digest[:12]} comes after {earlier.digest[:12]}, which is "
                    f"{earlier.state.value} and has no receipt yet",
                    "Nothing was sent. Without --digest, `intramural submission send` sends all that wait, in order.",
                )
        going.add(submission.digest)


def _post(
    outbox: Outbox, registry: Registry, aggregator: Aggregator, submission: Submission, data: bytes
) -> str | None:
    """Send one envelope; return the text of its receipt, unverified, or None for a rotation that waits there."""
    digest = submission.digest
    is_rotation = submission.kind == "rotate"
    path = "/v1/requests" if is_rotation else "/v1/submissions"
    try:
        answer = aggregator.post(path, data, limit=_MAX_ANSWER)
    except SubmissionRefusedError as error:
        raise _take_refused(outbox, registry, digest, error) from None
    try:
        fields = json.loads(answer)
        answered_digest = fields["digest"]
        # A rotation has no receipt until the aggregator's people have put it in force.
        receipt = fields.get("receipt") if is_rotation else fields["receipt"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DeliveryError("the aggregator answered with something that is no receipt") from None
    if not (isinstance(receipt, str) or (is_rotation and receipt is None)):
        raise DeliveryError("the aggregator answered with something that is no receipt")
    if answered_digest != digest:
        raise DeliveryError("the aggregator answered about another submission")
    return receipt


def _take_refused(
    outbox: Outbox, registry: Registry, digest: str, error: SubmissionRefusedError
) -> DeliveryError:
    """Return the error of a refused submission. Only a refusal that the log's key signed changes the state here."""
    try:
        refusal = verify_refusal(error.note, digest, registry.receipt_key, registry.log_name)
    except ProtocolError:
        return DeliveryError(
            f"the submission was refused (status {error.status}) without the aggregator's signature, so nothing is "
            "known: a proxy may have answered, or the aggregator does not know this site's keys",
            "The submission still counts as sent. Try `intramural submission send` again later; if this stays so, ask "
            "the aggregator's people.",
        )
    signed = SignedRefusalError(refusal.code, error.status, error.note)
    if signed.final:
        outbox.put_refusal(digest, error.note)
    return signed


def take_refusal(
    outbox: Outbox, registry: Registry, note: str, *, today_day: int, audit: Audit
) -> Submission:
    """Take a refusal that came as a file, for the waiting submission that it names.

    Raises:
        DeliveryError: the log's key did not sign it, or it is about none of the submissions that wait.
    """
    with outbox.held():
        for submission in list_waiting(outbox):
            try:
                refusal = verify_refusal(
                    note, submission.digest, registry.receipt_key, registry.log_name
                )
            except ProtocolError:
                continue
            if SubmissionRefusedError(refusal.code, 0, note).final:
                outbox.put_refusal(submission.digest, note)
            audit(
                "submission refused",
                f"digest={submission.digest} code={refusal.code.value} day={today_day}",
            )
            return outbox.get(submission.digest)
    raise DeliveryError(
        "the refusal is not signed by the aggregator, or about no submission that waits for an answer"
    )
