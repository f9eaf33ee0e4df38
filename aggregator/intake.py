"""Intake of submissions: verify, append, and answer with a receipt or a signed refusal, in one transaction.

A submission is verified before its turn with the single writer, so that the writer has little left
to do. The writer checks that nothing on which the decision depends has changed, and decides again
if something has. Refusals are always decided by the writer.
"""

import logging
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from aggregator.allowance import UNLIMITED, Allowance
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.history import read_history
from aggregator.log.journal import Link, LogHead
from aggregator.log.standpoint import Present, Standpoint, read_present, take_standpoint
from aggregator.refusals import recall, sign_and_remember
from aggregator.registry.versions import newest_registry, read_registry
from aggregator.store.schema import entries, forks
from protocol.envelope import decode
from protocol.errors import Code, ProtocolError
from protocol.registry import Registry
from protocol.statements import kind_name, parse_statement
from protocol.verification import (
    Accepted,
    Authentic,
    authenticate_envelope,
    check_signers,
    verify_link,
)

log = logging.getLogger("aggregator.intake")


@dataclass(frozen=True, slots=True)
class Receipted:
    """An accepted submission with its receipt."""

    digest: str
    receipt: str


@dataclass(frozen=True, slots=True)
class _Foreseen:
    """A statement that will be accepted if nothing changes. `asked`: the values looked up in all sites' entries."""

    accepted: Accepted
    registry: Registry
    standpoint: Standpoint
    asked: Set[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Submission:
    """An authenticated envelope waiting for the writer."""

    home: Home
    data: bytes
    authentic: Authentic
    today_day: int
    foreseen: _Foreseen | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The answer to a submission.

    Attributes:
        answer: A receipt or the refusal.
        is_kept: Whether the payload, or its first refusal, was stored.
        news, level: A line for the service's log, valid once the transaction is committed, and its
            level.
    """

    answer: Receipted | ProtocolError
    is_kept: bool = False
    news: str | None = None
    level: int = logging.INFO


def accept(
    home: Home, data: bytes, *, today_day: int, allowance: Allowance = UNLIMITED
) -> Receipted:
    """Verify a submission in the protocol's order and append it. The same payload always gets the same receipt.

    If a second payload arrives for the same position in a site's chain, it is stored as evidence
    and the site is frozen until it starts a new epoch. `_refuse` describes the exception for
    payloads that were refused before.

    Args:
        home: The aggregator's directory.
        data: The envelope file as received.
        today_day: Days since 1970-01-01 UTC.
        allowance: Limits the data stored per site and day.

    Raises:
        SignedRefusalError: the first check that failed, by its code. The log is unchanged and the
            refusal is stored.
        ProtocolError: MALFORMED, UNKNOWN_KEY, BAD_SIGNATURE or REGISTRY_EXPIRED. Nothing is stored.
        AllowanceSpentError: the site has used up today's allowance. Nothing is stored.
        StoreError: the database failed. Nothing was appended.
    """
    envelope = decode(data)
    with home.database.looking() as connection:
        # Reject unknown keys and answer known submissions without waiting for the single writer.
        standpoint, receipt = take_standpoint(connection, envelope.digest)
        registry = _registry_of(connection, standpoint)
        authentic = authenticate_envelope(envelope, registry, log_index=standpoint.log_size)
        if receipt is not None:
            return Receipted(authentic.digest, receipt)
        allowance.check(authentic.site, len(data))
        foreseen = _foresee(connection, authentic, registry, standpoint, today_day)
    outcome = home.writer.run(_decide_all, _Submission(home, data, authentic, today_day, foreseen))
    # Raised after the commit, so that the stored refusal and the evidence of a fork persist.
    if outcome.is_kept:
        allowance.count(authentic.site, len(data))
    if outcome.news is not None:
        log.log(outcome.level, outcome.news)
    if isinstance(outcome.answer, ProtocolError):
        raise outcome.answer
    return outcome.answer


def _registry_of(connection: Connection, standpoint: Standpoint) -> Registry:
    if standpoint.registry is None:
        return newest_registry(connection)
    return read_registry(connection, standpoint.registry)


def _foresee(
    connection: Connection,
    authentic: Authentic,
    registry: Registry,
    standpoint: Standpoint,
    today_day: int,
) -> _Foreseen | None:
    """Verify a statement against the current state. Return None if it would be refused, because only the writer decides
    on refusals.
    """
    if today_day >= registry.expires_day:
        return None
    asked: set[str] = set()
    history = read_history(connection, authentic.site, registry, asked)
    try:
        accepted = verify_link(authentic, registry, history, today_day=today_day)
    except ProtocolError:
        return None
    return _Foreseen(accepted, registry, standpoint, asked)


def _decide_all(connection: Connection, submissions: Sequence[_Submission]) -> list[_Outcome]:
    """Append all submissions whose earlier verification still holds, then decide on the others one by one."""
    outcomes = _append_foreseen(connection, submissions)
    for submission in submissions:
        if submission not in outcomes:
            outcomes[submission] = _decide(connection, submission)
    return [outcomes[submission] for submission in submissions]


def _append_foreseen(
    connection: Connection, submissions: Sequence[_Submission]
) -> dict[_Submission, _Outcome]:
    sizes = [
        submission.foreseen.standpoint.log_size
        for submission in submissions
        if submission.foreseen is not None
    ]
    present = read_present(connection, min(sizes)) if sizes else None
    if present is None:
        return {}
    head, links = present.head, {}
    for submission in submissions:
        if submission.foreseen is not None and _still_holds(
            submission, submission.foreseen, present
        ):
            # This is the registry in force, and therefore the same for all submissions.
            registry = submission.foreseen.registry
            links[submission] = _make_link(submission, submission.foreseen.accepted, registry)
            present.add(links[submission])
    return _append(connection, registry, head, links) if links else {}


def _still_holds(submission: _Submission, foreseen: _Foreseen, present: Present) -> bool:
    if not present.confirms(foreseen.standpoint, submission.authentic.site, foreseen.asked):
        return False
    try:
        check_signers(submission.authentic, foreseen.registry, log_index=present.size)
    except ProtocolError:
        return False
    return True


def _decide(connection: Connection, submission: _Submission) -> _Outcome:
    """Append a submission and return its receipt, or store and return a refusal.

    The database may have changed since the envelope was authenticated, so everything except the
    envelope itself is read again.
    """
    authentic = submission.authentic
    standpoint, receipt = take_standpoint(connection, authentic.digest)
    registry = _registry_of(connection, standpoint)
    try:
        check_signers(authentic, registry, log_index=standpoint.log_size)
    except ProtocolError as error:
        return _Outcome(error)
    if receipt is not None:
        return _Outcome(Receipted(authentic.digest, receipt))
    if submission.today_day >= registry.expires_day:
        # This is the aggregator's fault: nothing is signed, and the site can try again.
        expired = f"registry {registry.version} expired on day {registry.expires_day}"
        return _Outcome(ProtocolError(Code.REGISTRY_EXPIRED, expired))
    history = read_history(connection, authentic.site, registry)
    try:
        accepted = verify_link(authentic, registry, history, today_day=submission.today_day)
    except ProtocolError as error:
        return _refuse(connection, submission, registry, error)
    links = {submission: _make_link(submission, accepted, registry)}
    return _append(connection, registry, None, links)[submission]


def _make_link(submission: _Submission, accepted: Accepted, registry: Registry) -> Link:
    return Link(
        digest=accepted.digest,
        leaf=accepted.leaf,
        envelope=submission.data,
        statement=accepted.statement,
        registry=registry.version,
        figures=accepted.figures,
    )


def _append(
    connection: Connection,
    registry: Registry,
    head: LogHead | None,
    links: Mapping[_Submission, Link],
) -> dict[_Submission, _Outcome]:
    signer = next(iter(links)).home.log_signer(registry)
    appended = journal.append_all(
        connection, list(links.values()), origin=registry.log_name, log_key=signer, head=head
    )
    outcomes = {}
    for (submission, link), entry in zip(links.items(), appended, strict=True):
        outcomes[submission] = _Outcome(
            Receipted(link.digest, entry.receipt),
            is_kept=True,
            news=f"accepted position={entry.position} site={submission.authentic.site} "
            f"kind={kind_name(link.statement)} digest={link.digest}",
        )
    return outcomes


def _refuse(
    connection: Connection, submission: _Submission, registry: Registry, error: ProtocolError
) -> _Outcome:
    """Sign and store a refusal, and store the evidence of a fork.

    After a refusal a site replaces the payload at the same position in its chain. Two cases are
        therefore not forks: a refused payload that is posted again, and a replacement that arrives
        after the refused payload was accepted after all.
    """
    authentic = submission.authentic
    before = recall(connection, authentic.digest)
    is_fork = error.code is Code.FORK and before is None
    if error.code is Code.FORK and before is not None:
        return _Outcome(before)
    if is_fork and _holder_was_refused_before(connection, authentic):
        is_fork = False
        error = ProtocolError(
            Code.WRONG_SEQ,
            "this position has a payload that had been refused before it was accepted",
        )
    if is_fork:
        _keep_evidence(connection, authentic, submission.data)
    if before is not None and before.code is error.code:
        return _Outcome(before)
    signed = sign_and_remember(
        connection, submission.home, registry, authentic.digest, authentic.site, error
    )
    if not is_fork:
        return _Outcome(signed, is_kept=before is None)
    news = f"fork: site={authentic.site} frozen, evidence digest={authentic.digest}"
    return _Outcome(signed, is_kept=True, news=news, level=logging.WARNING)


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
            digest=authentic.digest,
            site=authentic.site,
            epoch=header.epoch,
            seq=header.seq,
            envelope=data,
        )
    )
