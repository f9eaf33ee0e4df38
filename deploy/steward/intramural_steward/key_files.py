"""The steward's key file: PKCS #8 in PEM, encrypted with a password using scrypt (RFC 7914) and AES-256-CBC.

The library can read such files but cannot write them with scrypt, so the DER around the ciphertext
is encoded here. All problems raise `KeyFileError`, which quotes neither key nor password.
"""

import base64
import os
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import padding, serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from intramural_steward.errors import KeyFileError
from intramural_steward.files import read_secret_file, write_new
from protocol.keys import Ed25519Signer, P256Signer, PublicKey, Signer

MIN_PASSWORD_LENGTH: Final = 10  # characters of a new password

# Each guess costs 128 MiB and some tenths of a second.
_SCRYPT_N: Final = 2**17
_SCRYPT_R: Final = 8
_SCRYPT_P: Final = 1
_AES_BLOCK_BITS: Final = 128

_PBES2: Final = bytes.fromhex("06092a864886f70d01050d")
_SCRYPT: Final = bytes.fromhex("06092b06010401da47040b")
_AES_256_CBC: Final = bytes.fromhex("060960864801650304012a")
_INTEGER, _OCTETS, _SEQUENCE = 0x02, 0x04, 0x30


def create_key_file(path: Path, password: bytes) -> PublicKey:
    """Create an Ed25519 key. Write it encrypted to `path`, with mode 0600, and its public key to `path`.pub.

    Raises:
        KeyFileError: the password is too short.
        UsageError: a file already exists, or cannot be written.
    """
    if len(password) < MIN_PASSWORD_LENGTH:
        raise KeyFileError(
            f"the password has fewer than {MIN_PASSWORD_LENGTH} characters",
            "No key was created. Choose a longer password.",
        )
    key = Ed25519PrivateKey.generate()
    plain = key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_new(path, _encode_pem("ENCRYPTED PRIVATE KEY", _encrypt(plain, password)), mode=0o600)
    public = Ed25519Signer(key).public
    write_new(path.with_name(path.name + ".pub"), _encode_pem("PUBLIC KEY", public.der))
    return public


def is_encrypted(pem: bytes) -> bool:
    """Return whether a key file needs a password."""
    return b"ENCRYPTED" in pem


def read_key_file(path: Path) -> bytes:
    """Return a key file's bytes after checking that only its owner can read it. Raises KeyFileError."""
    return read_secret_file(path, "the steward's key")


def open_key(pem: bytes, password: bytes | None) -> Signer:
    """Return the signer of a key file.

    Args:
        pem: Content of the key file.
        password: The password; None if the key is not encrypted.

    Raises:
        KeyFileError: the password is wrong, or the key is not an Ed25519 or P-256 key.
    """
    try:
        key = serialization.load_pem_private_key(pem, password=password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # The library's message may quote the file, so the cause is dropped.
        if password is not None:
            raise KeyFileError(
                "the password does not open this key, or the key is damaged"
            ) from None
        raise KeyFileError("the steward's key is damaged, or is not a private key in PEM") from None
    if isinstance(key, Ed25519PrivateKey):
        return Ed25519Signer(key)
    if isinstance(key, EllipticCurvePrivateKey) and isinstance(key.curve, SECP256R1):
        return P256Signer(key)
    raise KeyFileError("the steward's key is neither an Ed25519 nor a P-256 key")


def _encrypt(plain: bytes, password: bytes) -> bytes:
    """Return the DER of PKCS #8's EncryptedPrivateKeyInfo (RFC 5958, section 3; RFC 7914, section 7)."""
    salt, start = os.urandom(16), os.urandom(16)
    key = Scrypt(salt=salt, length=32, n=_SCRYPT_N, r=_SCRYPT_R, p=_SCRYPT_P).derive(password)
    padder = padding.PKCS7(_AES_BLOCK_BITS).padder()
    padded = padder.update(plain) + padder.finalize()
    encryptor = Cipher(algorithms.AES(key), modes.CBC(start)).encryptor()
    encrypted = encryptor.update(padded) + encryptor.finalize()
    costs = _encode_integer(_SCRYPT_N) + _encode_integer(_SCRYPT_R) + _encode_integer(_SCRYPT_P)
    derivation = _encode(_SEQUENCE, _SCRYPT + _encode(_SEQUENCE, _encode(_OCTETS, salt) + costs))
    cipher = _encode(_SEQUENCE, _AES_256_CBC + _encode(_OCTETS, start))
    algorithm = _encode(_SEQUENCE, _PBES2 + _encode(_SEQUENCE, derivation + cipher))
    return _encode(_SEQUENCE, algorithm + _encode(_OCTETS, encrypted))


def _encode(tag: int, content: bytes) -> bytes:
    """Return a DER element. Elements here are at most 255 bytes long."""
    length = bytes([len(content)]) if len(content) < 128 else bytes([0x81, len(content)])
    return bytes([tag]) + length + content


def _encode_integer(number: int) -> bytes:
    # DER integers are signed, so one more bit is needed.
    return _encode(_INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _encode_pem(label: str, der: bytes) -> bytes:
    text = base64.encodebytes(der).decode().replace("\n", "")
    lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n".encode()
