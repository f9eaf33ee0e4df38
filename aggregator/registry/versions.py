"""The registry versions in the database: reading the newest, signing the next."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, insert, select

from aggregator.errors import RegistryError
from aggregator.store.schema import registry_versions
from protocol.envelope import REGISTRY_TYPE, decode, sign
from protocol.errors import Code, ProtocolError
from protocol.keys import Signer
from protocol.registry import Registry, RootPins, build_registry, parse_registry, step_registry

MAX_RECENT = 4  # registries kept in memory: of 10,000 sites each takes some 30 MB

_NEWEST = select(registry_versions.c.digest).order_by(registry_versions.c.version.desc()).limit(1)
_recently_read: dict[str, Registry] = {}  # by the digest of their envelope, so that databases do not mix


def newest_registry(connection: Connection) -> Registry:
    """Return the registry in force.

    Raises:
        RegistryError: there is none.
    """
    newest = connection.execute(_NEWEST).one_or_none()
    if newest is None:
        raise RegistryError("there is no registry yet", "Run `intramural-aggregator init` first.")
    registry = _recently_read.get(newest.digest)
    if registry is None:
        registry = _parse_own(newest_envelope(connection))
        if len(_recently_read) >= MAX_RECENT:
            _recently_read.pop(next(iter(_recently_read)), None)
        _recently_read[newest.digest] = registry
    return registry


def newest_envelope(connection: Connection) -> bytes:
    """Return the newest registry as signed. Raises RegistryError."""
    query = select(registry_versions.c.envelope).order_by(registry_versions.c.version.desc()).limit(1)
    envelope: bytes | None = connection.execute(query).scalar_one_or_none()
    if envelope is None:
        raise RegistryError("there is no registry yet", "Run `intramural-aggregator init` first.")
    return envelope


def envelope_of(connection: Connection, version: int) -> bytes | None:
    """Return one registry version as signed, None if there is none."""
    query = select(registry_versions.c.envelope).where(registry_versions.c.version == version)
    found: bytes | None = connection.execute(query).scalar_one_or_none()
    return found


def all_envelopes(connection: Connection) -> list[bytes]:
    """Return every version as signed, oldest first."""
    query = select(registry_versions.c.envelope).order_by(registry_versions.c.version)
    return list(connection.execute(query).scalars())


def sign_next(connection: Connection, registry: Registry, roots: Sequence[Signer]) -> None:
    """Sign the version after the newest and put it in force. Raises RegistryError."""
    put_in_force(connection, registry.version, sign_version(registry, newest_registry(connection), roots))


def sign_version(registry: Registry, before: Registry | None, roots: Sequence[Signer]) -> bytes:
    """Sign a registry and verify it as any site will, so that a change that no site would accept is refused here.

    Args:
        registry: the new version.
        before: the version before it; None for the first, which makes its own roots.
        roots: root keys to sign with.

    Raises:
        RegistryError: the content is not valid, or the root keys do not suffice.
    """
    try:
        envelope = sign(build_registry(registry), roots, REGISTRY_TYPE)
        step_registry(envelope, before or own_pins(registry))
    except ProtocolError as error:
        fault = f"registry {registry.version} would not be accepted: {error.detail} ({error.code})"
        raise RegistryError(fault) from None
    return envelope


def put_in_force(connection: Connection, version: int, envelope: bytes) -> None:
    """Store a version that `sign_version` made."""
    connection.execute(
        insert(registry_versions).values(version=version, envelope=envelope, digest=sha256(envelope).hexdigest())
    )


def own_pins(registry: Registry) -> RootPins:
    """Return the pins that a first registry makes for itself: who invents a deployment is its root."""
    return RootPins(registry.deployment, frozenset(key.keyid for key in registry.roots), registry.threshold)


def walk(versions: Iterable[bytes], pins: RootPins | None = None) -> list[Registry]:
    """Verify registry versions from the first, each against the one before.

    Args:
        versions: the signed files, version 1 first, without gaps.
        pins: the roots that must have signed the first; None takes the first at its word.

    Raises:
        ProtocolError: as `step_registry`.
    """
    trusted: list[Registry] = []
    for envelope in versions:
        before: Registry | RootPins | None = trusted[-1] if trusted else pins
        if before is None:
            before = own_pins(parse_registry(decode(envelope, REGISTRY_TYPE).payload))
        trusted.append(step_registry(envelope, before))
        if trusted[-1].version != len(trusted):  # a step may also stand still, or start late
            raise ProtocolError(Code.REGISTRY_SKIPPED, f"version {trusted[-1].version} in the place of {len(trusted)}")
    return trusted


def write_copies(connection: Connection, folder: Path) -> None:
    """Write the versions that `folder` does not hold, for back-ups and for people; the database stays the truth.

    Raises:
        RegistryError: a copy cannot be written; what was signed is in force all the same.
    """
    try:
        folder.mkdir(exist_ok=True)
        for version, envelope in enumerate(all_envelopes(connection), 1):
            path, fresh = folder / f"{version}.dsse.json", folder / f".{version}.new"
            if not path.exists():
                fresh.write_bytes(envelope)
                fresh.replace(path)
    except OSError as error:
        raise RegistryError(
            f"the copies of the registry cannot be written: {error.strerror}",
            "The change itself was made. Mend the folder `registry`; the next change writes the missing copies.",
        ) from None


def _parse_own(envelope: bytes) -> Registry:
    """Read a registry of our own database, which was verified when it was signed."""
    return parse_registry(decode(envelope, REGISTRY_TYPE).payload)
