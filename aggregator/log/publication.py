"""The published form of log entries: which are public, and which are hidden (rule 8.1).

Statements about keys explain the registry and are public for every site. Every other statement from a site with pooled
publication is published only as its leaf hash. The registry in force when an entry was accepted decides, so a change
of a site's publication affects only later entries. The functions are pure, except those that read the database.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Connection, select

from aggregator.errors import BoardMismatchError
from aggregator.log.journal import Entry
from aggregator.registry.versions import envelope_of
from aggregator.store.schema import entries
from protocol import schema
from protocol.canonical import canonical
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import ProtocolError
from protocol.merkle import leaf_hash
from protocol.predicates import Statement
from protocol.registry import Registry, parse_registry
from protocol.statements import kind_name, parse_statement

KINDS_ABOUT_KEYS = frozenset({"enroll", "reset", "rotate"})
_SHOWN = frozenset({"envelope", "registry"})
_HIDDEN = frozenset({"leaf_hash", "registry"})


@dataclass(frozen=True, slots=True)
class HiddenEntry:
    """An entry of a pooled site as published: its leaf hash, and the registry version under which it was accepted."""

    leaf_hash: bytes
    registry: int

    def line(self) -> bytes:
        """Return the entry as one line of canonical JSON, without the line feed."""
        return canonical({"leaf_hash": self.leaf_hash.hex(), "registry": self.registry})


PublishedEntry = Entry | HiddenEntry


def is_public(statement: Statement, registry: Registry) -> bool:
    """Return whether the public log shows the full text of a statement that was accepted under `registry`."""
    return kind_name(statement) in KINDS_ABOUT_KEYS or _is_named(statement.header.site, registry)


def _is_named(site_id: str, registry: Registry) -> bool:
    site = registry.sites.get(site_id)
    return site is not None and site.publication == "named"


def as_published(entry: Entry, registry: Registry) -> PublishedEntry:
    """Return the published form of an entry.

    Args:
        entry: an entry of the full log.
        registry: the registry version that the entry names.
    """
    envelope = decode(entry.envelope)
    if is_public(parse_statement(envelope.payload), registry):
        return entry
    return HiddenEntry(leaf_hash(envelope.pae), entry.registry)


def parse_entry(line: bytes) -> PublishedEntry:
    """Parse one line of the published log.

    Raises:
        BoardMismatchError: the line is not in canonical form.
    """
    try:
        value = json.loads(line)
        if not isinstance(value, dict):
            raise ValueError("not an object")
        version = schema.integer(value.get("registry"), "registry", 1)
        entry: PublishedEntry
        if value.keys() == _SHOWN:
            entry = Entry(canonical(value["envelope"]), version)
        elif value.keys() == _HIDDEN:
            digest = schema.text(value["leaf_hash"], "leaf_hash", schema.HEX64)
            entry = HiddenEntry(bytes.fromhex(digest), version)
        else:
            raise ValueError("neither a public nor a hidden entry")
        if entry.line() != line:
            raise ValueError("not in canonical form")
    except (ValueError, TypeError, RecursionError, ProtocolError):
        raise BoardMismatchError("not a log entry") from None
    return entry


@dataclass(frozen=True, slots=True)
class LogRow:
    """An entry of the aggregator's own log, both as accepted and as published."""

    envelope: bytes
    kind: str
    digest: str
    published: PublishedEntry


def read_rows(connection: Connection, start: int = 0, end: int | None = None) -> Iterator[LogRow]:
    """Yield the entries with start <= position < end, in order."""
    query = select(
        entries.c.envelope,
        entries.c.registry,
        entries.c.site,
        entries.c.kind,
        entries.c.leaf_hash,
        entries.c.digest,
    ).where(entries.c.position >= start)
    if end is not None:
        query = query.where(entries.c.position < end)
    registry: Registry | None = None
    for row in connection.execute(
        query.order_by(entries.c.position).execution_options(yield_per=256)
    ):
        shown: PublishedEntry = Entry(row.envelope, row.registry)
        if row.kind not in KINDS_ABOUT_KEYS:
            if registry is None or registry.version != row.registry:
                registry = _read_registry(connection, row.registry)
            if not _is_named(row.site, registry):
                shown = HiddenEntry(row.leaf_hash, row.registry)
        yield LogRow(row.envelope, row.kind, row.digest, shown)


def read_public(
    connection: Connection, start: int = 0, end: int | None = None
) -> Iterator[PublishedEntry]:
    """Yield the published form of the entries with start <= position < end, in order."""
    for row in read_rows(connection, start, end):
        yield row.published


def _read_registry(connection: Connection, version: int) -> Registry:
    envelope = envelope_of(connection, version)
    assert envelope is not None, "a foreign key ensures that the version is stored"
    return _parse_registry(envelope)


@lru_cache(maxsize=4)
def _parse_registry(envelope: bytes) -> Registry:
    """Parse a registry from the aggregator's own database, which was verified when it was signed."""
    return parse_registry(decode(envelope, REGISTRY_TYPE).payload)
