"""Sealing of texts and keyed hashing of identities, both under keys derived from the site's data key."""

import hashlib
import hmac
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from agent.errors import StoreError
from agent.keys import derive_key

NONCE_BYTES = 12


class Vault:
    """Encrypts with AES-256-GCM and hashes with HMAC-SHA-256, under separate keys derived from the data key."""

    def __init__(self, data_key: bytes) -> None:
        """Derive the keys. `data_key` is 32 random bytes."""
        if len(data_key) != 32:
            raise StoreError("the site data key must be 32 bytes long")
        self._cipher = AESGCM(derive_key(data_key, "seal/v1"))
        self._hash_key = derive_key(data_key, "keyed-hash/v1")

    def seal(self, context: bytes, text: bytes) -> bytes:
        """Encrypt `text` so that it can be decrypted only with the same `context`. Return nonce and ciphertext."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, text, context)

    def open(self, context: bytes, sealed: bytes) -> bytes:
        """Decrypt a value returned by `seal`.

        Raises:
            StoreError: the key or context differs from the one used to seal the value, or the bytes are damaged.
        """
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
        except (InvalidTag, ValueError):
            raise StoreError(
                "a stored text cannot be decrypted with this site's data key: "
                "it was damaged, moved or sealed with another key"
            ) from None

    def opens(self, context: bytes, sealed: bytes) -> bool:
        """Return whether `sealed` was sealed with this key and context."""
        try:
            self.open(context, sealed)
        except StoreError:
            return False
        return True

    def keyed_hash(self, kind: str, data: bytes) -> bytes:
        """Return 32 bytes that identify `data` at this site and reveal nothing without the key."""
        return hmac.digest(self._hash_key, kind.encode() + b"\0" + data, hashlib.sha256)
