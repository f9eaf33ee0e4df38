"""Private keys on disk: created exclusively, readable by their owner alone."""

import os
import stat
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from aggregator.errors import KeyFileError
from protocol.keys import Ed25519Signer


def draw_key() -> Ed25519PrivateKey:
    """Draw a new key; nothing is written."""
    return Ed25519PrivateKey.generate()


def keep_key(path: Path, key: Ed25519PrivateKey) -> None:
    """Write a key to `path`, which must not exist yet. Raises KeyFileError."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_private(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that its owner alone can read, and wait until it is on the disk.

    Raises:
        KeyFileError: there is a file already, or it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyFileError(f"{path.name} exists already", "It is never overwritten; choose another place.") from None
    except OSError as error:
        raise KeyFileError(f"{path.name} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def load_key(path: Path) -> Ed25519Signer:
    """Read a key that `keep_key` wrote.

    Raises:
        KeyFileError: the file is missing, is a link, is readable by others, or holds no Ed25519 key.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise KeyFileError(f"{path.name} is missing") from None
    except OSError as error:
        raise KeyFileError(f"{path.name} cannot be read: {type(error).__name__}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
            raise KeyFileError(f"{path.name} has permissions {stat.S_IMODE(status.st_mode):04o}; only 0600 is accepted")
        pem = file.read(16_384)
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):
        raise KeyFileError(f"{path.name} holds no private key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path.name} holds a key of another kind; Ed25519 is needed")
    return Ed25519Signer(key)
