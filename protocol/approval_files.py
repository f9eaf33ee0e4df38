"""The files between a site and its steward: requests for approval, signed drafts, and rejections.

All three are canonical JSON with a closed schema and no free text. The functions that read them check only the form.
Signatures, registry and rules are checked by the steward before signing, and again by the site when the answer
arrives.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import MAX_BYTES, REGISTRY_TYPE, STATEMENT_TYPE, decode_base64, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.policy import DisclosurePolicy, parse_policy
from protocol.refusal import MAX_REFUSAL

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
MAX_DRAFTS: Final = 256  # per request

REJECTION_REASONS: Final = (
    "wrong_figures",
    "wrong_data",
    "not_agreed",
    "too_much",
    "shorter_history",
    "other",
)
NOTES: Final = ("units", "added", "removed", "changed", "never_seen", "merged")
"""Exact numbers of units in the dataset of a draft, which a site may report to its steward but to no one else."""

_SCHEMA_VERSION: Final = 2
_MAX_UNITS: Final = 999_999_999
_REQUEST: Final = "approval request"
_SIGNED: Final = "signed drafts"
_REJECTION: Final = "rejected drafts"

_REQUEST_FIELDS = frozenset({"kind", "schema", "registry", "policy", "drafts", "audit", "refusals"})
_DRAFT_FIELDS = frozenset({"envelope", "notes"})
_AUDIT_FIELDS = frozenset({"number", "link"})
_SIGNED_FIELDS = frozenset({"kind", "schema", "envelopes"})
_REJECTION_FIELDS = frozenset({"kind", "schema", "digests", "reason"})
# The unreleased version wrote indented JSON.
_UNRELEASED = re.compile(rb'"kind":\s+"(?:approval request|signed drafts)"')


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The head of the site's audit log: number and link (64 hex digits) of its last event."""

    number: int
    link: str


NO_AUDIT: Final = AuditHead(0, "0" * 64)  # the head of an audit log without events


@dataclass(frozen=True, slots=True)
class DraftFile:
    """One draft: the envelope with the agent's signature, and the site's exact numbers of units in its dataset.

    `notes` maps some of NOTES to numbers of units. Only drafts of dataset statements have notes.
    """

    envelope: bytes
    notes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A site's request that its steward sign some drafts.

    Attributes:
        registry: the signed file of the registry that the drafts were made with.
        policy: the site's own disclosure policy.
        drafts: the drafts, in the order of the site's chain.
        audit_head: head of the site's audit log when the request was written.
        refusals: digest of an earlier statement -> the aggregator's signed note (UTF-8) that refuses it. A refusal
            shows that a position in the chain is free again although the steward approved a statement for it.
    """

    registry: bytes
    policy: DisclosurePolicy
    drafts: tuple[DraftFile, ...]
    audit_head: AuditHead = NO_AUDIT
    refusals: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignedDrafts:
    """The steward's answer to a request: envelopes with the agent's and the steward's signatures."""

    envelopes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The steward's refusal to sign: digests of the rejected drafts, and one of REJECTION_REASONS."""

    digests: tuple[str, ...]
    reason: str


def write_approval_request(request: ApprovalRequest) -> bytes:
    """Return a request as the file for the steward.

    Raises:
        ProtocolError: MALFORMED if `read_approval_request` would refuse the file.
    """
    data = _encode(
        {
            "kind": _REQUEST,
            "schema": _SCHEMA_VERSION,
            "registry": encode_base64(request.registry),
            "policy": request.policy.to_json(),
            "drafts": [
                {"envelope": encode_base64(draft.envelope), "notes": dict(draft.notes)}
                for draft in request.drafts
            ],
            "audit": {"number": request.audit_head.number, "link": request.audit_head.link},
            "refusals": {digest: encode_base64(note) for digest, note in request.refusals.items()},
        }
    )
    read_approval_request(data)
    return data


def read_approval_request(data: bytes) -> ApprovalRequest:
    """Parse a request and check its form; no signature or rule is checked.

    Raises:
        ProtocolError: OLD_SCHEMA for a file of the unreleased version, MALFORMED for any other fault.
    """
    found = _open(data, _REQUEST, _REQUEST_FIELDS)
    try:
        audit = schema.record(found["audit"], _AUDIT_FIELDS, "audit")
        return ApprovalRequest(
            registry=_read_bytes(found["registry"], "registry", MAX_BYTES[REGISTRY_TYPE]),
            policy=parse_policy(found["policy"]),
            drafts=tuple(
                _read_draft(draft)
                for draft in schema.array(found["drafts"], "drafts", 1, MAX_DRAFTS)
            ),
            audit_head=AuditHead(
                number=schema.integer(audit["number"], "audit.number"),
                link=schema.text(audit["link"], "audit.link", schema.HEX64),
            ),
            refusals=_read_refusals(found["refusals"]),
        )
    except ProtocolError as error:
        raise ProtocolError(Code.MALFORMED, error.detail) from None


def write_signed_drafts(signed: SignedDrafts) -> bytes:
    """Return the file for the site. Raises ProtocolError MALFORMED if it could not be read back."""
    envelopes = [encode_base64(envelope) for envelope in signed.envelopes]
    data = _encode({"kind": _SIGNED, "schema": _SCHEMA_VERSION, "envelopes": envelopes})
    read_signed_drafts(data)
    return data


def read_signed_drafts(data: bytes) -> SignedDrafts:
    """Parse a file of signed drafts and check its form; no signature is verified.

    Raises:
        ProtocolError: OLD_SCHEMA for a file of the unreleased version, MALFORMED for any other fault.
    """
    found = _open(data, _SIGNED, _SIGNED_FIELDS)
    try:
        envelopes = schema.array(found["envelopes"], "envelopes", 1, MAX_DRAFTS)
        return SignedDrafts(tuple(_read_envelope(envelope) for envelope in envelopes))
    except ProtocolError as error:
        raise ProtocolError(Code.MALFORMED, error.detail) from None


def write_rejection(rejection: Rejection) -> bytes:
    """Return the file for the site. Raises ProtocolError MALFORMED if it could not be read back."""
    data = _encode(
        {
            "kind": _REJECTION,
            "schema": _SCHEMA_VERSION,
            "digests": list(rejection.digests),
            "reason": rejection.reason,
        }
    )
    read_rejection(data)
    return data


def read_rejection(data: bytes) -> Rejection:
    """Parse a rejection. It is not signed, so it only informs a person and has no other effect.

    Raises:
        ProtocolError: OLD_SCHEMA for a file of the unreleased version, MALFORMED for any other fault.
    """
    found = _open(data, _REJECTION, _REJECTION_FIELDS)
    try:
        digests = schema.array(found["digests"], "digests", 1, MAX_DRAFTS)
        return Rejection(
            digests=tuple(schema.text(digest, "digests", schema.HEX64) for digest in digests),
            reason=schema.choice(found["reason"], "reason", REJECTION_REASONS),
        )
    except ProtocolError as error:
        raise ProtocolError(Code.MALFORMED, error.detail) from None


def _encode(value: dict[str, object]) -> bytes:
    try:
        return canonical(value)
    except ProtocolError as error:
        raise ProtocolError(Code.MALFORMED, error.detail) from None


def _open(data: bytes, kind: str, fields: frozenset[str]) -> dict[str, object]:
    if not 0 < len(data) <= MAX_FILE_BYTES:
        raise ProtocolError(
            Code.MALFORMED, f"the file has {len(data)} bytes; expected 1 to {MAX_FILE_BYTES}"
        )
    if _UNRELEASED.search(data):
        raise ProtocolError(
            Code.OLD_SCHEMA,
            "the file was written by an unreleased version (schema 1), which released versions cannot read; "
            "create a new one",
        )
    try:
        found = schema.record(parse_canonical(data), fields, kind)
        schema.choice(found["kind"], "kind", (kind,))
        schema.integer(found["schema"], "schema", _SCHEMA_VERSION, _SCHEMA_VERSION)
    except ProtocolError as error:
        raise ProtocolError(Code.MALFORMED, error.detail) from None
    return found


def _read_draft(value: object) -> DraftFile:
    found = schema.record(value, _DRAFT_FIELDS, "draft")
    notes = schema.mapping(found["notes"], "notes")
    read: dict[str, int] = {}
    for name, number in notes.items():
        schema.choice(name, "a name in notes", NOTES)
        read[name] = schema.integer(number, f"notes.{name}", 0, _MAX_UNITS)
    return DraftFile(_read_envelope(found["envelope"]), read)


def _read_refusals(value: object) -> dict[str, bytes]:
    notes = schema.mapping(value, "refusals")
    if len(notes) > MAX_DRAFTS:
        raise ProtocolError(Code.SCHEMA, f"refusals: more than {MAX_DRAFTS} entries")
    read: dict[str, bytes] = {}
    for digest, note in notes.items():
        schema.text(digest, "a name in refusals", schema.HEX64)
        read[digest] = _read_bytes(note, "refusals", 4 * MAX_REFUSAL)
    return read


def _read_envelope(value: object) -> bytes:
    return _read_bytes(value, "envelope", MAX_BYTES[STATEMENT_TYPE])


def _read_bytes(value: object, where: str, max_bytes: int) -> bytes:
    data = decode_base64(value, where)
    if len(data) > max_bytes:
        raise ProtocolError(Code.SCHEMA, f"{where}: more than {max_bytes} bytes")
    return data
