"""Deciding on a statement before the one writer is free, and noticing when what it rested on has changed since.

A decision rests on the registry in force, on the evidence of forks, and on the log. The log only grows: its entries
never change, so whatever was read of those below a size is true for ever. What came since is few entries, which the
writer reads. If none of them is the site's own or has anything in common with the values that the decision asked for,
and registry and evidence are those of then, then the same decision would be made again.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select

from aggregator.log.journal import Link, LogHead, prove_last, settled_by
from aggregator.log.restored import MARK
from aggregator.store.schema import entries, forks, registry_versions
from protocol.predicates import ResultPredicate

_OF_DIGEST = entries.c.digest == bindparam("wanted")
_FORKS = select(func.count()).select_from(forks).scalar_subquery().label("forks")
_REGISTRY = (
    select(registry_versions.c.digest)
    .order_by(registry_versions.c.version.desc())
    .limit(1)
    .scalar_subquery()
    .label("registry")
)
_LOOK = select(
    select(entries.c.position)
    .order_by(entries.c.position.desc())
    .limit(1)
    .scalar_subquery()
    .label("newest"),
    select(entries.c.position).where(_OF_DIGEST).scalar_subquery().label("known"),
    select(entries.c.checkpoint).where(_OF_DIGEST).scalar_subquery().label("known_checkpoint"),
    _REGISTRY,
    _FORKS,
)
_SINCE = (
    select(
        entries.c.position,
        entries.c.site,
        entries.c.digest,
        entries.c.settles,
        entries.c.scores_root,
        entries.c.figures,
        entries.c.checkpoint,
        MARK,
        _REGISTRY,
        _FORKS,
    )
    .where(entries.c.position >= bindparam("first"))
    .order_by(entries.c.position)
)


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where somebody stood who looked at the database: all that is read later is at least as new.

    Attributes:
        log_size: number of entries.
        registry: digest of the newest registry's envelope, None if there is none.
        forks: number of payloads kept as evidence of a fork; none is ever removed.
    """

    log_size: int
    registry: str | None
    forks: int


@dataclass(frozen=True, slots=True)
class Newcomer:
    """What an entry means to the decisions that were made before it came."""

    position: int
    site: str
    values: frozenset[str]

    @classmethod
    def from_link(cls, link: Link, position: int) -> "Newcomer":
        """Return an entry that is about to be appended."""
        root = link.statement.scores_root if isinstance(link.statement, ResultPredicate) else None
        values = (link.digest, settled_by(link.statement), root, link.figures)
        return cls(position, link.statement.header.site, _leave_out_none(values))


class Present:
    """The database as the writer finds it and is about to leave it."""

    def __init__(
        self, head: LogHead, registry: str | None, forks: int, newcomers: list[Newcomer]
    ) -> None:
        """Take what was read; see `read_present`."""
        self.head = head
        self._registry = registry
        self._forks = forks
        self._newcomers = newcomers

    @property
    def size(self) -> int:
        """The number of entries, with those that are about to be appended."""
        return self._newcomers[-1].position + 1

    def add(self, link: Link) -> None:
        """Count in an entry that is about to be appended."""
        self._newcomers.append(Newcomer.from_link(link, self.size))

    def confirms(self, standpoint: Standpoint, site: str, asked: Container[str]) -> bool:
        """Return whether a decision would be made again.

        Args:
            standpoint: taken before anything else was read for the decision.
            site: whose statement it is.
            asked: values that were looked for in entries of any site.
        """
        if (standpoint.registry, standpoint.forks) != (self._registry, self._forks):
            return False
        for newcomer in reversed(self._newcomers):
            if newcomer.position < standpoint.log_size:
                break
            if newcomer.site == site or any(value in asked for value in newcomer.values):
                return False
        return True


def take_standpoint(connection: Connection, digest: str) -> tuple[Standpoint, str | None]:
    """Return the standpoint, and the receipt of an entry, None if there is none."""
    row = connection.execute(_LOOK, {"wanted": digest}).one()
    size = 0 if row.newest is None else row.newest + 1
    receipt = None if row.known is None else prove_last(connection, row.known, row.known_checkpoint)
    return Standpoint(size, row.registry, row.forks), receipt


def read_present(connection: Connection, since: int) -> Present | None:
    """Return the present for standpoints of at least `since` entries; None if the log is shorter, or empty.

    Args:
        connection: of a writing transaction.
        since: a size of the log; the entries after it are read.
    """
    # The one before is read too: its checkpoint is the log's if none came since.
    rows = connection.execute(_SINCE, {"first": max(0, since - 1)}).all()
    if not rows:
        return None
    newest = rows[-1]
    newcomers = []
    for row in rows:
        values = (row.digest, row.settles, row.scores_root, row.figures)
        newcomers.append(Newcomer(row.position, row.site, _leave_out_none(values)))
    return Present(
        LogHead(newest.position + 1, newest.checkpoint, newest.mark),
        newest.registry,
        newest.forks,
        newcomers,
    )


def _leave_out_none(values: Iterable[str | None]) -> frozenset[str]:
    return frozenset(value for value in values if value is not None)
