"""Private keys on disk: readable by their owner only, and never overwritten.

`data.key` (32 random bytes in hexadecimal) encrypts the store. `seal.key` (in the same format) seals the records that
must not be rewritten: the release ledger and the audit log. `agent.key` (Ed25519, PEM) signs statements that passed the
disclosure gate. All three are stored in the site's `keys/` folder, mode 0700. A steward's key is made and kept
elsewhere by another person. Every problem with a key raises `StoreError`, which names the key's role but never quotes
its contents.
"""

import base64
import hmac
import os
import secrets
import stat
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent.errors import StoreError
from agent.io.atomic_files import sync_directory
from agent.io.write_advice import advise_on_write
from protocol.errors import ProtocolError
from protocol.keys import Ed25519Signer, PublicKey, load_public

_SECRET_KEY_BYTES: Final = 32
_MAX_KEY_FILE: Final = 4096  # bytes; an Ed25519 key in PEM has 119
_PRIVATE_MARK: Final = b"PRIVATE KEY-----"
_PUBLIC_MARK: Final = b"BEGIN PUBLIC KEY-----"


class KeyRole(StrEnum):
    """The role of a key. The site's own three keys are stored in a folder that only its owner can enter."""

    DATA = "data"
    SEAL = "seal"
    AGENT = "agent"
    STEWARD = "steward"


def create_keys_directory(directory: Path) -> None:
    """Create the folder for the site's keys with mode 0700; an existing folder must have the same mode.

    Raises:
        StoreError: the folder cannot be created, or others may enter it.
    """
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder for keys cannot be created ({error.strerror})") from error
    _check_directory(directory, "keys")


def create_data_key(path: Path) -> None:
    """Make the key that encrypts the store.

    Raises:
        StoreError: a data key exists (it is never overwritten, since texts would be lost), or it cannot be written.
    """
    _create_secret_key(path, KeyRole.DATA)


def read_data_key(path: Path) -> bytes:
    """Return the 32 bytes of the data key.

    Raises:
        StoreError: the key is missing, belongs to another user, is readable by others, or is damaged.
    """
    return _read_secret_key(path, KeyRole.DATA)


def create_seal_key(path: Path) -> None:
    """Make the key that seals the release ledger and the audit log.

    It is random, not derived from the data key, so that a holder of the data key can rewrite neither.

    Raises:
        StoreError: a seal key exists (it is never overwritten, since older seals could no longer be checked), or it
            cannot be written.
    """
    _create_secret_key(path, KeyRole.SEAL)


def read_seal_key(path: Path) -> bytes:
    """Return the 32 bytes of the seal key.

    Raises:
        StoreError: the key is missing, belongs to another user, is readable by others, or is damaged.
    """
    return _read_secret_key(path, KeyRole.SEAL)


def parse_secret_key(content: bytes) -> bytes:
    """Return the 32 bytes of the data key or the seal key in the content of its file. Raises StoreError."""
    return _parse_secret(content, KeyRole.DATA)


def read_key_file(path: Path) -> bytes:
    """Return the content of one of the site's key files, for a copy of the site.

    Raises:
        StoreError: the key is missing, belongs to another user, or is readable by others.
    """
    return _read(path, _role_of(path))


def write_key_file(path: Path, content: bytes) -> None:
    """Write one of the site's key files as it was in a copy. Raises StoreError if it exists, or cannot be written."""
    _create(path, _role_of(path), content)


def derive_key(secret_key: bytes, purpose: str) -> bytes:
    """Derive the 32-byte key for one `purpose` from the data key or the seal key, so that no two uses share a key.

    The derivation is HMAC-SHA256 under a uniformly random key, which is one expansion step of HKDF (RFC 5869, section
    2.3).
    """
    return hmac.digest(secret_key, b"intramural/" + purpose.encode() + b"\x01", "sha256")


def create_signing_key(path: Path, role: KeyRole) -> Ed25519Signer:
    """Make an Ed25519 key and return its signer. The file is unencrypted PEM (PKCS #8), mode 0600.

    Raises:
        StoreError: a file of that name exists, or it cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _create(path, role, pem)
    return Ed25519Signer(key)


def load_signer(path: Path, role: KeyRole) -> Ed25519Signer:
    """Read an Ed25519 key.

    Raises:
        StoreError: the key is missing, belongs to another user, is readable by others, is damaged, or is of another
            kind.
    """
    text = _read(path, role)
    try:
        key = serialization.load_pem_private_key(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # The cause is dropped, because the library's message may quote the file.
        raise _damaged(role, "an unencrypted Ed25519 key in PEM") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _damaged(role, "an Ed25519 key")
    return Ed25519Signer(key)


def write_public(path: Path, key: PublicKey) -> None:
    """Write a public key as PEM, to be given to others. Raises StoreError if the file exists or cannot be written."""
    text = base64.encodebytes(key.der).decode()
    try:
        with path.open("x", encoding="ascii") as file:
            file.write(f"-----BEGIN PUBLIC KEY-----\n{text}-----END PUBLIC KEY-----\n")
    except OSError as error:
        raise StoreError(f"the public key cannot be written ({error.strerror})") from error


def read_public(path: Path) -> PublicKey:
    """Read a public key from PEM. Raises StoreError if it is missing, damaged, weak or of another kind."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(
            f"the public key {path.name} cannot be read ({error.strerror})",
            "Give the path of the steward's .pub file, which `intramural steward-key` wrote next to the key.",
        ) from error
    return parse_public(content)


def parse_public(content: bytes) -> PublicKey:
    """Parse a public key in PEM. Raises StoreError if it is private, damaged, weak or of another kind."""
    if _PRIVATE_MARK in content:
        raise StoreError(
            "this is not a public key: it is a private one, which only its owner should have",
            "Use the .pub file next to the steward's key.",
        )
    try:
        key = serialization.load_pem_public_key(content)
        return load_public(
            key.public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
    except (ValueError, UnsupportedAlgorithm, ProtocolError):
        raise StoreError(
            "this is not a public key in PEM", "Use the .pub file next to the steward's key."
        ) from None


def _create_secret_key(path: Path, role: KeyRole) -> None:
    """Write 32 random bytes as 64 hexadecimal digits and a newline."""
    _create(path, role, secrets.token_bytes(_SECRET_KEY_BYTES).hex().encode() + b"\n")


def _read_secret_key(path: Path, role: KeyRole) -> bytes:
    """Return the bytes that `_create_secret_key` wrote."""
    return _parse_secret(_read(path, role), role)


def _parse_secret(text: bytes, role: KeyRole) -> bytes:
    try:
        key = bytes.fromhex(text.decode("ascii").removesuffix("\n"))
    except ValueError:
        key = b""
    if len(key) != _SECRET_KEY_BYTES:
        raise _damaged(role, "64 hexadecimal digits")
    return key


def _role_of(path: Path) -> KeyRole:
    """Return the role of a key file in the site's folder for keys: `data.key`, `agent.key.new`."""
    return KeyRole(path.name.partition(".")[0])


def _create(path: Path, role: KeyRole, content: bytes) -> None:
    """Write a new file that no other user can open at any time, and sync it to disk before returning."""
    if role is not KeyRole.STEWARD:
        _check_directory(path.parent, role)
    try:
        handle = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except FileExistsError as error:
        raise StoreError(
            f"the file for the {role} key exists already; a key is never overwritten",
            "Keep the existing key, or choose another path. Delete it only if nothing depends on it any more.",
        ) from error
    except FileNotFoundError as error:
        raise StoreError(
            f"the {role} key cannot be created: there is no folder {path.parent}",
            "Create the folder first, or choose another path.",
        ) from error
    except OSError as error:
        raise StoreError(
            f"the {role} key cannot be created ({error.strerror})", advise_on_write(error)
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_directory(path.parent)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise StoreError(
            f"the {role} key cannot be written ({error.strerror})", advise_on_write(error)
        ) from error


def _read(path: Path, role: KeyRole) -> bytes:
    """Open a key file, then check the open file, so that it cannot be swapped between check and read."""
    if role is not KeyRole.STEWARD:
        _check_directory(path.parent, role)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise StoreError(_missing_finding(role, path), _missing_advice(role)) from error
    except OSError as error:
        raise StoreError(f"the {role} key cannot be opened ({error.strerror})") from error
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise StoreError(f"the {role} key is not a regular file")
        content = os.read(handle, _MAX_KEY_FILE + 1)
        if role is KeyRole.STEWARD and _PUBLIC_MARK in content:
            raise StoreError(
                f"{path.name} is the steward's public key, and the private one is needed",
                "Give the file of the same name without .pub.",
            )
        _check_owner(state, role)
    finally:
        os.close(handle)
    if not content or len(content) > _MAX_KEY_FILE:
        raise _damaged(role, f"1 to {_MAX_KEY_FILE} bytes")
    return content


def _check_owner(state: os.stat_result, role: KeyRole) -> None:
    if state.st_uid != os.geteuid():
        raise StoreError(
            f"the {role} key belongs to another user",
            "Run the command as the user who owns the key.",
        )
    mode = stat.S_IMODE(state.st_mode)
    if mode & 0o077:
        raise StoreError(
            f"the {role} key can be read by others (mode {mode:04o}, expected 0600)",
            "Treat the key as known to others: find out who could read it, and replace it if anyone did. "
            "Otherwise, run chmod 600 on it.",
        )


def _check_directory(directory: Path, whose: str) -> None:
    try:
        state = directory.lstat()
    except FileNotFoundError as error:
        raise StoreError(
            f"the folder of the {whose} key is missing", "Create the site with `intramural init`."
        ) from error
    except OSError as error:
        raise StoreError(
            f"the folder of the {whose} key cannot be read ({error.strerror})"
        ) from error
    if not stat.S_ISDIR(state.st_mode):
        raise StoreError(f"the path for the folder of the {whose} key is not a folder")
    if state.st_uid != os.geteuid():
        raise StoreError(
            f"the folder of the {whose} key belongs to another user",
            "Run the command as the user who owns the site.",
        )
    if stat.S_IMODE(state.st_mode) & 0o077:
        raise StoreError(
            f"the folder of the {whose} key is open to others (mode {stat.S_IMODE(state.st_mode):04o}, expected 0700)",
            "Close it with chmod 700, and find out whether anyone read the keys.",
        )


def _damaged(role: KeyRole, expected: str) -> StoreError:
    return StoreError(
        f"the {role} key is damaged (expected {expected})", "Restore it from a backup."
    )


def _missing_finding(role: KeyRole, path: Path) -> str:
    if role is KeyRole.SEAL:
        return "the seal key is missing: it was lost, or this site was created by an earlier, unreleased version"
    if role is KeyRole.STEWARD:
        return f"there is no file {path.name}, which was given as the steward's key"
    return f"the {role} key is missing"


def _missing_advice(role: KeyRole) -> str:
    match role:
        case KeyRole.STEWARD:
            return "Give the path of the steward's key, or make one with `intramural steward-key --out FILE`."
        case KeyRole.DATA:
            return "Restore it from a backup. Without it, no stored text can be read again."
        case KeyRole.SEAL:
            return "Restore it from a backup; if there is none, create a new site with `intramural init`."
        case KeyRole.AGENT:
            return "Restore it from a backup, or enrol the site again with a new key."
