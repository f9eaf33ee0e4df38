"""How a copy is sealed: its files under a key of their own, and the site's keys with a passphrase.

Files are sealed in chunks with AES-256-GCM. The nonce of a chunk is its number and whether it is the last one, so that
chunks cannot be removed, repeated, exchanged or cut off; every chunk is bound to the copy's first line. The key is
derived from the site's data key and the copy's salt, and seals nothing else.

The site's keys are sealed with AES-256-GCM under a key that scrypt derives from the passphrase: N = 2^17, r = 8, p = 1
(128 MiB of memory), the first choice of OWASP's recommendations, because a copy can be attacked at leisure.
"""

import hashlib
import json
import os
import unicodedata
from collections.abc import Mapping
from typing import BinaryIO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from agent.backup.form import KEY_NAMES, SealedKeys, report_altered
from agent.errors import StoreError
from agent.keys import derive_key

CHUNK: Final = 1024 * 1024  # bytes in the clear
SALT_BYTES: Final = 32
_TAG_BYTES: Final = 16
_LENGTH_BYTES: Final = 4
_NONCE_BYTES: Final = 12
_SCRYPT: Final = {"n": 2**17, "r": 8, "p": 1}


def seal_keys(keys: Mapping[str, bytes], passphrase: str, copy_id: str) -> SealedKeys:
    """Seal the contents of the site's key files, by their names."""
    salt, nonce = os.urandom(16), os.urandom(_NONCE_BYTES)
    content = json.dumps({name: content.hex() for name, content in keys.items()}).encode()
    cipher = AESGCM(_derive_from(passphrase, salt))
    return SealedKeys(salt, nonce + cipher.encrypt(nonce, content, _bind(copy_id)))


def open_keys(sealed: SealedKeys, passphrase: str, copy_id: str) -> dict[str, bytes]:
    """Return the contents of the site's key files, by their names.

    Raises:
        StoreError: the passphrase is not the one with which they were sealed, or the copy was changed.
    """
    nonce, ciphertext = sealed.sealed[:_NONCE_BYTES], sealed.sealed[_NONCE_BYTES:]
    try:
        cipher = AESGCM(_derive_from(passphrase, sealed.salt))
        content = cipher.decrypt(nonce, ciphertext, _bind(copy_id))
    except (InvalidTag, ValueError):
        raise StoreError(
            "the passphrase does not open the keys in this copy",
            "Give the passphrase with which the copy was made. If it is the right one, the copy was changed. Nothing "
            "was restored.",
        ) from None
    keys = {name: bytes.fromhex(text) for name, text in json.loads(content).items()}
    if not keys.keys() <= set(KEY_NAMES):
        raise report_altered("it has keys that a site does not have")
    return keys


def derive_copy_key(data_key: bytes, salt: bytes) -> bytes:
    """Return the key under which the files of one copy are sealed."""
    return derive_key(derive_key(data_key, "site-copy/v1"), f"copy/{salt.hex()}")


def _derive_from(passphrase: str, salt: bytes) -> bytes:
    typed = unicodedata.normalize("NFKC", passphrase).encode("utf-8", "surrogatepass")
    return Scrypt(salt=salt, length=32, **_SCRYPT).derive(typed)


def _bind(copy_id: str) -> bytes:
    return b"site keys\0" + copy_id.encode()


def _number_chunk(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(_NONCE_BYTES - 1, "big") + bytes([is_last])


class SealedWriter:
    """Writes bytes to a file in sealed chunks."""

    def __init__(self, file: BinaryIO, key: bytes, header: bytes) -> None:
        self._file = file
        self._cipher = AESGCM(key)
        self._bound = hashlib.sha256(header).digest()
        self._waiting = bytearray()
        self._number = 0

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self._waiting += data
        while (
            len(self._waiting) > CHUNK
        ):  # the last chunk is written by `finish`, and never empty but in an empty file
            self._write_chunk(bytes(self._waiting[:CHUNK]), is_last=False)
            del self._waiting[:CHUNK]

    def finish(self) -> None:
        """Write what waits as the last chunk."""
        self._write_chunk(bytes(self._waiting), is_last=True)
        self._waiting.clear()

    def _write_chunk(self, chunk: bytes, *, is_last: bool) -> None:
        nonce = _number_chunk(self._number, is_last=is_last)
        sealed = self._cipher.encrypt(nonce, chunk, self._bound)
        self._file.write(len(sealed).to_bytes(_LENGTH_BYTES, "big") + sealed)
        self._number += 1


class SealedReader:
    """Reads what `SealedWriter` wrote. Nothing is returned that was not authenticated."""

    def __init__(self, file: BinaryIO, key: bytes, header: bytes) -> None:
        self._file = file
        self._cipher = AESGCM(key)
        self._bound = hashlib.sha256(header).digest()
        self._opened = b""
        self._position = 0
        self._number = 0
        self._next = self._read_sealed()
        if self._next is None:
            raise report_altered("it is truncated")

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size`; b"" only at the end.

        Raises:
            StoreError: the copy is truncated or was changed, or was made with another data key.
        """
        if self._position >= len(self._opened) and self._next is not None:
            self._opened, self._position = self._open_chunk(), 0
        part = self._opened[self._position : self._position + size]
        self._position += len(part)
        return part

    def read_exactly(self, size: int) -> bytes:
        """Return the next `size` bytes. Raises StoreError also if there are fewer."""
        parts: list[bytes] = []
        while size:
            part = self.read(size)
            if not part:
                raise report_altered("it ends too early")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def read_line(self, limit: int) -> bytes:
        """Return the next line without its line break, of at most `limit` bytes. Raises StoreError."""
        line = b""
        while len(line) <= limit:
            end = self._opened.find(b"\n", self._position)
            size = len(self._opened) - self._position if end < 0 else end + 1 - self._position
            part = self.read(max(1, size))
            line += part
            if line.endswith(b"\n"):
                return line[:-1]
            if not part:
                break
        raise report_altered("it ends in the middle of a line")

    def _open_chunk(self) -> bytes:
        sealed = self._next
        assert sealed is not None, "the caller has looked"
        self._next = self._read_sealed()
        nonce = _number_chunk(self._number, is_last=self._next is None)
        try:
            opened = self._cipher.decrypt(nonce, sealed, self._bound)
        except (InvalidTag, ValueError):
            if self._number == 0:
                raise report_altered(
                    "it was changed, or made with another data key than the one given"
                ) from None
            raise report_altered("it is truncated, or its bytes were changed") from None
        self._number += 1
        return opened

    def _read_sealed(self) -> bytes | None:
        """Return the next sealed chunk; None at the end of the file."""
        prefix = self._file.read(_LENGTH_BYTES)
        if not prefix:
            return None
        length = int.from_bytes(prefix, "big")
        if len(prefix) < _LENGTH_BYTES or length > CHUNK + _TAG_BYTES:
            raise report_altered("it is truncated, or its bytes were changed")
        sealed = self._file.read(length)
        if len(sealed) < length:
            raise report_altered("it is truncated")
        return sealed
