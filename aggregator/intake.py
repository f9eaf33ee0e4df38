"""Accepting a submission: verify, append, answer with a receipt or a signed refusal. One transaction decides."""

import logging
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.history import read_history
from aggregator.log.journal import Link, LogHead
from aggregator.refusals import SignedRefusalError, recall, sign_and_remember
from aggregator.registry.versions import newest_registry
from aggregator.store.schema import entries, forks
from protocol.envelope import decode
from protocol.errors import Code, ProtocolError
from protocol.registry import Registry
from protocol.statements import kind_name, parse_statement
from protocol.verification import Accepted, Authentic, authenticate_envelope, check_signers, verify_link

log = logging.getLogger("aggregator.intake")


@dataclass(frozen=True, slots=True)
class Receipted:
    """A submission that is in the log, and the proof of it."""

    digest: str
    receipt: str


def accept(home: Home, data: bytes, *, today_day: int) -> Receipted:
    """Verify a submission in the protocol's order and append it; the same payload again gets the same receipt.

    Of two payloads for one place in a site's chain the second is kept as evidence and the site is frozen until it
    starts a new epoch; but see `_refuse` for payloads that were refused before.

    Raises:
        SignedRefusalError: the code of the first check that failed; the log is as before, the refusal is remembered.
        ProtocolError: MALFORMED, UNKNOWN_KEY or BAD_SIGNATURE, and nothing is remembered; or REGISTRY_EXPIRED.
        StoreError: the database failed; nothing was appended.
    """
    envelope = decode(data)
    with home.database.reading() as connection:
        # Strangers are turned away, and known submissions answered, without waiting for the one writer.
        head, receipt = journal.look_up(connection, envelope.digest)
        registry = newest_registry(connection)
    authentic = authenticate_envelope(envelope, registry, log_index=head.size)
    if receipt is not None:
        return Receipted(authentic.digest, receipt)
    outcome = home.writer.run(lambda connection: _decide(connection, home, authentic, data, today_day))
    # It is committed, so that the memory of a refusal and the evidence of a fork outlive it.
    if isinstance(outcome, ProtocolError):
        raise outcome
    return outcome


def _decide(
    connection: Connection, home: Home, authentic: Authentic, data: bytes, today_day: int
) -> Receipted | ProtocolError:
    """Append and give the receipt, or remember and give the refusal.

    Others may have written since the envelope was authenticated, so all that is not a matter of the envelope alone is
    read again.
    """
    registry = newest_registry(connection)
    head, receipt = journal.look_up(connection, authentic.digest)
    try:
        check_signers(authentic, registry, log_index=head.size)
    except ProtocolError as error:
        return error
    if receipt is not None:
        return Receipted(authentic.digest, receipt)
    if today_day >= registry.expires_day:
        # Our fault, not the payload's: nothing is signed, and the site tries again.
        expired = f"registry {registry.version} expired on day {registry.expires_day}"
        return ProtocolError(Code.REGISTRY_EXPIRED, expired)
    history = read_history(connection, authentic.site, registry)
    try:
        accepted = verify_link(authentic, registry, history, today_day=today_day)
    except ProtocolError as error:
        return _refuse(connection, home, registry, authentic, data, error)
    return _append(connection, home, registry, head, accepted, data)


def _append(
    connection: Connection, home: Home, registry: Registry, head: LogHead, accepted: Accepted, data: bytes
) -> Receipted:
    link = Link(
        digest=accepted.digest,
        leaf=accepted.leaf,
        envelope=data,
        statement=accepted.statement,
        registry=registry.version,
        figures=accepted.figures,
    )
    signer = home.log_signer(registry)
    appended = journal.append_with_receipt(connection, link, origin=registry.log_name, log_key=signer, head=head)
    log.info(
        "accepted position=%d site=%s kind=%s digest=%s",
        appended.position,
        accepted.site,
        kind_name(accepted.statement),
        accepted.digest,
    )
    return Receipted(accepted.digest, appended.receipt)


def _refuse(
    connection: Connection, home: Home, registry: Registry, authentic: Authentic, data: bytes, error: ProtocolError
) -> SignedRefusalError:
    """Sign and remember a refusal; keep the evidence of a fork.

    A site that was refused puts another payload in the same place. So neither a refused payload that somebody posts
    again, nor the payload made in its place once the refused one was accepted after all, is a fork.
    """
    before = recall(connection, authentic.digest)
    if error.code is Code.FORK:
        if before is not None:
            return before
        if _holder_was_refused_before(connection, authentic):
            error = ProtocolError(Code.WRONG_SEQ, "its place is taken by a payload that had been refused before")
        else:
            _keep_evidence(connection, authentic, data)
    if before is not None and before.code is error.code:
        return before
    return sign_and_remember(connection, home, registry, authentic.digest, authentic.site, error)


def _holder_was_refused_before(connection: Connection, authentic: Authentic) -> bool:
    header = parse_statement(authentic.envelope.payload).header
    query = select(entries.c.digest).where(
        entries.c.site == header.site, entries.c.epoch == header.epoch, entries.c.seq == header.seq
    )
    holder = connection.execute(query).scalar_one()
    return recall(connection, holder) is not None


def _keep_evidence(connection: Connection, authentic: Authentic, data: bytes) -> None:
    header = parse_statement(authentic.envelope.payload).header
    connection.execute(
        insert(forks).values(
            digest=authentic.digest, site=authentic.site, epoch=header.epoch, seq=header.seq, envelope=data
        )
    )
    log.warning("fork: site=%s frozen, evidence digest=%s", authentic.site, authentic.digest)
