"""Deliver approved submissions in the order of the chain, by HTTPS or as files. Delivery is idempotent."""

import json
import time
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Final, cast

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
from agent.monitoring.counters import STATEMENTS
from agent.monitoring.events import StatementKind, StatementNotSent, StatementSent
from agent.monitoring.log import log_event
from protocol.errors import ProtocolError
from protocol.predicates import FIRST_EPOCH
from protocol.refusal import verify_refusal
from protocol.registry import Registry

Audit = Callable[[str, str], None]
Versions = Callable[[int], Registry | None]
"""Returns a version of the registry, or None if the site does not have it."""

_MAX_RECEIPT: Final = 64 * 1024  # bytes; 63 hashes and a checkpoint take less than 4 KiB
_MAX_ANSWER: Final = 2 * _MAX_RECEIPT
_WAITING: Final = frozenset({State.APPROVED, State.SENT, State.REFUSED})
_DELIVERED: Final = frozenset({State.RECEIPTED})
_UNDER_WAY: Final = frozenset({State.SENT, State.RECEIPTED})


class OutOfOrderError(DeliveryError):
    """The predecessor of a submission in the chain has not arrived."""


class SignedRefusalError(SubmissionRefusedError):
    """The aggregator refused a submission and signed the refusal."""


def list_waiting(outbox: Outbox, epoch: int = FIRST_EPOCH) -> list[Submission]:
    """Return the approved submissions of `epoch` and later that lack a receipt, in the order of the chain."""
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
    """Send submissions, verify and store their receipts, and return the submissions in their new state.

    Sending stops without an error at a key rotation that waits for the central team.

    Raises:
        OutOfOrderError: an earlier link of the chain lacks a receipt; nothing was sent.
        SignedRefusalError: the aggregator refused a submission; later ones were not sent.
        LogError: the log contradicts what this site has seen of it, or a receipt that came as a file.
        DeliveryError: a submission could not be delivered; later ones were not sent.
    """
    sent: list[Submission] = []
    with outbox.held():
        _check_order(outbox, submissions, _DELIVERED)
        prove_carried_receipts(outbox, registry, aggregator)
        receipts = read_kept_receipts(outbox)
        # Check all submissions before the first one leaves.
        leaving = [check_departure(submission, registry) for submission in submissions]
        for submission, data in zip(submissions, leaving, strict=True):
            if submission.state is not State.RECEIPTED:
                # Record this before the first byte leaves, so that a crash cannot hide that bytes may have left.
                outbox.mark_sent(submission.digest, today_day)
                audit("submission sent", f"digest={submission.digest} day={today_day}")
                text = _post_and_note(outbox, registry, aggregator, submission, data)
                if text is None:
                    # The rotation waits for a person, and all later links wait for the rotation.
                    break
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
    """Write envelopes for delivery as files: one to the file `target`, or any number into the folder `target`.

    Raises:
        DeliveryError: `target` is not a folder although there are several submissions, another file is in the way, or
            an earlier link of the chain was neither sent nor exported.
    """
    if target.is_dir():
        paths = [target / f"{submission.digest}.dsse.json" for submission in submissions]
    elif len(submissions) == 1:
        paths = [target]
    else:
        raise DeliveryError(
            f"{len(submissions)} submissions are waiting, and the export target is not a folder",
            "Name an existing folder, or one submission with --digest.",
        )
    with outbox.held():
        _check_order(outbox, submissions, _UNDER_WAY)
        leaving = [check_departure(submission, registry) for submission in submissions]
        for submission, path, data in zip(submissions, paths, leaving, strict=True):
            if path.exists() and path.read_bytes() != data:
                raise DeliveryError(
                    f"{path} already exists and is a different file, so nothing was exported there",
                    "Move that file, or name another target.",
                )
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
    """Import a receipt from a file, for the waiting submission that it belongs to; return that submission.

    Args:
        outbox: the site's outbox.
        registry: the newest registry that the site has.
        path: path of the receipt.
        made_under: returns a version of the registry, or None if the site does not have it.
        today_day: days since 1970-01-01 UTC.
        audit: writes an event to the audit log.

    Raises:
        LogError: the receipt contradicts what this site has seen of the log.
        DeliveryError: the receipt belongs to no waiting submission, or cannot be proven without a network.
    """
    try:
        text = read_bounded(path, _MAX_RECEIPT, "the receipt").decode()
    except UnicodeDecodeError:
        raise DeliveryError(f"{path.name} is not a receipt") from None
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
    raise DeliveryError(
        f"the receipt belongs to none of the submissions that are waiting for one{reason}"
    )


def _check_order(outbox: Outbox, submissions: Sequence[Submission], gone: Container[State]) -> None:
    """Check that every earlier link is in one of the states `gone`, or is listed before the submission.

    The aggregator accepts links only in order and would refuse one that comes too early.
    """
    chain = [link for link in outbox.list_submissions() if link.state is not State.VOID]
    going: set[str] = set()
    for submission in submissions:
        for earlier in chain:
            if earlier.digest == submission.digest:
                break
            if earlier.header.epoch < submission.header.epoch:
                continue  # links of a past epoch that have not arrived will never arrive
            if earlier.state not in gone and earlier.digest not in going:
                raise OutOfOrderError(
                    f"submission {submission.digest[:12]} comes after {earlier.digest[:12]}, which is "
                    f"{earlier.state.value} and has no receipt yet",
                    "Nothing was sent. Without --digest, `intramural submission send` sends all waiting submissions in "
                    "order.",
                )
        going.add(submission.digest)


def _post_and_note(
    outbox: Outbox, registry: Registry, aggregator: Aggregator, submission: Submission, data: bytes
) -> str | None:
    digest, kind = submission.digest, cast("StatementKind", submission.kind)
    began = time.monotonic()
    try:
        text = _post(outbox, registry, aggregator, submission, data)
    except DeliveryError as error:
        seconds = time.monotonic() - began
        log_event(StatementNotSent(digest, kind, type(error).__name__, seconds))
        STATEMENTS.add(value="failed")
        raise
    log_event(StatementSent(digest, kind, text is not None, time.monotonic() - began))
    STATEMENTS.add(value="pending" if text is None else "receipt")
    return text


def _post(
    outbox: Outbox, registry: Registry, aggregator: Aggregator, submission: Submission, data: bytes
) -> str | None:
    """Send one envelope; return the text of its unverified receipt, or None for a rotation that is still pending."""
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
        # A rotation has no receipt until the central team has put it in force.
        receipt = fields.get("receipt") if is_rotation else fields["receipt"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DeliveryError("the aggregator's answer is not a receipt") from None
    if not (isinstance(receipt, str) or (is_rotation and receipt is None)):
        raise DeliveryError("the aggregator's answer is not a receipt")
    if answered_digest != digest:
        raise DeliveryError("the aggregator's answer is about another submission")
    return receipt


def _take_refused(
    outbox: Outbox, registry: Registry, digest: str, error: SubmissionRefusedError
) -> DeliveryError:
    """Return the error for a refused submission. Only a refusal signed by the receipt key changes its state."""
    try:
        refusal = verify_refusal(error.note, digest, registry.receipt_key, registry.log_name)
    except ProtocolError:
        return DeliveryError(
            f"the submission was refused (status {error.status}) without the aggregator's signature, so the reason is "
            "uncertain: a proxy may have answered, or the aggregator does not know this site's keys",
            "The submission still counts as sent. Try `intramural submission send` again later; if this persists, ask "
            "the central team.",
        )
    signed = SignedRefusalError(refusal.code, error.status, error.note)
    if signed.final:
        outbox.put_refusal(digest, error.note)
    return signed


def take_refusal(
    outbox: Outbox, registry: Registry, note: str, *, today_day: int, audit: Audit
) -> Submission:
    """Import a refusal that came as a file, for the waiting submission that it names; return that submission.

    Raises:
        DeliveryError: the receipt key did not sign it, or it is about none of the waiting submissions.
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
        "the refusal is not signed by the aggregator, or is not about a submission that is waiting for an answer"
    )
