"""Replace the agent's key.

The new key is stored next to the old one until the registry names it, so no crash leaves the site without its key.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import StoreError
from agent.io.atomic_files import sync_directory
from agent.keys import KeyRole, create_signing_key, load_signer

if TYPE_CHECKING:
    from protocol.keys import Ed25519Signer
    from protocol.registry import Registry


def load_new_agent_key(keys: Path) -> "Ed25519Signer":
    """Return the new key in the folder `keys`, creating it if there is none. Raises StoreError."""
    path = _new_key_path(keys)
    if path.exists():
        return load_signer(path, KeyRole.AGENT)
    return create_signing_key(path, KeyRole.AGENT)


def adopt_new_agent_key(keys: Path, registry: "Registry", site: str) -> bool:
    """Replace the old key by the new one if the registry names it as the site's agent; return whether it was replaced.

    Repeating the call after a crash ends in the same state. The file of the old key, which is no longer used, is
    deleted.

    Raises:
        StoreError: the new key is readable by other accounts, or the file cannot be replaced.
    """
    path = _new_key_path(keys)
    if not path.exists():
        return False
    new = load_signer(path, KeyRole.AGENT).public
    site_and_entry = registry.site_of(new.keyid)
    if site_and_entry is None:
        return False
    key_site, entry = site_and_entry
    if key_site != site:
        return False
    if entry.role != "agent" or entry.revoked_from is not None or entry.until_index is not None:
        return False
    try:
        path.replace(keys / "agent.key")
        sync_directory(keys)
    except OSError as error:
        raise StoreError(
            f"the old agent key cannot be replaced by the new one ({error.strerror})"
        ) from None
    return True


def load_present_agent_key(keys: Path) -> "Ed25519Signer":
    """Return the agent's key, or the new one if the old one is missing. Raises StoreError."""
    if not (keys / "agent.key").exists() and _new_key_path(keys).exists():
        return load_signer(_new_key_path(keys), KeyRole.AGENT)
    return load_signer(keys / "agent.key", KeyRole.AGENT)


def load_agent_keys(keys: Path) -> "list[Ed25519Signer]":
    """Return the agent's keys in the folder, the current one first and then the new one, if any. Raises StoreError."""
    paths = [path for path in (keys / "agent.key", _new_key_path(keys)) if path.exists()]
    return [load_signer(path, KeyRole.AGENT) for path in paths]


def _new_key_path(keys: Path) -> Path:
    return keys / "agent.key.new"
