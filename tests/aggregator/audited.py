"""A federation with auditors: their keys in the registry, and on disk as an auditor keeps one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aggregator.home import Home
from aggregator.key_files import draw_key, keep_key
from aggregator.registry.versions import newest_registry, sign_next
from protocol.keys import Ed25519Signer
from protocol.registry import KeyGroup, NamedKey, Registry


def draw_auditor(folder: Path, name: str) -> tuple[Path, Ed25519Signer]:
    """Make an auditor's key file in a folder of its own."""
    key = draw_key()
    path = folder / name / "auditor.key"
    path.parent.mkdir(mode=0o700, parents=True)
    keep_key(path, key)
    return path, Ed25519Signer(key)


def change_registry(home: Home, **changes: object) -> Registry:
    """Sign the next registry version with these changes."""
    with home.database.writing() as connection:
        before = newest_registry(connection)
        after = replace(before, version=before.version + 1, **changes)  # type: ignore[arg-type]
        sign_next(connection, after, [home.root_signer(before)])
    return after


def name_auditors(home: Home, auditors: Sequence[Ed25519Signer], threshold: int = 1) -> Registry:
    """Put auditors into the registry."""
    keys = tuple(
        NamedKey(f"auditor-{number}", auditor.public) for number, auditor in enumerate(auditors, 1)
    )
    return change_registry(home, auditors=KeyGroup(threshold, keys))
