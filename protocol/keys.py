"""Public keys, signatures and signers (rule 1.6): Ed25519, and ECDSA P-256 with SHA-256 in strict DER with low s.

A key is known by its key id, the SHA-256 of its DER SubjectPublicKeyInfo. Making keys needs randomness and is left
to the callers.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from cryptography.hazmat.primitives.asymmetric import ec, ed25519

Algorithm = Literal["ed25519", "ecdsa-p256-sha256"]


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that passed `load_public`. `der` is its SubjectPublicKeyInfo, `keyid` 64 hex digits."""

    keyid: str
    algorithm: Algorithm
    der: bytes

    @property
    def fingerprint(self) -> str:
        """The key id in groups of four, for two people to read to each other."""
        return " ".join(self.keyid[i : i + 4] for i in range(0, 64, 4))

    def verify(self, signature: bytes, message: bytes) -> None:
        """Return if `signature` is this key's over `message`.

        Raises:
            ProtocolError: BAD_SIGNATURE; also for malleable, non-canonical or small-order forms.
        """
        raise NotImplementedError


def load_public(der: bytes) -> PublicKey:
    """Load a public key from DER.

    Raises:
        ProtocolError: WEAK_KEY if it is not exactly one canonical Ed25519 key of prime order or P-256 key.
    """
    raise NotImplementedError


class Signer(Protocol):
    """Whatever can sign: a key in memory, in a file, in an HSM."""

    @property
    def public(self) -> PublicKey:
        """The public key of this signer; its `keyid` names the signature."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Sign `message` and return the signature's bytes."""
        ...


class Ed25519Signer:
    """Signs with an Ed25519 key in memory."""

    def __init__(self, private_key: ed25519.Ed25519PrivateKey) -> None:
        raise NotImplementedError

    @property
    def public(self) -> PublicKey:
        """The matching public key."""
        raise NotImplementedError

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature (RFC 8032)."""
        raise NotImplementedError


class P256Signer:
    """Signs with an ECDSA P-256 key in memory: deterministic (RFC 6979), strict DER, low s."""

    def __init__(self, private_key: ec.EllipticCurvePrivateKey) -> None:
        raise NotImplementedError

    @property
    def public(self) -> PublicKey:
        """The matching public key."""
        raise NotImplementedError

    def sign(self, message: bytes) -> bytes:
        """Return the DER signature."""
        raise NotImplementedError
