"""What the log says of one site when a statement of its arrives. Callers bring the transaction that will append.

Nothing is read before a check asks for it: of a site's plans and results one row, of its datasets all.
"""

from collections.abc import Container, Iterator, Mapping
from functools import cached_property

from sqlalchemy import Column, ColumnElement, Connection, exists, select

from aggregator.store.schema import entries, forks
from protocol.checkpoint import parse_hash
from protocol.envelope import decode
from protocol.predicates import (
    EMPTY_LEDGER,
    START_SEQ,
    DatasetPredicate,
    LedgerHead,
    PlanPredicate,
    Statement,
)
from protocol.registry import Registry
from protocol.site_head import SiteHead
from protocol.statements import parse_statement
from protocol.verification import ChainHead, History, KnownPlan, plan_challenge


def read_history(connection: Connection, site: str, registry: Registry) -> History:
    """Return the state before the next statement of `site`; an empty one if no such site is enrolled."""
    enrolled = registry.sites.get(site)
    if enrolled is None:
        return History(head=None)
    return History(
        head=read_chain_head(connection, site, enrolled.epoch),
        frozen=is_frozen(connection, site, enrolled.epoch),
        ledger=read_ledger(connection, site),
        roots=_Column(connection, entries.c.scores_root, ~_is_settled()),
        figures=_Column(connection, entries.c.figures, entries.c.site != site),
        datasets=_Datasets(connection, site),
        plans=_Plans(connection, site, registry.deployment),
        results=_StandingResults(connection, site),
    )


def read_chain_head(connection: Connection, site: str, epoch: int) -> ChainHead | None:
    """Return the last link of an epoch of a site's chain, None if only the epoch's start exists."""
    query = (
        select(entries.c.seq, entries.c.digest)
        .where(entries.c.site == site, entries.c.epoch == epoch)
        .order_by(entries.c.seq.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    if row is None or row.seq == START_SEQ:
        return None
    return ChainHead(epoch, row.seq, row.digest)


def is_frozen(connection: Connection, site: str, epoch: int) -> bool:
    """Whether two payloads for one place in this epoch of the site's chain were seen."""
    return _any(connection, (forks.c.site == site) & (forks.c.epoch == epoch))


def read_ledger(connection: Connection, site: str) -> LedgerHead:
    """Return the head of a site's ledger of releases, as its newest statement of any kind gives it."""
    query = (
        select(entries.c.ledger_length, entries.c.ledger_head)
        .where(entries.c.site == site)
        .order_by(entries.c.epoch.desc(), entries.c.seq.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return EMPTY_LEDGER if row is None else LedgerHead(row.ledger_length, row.ledger_head)


def read_site_head(connection: Connection, site: str, registry: Registry, log_size: int) -> SiteHead | None:
    """Return what the log knows of a site, None if no such site is enrolled."""
    enrolled = registry.sites.get(site)
    if enrolled is None:
        return None
    head = read_chain_head(connection, site, enrolled.epoch) or ChainHead(enrolled.epoch, START_SEQ, enrolled.start)
    return SiteHead(
        site=site,
        epoch=head.epoch,
        seq=head.seq,
        digest=head.digest,
        ledger=read_ledger(connection, site),
        frozen=is_frozen(connection, site, enrolled.epoch),
        log_size=log_size,
    )


def _is_settled() -> ColumnElement[bool]:
    """Whether another statement has ended an entry: of a result, whether it was withdrawn."""
    settling = entries.alias()
    return exists().where(settling.c.settles == entries.c.digest)


def _any(connection: Connection, condition: ColumnElement[bool]) -> bool:
    return bool(connection.execute(select(exists().where(condition))).scalar())


def _statement(envelope: bytes) -> Statement:
    """Read a statement of our own log, which was verified when it was accepted."""
    return parse_statement(decode(envelope).payload)


class _Column(Container[str]):
    """The values of one column of the log, of all entries or of those that a condition holds for."""

    def __init__(
        self, connection: Connection, column: Column[str | None], condition: ColumnElement[bool] | None = None
    ) -> None:
        self._connection, self._column, self._condition = connection, column, condition

    def __contains__(self, value: object) -> bool:
        matches: ColumnElement[bool] = self._column == value
        if self._condition is not None:
            matches &= self._condition
        return _any(self._connection, matches)


class _StandingResults(Container[str]):
    """Digests of a site's results that were not withdrawn."""

    def __init__(self, connection: Connection, site: str) -> None:
        self._connection, self._site = connection, site

    def __contains__(self, value: object) -> bool:
        is_result = (entries.c.digest == value) & (entries.c.site == self._site) & (entries.c.kind == "result")
        return _any(self._connection, is_result) and not _any(self._connection, entries.c.settles == value)


class _Datasets(Mapping[str, DatasetPredicate]):
    """A site's dataset statements by digest, oldest first; read all at once by the first question."""

    def __init__(self, connection: Connection, site: str) -> None:
        self._connection, self._site = connection, site

    @cached_property
    def _known(self) -> dict[str, DatasetPredicate]:
        query = (
            select(entries.c.digest, entries.c.envelope)
            .where(entries.c.site == self._site, entries.c.kind == "dataset")
            .order_by(entries.c.position)
        )
        found = {}
        for row in self._connection.execute(query):
            statement = _statement(row.envelope)
            assert isinstance(statement, DatasetPredicate), "kind says so"
            found[row.digest] = statement
        return found

    def __getitem__(self, digest: str) -> DatasetPredicate:
        return self._known[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class _Plans(Mapping[str, KnownPlan]):
    """A site's plans by digest, each read when it is asked for."""

    def __init__(self, connection: Connection, site: str, deployment: str) -> None:
        self._connection, self._site, self._deployment = connection, site, deployment

    def __getitem__(self, digest: str) -> KnownPlan:
        query = select(entries.c.position, entries.c.envelope, entries.c.checkpoint).where(
            entries.c.digest == digest, entries.c.site == self._site, entries.c.kind == "plan"
        )
        row = self._connection.execute(query).one_or_none()
        if row is None:
            raise KeyError(digest)
        statement = _statement(row.envelope)
        assert isinstance(statement, PlanPredicate), "kind says so"
        # The checkpoint in a plan's row is the head of the log that ends with the plan, as in its receipt.
        root = parse_hash(row.checkpoint.split("\n")[2])
        return KnownPlan(
            predicate=statement,
            challenge=plan_challenge(self._deployment, row.position, root, digest),
            is_open=not _any(self._connection, entries.c.settles == digest),
        )

    def __iter__(self) -> Iterator[str]:
        query = (
            select(entries.c.digest)
            .where(entries.c.site == self._site, entries.c.kind == "plan")
            .order_by(entries.c.position)
        )
        return iter(self._connection.execute(query).scalars().all())

    def __len__(self) -> int:
        return len(list(iter(self)))
