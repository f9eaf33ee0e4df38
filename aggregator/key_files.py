"""Private files on disk: created once, readable by their owner only, never overwritten.

Private keys such as `root.key` and `log.key` (Ed25519, PEM) are stored with mode 0600 in a folder
with mode 0700. Any problem with a key file raises KeyFileError, which names the file but never
quotes its content.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
    load_pem_private_key,
    load_pem_public_key,
)

from aggregator.errors import KeyFileError
from protocol.errors import ProtocolError
from protocol.keys import Ed25519Signer, PublicKey, load_public

_MAX_KEY_FILE: Final = 4096  # bytes; an Ed25519 key in PEM has 119
_DISK_ADVICE: Final = "Check that the disk has free space and that the permissions are correct."
_NEVER_OVERWRITTEN: Final = "It is never overwritten. Choose another path."
_NEW_KEY_ADVICE: Final = (
    "Nothing was written. Choose a file in a new folder, which is created with mode 0700, or restrict this folder "
    "with chmod 700."
)
_OPEN_FOLDER_ADVICE: Final = (
    "Restrict it with chmod 700, and find out whether anyone has read the keys."
)
_PUBLIC_HEADER: Final = b"-----BEGIN PUBLIC KEY-----"
_OWNER_ADVICE: Final = "Run the command as the user who owns the aggregator's directory."


def draw_key() -> Ed25519PrivateKey:
    """Generate a new key without writing it."""
    return Ed25519PrivateKey.generate()


def keep_key(path: Path, key: Ed25519PrivateKey) -> None:
    """Write a key to `path`, which must not exist. Its folder is created if it is missing.

    Raises:
        KeyFileError: the file exists, the folder is open to others, or the file cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise KeyFileError(
            f"the folder of {path.name} cannot be created: {error.strerror}", _DISK_ADVICE
        ) from None
    _check_directory(path, _NEW_KEY_ADVICE)
    write_private(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def keep_pair(path: Path, key: Ed25519PrivateKey) -> None:
    """Write a key to `path` and its public key to the same path with `.pub` appended, either both or neither.

    Raises:
        KeyFileError: as for `keep_key`, for either file.
    """
    public = path.with_name(f"{path.name}.pub")
    if public.exists():
        raise KeyFileError(f"{public.name} already exists", _NEVER_OVERWRITTEN)
    keep_key(path, key)
    with _removed_on_failure([path]):
        write_public(public, Ed25519Signer(key).public)


@contextmanager
def kept_keys(folder: Path, keys: Mapping[str, Ed25519PrivateKey]) -> Iterator[list[Path]]:
    """Write new keys, named by their kinds, and yield their paths. If the caller's block fails, the files are removed.

    Raises:
        KeyFileError: as for `keep_key`.
    """
    paths: list[Path] = []
    with _removed_on_failure(paths):
        for kind, key in keys.items():
            path = folder / f"{kind}-{Ed25519Signer(key).public.keyid[:8]}.key"
            keep_key(path, key)
            paths.append(path)
        yield paths


@contextmanager
def _removed_on_failure(paths: Sequence[Path]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that is private from its creation, and sync the file and its folder to disk.

    Raises:
        KeyFileError: the file exists, or cannot be written; no partial file remains.
    """
    try:
        handle = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except FileExistsError:
        raise KeyFileError(f"{path.name} already exists", _NEVER_OVERWRITTEN) from None
    except OSError as error:
        raise KeyFileError(
            f"{path.name} cannot be created: {error.strerror}", _DISK_ADVICE
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o600)  # regardless of the umask
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _sync_directory(path.parent)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise KeyFileError(
            f"{path.name} cannot be written: {error.strerror}", _DISK_ADVICE
        ) from None


def write_public(path: Path, key: PublicKey) -> None:
    """Write a new, world-readable file with a public key (PEM).

    Raises:
        KeyFileError: the file exists, or cannot be written.
    """
    pem = load_der_public_key(key.der).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    try:
        with path.open("xb") as file:
            file.write(pem)
    except OSError as error:
        raise KeyFileError(
            f"{path.name} cannot be created: {error.strerror}", _DISK_ADVICE
        ) from None


def load_public_key(path: Path) -> PublicKey:
    """Read a public key file written by `write_public`.

    Raises:
        KeyFileError: the file is unreadable, or is not a single valid Ed25519 key.
    """
    try:
        with path.open("rb") as file:
            pem = file.read(_MAX_KEY_FILE)
    except FileNotFoundError:
        raise KeyFileError(
            f"there is no file {path}", "Name the file with the public key, which ends in .pub."
        ) from None
    except OSError as error:
        raise KeyFileError(f"{path.name} cannot be read: {error.strerror}", _DISK_ADVICE) from None
    try:
        found = load_pem_public_key(pem)
        key = load_public(found.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
    except (ValueError, TypeError, UnsupportedAlgorithm, ProtocolError):
        if b"PRIVATE KEY-----" in pem:
            raise KeyFileError(
                f"{path.name} is a private key; expected its public key",
                "Use the file that ends in .pub. If this private key has left its owner's machine, create a new key.",
            ) from None
        raise KeyFileError(
            f"{path.name} is not a public key in PEM",
            "Use the file that ends in .pub, never the private key.",
        ) from None
    if key.algorithm != "ed25519":
        raise KeyFileError(
            f"{path.name} contains another kind of key; expected Ed25519",
            "Create one with `new-key`.",
        )
    return key


def load_key(path: Path) -> Ed25519Signer:
    """Read a private key file written by `keep_key`.

    Raises:
        KeyFileError: the file is missing, a public key, owned by another user, open to others, not
            a regular file, damaged, or another kind of key.
    """
    _refuse_public_half(path)
    pem = _read(path)
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # The library's message may quote the file, so the cause is dropped.
        raise KeyFileError(
            f"{path.name} is damaged: expected an unencrypted Ed25519 key in PEM"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path.name} contains another kind of key; expected Ed25519")
    return Ed25519Signer(key)


def _read(path: Path) -> bytes:
    """Read a key file, checking the opened file so that it cannot be swapped between check and reading."""
    _check_directory(path)
    try:
        # Opening a pipe without O_NONBLOCK would wait for a writer forever.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise KeyFileError(f"{path.name} is missing", "Restore the key from its backup.") from None
    except OSError as error:
        raise KeyFileError(f"{path.name} cannot be opened: {error.strerror}") from None
    try:
        _check_file(path, os.fstat(handle))
        content = os.read(handle, _MAX_KEY_FILE + 1)
    except OSError as error:
        raise KeyFileError(f"{path.name} cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)
    if len(content) > _MAX_KEY_FILE:
        raise KeyFileError(f"{path.name} is damaged: it is larger than {_MAX_KEY_FILE} bytes")
    return content


def _check_file(path: Path, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise KeyFileError(f"{path.name} is not a regular file")
    if state.st_uid != os.geteuid():
        raise KeyFileError(f"{path.name} belongs to another user", _OWNER_ADVICE)
    if state.st_mode & 0o077:
        raise KeyFileError(
            f"{path.name} can be read by others (mode {stat.S_IMODE(state.st_mode):04o}, expected 0600)",
            "Find out who could read the key, and replace it if anyone has read it. "
            "If not, chmod 600.",
        )


def _refuse_public_half(path: Path) -> None:
    """Refuse a public key given instead of the private key, before its permissions are checked.

    Raises:
        KeyFileError: the file is a public key. Other errors are reported when the key is read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        is_public = stat.S_ISREG(os.fstat(handle).st_mode) and os.read(handle, 64).startswith(
            _PUBLIC_HEADER
        )
    except OSError:
        return
    finally:
        os.close(handle)
    if is_public:
        private = f", {path.stem}" if path.suffix == ".pub" else ""
        raise KeyFileError(
            f"{path.name} is a public key",
            f"Nothing has leaked. Use the private key file{private}, which is stored only on its owner's machine.",
        )


def _check_directory(path: Path, advice: str = _OPEN_FOLDER_ADVICE) -> None:
    try:
        state = path.parent.lstat()
    except OSError as error:
        raise KeyFileError(f"the folder of {path.name} cannot be read: {error.strerror}") from None
    if not stat.S_ISDIR(state.st_mode):
        raise KeyFileError(f"the folder of {path.name} is not a folder")
    if state.st_uid != os.geteuid():
        raise KeyFileError(f"the folder of {path.name} belongs to another user", _OWNER_ADVICE)
    if state.st_mode & 0o077:
        raise KeyFileError(
            f"the folder of {path.name} is open to others (mode {stat.S_IMODE(state.st_mode):04o}, expected 0700)",
            advice,
        )


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
