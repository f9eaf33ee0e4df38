"""A new agent's key, beside the old one until the registry names it: no crash leaves the site without its key."""

from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import StoreError
from agent.io.atomic_files import sync_directory
from agent.keys import KeyRole, create_signing_key, load_signer

if TYPE_CHECKING:
    from protocol.keys import Ed25519Signer
    from protocol.registry import Registry


def load_new_agent_key(keys: Path) -> "Ed25519Signer":
    """Return the new key of the folder `keys`, made now if there is none. Raises StoreError."""
    path = _new_key_path(keys)
    if path.exists():
        return load_signer(path, KeyRole.AGENT)
    return create_signing_key(path, KeyRole.AGENT)


def adopt_new_agent_key(keys: Path, registry: "Registry", site: str) -> bool:
    """Put the new key in the old one's place once the registry names it as the site's agent; return whether it did.

    Repeating it after a crash ends in the same state. The old key's file is gone then: it signs nothing any more.

    Raises:
        StoreError: the new key is too widely readable, or the disk refuses.
    """
    path = _new_key_path(keys)
    if not path.exists():
        return False
    new = load_signer(path, KeyRole.AGENT).public
    found = registry.site_of(new.keyid)
    if found is None or found[0] != site:
        return False
    entry = found[1]
    if entry.role != "agent" or entry.revoked_from is not None or entry.until_index is not None:
        return False
    try:
        path.replace(keys / "agent.key")
        sync_directory(keys)
    except OSError as error:
        raise StoreError(f"the new agent key cannot be put in place ({error.strerror})") from None
    return True


def load_present_agent_key(keys: Path) -> "Ed25519Signer":
    """Return the agent's key; where it was lost and a new one was made, the new one. Raises StoreError."""
    if not (keys / "agent.key").exists() and _new_key_path(keys).exists():
        return load_signer(_new_key_path(keys), KeyRole.AGENT)
    return load_signer(keys / "agent.key", KeyRole.AGENT)


def load_agent_keys(keys: Path) -> "list[Ed25519Signer]":
    """Return the agent's keys that are in the folder, the present one before a new one. Raises StoreError."""
    paths = [path for path in (keys / "agent.key", _new_key_path(keys)) if path.exists()]
    return [load_signer(path, KeyRole.AGENT) for path in paths]


def _new_key_path(keys: Path) -> Path:
    return keys / "agent.key.new"
