"""Standpoints: checking a statement before the single writer is free, and detecting changes made in between.

A decision depends on the registry in force, on the evidence of forks, and on the log. The log only grows and its
entries never change, so data read from the entries below a given size remain valid. The writer reads the few entries
added since. If none of them belongs to the site or contains a value that the decision looked up, and if registry and
evidence are unchanged, the same decision would be made again.
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
    """The state of the database at one moment. Everything that is read later is at least as new.

    Attributes:
        log_size: number of log entries.
        registry: digest of the newest registry's envelope; None if there is no registry.
        forks: number of payloads stored as evidence of a fork; none is ever removed.
    """

    log_size: int
    registry: str | None
    forks: int


@dataclass(frozen=True, slots=True)
class Newcomer:
    """The properties of a new entry that can affect decisions made before it was appended."""

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
    """The state of the database for the writer, including the entries that it is about to append."""

    def __init__(
        self, head: LogHead, registry: str | None, forks: int, newcomers: list[Newcomer]
    ) -> None:
        """Initialise from values that `read_present` has read."""
        self.head = head
        self._registry = registry
        self._forks = forks
        self._newcomers = newcomers

    @property
    def size(self) -> int:
        """The number of entries, including those about to be appended."""
        return self._newcomers[-1].position + 1

    def add(self, link: Link) -> None:
        """Include an entry that is about to be appended."""
        self._newcomers.append(Newcomer.from_link(link, self.size))

    def confirms(self, standpoint: Standpoint, site: str, asked: Container[str]) -> bool:
        """Return whether the same decision would be made again.

        Args:
            standpoint: the standpoint taken before anything else was read for the decision.
            site: id of the site that made the statement.
            asked: values that were looked up among the entries of all sites.
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
    """Return the standpoint, and the receipt of the entry with this digest, or None if there is no such entry."""
    row = connection.execute(_LOOK, {"wanted": digest}).one()
    size = 0 if row.newest is None else row.newest + 1
    receipt = None if row.known is None else prove_last(connection, row.known, row.known_checkpoint)
    return Standpoint(size, row.registry, row.forks), receipt


def read_present(connection: Connection, since: int) -> Present | None:
    """Return the present state for standpoints of at least `since` entries; None if the log is shorter or empty.

    Args:
        connection: the connection of a writing transaction.
        since: a size of the log; the entries after it are read.
    """
    # The preceding entry is read too: without new entries, its checkpoint is the log's newest.
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
