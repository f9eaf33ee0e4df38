"""Reading files named by the user, and writing files atomically."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from intramural_steward.errors import KeyFileError, UsageError

_MAX_SECRET = 16 * 1024  # bytes of a key or password file


def read_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Raises:
        UsageError: the file is missing, unreadable, too long, or a pipe, device or folder.
    """
    try:
        # Do not wait for a writer if the file is a pipe.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UsageError(f"{path.name} is not a regular file")
            content = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read ({error.strerror})") from None
    if len(content) > most:
        raise UsageError(f"{path.name} is longer than {most} bytes")
    return content


def read_secret_file(path: Path, what: str) -> bytes:
    """Return the content of a file that only its owner may read.

    Raises:
        KeyFileError: the file is missing, unreadable, owned by another user, readable by others,
            empty or too long. The message refers to it as `what` and does not quote its content.
    """
    try:
        # Open the file before checking it, so that it cannot be swapped in between.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise KeyFileError(f"{what} is missing") from None
    except OSError as error:
        raise KeyFileError(f"{what} cannot be opened ({error.strerror})") from None
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise KeyFileError(f"{what} is not a regular file")
        if state.st_uid != os.geteuid():
            raise KeyFileError(
                f"{what} belongs to another user", "Run the command as the user who owns it."
            )
        mode = stat.S_IMODE(state.st_mode)
        if mode & 0o077:
            raise KeyFileError(
                f"{what} can be read by others (mode {mode:04o}, expected 0600)",
                "Find out who could read it, and replace it if anyone has read it. "
                "If not, chmod 600.",
            )
        content = file.read(_MAX_SECRET + 1)
    if not 0 < len(content) <= _MAX_SECRET:
        raise KeyFileError(f"{what} is empty or too long")
    return content


def check_new(path: Path) -> None:
    """Check that the path of a new file does not exist. Raises UsageError."""
    if path.exists() or path.is_symlink():
        raise UsageError(
            f"{path.name} already exists and is not overwritten", "Choose another file with --out."
        )


def write_new(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a new file atomically. An existing file with the same content is left unchanged.

    Raises:
        UsageError: another file exists, or the file cannot be written.
    """
    try:
        if path.is_file() and not path.is_symlink() and path.read_bytes() == content:
            return
        check_new(path)
        _write_whole(path, content, mode)
    except OSError as error:
        raise UsageError(f"{path.name} cannot be written ({error.strerror})") from None


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of a file with mode 0600. Even after a power failure, it has either the
    old or the new content.

    Raises:
        OSError: the file cannot be written. It is unchanged.
    """
    _write_whole(path, content, 0o600)


def _write_whole(path: Path, content: bytes, mode: int) -> None:
    # Always use the same temporary name, so that the next command removes what a killed one left
    # behind.
    temporary = path.with_name(f".{path.name}.new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    handle = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
