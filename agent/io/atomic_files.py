"""Atomic writing of files that only their owner may read: a crash leaves either the old or the new contents."""

import errno
import fcntl
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent.errors import BusyError, ConfigError, StoreError
from agent.io.write_advice import advise_on_write

_NAME_BYTES = 8  # random bytes in a temporary file's name


def write_atomically(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write `content` to a temporary file, sync it to disk and rename it to `path`; `mode` is that of `os.open`.

    Raises:
        StoreError: the file cannot be written; `path` is unchanged.
    """
    with open_atomically(path, mode=mode) as file:
        file.write(content)


@contextmanager
def open_atomically(path: Path, *, mode: int = 0o600) -> Iterator[io.BufferedWriter]:
    """Yield a temporary file that is renamed to `path` if the `with` block succeeds, and deleted if it fails.

    Temporary files that killed commands left next to `path` are removed first.

    Raises:
        StoreError: the file cannot be written; `path` is unchanged.
    """
    try:
        _remove_orphans(path.parent)
        handle, temporary = _open_temporary(path.parent, mode)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                temporary.replace(path)  # before the file is closed, which releases its lock
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_directory(path.parent)
    except OSError as error:
        raise StoreError(
            f"a file in the folder {path.parent.name} cannot be written ({error.strerror})",
            advise_on_write(error),
        ) from error


@contextmanager
def temporary_file(folder: Path) -> Iterator[Path]:
    """Yield an empty file that only its owner can read, and delete it at the end.

    That of a killed command is removed by the next one that writes a file to the folder atomically.

    Raises:
        OSError: it cannot be created.
    """
    handle, path = _open_temporary(folder, 0o600)
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def _open_temporary(folder: Path, mode: int) -> tuple[int, Path]:
    """Open a new file and lock it, so that other commands see that it is being written."""
    while True:
        temporary = folder / f".new-{secrets.token_hex(_NAME_BYTES)}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with suppress(OSError):  # on a file system without locks, files of killed commands remain
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, temporary
        os.close(handle)  # another command removed it before it was locked


def _remove_orphans(folder: Path) -> None:
    """Remove temporary files of killed commands, which are recognised by their released locks."""
    for orphan in folder.glob(".new-" + "[0-9a-f]" * 2 * _NAME_BYTES):
        with suppress(OSError):
            handle = os.open(orphan, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                orphan.unlink()
            finally:
                os.close(handle)


def open_plain(path: Path) -> io.BufferedReader:
    """Open a file that a user named, for reading and without blocking on a pipe.

    Raises:
        OSError: the file cannot be read, or is a pipe, a device or a folder.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(handle, "rb")


def read_given(path: Path, limit: int, name: str) -> bytes:
    """Return the contents of a file that a person named, at most `limit` bytes.

    Raises:
        ConfigError: the file is missing, unreadable or longer; `name` describes it in the message.
    """
    try:
        return read_bounded(path, limit, name)
    except StoreError as error:
        raise ConfigError(
            f"{error} ({path})", "Check the path of the file, and that your account may read it."
        ) from None


def read_bounded(path: Path, limit: int, name: str) -> bytes:
    """Return the contents of `path`, a file of the site itself, at most `limit` bytes.

    Raises:
        StoreError: the file is missing, unreadable or longer; `name` describes it in the message.
    """
    try:
        with open_plain(path) as file:
            content = file.read(limit + 1)
    except FileNotFoundError as error:
        raise StoreError(f"{name} is missing") from error
    except OSError as error:
        raise StoreError(f"{name} cannot be read ({error.strerror})") from error
    if len(content) > limit:
        raise StoreError(f"{name} is longer than {limit} bytes")
    return content


def sync_directory(directory: Path) -> None:
    """Sync additions to and removals from `directory` to disk."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def lock_folder(directory: Path) -> Iterator[None]:
    """Lock `directory` for one command during the `with` block; create it with mode 0700 if it is missing.

    Raises:
        BusyError: another command holds the lock.
        StoreError: the directory cannot be created.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(
            directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
    except OSError as error:
        raise StoreError(
            f"the folder {directory.name} cannot be used ({error.strerror})"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BusyError(
                f"another command is using the folder {directory.name}",
                "Wait until it has ended, then try again.",
            ) from error
        yield
    finally:
        os.close(handle)
