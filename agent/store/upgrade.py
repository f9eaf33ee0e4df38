"""The store as it was before an upgrade: kept in a file beside it, purged with it, and put back by a roll back."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from agent.errors import StoreError
from agent.io.atomic_files import open_atomically, sync_directory, temporary_file

_KEPT: Final = "before-upgrade-"
_ASIDE: Final = "set-aside-"
_PORTION: Final = 1024 * 1024  # bytes
_PURGES: Final = {
    "answers": "DELETE FROM answers WHERE created_at <= ?",
    "judgements": "DELETE FROM judgements WHERE created_at <= ?",
    "records": "DELETE FROM records WHERE last_used_at <= ?",
    "reviewed_texts": "UPDATE reviewed_texts SET sealed = NULL WHERE sealed IS NOT NULL"
    " AND review IN (SELECT name FROM reviews WHERE made_at <= ?)",
}


def keep_before_upgrade(path: Path, version: int) -> Path:
    """Write the store to a file beside it, and return that file's path.

    The caller holds a transaction in which nothing is written yet, so that nobody else writes meanwhile. An earlier
    file of this kind is replaced: only the last upgrade can be rolled back.

    Raises:
        StoreError: it cannot be written; the store must not be upgraded.
    """
    kept = path.with_name(f"{_KEPT}{version}.sqlite3")
    try:
        with temporary_file(path.parent) as taken:
            # A connection of its own: SQLite never copies from one that may write, and Python would wait forever.
            with (
                closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as source,
                closing(sqlite3.connect(taken)) as target,
            ):
                target.execute("PRAGMA journal_mode=OFF")
                source.backup(target)
            with open_atomically(kept) as file, taken.open("rb") as content:
                while data := content.read(_PORTION):
                    file.write(data)
        for other in list_kept(path):
            if other != kept:
                other.unlink()
    except (OSError, sqlite3.Error, StoreError) as error:
        raise StoreError(
            f"the store must be upgraded, and cannot be copied before ({_name_reason(error)})",
            "Make room on the disk of the site. Nothing was changed.",
        ) from None
    return kept


def list_kept(path: Path) -> list[Path]:
    """Return the files with the store before upgrades, oldest version first."""
    return sorted(path.parent.glob(f"{_KEPT}*.sqlite3"), key=_read_version)


def list_others(path: Path) -> list[Path]:
    """Return all files beside the store that hold it as it was or would be in another version."""
    return [*list_kept(path), *sorted(path.parent.glob(f"{_ASIDE}*.sqlite3"))]


def delete_texts(connection: sqlite3.Connection, last: int) -> int:
    """Delete the texts that were stored or last used by a time, within the open transaction; return their number.

    Args:
        connection: a store of this or an earlier version.
        last: seconds since 1970.
    """
    tables = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    deleted = 0
    for table, statement in _PURGES.items():
        if table in tables:
            deleted += connection.execute(statement, (last,)).rowcount
    if "findings" in tables:
        connection.execute(
            "DELETE FROM findings"
        )  # recomputed from the remaining texts when needed
    return deleted


def purge_others(path: Path, last: int) -> None:
    """Delete the same texts from the files beside the store.

    Raises:
        StoreError: a file cannot be read or written; the message names it.
    """
    for other in list_others(path):
        try:
            with closing(sqlite3.connect(other, isolation_level=None)) as connection:
                connection.execute("PRAGMA secure_delete=ON")
                connection.execute("PRAGMA temp_store=MEMORY")
                connection.execute("PRAGMA journal_mode=DELETE")
                connection.execute("BEGIN IMMEDIATE")
                delete_texts(connection, last)
                connection.execute("COMMIT")
                connection.execute("VACUUM")
        except sqlite3.Error as error:
            raise StoreError(
                f"texts cannot be deleted from store/{other.name} ({_name_reason(error)})",
                "Delete that file: it serves only to roll back an upgrade. Then run the same command again.",
            ) from None


def put_back(path: Path, version: int) -> tuple[int, int]:
    """Put the store before the last upgrade in the place of a newer one, which is set aside.

    Nobody may have the store open.

    Args:
        path: the store's file.
        version: the version of the tables that this program writes.

    Returns:
        The version of the store that was set aside, and of the one that took its place.

    Raises:
        StoreError: the store is not of a newer version, there is no file from before its upgrade, or another command
            has it open.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        newer = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if newer <= version:
            raise StoreError(
                "the store is of this version, so there is no upgrade to roll back",
                "Install the version of the program to which you want to return, and run the command with it.",
            )
        kept = [other for other in list_kept(path) if _read_version(other) <= version]
        if not kept:
            raise StoreError(
                "there is no file of the store from before its upgrade that this version can open",
                "Restore the site from a copy that was made before the upgrade.",
            )
        (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    if is_busy or mode != "delete":
        raise StoreError(
            "another command has the store open", "Stop the service and every command of this site."
        )
    older = _read_version(kept[-1])
    aside = path.with_name(f"{_ASIDE}{newer}.sqlite3")
    if not aside.exists():
        _link_or_copy(path, aside)
    # The older store takes the place in one step: a crash leaves the newer one or the older one.
    with open_atomically(path) as file, kept[-1].open("rb") as source:
        while data := source.read(_PORTION):
            file.write(data)
    sync_directory(path.parent)
    return newer, older


def _link_or_copy(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:  # a file system without links
        with open_atomically(target) as file, path.open("rb") as source:
            while data := source.read(_PORTION):
                file.write(data)


def _read_version(kept: Path) -> int:
    number = kept.stem.removeprefix(_KEPT)
    return int(number) if number.isdecimal() else 0


def _name_reason(error: BaseException) -> str:
    if isinstance(error, sqlite3.Error):
        return str(getattr(error, "sqlite_errorname", type(error).__name__))
    cause = error.__cause__ if isinstance(error, StoreError) else error
    return getattr(cause, "strerror", None) or type(error).__name__
