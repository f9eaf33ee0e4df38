"""Restore a site from a copy: everything is checked, and the directory appears complete or not at all."""

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from agent.backup.form import (
    KEY_NAMES,
    MAX_HEADER,
    MAX_LINE,
    STORE_MEMBER,
    CopyHeader,
    check_name,
    parse_header,
    report_altered,
)
from agent.backup.sealing import CHUNK, SealedReader, derive_copy_key, open_keys
from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox
from agent.disclosure.rekeying import read_reset_digest
from agent.errors import AgentError, ConfigError, StoreError
from agent.io.atomic_files import open_plain, sync_directory
from agent.keys import create_keys_directory, parse_secret_key, read_key_file, write_key_file
from agent.site.directory import Site
from agent.store.database import count_versions

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class RestoredSite:
    """A site that was restored.

    Attributes:
        header: the first line of the copy.
        site: the site.
        files: number of restored files, without the keys.
        left_out: folders that were left out when the copy was made.
        is_member: whether it belongs to a federation, so that it must be compared with the aggregator's log.
        ended_sessions: number of sessions that were open in the copy.
    """

    header: CopyHeader
    site: Site
    files: int
    left_out: tuple[str, ...]
    is_member: bool
    ended_sessions: int


@dataclass(frozen=True, slots=True)
class CheckedCopy:
    """A copy whose content was checked.

    Attributes:
        header: its first line.
        files: number of files in it.
        size: bytes of these files.
        left_out: folders that were left out when it was made.
    """

    header: CopyHeader
    files: int
    size: int
    left_out: tuple[str, ...]


def read_header(copy: Path) -> CopyHeader:
    """Return the first line of a copy, which is not authenticated yet.

    Raises:
        ConfigError: the file cannot be read.
        StoreError: it is not a copy of a site, or was written by a newer version.
    """
    with _open_copy(copy) as file:
        return parse_header(_read_first_line(file))


def open_copy_keys(header: CopyHeader, passphrase: str) -> dict[str, bytes]:
    """Return the site's keys in a copy, by the names of their files.

    Raises:
        ConfigError: the copy has no keys.
        StoreError: the passphrase is wrong, or the copy was changed.
    """
    if header.keys is None:
        raise ConfigError(
            "this copy does not contain the site's keys",
            "Give the folder with the site's keys: --keys FOLDER.",
        )
    return open_keys(header.keys, passphrase, header.copy_id)


def read_keys_folder(folder: Path) -> dict[str, bytes]:
    """Return the site's keys in a folder, by the names of their files. Raises StoreError."""
    paths = [folder / name for name in KEY_NAMES]
    return {path.name: read_key_file(path) for path in paths if path.exists()}


def check_copy(copy: Path, keys: Mapping[str, bytes]) -> CheckedCopy:
    """Read a whole copy, and compare every file in it with its digest. Nothing is written.

    Raises:
        ConfigError: the file cannot be read.
        StoreError: it is truncated, was changed, is no copy of a site, or belongs to other keys.
    """
    with _open_copy(copy) as file:
        line = _read_first_line(file)
        header = parse_header(line)
        reader = _MemberReader(SealedReader(file, _derive_key(keys, header), line))
        size = 0
        for member in reader:
            size += sum(len(data) for data in member.read())
    return CheckedCopy(header, reader.count, size, reader.left_out)


def restore_copy(copy: Path, directory: Path, keys: Mapping[str, bytes]) -> RestoredSite:
    """Restore a site into a new directory. It can be read at once, and submits nothing until its chain was compared.

    Args:
        copy: a file written by `write_copy`.
        directory: the site's new directory, which must be missing or empty.
        keys: the contents of the site's key files, by name.

    Raises:
        ConfigError: the directory is not empty or cannot be written, the disk is full, or the file cannot be read.
        StoreError: the copy is truncated, was changed, was written by a newer version, or belongs to other keys.

    Nothing is left in the directory if an error is raised.
    """
    directory = directory.absolute()
    with _open_copy(copy) as file:
        line = _read_first_line(file)
        header = parse_header(line)
        _check_version(header)
        reader = _MemberReader(SealedReader(file, _derive_key(keys, header), line))
        with _new_site(directory) as growing:
            for member in reader:
                member.write_into(growing)
            Site(growing).create_folders()  # empty ones are not in a copy
            _write_keys(growing, keys)
            is_member, ended_sessions = _settle(Site(growing), header)
            _sync(growing)
    return RestoredSite(
        header, Site(directory), reader.count, reader.left_out, is_member, ended_sessions
    )


def _check_version(header: CopyHeader) -> None:
    if header.store_version > count_versions():
        raise StoreError(
            f"the copy is of a newer version of intramural ({header.program})",
            "Install that version. Nothing was restored.",
        )


def _derive_key(keys: Mapping[str, bytes], header: CopyHeader) -> bytes:
    if "data.key" not in keys:
        raise StoreError(
            "the data key is missing, without which no copy can be read",
            "Give the site's own keys. Nothing was restored.",
        )
    return derive_copy_key(parse_secret_key(keys["data.key"]), header.salt)


def _write_keys(directory: Path, keys: Mapping[str, bytes]) -> None:
    create_keys_directory(directory / "keys")
    for name, content in keys.items():
        write_key_file(directory / "keys" / name, content)


def _settle(site: Site, header: CopyHeader) -> tuple[bool, int]:
    """Check that the restored store is whole and belongs to the keys, and mark it as restored.

    Changes of its audit log or ledger before the copy was made are no reason to refuse it: they are evidence, and
    `doctor` and `ledger verify` name them.

    Returns:
        Whether the site belongs to a federation, and the number of sessions that were ended.

    Raises:
        StoreError: the store is damaged, or belongs to other keys.
    """
    try:
        with site.store() as store:
            store.database.check_integrity()
            is_member = Federation(site.submissions).is_member
            with store.transaction():
                ended_sessions = store.sessions.end_everybodys()
                store.copies.mark_restored(
                    header.copy_id, header.made_at, read_reset_digest(Outbox(site.submissions))
                )
                store.audit.record(
                    "site restored", f"copy={header.copy_id} made_at={header.made_at}"
                )
            if store.database.upgraded_from is not None:
                store.forget_kept_upgrades()  # nobody rolls back to a store without the mark
    except AgentError as error:
        if error.advice.startswith(_FULL_DISK):
            raise
        raise StoreError(
            f"the restored site is not whole: {error}",
            "Use another copy, or the keys that belong to it. Nothing was restored.",
        ) from None
    return is_member, ended_sessions


@contextmanager
def _open_copy(copy: Path) -> Iterator[BinaryIO]:
    try:
        file = open_plain(copy)
    except OSError as error:
        raise ConfigError(
            f"{copy.name} cannot be read ({error.strerror})", "Check the path and its permissions."
        ) from None
    with file:
        yield file


def _read_first_line(file: BinaryIO) -> bytes:
    line = file.readline(MAX_HEADER)
    if not line.endswith(b"\n"):
        parse_header(line)  # says so if this is another file
        raise report_altered("it is truncated")
    return line


@contextmanager
def _new_site(directory: Path) -> Iterator[Path]:
    """Yield a folder beside the directory that takes its place at the end of the block; it is deleted on an error.

    What a killed command left there is deleted first.

    Raises:
        ConfigError: the directory is not empty, another command restores to it, or it cannot be written.
    """
    growing = directory.with_name(f".{directory.name}.restoring")
    if not directory.parent.is_dir():
        raise ConfigError(
            f"{directory.name} cannot be created: there is no folder {directory.parent}",
            "Create the folder, or choose another place.",
        )
    try:
        if directory.is_symlink() or (
            directory.exists() and (not directory.is_dir() or any(directory.iterdir()))
        ):
            raise ConfigError(
                f"{directory.name} exists and is not empty",
                "Restore into a new directory. Existing files are never overwritten.",
            )
        growing.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(growing, flags)
    except OSError as error:
        raise _report_target(directory, error) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError(
                f"another command is restoring to {directory.name}", "Wait until it has ended."
            ) from None
        if os.fstat(handle).st_uid != os.geteuid():
            raise ConfigError(
                f"the folder {growing.name} belongs to another account",
                "Find out why, and remove it.",
            )
        try:
            _empty(growing)
            yield growing
            growing.rename(directory)
            sync_directory(directory.parent)
        except BaseException as error:
            shutil.rmtree(growing, ignore_errors=True)
            cause = error if isinstance(error, OSError) else error.__cause__
            if isinstance(cause, OSError):
                raise _report_target(directory, cause) from None
            if isinstance(error, StoreError) and error.advice.startswith(_FULL_DISK):
                raise _report_full(str(error)) from None
            raise
    finally:
        os.close(handle)


def _empty(folder: Path) -> None:
    os.chmod(folder, 0o700)  # noqa: PTH101 (whatever the umask was)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


_FULL_DISK: Final = "The disk or this account's quota is full"


def _report_target(directory: Path, error: OSError) -> ConfigError:
    if error.errno in _FULL:
        return _report_full(f"{directory.name} cannot be written ({error.strerror})")
    return ConfigError(
        f"{directory.name} cannot be written ({error.strerror})",
        "Choose a place in which this account can write. Nothing was restored.",
    )


def _report_full(sentence: str) -> ConfigError:
    return ConfigError(
        sentence, f"{_FULL_DISK}: make room, or choose another disk. Nothing was restored."
    )


def _sync(folder: Path) -> None:
    """Sync the folders below to disk; their files were synced as they were written."""
    for above, _, _ in os.walk(folder):
        sync_directory(Path(above))


class _MemberReader:
    """Reads the members of a copy in their order.

    Attributes:
        count: number of members read.
        left_out: folders that were left out when the copy was made; known at the end.
    """

    def __init__(self, sealed: SealedReader) -> None:
        self.count = 0
        self.left_out: tuple[str, ...] = ()
        self._sealed = sealed
        self._names: set[str] = set()

    def __iter__(self) -> "Iterator[_OpenMember]":
        """Yield each member, which must be read before the next one. Raises StoreError if the copy is damaged."""
        while True:
            fields = self._read_fields()
            if fields.get("end") is True:
                self._check_end(fields)
                return
            member = self._open_member(fields)
            yield member
            if not member.is_read:
                raise AssertionError("a member was left unread")
            self.count += 1

    def _read_fields(self) -> dict[str, Any]:
        try:
            fields = json.loads(self._sealed.read_line(MAX_LINE))
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            raise report_altered("it has something else in place of a file")
        return fields

    def _open_member(self, fields: Mapping[str, Any]) -> "_OpenMember":
        name, size = fields.get("name"), fields.get("size")
        path = Path(check_name(name))
        if type(size) is not int or size < 0 or str(path) in self._names:
            raise report_altered("it has a file twice, or one without a size")
        self._names.add(str(path))
        mode, mtime_ns = fields.get("mode"), fields.get("mtime_ns")
        if type(mode) is not int or type(mtime_ns) is not int:
            raise report_altered("it has a file without a mode or a time")
        return _OpenMember(self, path, size, bool(mode & 0o100), mtime_ns)

    def _check_end(self, fields: Mapping[str, Any]) -> None:
        left_out = fields.get("left_out")
        if fields.get("members") != self.count or STORE_MEMBER not in self._names:
            raise report_altered("files are missing in it")
        if not isinstance(left_out, list) or not all(isinstance(name, str) for name in left_out):
            raise report_altered("its end was changed")
        if self._sealed.read(1):
            raise report_altered("it goes on after its end")
        self.left_out = tuple(left_out)

    def read_content(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of a member, and compare them with its digest. Raises StoreError."""
        digest = hashlib.sha256()
        while size:
            data = self._sealed.read_exactly(min(CHUNK, size))
            digest.update(data)
            size -= len(data)
            yield data
        if self._read_fields() != {"sha256": digest.hexdigest()}:
            raise report_altered("a file in it does not have its digest")


class _OpenMember:
    """One member of a copy that is being read."""

    def __init__(
        self, reader: _MemberReader, path: Path, size: int, is_executable: bool, mtime_ns: int
    ) -> None:
        self.is_read = False
        self._reader = reader
        self._path = path
        self._size = size
        self._is_executable = is_executable
        self._mtime_ns = mtime_ns

    def read(self) -> Iterator[bytes]:
        """Yield the member's bytes. Raises StoreError if they do not have their digest."""
        yield from self._reader.read_content(self._size)
        self.is_read = True

    def write_into(self, directory: Path) -> None:
        """Write the member below a directory, readable by its owner only.

        Raises:
            OSError: it cannot be written.
            StoreError: the copy is damaged.
        """
        path = directory / self._path
        for above in reversed(self._path.parents[:-1]):
            (directory / above).mkdir(mode=0o700, exist_ok=True)
        mode = 0o700 if self._is_executable else 0o600
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            for data in self.read():
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.utime(path, ns=(self._mtime_ns, self._mtime_ns))
