"""Refusals: notes signed by the aggregator's receipt key, so that no one in between can forge one (rule 8.8).

A refusal is a C2SP signed note of four lines: a first line that differs from a checkpoint's, the digest of the refused
payload, the code, and the size of the log at the time of the refusal.
"""

from dataclasses import dataclass

from protocol import schema
from protocol.checkpoint import parse_number
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.signed_note import sign_note, verify_note

FIRST_LINE = "intramural/refusal/v1"
MAX_REFUSAL = 4096  # characters


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused payload: the `digest` of its PAE, the code, and the size of the log at the time of the refusal."""

    digest: str
    code: Code
    log_size: int


def sign_refusal(refusal: Refusal, origin: str, signer: Signer) -> str:
    """Return the signed note; the key name is the log's origin."""
    text = f"{FIRST_LINE} {origin}\n{refusal.digest}\n{refusal.code.value}\n{refusal.log_size}\n"
    note = sign_note(text, origin, signer)
    verify_refusal(note, refusal.digest, signer.public, origin)
    return note


def verify_refusal(note: str, digest: str, receipt_key: PublicKey, origin: str) -> Refusal:
    """Parse a refusal and verify that the receipt key signed it for the payload `digest`.

    Raises:
        ProtocolError: BAD_REFUSAL, WRONG_ORIGIN or BAD_SIGNATURE.
    """
    if len(note) > MAX_REFUSAL:
        raise ProtocolError(
            Code.BAD_REFUSAL, f"the refusal is longer than {MAX_REFUSAL} characters"
        )
    lines = verify_note(note, 4, receipt_key, origin, Code.BAD_REFUSAL)
    if lines[0] != f"{FIRST_LINE} {origin}":
        raise ProtocolError(Code.WRONG_ORIGIN, f"the note is not a refusal of {origin}")
    if not schema.HEX64.fullmatch(lines[1]) or lines[1] != digest:
        raise ProtocolError(Code.BAD_REFUSAL, "the refusal is about another payload")
    code = next((code for code in Code if code.value == lines[2]), None)
    if code is None:
        raise ProtocolError(Code.BAD_REFUSAL, "this version does not know the code of the refusal")
    return Refusal(digest, code, parse_number(lines[3], Code.BAD_REFUSAL))
