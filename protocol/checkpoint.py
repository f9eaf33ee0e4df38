"""Checkpoints: a log's size and root as a C2SP signed note with an Ed25519 key.

Only the three lines origin, size and root are taken: extension lines are free text and are refused.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from protocol.envelope import decode_base64, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.merkle import root, verify_consistency

ED25519_NOTE = b"\x01"  # C2SP's signature type
MAX_NOTE_SIGNATURES = 16
MAX_SIZE = 2**53 - 1

_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")
_SIGNATURE_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree head: `root` (32 bytes) of the first `size` entries of the log called `origin`."""

    origin: str
    size: int
    root: bytes


def note_key_id(name: str, key: PublicKey) -> bytes:
    """Return the 4 bytes that name an Ed25519 key in a signed note."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519_NOTE + key.raw).digest()[:4]


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> str:
    """Return the signed note; the key name is the origin."""
    text = f"{checkpoint.origin}\n{checkpoint.size}\n{encode_base64(checkpoint.root)}\n"
    signature = note_key_id(checkpoint.origin, signer.public) + signer.sign(text.encode())
    note = f"{text}\n— {checkpoint.origin} {encode_base64(signature)}\n"
    verify_checkpoint(note, signer.public, checkpoint.origin)
    return note


def verify_checkpoint(note: str, log_key: PublicKey, origin: str) -> Checkpoint:
    """Read a signed note and verify the log's signature. Signatures of unknown keys are ignored, as C2SP demands.

    Raises:
        ProtocolError: BAD_CHECKPOINT, WRONG_ORIGIN, UNSIGNED_CHECKPOINT or BAD_SIGNATURE.
    """
    text, separator, tail = note.rpartition("\n\n")
    lines, signatures = text.split("\n"), tail.split("\n")
    if not separator or len(lines) != 3 or signatures.pop() or not 1 <= len(signatures) <= MAX_NOTE_SIGNATURES:
        raise ProtocolError(Code.BAD_CHECKPOINT, "expected three lines, an empty one, and 1 to 16 signatures")
    if lines[0] != origin:
        raise ProtocolError(Code.WRONG_ORIGIN, f"not a checkpoint of {origin}")
    checkpoint = Checkpoint(origin, parse_number(lines[1], Code.BAD_CHECKPOINT), parse_hash(lines[2]))
    if checkpoint.size == 0 and checkpoint.root != root([]):
        raise ProtocolError(Code.BAD_CHECKPOINT, "an empty log with a root of something")
    known = (origin, note_key_id(origin, log_key))
    ours = [signature for name, key_id, signature in map(_signature, signatures) if (name, key_id) == known]
    if not ours:
        raise ProtocolError(Code.UNSIGNED_CHECKPOINT, "no signature by the log's key")
    for signature in ours:
        log_key.verify(signature, f"{text}\n".encode())
    return checkpoint


def _signature(line: str) -> tuple[str, bytes, bytes]:
    found = _SIGNATURE_LINE.fullmatch(line)
    if not found:
        raise ProtocolError(Code.BAD_CHECKPOINT, "a signature line is not of the form '— name base64'")
    data = _base64(found[2])
    return found[1], data[:4], data[4:]


def _base64(value: str) -> bytes:
    try:
        return decode_base64(value, "base64")
    except ProtocolError as error:
        raise ProtocolError(Code.BAD_CHECKPOINT, error.detail) from None


def parse_hash(line: str) -> bytes:
    """Read a 32-byte hash in base64. Raises ProtocolError BAD_CHECKPOINT."""
    data = _base64(line)
    if len(data) != 32:
        raise ProtocolError(Code.BAD_CHECKPOINT, "a hash is not 32 bytes")
    return data


def parse_number(line: str, code: Code) -> int:
    """Read an ASCII decimal without leading zeros, up to 2^53 - 1. Raises ProtocolError `code`."""
    if not _NUMBER.fullmatch(line) or int(line) > MAX_SIZE:
        raise ProtocolError(code, "expected a decimal number without leading zeros")
    return int(line)


def check_growth(old: Checkpoint, new: Checkpoint, proof: Sequence[bytes]) -> None:
    """Return if `new` continues `old`. `proof` is the consistency proof; empty where old.size is 0 or new.size.

    Raises:
        ProtocolError: WRONG_ORIGIN, LOG_SHRANK, SPLIT_VIEW (same size, other root) or BAD_PROOF.
    """
    if old.origin != new.origin:
        raise ProtocolError(Code.WRONG_ORIGIN, f"{new.origin} does not continue {old.origin}")
    if new.size < old.size:
        raise ProtocolError(Code.LOG_SHRANK, f"from {old.size} to {new.size} entries")
    if new.size == old.size and new.root != old.root:
        raise ProtocolError(Code.SPLIT_VIEW, f"two roots for {new.size} entries")
    if old.size == 0:
        if proof:
            raise ProtocolError(Code.BAD_PROOF, "nothing to prove from an empty log")
        return
    verify_consistency(old.size, new.size, proof, old.root, new.root)
