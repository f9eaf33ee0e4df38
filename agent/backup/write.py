"""Make a copy of a site that may be at work: one file, consistent, complete or not there at all."""

import errno
import hashlib
import json
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote

from agent.backup.form import KEY_NAMES, STORE_MEMBER, CopyHeader
from agent.backup.members import (
    SUBMISSIONS,
    Member,
    check_left_out,
    list_members,
    report_unreadable,
)
from agent.backup.sealing import CHUNK, SALT_BYTES, SealedWriter, derive_copy_key, seal_keys
from agent.delivery.outbox import Outbox
from agent.errors import BusyError, ConfigError, StoreError
from agent.io.atomic_files import open_atomically, open_plain, temporary_file
from agent.io.disk_room import find_room
from agent.io.wording import format_size
from agent.keys import read_data_key, read_key_file
from agent.site.directory import Site
from agent.store import Store

_PATIENCE_S: Final = 30.0  # seconds to wait for a command that is writing statements
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SQLITE_FULL: Final = frozenset(
    {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE"}
)


@dataclass(frozen=True, slots=True)
class WrittenCopy:
    """A copy that was made.

    Attributes:
        header: its first line.
        files: number of files in it, with the store, without the keys.
        size: its size in bytes.
    """

    header: CopyHeader
    files: int
    size: int


def write_copy(
    site: Site,
    out: Path,
    *,
    passphrase: str | None,
    label: str = "",
    leave_out: Sequence[str] = (),
) -> WrittenCopy:
    """Copy a whole site into one file that only its owner can read.

    Runs, jobs and the service may be at work meanwhile: the store is copied as it was at one moment, together with the
    statements of that moment.

    Args:
        site: the site.
        out: the new file, outside of the site's directory.
        passphrase: seals the site's keys in the copy; None leaves them out.
        label: what people call the copy.
        leave_out: names of folders in the site's directory that are not copied.

    Raises:
        ConfigError: the file exists, cannot be written there, the disk is full, or a folder cannot be left out. No copy
            was left.
        ClockError: the machine's clock is wrong.
        StoreError: a file of the site cannot be read, or its store is damaged.
        BusyError: a file was changed while it was copied.
    """
    check_target(site, out)
    check_left_out(site.directory, leave_out)
    members = list(list_members(site.directory, leave_out))
    with site.store() as store:
        store.database.check_integrity()
        _check_room(store, out, members)
        known = store.copies.begin(
            secrets.token_hex(8),
            str(out.resolve()),
            label=label,
            has_keys=passphrase is not None,
        )
        try:
            last = store.copies.find_last_deletion()
            header = CopyHeader(
                copy_id=known.copy_id,
                made_at=known.made_at,
                after_purge=known.after_purge,
                purged_at=0 if last is None else last.at,
                program=version("intramural"),
                store_version=store.database.read_version(),
                salt=os.urandom(SALT_BYTES),
                keys=None
                if passphrase is None
                else seal_keys(_read_keys(site), passphrase, known.copy_id),
            )
            with _explaining(out):
                files = _write(site, store, out, header, leave_out)
        except BaseException:
            store.copies.forget(known.copy_id)
            raise
        store.copies.finish(known.copy_id)
        size = out.stat().st_size
        keys = "none" if passphrase is None else "sealed"
        store.audit.record(
            "copy written", f"copy={known.copy_id} files={files} bytes={size} keys={keys}"
        )
    return WrittenCopy(header, files, size)


def check_target(site: Site, out: Path) -> None:
    """Refuse, before anything is read, a file that cannot become a copy. Raises ConfigError."""
    if out.exists() or out.is_symlink():
        raise ConfigError(
            f"{out.name} exists already", "Choose another name: a copy is never overwritten."
        )
    if not out.parent.is_dir():
        raise ConfigError(
            f"{out.name} cannot be written: there is no folder {out.parent}",
            "Create the folder, or choose another place.",
        )
    if out.parent.resolve().is_relative_to(site.directory.resolve()):
        raise ConfigError(
            "the copy would be inside the site's own directory, and lost together with it",
            "Choose a folder outside, best on another disk or machine.",
        )


def _check_room(store: Store, out: Path, members: Sequence[Member]) -> None:
    """Refuse a copy for which there is no room, before anything is written. Raises ConfigError."""
    # The store is on that disk twice for a moment: as it was at one moment, and sealed.
    needed = sum(member.size for member in members) + 2 * store.database.measure_size()
    room = find_room(out.parent)
    if needed > room.free:
        raise ConfigError(
            f"the disk has too little room for the copy: about {format_size(needed)} are needed, and "
            f"{format_size(room.free)} are free",
            "Make room or choose another disk, or leave out folders that can be made again: --leave-out FOLDER.",
        )


def _read_keys(site: Site) -> dict[str, bytes]:
    """Return the contents of the site's key files. Raises StoreError if one cannot be read."""
    paths = [site.keys / name for name in KEY_NAMES]
    return {path.name: read_key_file(path) for path in paths if path.exists()}


def _write(
    site: Site, store: Store, out: Path, header: CopyHeader, leave_out: Sequence[str]
) -> int:
    """Write the file; return the number of files in it."""
    line = header.encode()
    key = derive_copy_key(read_data_key(site.keys / "data.key"), header.salt)
    with open_atomically(out) as file, temporary_file(out.parent) as taken:
        file.write(line)
        writer = _MemberWriter(SealedWriter(file, key, line))
        with store.database.snapshot():
            with _hold_outbox(site):
                store.database.read_version()  # begins the snapshot, while nobody writes statements
                for member in list_members(site.directory, leave_out):
                    if member.name.startswith(f"{SUBMISSIONS}/"):
                        writer.add(member.name, member.path)
            _take_snapshot(store.database.connection, taken)
        writer.add(STORE_MEMBER, taken)
        for member in list_members(site.directory, leave_out):
            if not member.name.startswith(f"{SUBMISSIONS}/"):
                writer.add(member.name, member.path)
        writer.finish(leave_out)
    return writer.count


@contextmanager
def _hold_outbox(site: Site) -> Iterator[None]:
    """Keep commands from writing statements; wait for one that does. Raises BusyError."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        held = Outbox(site.submissions).held()
        try:
            held.__enter__()
            break
        except BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    try:
        yield
    finally:
        held.__exit__(None, None, None)


def _take_snapshot(source: sqlite3.Connection, path: Path) -> None:
    """Write the store as the source's snapshot has it to an empty file, which nobody else opens."""
    # Without locks of its own: the folder may be on a network share that has none.
    target = sqlite3.connect(f"file:{quote(str(path))}?vfs=unix-none", uri=True)
    try:
        target.execute("PRAGMA journal_mode=OFF")
        target.execute("PRAGMA synchronous=OFF")
        source.backup(target)
    finally:
        target.close()


class _MemberWriter:
    """Writes members one after the other, each with its digest."""

    def __init__(self, sealed: SealedWriter) -> None:
        self.count = 0
        self._sealed = sealed

    def add(self, name: str, path: Path) -> None:
        """Add a file. One that was deleted in the meantime is left out.

        Raises:
            BusyError: it was changed while it was copied.
        """
        try:
            file = open_plain(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise report_unreadable(name, error) from None
        with file:
            before = os.fstat(file.fileno())
            fields = {
                "name": name,
                "size": before.st_size,
                "mode": stat.S_IMODE(before.st_mode) & 0o700,
                "mtime_ns": before.st_mtime_ns,
            }
            self._write_line(fields)
            digest, left = hashlib.sha256(), before.st_size
            while left and (data := _read(file, min(CHUNK, left), name)):
                digest.update(data)
                self._sealed.write(data)
                left -= len(data)
            after = os.fstat(file.fileno())
        if left or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise BusyError(
                f"{name} was changed while it was copied",
                "Run the same command again once nothing changes that file. No copy was left.",
            )
        self._write_line({"sha256": digest.hexdigest()})
        self.count += 1

    def finish(self, left_out: Sequence[str]) -> None:
        """Write the end, without which a copy is not complete."""
        self._write_line({"end": True, "members": self.count, "left_out": list(left_out)})
        self._sealed.finish()

    def _write_line(self, fields: Mapping[str, object]) -> None:
        self._sealed.write(json.dumps(fields, separators=(",", ":")).encode() + b"\n")


def _read(file: BinaryIO, size: int, name: str) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise report_unreadable(name, error) from None


@contextmanager
def _explaining(out: Path) -> Iterator[None]:
    """Say what to do about a disk on which the copy cannot be written. Raises ConfigError."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if name in _SQLITE_FULL:
            raise _report_full(out, name) from None
        raise StoreError(f"the store cannot be copied ({name})") from None
    except BusyError:
        raise
    except StoreError as error:
        cause = error.__cause__
        if not isinstance(cause, OSError):
            raise
        raise _report_target(out, cause) from None
    except OSError as error:
        raise _report_target(out, error) from None


def _report_target(out: Path, error: OSError) -> ConfigError:
    if error.errno in _FULL:
        return _report_full(out, error.strerror or "full")
    return ConfigError(
        f"{out.name} cannot be written ({error.strerror})",
        "Choose a folder in which this account can write. No copy was left.",
    )


def _report_full(out: Path, reason: str) -> ConfigError:
    return ConfigError(
        f"{out.name} cannot be written ({reason})",
        "The disk or this account's quota is full: make room, or choose another disk. No copy was left.",
    )
