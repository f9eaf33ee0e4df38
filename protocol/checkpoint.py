"""Checkpoints: a log's size and root as a C2SP signed note with an Ed25519 key.

Only the three lines origin, size and root are accepted. Extension lines are free text, so they are refused.
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
    """An Ed25519 key of a log, and the range of log sizes for which it signs checkpoints.

    It signs checkpoints with from_size <= size and, if until_size is set, size < until_size. A key that is stolen after
    its replacement therefore cannot sign checkpoints of a larger log.
    """

    key: PublicKey
    from_size: int = 0
    until_size: int | None = None

    def covers(self, size: int) -> bool:
        """Return whether this key signs checkpoints of this size."""
        return self.from_size <= size and (self.until_size is None or size < self.until_size)


def key_for_size(log_keys: Sequence[LogKey], size: int) -> PublicKey:
    """Return the key that signs checkpoints of a size.

    Raises:
        ProtocolError: UNSIGNED_CHECKPOINT if there is no such key.
    """
    for entry in log_keys:
        if entry.covers(size):
            return entry.key
    raise ProtocolError(Code.UNSIGNED_CHECKPOINT, f"the log has no key for size {size}")


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
    """Parse a signed note and verify the signature by the log's key for its size.

    Signatures by other keys are ignored, as C2SP demands.

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
        raise ProtocolError(Code.WRONG_ORIGIN, f"the note is not a checkpoint of {origin}")
    if len(lines) != 3:
        raise ProtocolError(Code.BAD_CHECKPOINT, "expected the three lines origin, size and root")
    size = parse_number(lines[1], Code.BAD_CHECKPOINT)
    log_key = key_for_size(log_keys, size)
    lines = verify_note(note, 3, log_key, origin, Code.BAD_CHECKPOINT, Code.UNSIGNED_CHECKPOINT)
    checkpoint = Checkpoint(origin, size, parse_hash(lines[2]))
    if checkpoint.size == 0 and checkpoint.root != root([]):
        raise ProtocolError(
            Code.BAD_CHECKPOINT, "an empty log must have the root of the empty tree"
        )
    return checkpoint


def parse_hash(line: str) -> bytes:
    """Parse a 32-byte hash in base64. Raises ProtocolError BAD_CHECKPOINT."""
    data = parse_base64(line, Code.BAD_CHECKPOINT)
    if len(data) != 32:
        raise ProtocolError(Code.BAD_CHECKPOINT, "a hash is not 32 bytes")
    return data


def parse_number(line: str, code: Code) -> int:
    """Parse an ASCII decimal without leading zeros, up to 2^53 - 1. Raises ProtocolError `code`."""
    if not _NUMBER.fullmatch(line) or int(line) > MAX_SIZE:
        raise ProtocolError(code, "expected a decimal number without leading zeros")
    return int(line)


def check_growth(old: Checkpoint, new: Checkpoint, proof: Sequence[bytes]) -> None:
    """Check that `new` continues `old`.

    `proof` is the consistency proof; it is empty if old.size is 0 or equals new.size.

    Raises:
        ProtocolError: WRONG_ORIGIN, LOG_SHRANK, SPLIT_VIEW (same size, different root) or BAD_PROOF.
    """
    if old.origin != new.origin:
        raise ProtocolError(Code.WRONG_ORIGIN, f"{new.origin} does not continue {old.origin}")
    if new.size < old.size:
        raise ProtocolError(Code.LOG_SHRANK, f"from {old.size} to {new.size} entries")
    if new.size == old.size and new.root != old.root:
        raise ProtocolError(Code.SPLIT_VIEW, f"two roots for {new.size} entries")
    if old.size == 0:
        if proof:
            raise ProtocolError(Code.BAD_PROOF, "a proof from an empty log must be empty")
        return
    verify_consistency(old.size, new.size, proof, old.root, new.root)
