"""DSSE envelopes, stricter than DSSE on purpose (section 1): every free bit is a way out of a hospital."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocol.keys import PublicKey, Signer

STATEMENT_TYPE = "application/vnd.in-toto+json"
REGISTRY_TYPE = "application/vnd.intramural.registry+json"

MAX_BYTES = {STATEMENT_TYPE: 64 * 1024, REGISTRY_TYPE: 4 * 1024 * 1024}  # of the whole file
MAX_SIGNATURES = {STATEMENT_TYPE: 4, REGISTRY_TYPE: 16}


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of an envelope; not yet checked."""

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A well-formed envelope. Nothing in `payload` may be believed before `verify`."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    @property
    def pae(self) -> bytes:
        """The bytes that are signed, and that are the leaf of the log."""
        return pae(self.payload_type, self.payload)

    @property
    def digest(self) -> str:
        """The identity: hex SHA-256 of the PAE."""
        return digest(self.payload, self.payload_type)

    def verify(self, keys: Mapping[str, PublicKey]) -> None:
        """Return if every signature verifies.

        Args:
            keys: the keys that may sign here, by key id.

        Raises:
            ProtocolError: UNKNOWN_KEY or BAD_SIGNATURE.
        """
        raise NotImplementedError


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding; lengths are in bytes."""
    raise NotImplementedError


def digest(payload: bytes, payload_type: str = STATEMENT_TYPE) -> str:
    """Return the identity of a payload: hex SHA-256 of its PAE."""
    raise NotImplementedError


def sign(payload: bytes, signers: Sequence[Signer], payload_type: str = STATEMENT_TYPE) -> bytes:
    """Return the canonical envelope file with one signature of each signer."""
    raise NotImplementedError


def add_signature(envelope: bytes, signer: Signer, payload_type: str = STATEMENT_TYPE) -> bytes:
    """Return the envelope file with one more signature; the signatures already there are kept, not checked.

    Raises:
        ProtocolError: MALFORMED, also if the signer has signed already.
    """
    raise NotImplementedError


def decode(data: bytes, payload_type: str = STATEMENT_TYPE) -> Envelope:
    """Read an envelope file that must hold `payload_type`: size, UTF-8, canonical JSON, type, canonical base64.

    Raises:
        ProtocolError: MALFORMED, whatever the reason.
    """
    raise NotImplementedError
