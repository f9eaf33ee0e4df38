"""Accepting a submission: verify, append, answer with a receipt or a signed refusal. One transaction decides.

A submission is verified before the one writer is free, so that the writer has little left to do: it makes sure that
nothing has changed that the decision rests on, and decides anew where something has. Refusals are always the writer's.
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
    """A submission that is in the log, and the proof of it."""

    digest: str
    receipt: str


@dataclass(frozen=True, slots=True)
class _Foreseen:
    """A statement that would be accepted if nothing changed; `asked` is what was looked for in entries of any site."""

    accepted: Accepted
    registry: Registry
    standpoint: Standpoint
    asked: Set[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Submission:
    """An authentic envelope on its way to the writer."""

    home: Home
    data: bytes
    authentic: Authentic
    today_day: int
    foreseen: _Foreseen | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The answer to a submission.

    Attributes:
        answer: a receipt, or the refusal.
        is_kept: whether the payload, or the first refusal of it, was stored.
        news, level: a line for the service's log, which is true once it is committed.
    """

    answer: Receipted | ProtocolError
    is_kept: bool = False
    news: str | None = None
    level: int = logging.INFO


def accept(
    home: Home, data: bytes, *, today_day: int, allowance: Allowance = UNLIMITED
) -> Receipted:
    """Verify a submission in the protocol's order and append it; the same payload again gets the same receipt.

    Of two payloads for one place in a site's chain the second is kept as evidence and the site is frozen until it
    starts a new epoch; but see `_refuse` for payloads that were refused before.

    Args:
        home: whose log takes it.
        data: the envelope file as received.
        today_day: days since 1970-01-01 UTC.
        allowance: bounds how much of a site is kept in a day.

    Raises:
        SignedRefusalError: the code of the first check that failed; the log is as before, the refusal is remembered.
        ProtocolError: MALFORMED, UNKNOWN_KEY or BAD_SIGNATURE, and nothing is remembered; or REGISTRY_EXPIRED.
        AllowanceSpentError: the site has had too much kept today; nothing is remembered.
        StoreError: the database failed; nothing was appended.
    """
    envelope = decode(data)
    with home.database.looking() as connection:
        # Strangers are turned away, and known submissions answered, without waiting for the one writer.
        standpoint, receipt = take_standpoint(connection, envelope.digest)
        registry = _registry_of(connection, standpoint)
        authentic = authenticate_envelope(envelope, registry, log_index=standpoint.log_size)
        if receipt is not None:
            return Receipted(authentic.digest, receipt)
        allowance.check(authentic.site, len(data))
        foreseen = _foresee(connection, authentic, registry, standpoint, today_day)
    outcome = home.writer.run(_decide_all, _Submission(home, data, authentic, today_day, foreseen))
    # It is committed, so that the memory of a refusal and the evidence of a fork outlive it.
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
    """Verify a statement as the writer would now; None where it would be refused, which the writer alone decides."""
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
    """Append what was foreseen and still holds, all at once; then decide on the others, one after the other."""
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
            registry = submission.foreseen.registry  # the present one, so the same for all of them
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
    """Append and give the receipt, or remember and give the refusal.

    Others may have written since the envelope was authenticated, so all that is not a matter of the envelope alone is
    read again.
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
        # Our fault, not the payload's: nothing is signed, and the site tries again.
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
    """Sign and remember a refusal; keep the evidence of a fork.

    A site that was refused puts another payload in the same place. So neither a refused payload that somebody posts
    again, nor the payload made in its place once the refused one was accepted after all, is a fork.
    """
    authentic = submission.authentic
    before = recall(connection, authentic.digest)
    is_fork = error.code is Code.FORK and before is None
    if error.code is Code.FORK and before is not None:
        return _Outcome(before)
    if is_fork and _holder_was_refused_before(connection, authentic):
        is_fork = False
        error = ProtocolError(
            Code.WRONG_SEQ, "its place is taken by a payload that had been refused before"
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
