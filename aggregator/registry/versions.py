"""The registry versions in the database: reading them, and signing the next one."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, bindparam, func, insert, select

from aggregator.errors import RegistryError, StoreError
from aggregator.registry.packing import Version, first_of_block, open_version, pack, unpack
from aggregator.store.schema import registry_versions
from protocol.envelope import REGISTRY_TYPE, decode, sign
from protocol.errors import Code, ProtocolError
from protocol.keys import Signer
from protocol.registry import (
    ACCEPTED_VERSIONS,
    Registry,
    RootPins,
    build_registry,
    parse_registry,
    step_registry,
)

MAX_RECENT = 4  # registries kept in memory; one with 10,000 sites takes about 30 MB

_NEWEST = select(registry_versions.c.digest).order_by(registry_versions.c.version.desc()).limit(1)
_VERSION_OF_DIGEST = select(registry_versions.c.version).where(
    registry_versions.c.digest == bindparam("digest")
)
_recently_read: dict[
    str, Registry
] = {}  # by digest of the envelope, since several databases may be open


def newest_registry(connection: Connection) -> Registry:
    """Return the registry in force.

    Raises:
        RegistryError: there is no registry.
    """
    newest = connection.execute(_NEWEST).one_or_none()
    if newest is None:
        raise RegistryError("there is no registry yet", "Run `intramural-aggregator init` first.")
    return read_registry(connection, newest.digest)


def read_registry(connection: Connection, digest: str) -> Registry:
    """Return the registry whose envelope in the database has this digest."""
    registry = _recently_read.get(digest)
    if registry is None:
        version = connection.execute(_VERSION_OF_DIGEST, {"digest": digest}).scalar_one()
        envelope = envelope_of(connection, version)
        assert envelope is not None, "the version was just found"
        registry = _parse_own(envelope)
        if len(_recently_read) >= MAX_RECENT:
            _recently_read.pop(next(iter(_recently_read)), None)
        _recently_read[digest] = registry
    return registry


def newest_envelope(connection: Connection) -> bytes:
    """Return the envelope of the newest registry. Raises RegistryError."""
    newest = connection.execute(select(func.max(registry_versions.c.version))).scalar_one()
    envelope = None if newest is None else envelope_of(connection, newest)
    if envelope is None:
        raise RegistryError("there is no registry yet", "Run `intramural-aggregator init` first.")
    return envelope


def envelope_of(connection: Connection, version: int) -> bytes | None:
    """Return the envelope of one registry version; None if there is no such version."""
    found = _read_version(connection, version)
    return None if found is None else found.envelope()


def _read_version(connection: Connection, number: int) -> Version | None:
    found = None
    for read, version in _read_versions(connection, first_of_block(number), number):
        found = version if read == number else None
    return found


def all_envelopes(connection: Connection) -> list[bytes]:
    """Return the envelopes of all versions, oldest first."""
    return [envelope for _, envelope in read_envelopes(connection)]


def read_envelopes(connection: Connection, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield versions with their numbers, oldest first, one at a time, as all of them may not fit in memory.

    Args:
        connection: a connection to the database.
        first: number of the first version; must begin a block (`packing.first_of_block`).

    Raises:
        StoreError: a stored version is damaged.
    """
    for number, version in _read_versions(connection, first):
        yield number, version.envelope()


def recent_envelopes(connection: Connection) -> list[tuple[int, bytes]]:
    """Return the versions that a statement may name, with their numbers, oldest first. Raises StoreError."""
    newest = connection.execute(select(func.max(registry_versions.c.version))).scalar_one() or 0
    oldest = max(1, newest - ACCEPTED_VERSIONS + 1)
    return [
        entry for entry in read_envelopes(connection, first_of_block(oldest)) if entry[0] >= oldest
    ]


def _read_versions(
    connection: Connection, first: int, last: int | None = None
) -> Iterator[tuple[int, Version]]:
    query = select(registry_versions).where(registry_versions.c.version >= first)
    if last is not None:
        query = query.where(registry_versions.c.version <= last)
    before = None
    for row in connection.execute(query.order_by(registry_versions.c.version)):
        try:
            before = unpack(row.envelope, before)
        except (ValueError, LookupError, TypeError, zlib.error):
            raise StoreError(f"the stored registry version {row.version} is damaged") from None
        yield row.version, before


def sign_next(connection: Connection, registry: Registry, roots: Sequence[Signer]) -> None:
    """Sign the version after the newest one and put it in force. Raises RegistryError."""
    put_in_force(
        connection, registry.version, sign_version(registry, newest_registry(connection), roots)
    )


def sign_version(registry: Registry, before: Registry | None, roots: Sequence[Signer]) -> bytes:
    """Sign a registry and verify it as sites do, so that a change that no site would accept is refused here.

    Args:
        registry: the new version.
        before: the previous version; None for the first, which names its own roots.
        roots: root keys to sign with.

    Raises:
        RegistryError: the content is not valid, or there are too few root keys.
    """
    if before is not None and registry.version != before.version + 1:
        raise RegistryError(f"version {registry.version} does not follow version {before.version}")
    try:
        envelope = sign(build_registry(registry), roots, REGISTRY_TYPE)
        step_registry(envelope, before or own_pins(registry))
    except ProtocolError as error:
        fault = f"registry {registry.version} would not be accepted: {error.detail} ({error.code})"
        raise RegistryError(fault) from None
    return envelope


def put_in_force(connection: Connection, version: int, envelope: bytes) -> None:
    """Store a version that `sign_version` returned, or that several roots signed."""
    packed = pack(version, open_version(envelope), _read_version(connection, version - 1))
    connection.execute(
        insert(registry_versions).values(
            version=version, envelope=packed, digest=sha256(envelope).hexdigest()
        )
    )


def own_pins(registry: Registry) -> RootPins:
    """Return the pins for a first registry, taken from its own root keys, which the founder holds."""
    return RootPins(
        registry.deployment, frozenset(key.keyid for key in registry.roots), registry.threshold
    )


def walk(
    versions: Iterable[bytes], pins: RootPins | None = None, *, first: int = 1
) -> list[Registry]:
    """Verify registry versions, oldest first, each against the one before it.

    Args:
        versions: the signed files, without gaps.
        pins: the roots that must have signed the first one; None trusts the roots that it names itself.
        first: number of the first version.

    Raises:
        ProtocolError: as `step_registry`.
    """
    trusted: list[Registry] = []
    for envelope in versions:
        before: Registry | RootPins | None = trusted[-1] if trusted else pins
        if before is None:
            before = own_pins(parse_registry(decode(envelope, REGISTRY_TYPE).payload))
        trusted.append(step_registry(envelope, before))
        expected = first + len(trusted) - 1
        if (
            trusted[-1].version != expected
        ):  # `step_registry` also accepts the same version or a later one
            raise ProtocolError(
                Code.REGISTRY_SKIPPED, f"version {trusted[-1].version} instead of {expected}"
            )
    return trusted


def write_copies(connection: Connection, folder: Path) -> None:
    """Write the newest versions that `folder` lacks, and remove older ones; the database remains authoritative.

    The copies are for backups, and for sites without a connection.

    Raises:
        RegistryError: a copy cannot be written. The signed version is in force all the same.
    """
    try:
        folder.mkdir(exist_ok=True)
        recent = recent_envelopes(connection)
        held = {int(path.name.partition(".")[0]) for path in folder.glob("[1-9]*.dsse.json")}
        for version, envelope in recent:
            if version not in held:
                fresh = folder / f".{version}.new"
                fresh.write_bytes(envelope)
                fresh.replace(folder / f"{version}.dsse.json")
        for version in held:
            if recent and version < recent[0][0]:
                (folder / f"{version}.dsse.json").unlink(missing_ok=True)
    except OSError as error:
        raise RegistryError(
            f"the copies of the registry cannot be written: {error.strerror}",
            "The change itself was made. Repair the folder `registry`; the next change writes the missing copies.",
        ) from None


def _parse_own(envelope: bytes) -> Registry:
    """Parse a registry from the aggregator's own database, which was verified when it was signed."""
    return parse_registry(decode(envelope, REGISTRY_TYPE).payload)
