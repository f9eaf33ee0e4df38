"""Checkpoints: a log's size and root as a C2SP signed note with an Ed25519 key.

Only the three lines origin, size and root are taken: extension lines are free text and are refused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from protocol.envelope import encode_base64
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.merkle import root, verify_consistency
from protocol.signed_note import parse_base64, sign_note, verify_note

MAX_SIZE = 2**53 - 1

_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True)
class LogKey:
    """An Ed25519 key of a log, and the sizes of the log that it signs checkpoints of.

    It signs from_size <= size, and size < until_size where that is set. A key that was stolen after it was replaced
    so signs nothing about a larger log.
    """

    key: PublicKey
    from_size: int = 0
    until_size: int | None = None

    def covers(self, size: int) -> bool:
        """Whether a checkpoint of this size is this key's to sign."""
        return self.from_size <= size and (self.until_size is None or size < self.until_size)


def key_for_size(log_keys: Sequence[LogKey], size: int) -> PublicKey:
    """Return the key that signs checkpoints of a size.

    Raises:
        ProtocolError: UNSIGNED_CHECKPOINT, if no key does.
    """
    for entry in log_keys:
        if entry.covers(size):
            return entry.key
    raise ProtocolError(Code.UNSIGNED_CHECKPOINT, f"the log has no key for a size of {size}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree head: `root` (32 bytes) of the first `size` entries of the log called `origin`."""

    origin: str
    size: int
    root: bytes


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> str:
    """Return the signed note; the key name is the origin."""
    text = f"{checkpoint.origin}\n{checkpoint.size}\n{encode_base64(checkpoint.root)}\n"
    note = sign_note(text, checkpoint.origin, signer)
    verify_checkpoint(note, (LogKey(signer.public),), checkpoint.origin)
    return note


def verify_checkpoint(note: str, log_keys: Sequence[LogKey], origin: str) -> Checkpoint:
    """Read a signed note and verify the signature of the log's key for its size.

    Signatures of other keys are ignored, as C2SP demands.

    Args:
        note: as received.
        log_keys: the registry's `log_keys`.
        origin: the registry's `log_name`.

    Raises:
        ProtocolError: BAD_CHECKPOINT, WRONG_ORIGIN, UNSIGNED_CHECKPOINT or BAD_SIGNATURE.
    """
    first = note.partition("\n")[0]
    lines = note.rpartition("\n\n")[0].split("\n")
    if len(lines) == 3 and first != origin:
        raise ProtocolError(Code.WRONG_ORIGIN, f"not a checkpoint of {origin}")
    if len(lines) != 3:
        raise ProtocolError(Code.BAD_CHECKPOINT, "expected the three lines origin, size and root")
    size = parse_number(lines[1], Code.BAD_CHECKPOINT)
    log_key = key_for_size(log_keys, size)
    lines = verify_note(note, 3, log_key, origin, Code.BAD_CHECKPOINT, Code.UNSIGNED_CHECKPOINT)
    checkpoint = Checkpoint(origin, size, parse_hash(lines[2]))
    if checkpoint.size == 0 and checkpoint.root != root([]):
        raise ProtocolError(Code.BAD_CHECKPOINT, "an empty log with a root of something")
    return checkpoint


def parse_hash(line: str) -> bytes:
    """Read a 32-byte hash in base64. Raises ProtocolError BAD_CHECKPOINT."""
    data = parse_base64(line, Code.BAD_CHECKPOINT)
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
