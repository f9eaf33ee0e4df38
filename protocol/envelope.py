"""DSSE envelopes, deliberately stricter than DSSE (section 1): every free bit could carry data out of a hospital."""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer, check_signature_form

STATEMENT_TYPE = "application/vnd.in-toto+json"
REGISTRY_TYPE = "application/vnd.intramural.registry+json"
HEAD_REQUEST_TYPE = "application/vnd.intramural.head-request+json"

MAX_BYTES = {  # maximum size of the whole file
    STATEMENT_TYPE: 64 * 1024,
    REGISTRY_TYPE: 16 * 1024 * 1024,
    HEAD_REQUEST_TYPE: 4096,
}
MAX_SIGNATURES = {STATEMENT_TYPE: 4, REGISTRY_TYPE: 16, HEAD_REQUEST_TYPE: 1}

_ENVELOPE = frozenset({"payload", "payloadType", "signatures"})
_SIGNATURE = frozenset({"keyid", "sig"})
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of an envelope, not yet verified."""

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A well-formed envelope. Nothing in `payload` may be trusted before `verify`."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    @property
    def pae(self) -> bytes:
        """The bytes that are signed, and that form the log's leaf."""
        return pae(self.payload_type, self.payload)

    @property
    def digest(self) -> str:
        """The identity: hex SHA-256 of the PAE."""
        return digest(self.payload, self.payload_type)

    def verify(self, keys: Mapping[str, PublicKey]) -> None:
        """Check that every signature verifies.

        Args:
            keys: the keys that may sign here, by key id.

        Raises:
            ProtocolError: UNKNOWN_KEY or BAD_SIGNATURE.
        """
        for signature in self.signatures:
            if signature.keyid not in keys:
                raise ProtocolError(Code.UNKNOWN_KEY, f"key {signature.keyid} may not sign here")
        for signature in self.signatures:
            keys[signature.keyid].verify(signature.sig, self.pae)


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding; lengths are in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def digest(payload: bytes, payload_type: str = STATEMENT_TYPE) -> str:
    """Return the identity of a payload: hex SHA-256 of its PAE."""
    return hashlib.sha256(pae(payload_type, payload)).hexdigest()


def sign(payload: bytes, signers: Sequence[Signer], payload_type: str = STATEMENT_TYPE) -> bytes:
    """Return the canonical envelope file with one signature by each signer.

    Raises:
        ProtocolError: MALFORMED if `decode` would refuse the envelope.
    """
    message = pae(payload_type, payload)
    signatures = tuple(Signature(signer.public.keyid, signer.sign(message)) for signer in signers)
    return encode(Envelope(payload_type, payload, signatures))


def add_signature(envelope: bytes, signer: Signer, payload_type: str = STATEMENT_TYPE) -> bytes:
    """Return the envelope file with one more signature; existing signatures are kept without being verified.

    Raises:
        ProtocolError: MALFORMED, also if the signer has already signed.
    """
    found = decode(envelope, payload_type)
    added = Signature(signer.public.keyid, signer.sign(found.pae))
    return encode(Envelope(payload_type, found.payload, (*found.signatures, added)))


def encode(envelope: Envelope) -> bytes:
    """Return the canonical file of an envelope.

    Raises:
        ProtocolError: MALFORMED if `decode` would refuse it.
    """
    data = canonical(
        {
            "payload": encode_base64(envelope.payload),
            "payloadType": envelope.payload_type,
            "signatures": [
                {"keyid": signature.keyid, "sig": encode_base64(signature.sig)}
                for signature in sorted(envelope.signatures, key=lambda signature: signature.keyid)
            ],
        }
    )
    decode(data, envelope.payload_type)
    return data


def decode(data: bytes, payload_type: str = STATEMENT_TYPE) -> Envelope:
    """Parse an envelope file with a payload of type `payload_type`.

    Checks the size, UTF-8, canonical JSON, the payload type and canonical base64.

    Raises:
        ProtocolError: MALFORMED for any fault.
    """
    if not 0 < len(data) <= MAX_BYTES[payload_type]:
        raise ProtocolError(
            Code.MALFORMED, f"{len(data)} bytes; expected 1 to {MAX_BYTES[payload_type]}"
        )
    try:
        found = schema.record(parse_canonical(data), _ENVELOPE, "envelope")
        schema.choice(found["payloadType"], "payloadType", (payload_type,))
        payload = decode_base64(found["payload"], "payload")
        entries = schema.array(found["signatures"], "signatures", 1, MAX_SIGNATURES[payload_type])
        signatures = tuple(_signature(entry) for entry in entries)
    except ProtocolError as error:
        raise ProtocolError(Code.MALFORMED, error.detail) from None
    keyids = [signature.keyid for signature in signatures]
    if keyids != sorted(set(keyids)):
        raise ProtocolError(
            Code.MALFORMED, "signatures must be sorted by keyid, without repetition"
        )
    return Envelope(payload_type, payload, signatures)


def _signature(entry: object) -> Signature:
    """Parse one signature. Its form is checked before any key is known, since a longer one could carry text."""
    fields = schema.record(entry, _SIGNATURE, "signature")
    sig = decode_base64(fields["sig"], "sig")
    check_signature_form(sig)
    return Signature(schema.text(fields["keyid"], "keyid", schema.HEX64), sig)


def encode_base64(data: bytes) -> str:
    """Return standard, padded base64."""
    return base64.b64encode(data).decode("ascii")


def decode_base64(value: object, where: str) -> bytes:
    """Decode canonical base64 of at least one byte: standard alphabet, padded, zero tail bits.

    Raises:
        ProtocolError: SCHEMA.
    """
    encoded = schema.text(value, where, _BASE64)
    try:
        data = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        data = b""
    if encode_base64(data) != encoded:
        raise ProtocolError(Code.SCHEMA, f"{where}: expected canonical base64")
    return data
