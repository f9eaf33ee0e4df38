"""The state of one site in the log, read when a statement from the site arrives.

Callers pass the transaction that will append the statement, or take a standpoint first (`aggregator.log.standpoint`).
Nothing is read before a check needs it: single rows of a site's plans and results, but all of its datasets at once.
"""

from collections.abc import Container, Iterator, Mapping
from functools import cached_property

from sqlalchemy import BindParameter, Connection, Integer, Select, String, bindparam, exists, select

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

_SITE: BindParameter[str] = bindparam("site", type_=String())
_VALUE: BindParameter[str] = bindparam("value", type_=String())
_EPOCH: BindParameter[int] = bindparam("epoch", type_=Integer())
_SIZE: BindParameter[int] = bindparam("size", type_=Integer())
_settling, _dataset = entries.alias(), entries.alias()

# Built once, as SQLAlchemy takes longer to build a query than SQLite takes to answer it.
_NEWEST_OF_SITE = (
    select(
        entries.c.epoch,
        entries.c.seq,
        entries.c.digest,
        entries.c.ledger_length,
        entries.c.ledger_head,
        exists()
        .where(forks.c.site == entries.c.site, forks.c.epoch == entries.c.epoch)
        .label("is_frozen"),
        select(_dataset.c.checkpoint)
        .where(_dataset.c.site == _SITE, _dataset.c.kind == "dataset")
        .order_by(_dataset.c.position.desc())
        .limit(1)
        .scalar_subquery()
        .label("newest_dataset"),
    )
    .where(entries.c.site == _SITE)
    .order_by(entries.c.epoch.desc(), entries.c.seq.desc())
    .limit(1)
)
_FORK = select(forks.c.digest).where(forks.c.site == _SITE, forks.c.epoch == _EPOCH).limit(1)
_STANDING_ROOT = (
    select(entries.c.position)
    .where(
        entries.c.scores_root == _VALUE, ~exists().where(_settling.c.settles == entries.c.digest)
    )
    .limit(1)
)
_FIGURES_ELSEWHERE = (
    select(entries.c.position).where(entries.c.figures == _VALUE, entries.c.site != _SITE).limit(1)
)
_RESULT = select(entries.c.position).where(
    entries.c.digest == _VALUE, entries.c.site == _SITE, entries.c.kind == "result"
)
_SETTLING = select(entries.c.position).where(entries.c.settles == _VALUE)
_DATASETS = (
    select(entries.c.position, entries.c.digest)
    .where(entries.c.site == _SITE, entries.c.kind == "dataset", entries.c.position < _SIZE)
    .order_by(entries.c.position)
)
_ENVELOPES = select(entries.c.position, entries.c.digest, entries.c.envelope).where(
    entries.c.position.in_(bindparam("positions", expanding=True))
)
_PLAN = select(entries.c.position, entries.c.envelope, entries.c.checkpoint).where(
    entries.c.digest == _VALUE, entries.c.site == _SITE, entries.c.kind == "plan"
)
_PLANS = (
    select(entries.c.digest)
    .where(entries.c.site == _SITE, entries.c.kind == "plan")
    .order_by(entries.c.position)
)

MAX_REMEMBERED = 20_000  # dataset statements in memory, about one kilobyte each
_remembered: dict[str, DatasetPredicate] = {}
"""Dataset statements read from a log, by digest. The digest covers their whole content."""
_datasets_of_sites: dict[tuple[str, str], Mapping[str, DatasetPredicate]] = {}
"""All dataset statements from a site, by the checkpoint of the log that ends with the newest one."""


def read_history(
    connection: Connection, site: str, registry: Registry, asked: set[str] | None = None
) -> History:
    """Return the state before the next statement of `site`; an empty state if the site is not enrolled.

    Args:
        connection: the connection used whenever a check reads from the history.
        site: id of the site whose statement is checked.
        registry: the registry in force.
        asked: a set to which every value looked up among the entries of all sites is added.
    """
    asked = set() if asked is None else asked
    enrolled = registry.sites.get(site)
    if enrolled is None:
        return History(head=None)
    newest = connection.execute(_NEWEST_OF_SITE, {"site": site}).one_or_none()
    head, ledger, frozen = None, EMPTY_LEDGER, False
    if newest is not None:
        ledger = LedgerHead(newest.ledger_length, newest.ledger_head)
    if newest is not None and newest.epoch == enrolled.epoch:
        frozen = newest.is_frozen
        if newest.seq != START_SEQ:
            head = ChainHead(newest.epoch, newest.seq, newest.digest)
    return History(
        head=head,
        frozen=frozen,
        ledger=ledger,
        roots=_Answers(connection, _STANDING_ROOT, site, asked),
        figures=_Answers(connection, _FIGURES_ELSEWHERE, site, asked),
        datasets=_Datasets(connection, site, None if newest is None else newest.newest_dataset),
        plans=_Plans(connection, site, registry.deployment, asked),
        results=_StandingResults(connection, site, asked),
    )


def read_chain_head(connection: Connection, site: str, epoch: int) -> ChainHead | None:
    """Return the last link of an epoch of a site's chain; None if there is only the epoch's start."""
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
    """Return whether two payloads for one position in this epoch of the site's chain were received."""
    return connection.execute(_FORK, {"site": site, "epoch": epoch}).first() is not None


def read_ledger(connection: Connection, site: str) -> LedgerHead:
    """Return the head of a site's ledger of releases, as in its newest statement of any kind."""
    row = connection.execute(_NEWEST_OF_SITE, {"site": site}).one_or_none()
    return EMPTY_LEDGER if row is None else LedgerHead(row.ledger_length, row.ledger_head)


def read_site_head(
    connection: Connection, site: str, registry: Registry, log_size: int
) -> SiteHead | None:
    """Return a site's head according to the log; None if the site is not enrolled."""
    enrolled = registry.sites.get(site)
    if enrolled is None:
        return None
    head = read_chain_head(connection, site, enrolled.epoch) or ChainHead(
        enrolled.epoch, START_SEQ, enrolled.start
    )
    return SiteHead(
        site=site,
        epoch=head.epoch,
        seq=head.seq,
        digest=head.digest,
        ledger=read_ledger(connection, site),
        frozen=is_frozen(connection, site, enrolled.epoch),
        log_size=log_size,
    )


def _statement(envelope: bytes) -> Statement:
    """Parse a statement from the aggregator's own log, which was verified when it was accepted."""
    return parse_statement(decode(envelope).payload)


class _Answers(Container[str]):
    """A container of the values for which a query finds a row."""

    def __init__(
        self, connection: Connection, query: Select[tuple[int]], site: str, asked: set[str]
    ) -> None:
        self._connection, self._query, self._site, self._asked = connection, query, site, asked

    def __contains__(self, value: object) -> bool:
        assert isinstance(value, str), "only digests are looked up"
        self._asked.add(value)
        return (
            self._connection.execute(self._query, {"value": value, "site": self._site}).first()
            is not None
        )


class _StandingResults(Container[str]):
    """A container of the digests of a site's results that were not withdrawn."""

    def __init__(self, connection: Connection, site: str, asked: set[str]) -> None:
        self._are_results = _Answers(connection, _RESULT, site, asked)
        self._are_settled = _Answers(connection, _SETTLING, site, asked)

    def __contains__(self, value: object) -> bool:
        return value in self._are_results and value not in self._are_settled


class _Datasets(Mapping[str, DatasetPredicate]):
    """A site's dataset statements by digest, oldest first; all are read on the first access.

    `newest` is the checkpoint of the log that ends with the newest of them, so that log contains them all.
    """

    def __init__(self, connection: Connection, site: str, newest: str | None) -> None:
        self._connection, self._site, self._newest = connection, site, newest

    @cached_property
    def _known(self) -> Mapping[str, DatasetPredicate]:
        if self._newest is None:
            return {}
        place = (self._site, self._newest)
        known = _datasets_of_sites.get(place)
        if known is None:
            known = self._read_all(int(self._newest.split("\n")[1]))
            if sum(map(len, list(_datasets_of_sites.values()))) + len(known) > MAX_REMEMBERED:
                _datasets_of_sites.clear()
            _datasets_of_sites[place] = known
        return known

    def _read_all(self, log_size: int) -> Mapping[str, DatasetPredicate]:
        rows = self._connection.execute(_DATASETS, {"site": self._site, "size": log_size}).all()
        remembered = {row.digest: _remembered.get(row.digest) for row in rows}
        missing = [row.position for row in rows if remembered[row.digest] is None]
        read = _read_datasets(self._connection, missing) if missing else {}
        if len(_remembered) + len(read) > MAX_REMEMBERED:
            _remembered.clear()
        _remembered.update(read)
        return {digest: statement or read[digest] for digest, statement in remembered.items()}

    def __getitem__(self, digest: str) -> DatasetPredicate:
        return self._known[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _read_datasets(connection: Connection, positions: list[int]) -> dict[str, DatasetPredicate]:
    datasets = {}
    for row in connection.execute(_ENVELOPES, {"positions": positions}):
        statement = _statement(row.envelope)
        assert isinstance(statement, DatasetPredicate), "kind says so"
        datasets[row.digest] = statement
    return datasets


class _Plans(Mapping[str, KnownPlan]):
    """A site's plans by digest; each is read when it is looked up."""

    def __init__(self, connection: Connection, site: str, deployment: str, asked: set[str]) -> None:
        self._connection, self._site, self._deployment = connection, site, deployment
        self._are_settled = _Answers(connection, _SETTLING, site, asked)

    def __getitem__(self, digest: str) -> KnownPlan:
        row = self._connection.execute(_PLAN, {"value": digest, "site": self._site}).one_or_none()
        if row is None:
            raise KeyError(digest)
        statement = _statement(row.envelope)
        assert isinstance(statement, PlanPredicate), "kind says so"
        # The checkpoint in a plan's row is the head of the log that ends with the plan, as in its receipt.
        root = parse_hash(row.checkpoint.split("\n")[2])
        return KnownPlan(
            predicate=statement,
            challenge=plan_challenge(self._deployment, row.position, root, digest),
            is_open=digest not in self._are_settled,
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._connection.execute(_PLANS, {"site": self._site}).scalars().all())

    def __len__(self) -> int:
        return len(list(iter(self)))
