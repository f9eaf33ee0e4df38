"""Audits: signed statements that an auditor recomputed the published board from the sealed log (rule 8.1).

An audit is an in-toto statement like those of the sites' chains. Its schema is closed and leaves no choice: for one
board there is exactly one payload, so the only free bits are those of the signature (`protocol.capacity.SIGNATURES`).
It is published as `audits/KEYID.dsse.json` with the signature of one auditor.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import decode, sign
from protocol.errors import Code, ProtocolError
from protocol.identity import tagged_digest
from protocol.keys import PublicKey, Signer

AUDIT: Final = "urn:intramural:audit/v1"
AUDIT_FILE: Final = "audits/{keyid}.dsse.json"
AUDITS_FOLDER: Final = "audits/"
CHECKPOINT_FILE: Final = "log/checkpoint"

_TYPE: Final = "https://in-toto.io/Statement/v1"
_SCHEMA_VERSION: Final = 1
_STATEMENT = frozenset({"_type", "subject", "predicateType", "predicate"})
_PREDICATE = frozenset({"schema", "deployment", "registry", "board", "log_size", "log_root"})


@dataclass(frozen=True, slots=True)
class Audit:
    """A board that was recomputed from the whole log.

    Attributes:
        deployment: the aggregator's origin.
        registry: version of the newest registry.
        board: `board_digest` of the published files.
        log_size: number of log entries.
        log_root: root of the log, 64 hex digits.
    """

    deployment: str
    registry: int
    board: str
    log_size: int
    log_root: str


def board_digest(files: Mapping[str, str]) -> str:
    """Return the identity of a published board, 64 hex digits.

    Args:
        files: path -> hex SHA-256, for every published file. Audits and the checkpoint are left out, because auditors
            and witnesses add signatures later. An audit itself names the log's size and root.
    """
    signed = {}
    for name, digest in files.items():
        if name != CHECKPOINT_FILE and not name.startswith(AUDITS_FOLDER):
            signed[name] = digest
    return tagged_digest("board", signed)


def build_audit(audit: Audit) -> bytes:
    """Return the canonical payload of an audit, to be signed as a statement by an auditor's key."""
    return canonical(
        {
            "_type": _TYPE,
            "subject": [{"name": "board", "digest": {"sha256": audit.board}}],
            "predicateType": AUDIT,
            "predicate": {
                "schema": _SCHEMA_VERSION,
                "deployment": audit.deployment,
                "registry": audit.registry,
                "board": audit.board,
                "log_size": audit.log_size,
                "log_root": audit.log_root,
            },
        }
    )


def parse_audit(payload: bytes) -> Audit:
    """Parse an audit's payload: strict canonical JSON with a closed schema.

    Raises:
        ProtocolError: SCHEMA, WRONG_TYPE or WRONG_SUBJECT, or as `parse_canonical`.
    """
    statement = schema.record(parse_canonical(payload), _STATEMENT, "statement")
    if (statement["_type"], statement["predicateType"]) != (_TYPE, AUDIT):
        raise ProtocolError(Code.WRONG_TYPE, f"expected a statement of type {AUDIT}")
    fields = schema.record(statement["predicate"], _PREDICATE, "audit")
    schema.integer(fields["schema"], "schema", _SCHEMA_VERSION, _SCHEMA_VERSION)
    audit = Audit(
        deployment=schema.text(fields["deployment"], "deployment", schema.ORIGIN),
        registry=schema.integer(fields["registry"], "registry", 1, 2**31 - 1),
        board=schema.text(fields["board"], "board", schema.HEX64),
        log_size=schema.integer(fields["log_size"], "log_size"),
        log_root=schema.text(fields["log_root"], "log_root", schema.HEX64),
    )
    if build_audit(audit) != payload:
        raise ProtocolError(
            Code.WRONG_SUBJECT, "the subject is not the board that the predicate names"
        )
    return audit


def sign_audit(audit: Audit, auditor: Signer) -> bytes:
    """Return the envelope file of an audit, with the auditor's signature."""
    envelope = sign(build_audit(audit), [auditor])
    open_audit(envelope, {auditor.public.keyid: auditor.public})
    return envelope


def open_audit(data: bytes, auditors: Mapping[str, PublicKey]) -> tuple[str, Audit]:
    """Verify an audit; return the key id of its auditor, and its content.

    Args:
        data: the envelope file.
        auditors: the registry's auditors by key id.

    Raises:
        ProtocolError: MALFORMED (also for more than one signature), UNKNOWN_KEY or BAD_SIGNATURE, or as
            `parse_audit`.
    """
    envelope = decode(data)
    if len(envelope.signatures) != 1:
        raise ProtocolError(
            Code.MALFORMED, "expected one signature: each auditor has a file of their own"
        )
    envelope.verify(auditors)
    return envelope.signatures[0].keyid, parse_audit(envelope.payload)
