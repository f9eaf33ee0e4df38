"""Accepting a submission: verify, append, answer with a receipt. One transaction decides."""

import logging
from collections.abc import Container
from dataclasses import dataclass

from sqlalchemy import Column, Connection, exists, insert, select

from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.journal import Link
from aggregator.registry.versions import newest_registry
from aggregator.store.schema import entries, forks
from protocol.errors import Code, ProtocolError
from protocol.statements import ENROLL_SEQ, FIRST_EPOCH, parse_statement
from protocol.verification import Authentic, ChainHead, History, authenticate, verify_submission

log = logging.getLogger("aggregator.intake")


@dataclass(frozen=True, slots=True)
class Receipted:
    """A submission that is in the log, and the proof of it."""

    digest: str
    receipt: str


def accept(home: Home, data: bytes, *, today_day: int) -> Receipted:
    """Verify a submission in the protocol's order and append it; the same payload again gets the same receipt.

    Of two payloads for one place in a site's chain the second is kept as evidence and the site is frozen.

    Raises:
        ProtocolError: the code of the first check that failed; the log is as before.
        StoreError: the database failed; nothing was appended.
    """
    with home.database.reading() as connection:
        # Strangers are turned away, and known submissions answered, without waiting for the one writer.
        known = _receipted(connection, _authenticate(connection, data).digest)
    if known is not None:
        return known
    with home.database.writing() as connection:
        outcome = _decide(connection, home, data, today_day)
    # Leaving the block has committed, so the evidence of a fork outlives the refusal.
    if isinstance(outcome, ProtocolError):
        raise outcome
    return outcome


def _decide(connection: Connection, home: Home, data: bytes, today_day: int) -> Receipted | ProtocolError:
    """Append and give the receipt, or keep the evidence of a fork and give the refusal; other refusals are raised."""
    authentic = _authenticate(connection, data)
    if _receipted(connection, authentic.digest) is None:
        try:
            _append(connection, home, authentic, data, today_day)
        except ProtocolError as error:
            if error.code is not Code.FORK:
                raise
            _keep_evidence(connection, authentic, data)
            return error
    receipted = _receipted(connection, authentic.digest)
    assert receipted is not None, "appended in this transaction"
    return receipted


def _authenticate(connection: Connection, data: bytes) -> Authentic:
    return authenticate(data, newest_registry(connection), log_index=journal.size(connection))


def _receipted(connection: Connection, digest: str) -> Receipted | None:
    receipt = journal.receipt(connection, digest)
    return None if receipt is None else Receipted(digest, receipt)


def _append(connection: Connection, home: Home, authentic: Authentic, data: bytes, today_day: int) -> None:
    registry = newest_registry(connection)
    if today_day >= registry.expires_day:
        raise ProtocolError(Code.REGISTRY_EXPIRED, f"registry {registry.version} expired on day {registry.expires_day}")
    history = History(
        head=chain_head(connection, authentic.site),
        frozen=is_frozen(connection, authentic.site),
        roots=_Stored(connection, entries.c.scores_root),
        figures=_Stored(connection, entries.c.figures, but_of=authentic.site),
    )
    accepted = verify_submission(authentic, registry, history, today_day=today_day)
    position = journal.append(
        connection,
        Link(
            digest=accepted.digest,
            leaf=accepted.leaf,
            envelope=data,
            site=accepted.site,
            epoch=accepted.head.epoch,
            seq=accepted.head.seq,
            registry=registry.version,
            scores_root=accepted.result.scores_root,
            figures=accepted.figures,
        ),
        origin=registry.log_name,
        log_key=home.log_key,
    )
    log.info("accepted position=%d site=%s digest=%s", position, accepted.site, accepted.digest)


def chain_head(connection: Connection, site: str) -> ChainHead | None:
    """Return the last result of a site's chain, None if only its enrolment exists."""
    query = (
        select(entries.c.epoch, entries.c.seq, entries.c.digest)
        .where(entries.c.site == site)
        .order_by(entries.c.epoch.desc(), entries.c.seq.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    if row is None or (row.epoch, row.seq) == (FIRST_EPOCH, ENROLL_SEQ):
        return None
    return ChainHead(row.epoch, row.seq, row.digest)


def is_frozen(connection: Connection, site: str) -> bool:
    """Whether two payloads for one place in the site's chain were seen."""
    return bool(connection.execute(select(exists().where(forks.c.site == site))).scalar())


def _keep_evidence(connection: Connection, authentic: Authentic, data: bytes) -> None:
    header = parse_statement(authentic.envelope.payload).header
    connection.execute(
        insert(forks).values(
            digest=authentic.digest, site=authentic.site, epoch=header.epoch, seq=header.seq, envelope=data
        )
    )
    log.warning("fork: site=%s frozen, evidence digest=%s", authentic.site, authentic.digest)


class _Stored(Container[str]):
    """The values of one column of the log, looked up when asked."""

    def __init__(self, connection: Connection, column: Column[str | None], but_of: str | None = None) -> None:
        self._connection, self._column, self._but_of = connection, column, but_of

    def __contains__(self, value: object) -> bool:
        matches = self._column == value
        if self._but_of is not None:
            matches &= entries.c.site != self._but_of
        return bool(self._connection.execute(select(exists().where(matches))).scalar())
