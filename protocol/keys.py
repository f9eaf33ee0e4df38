"""Public keys, signatures and signers (rule 1.6): Ed25519, and ECDSA P-256 with SHA-256 in strict DER with low s.

A key is identified by its key id, the SHA-256 of its DER SubjectPublicKeyInfo. Callers generate keys themselves,
because that needs randomness.
"""

import functools
import hashlib
from dataclasses import dataclass
from typing import Literal, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key
from nacl.bindings import crypto_core_ed25519_is_valid_point

from protocol.errors import Code, ProtocolError

Algorithm = Literal["ed25519", "ecdsa-p256-sha256"]

ED25519_BYTES = 64
P256_MOST_BYTES = 72  # strict DER of two integers below 2^256
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
# Enough for the largest registry: 10,000 sites with two keys each, and replaced keys.
CACHED_KEYS = 32_768

_SMALL_ORDER = frozenset(
    bytes.fromhex(encoding)
    for encoding in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    )
)
"""The canonical encodings of the eight points of small order (orders 1, 2, 4 and 4, and four points of order 8)."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that passed `load_public`. `der` is its SubjectPublicKeyInfo, `keyid` 64 hex digits."""

    keyid: str
    algorithm: Algorithm
    der: bytes

    @property
    def fingerprint(self) -> str:
        """The key id in groups of four digits, for two people to read to each other."""
        return " ".join(self.keyid[i : i + 4] for i in range(0, 64, 4))

    @property
    def raw(self) -> bytes:
        """The 32 bytes of an Ed25519 key (RFC 8032)."""
        if self.algorithm != "ed25519":
            raise ValueError("only an Ed25519 key has a raw form")
        return self.der[-32:]

    def verify(self, signature: bytes, message: bytes) -> None:
        """Check that `signature` is a signature of `message` by this key.

        Raises:
            ProtocolError: BAD_SIGNATURE; also for malleable, non-canonical or small-order forms.
        """
        key = _load_library_key(self.der)
        try:
            if isinstance(key, ed25519.Ed25519PublicKey):
                _check_ed25519_form(signature)
                key.verify(signature, message)
            elif isinstance(key, ec.EllipticCurvePublicKey):
                _check_p256_form(signature)
                key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
        except (InvalidSignature, ValueError):
            raise ProtocolError(
                Code.BAD_SIGNATURE, f"signature of key {self.keyid} does not verify"
            ) from None


def check_signature_form(signature: bytes) -> None:
    """Check that the bytes have the form of a signature by one of the two algorithms, for any key.

    An Ed25519 signature has 64 bytes. A P-256 signature is the strict DER of (r, s), at most 72 bytes (rule 8.3).

    Raises:
        ProtocolError: MALFORMED.
    """
    if len(signature) == ED25519_BYTES:
        return
    try:
        if len(signature) > P256_MOST_BYTES:
            raise InvalidSignature
        _check_p256_form(signature)
    except (InvalidSignature, ValueError):
        raise ProtocolError(
            Code.MALFORMED,
            f"sig: {len(signature)} bytes that are not an Ed25519 or P-256 signature",
        ) from None


def _check_ed25519_form(signature: bytes) -> None:
    """Refuse a malleable S, and an R that a signer could choose without the key.

    A non-canonical encoding of R needs no check here: the library recomputes R and compares the bytes.
    """
    if len(signature) != ED25519_BYTES or int.from_bytes(signature[32:], "little") >= ED25519_ORDER:
        raise InvalidSignature
    if signature[:32] in _SMALL_ORDER:
        raise InvalidSignature


def _check_p256_form(signature: bytes) -> None:
    """Refuse anything but the one DER form of (r, s) with s in the lower half."""
    r, s = decode_dss_signature(signature)
    if (
        not (0 < r < P256_ORDER and 0 < s <= P256_ORDER // 2)
        or encode_dss_signature(r, s) != signature
    ):
        raise InvalidSignature


@functools.lru_cache(maxsize=CACHED_KEYS)
def _load_library_key(der: bytes) -> object:
    """Return the library's object for a key that `load_public` accepted."""
    return load_der_public_key(der)


@functools.lru_cache(maxsize=CACHED_KEYS)  # all versions of a registry name mostly the same keys
def load_public(der: bytes) -> PublicKey:
    """Load a public key from DER.

    Raises:
        ProtocolError: WEAK_KEY if it is not a single canonical key: Ed25519 of prime order, or P-256.
    """
    try:
        key = load_der_public_key(der)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ProtocolError(Code.WEAK_KEY, "not a DER public key") from None
    algorithm: Algorithm
    if isinstance(key, ed25519.Ed25519PublicKey):
        algorithm = "ed25519"
        if not crypto_core_ed25519_is_valid_point(key.public_bytes_raw()):
            raise ProtocolError(
                Code.WEAK_KEY, "an Ed25519 point that is not canonical or not of prime order"
            )
    elif isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
        algorithm = "ecdsa-p256-sha256"
    else:
        raise ProtocolError(Code.WEAK_KEY, "neither an Ed25519 nor a P-256 key")
    if key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) != der:
        raise ProtocolError(Code.WEAK_KEY, "not the canonical DER form of the key")
    return PublicKey(hashlib.sha256(der).hexdigest(), algorithm, der)


class Signer(Protocol):
    """An object that can sign: a key in memory, in a file or in an HSM."""

    @property
    def public(self) -> PublicKey:
        """The public key of this signer; signatures carry its `keyid`."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Sign `message` and return the signature's bytes."""
        ...


class Ed25519Signer:
    """A signer with an Ed25519 key in memory."""

    def __init__(self, private_key: ed25519.Ed25519PrivateKey) -> None:
        self._private_key = private_key
        self.public = load_public(
            private_key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        )

    @property
    def seed(self) -> bytes:
        """The 32 bytes of the private key (RFC 8032), for opening files that are sealed to it."""
        return self._private_key.private_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature (RFC 8032)."""
        return self._private_key.sign(message)


class P256Signer:
    """A signer with an ECDSA P-256 key in memory: deterministic (RFC 6979), strict DER, low s."""

    def __init__(self, private_key: ec.EllipticCurvePrivateKey) -> None:
        self._private_key = private_key
        self.public = load_public(
            private_key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        )

    def sign(self, message: bytes) -> bytes:
        """Return the DER signature."""
        algorithm = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
        r, s = decode_dss_signature(self._private_key.sign(message, algorithm))
        return encode_dss_signature(r, min(s, P256_ORDER - s))
