"""Checkpoints: a log's size and root as a C2SP signed note with an Ed25519 key."""

from collections.abc import Sequence
from dataclasses import dataclass

from protocol.keys import PublicKey, Signer


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree head: `root` (32 bytes) of the first `size` entries of the log called `origin`."""

    origin: str
    size: int
    root: bytes


def note_key_id(name: str, key: PublicKey) -> bytes:
    """Return the 4 bytes that name an Ed25519 key in a signed note."""
    raise NotImplementedError


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> str:
    """Return the signed note; the key name is the origin."""
    raise NotImplementedError


def verify_checkpoint(note: str, log_key: PublicKey, origin: str) -> Checkpoint:
    """Read a signed note and verify the log's signature. Signatures of unknown keys are ignored, as C2SP demands.

    Raises:
        ProtocolError: BAD_CHECKPOINT, WRONG_ORIGIN, UNSIGNED_CHECKPOINT or BAD_SIGNATURE.
    """
    raise NotImplementedError


def check_growth(old: Checkpoint, new: Checkpoint, proof: Sequence[bytes]) -> None:
    """Return if `new` continues `old`. `proof` is the consistency proof; empty where old.size is 0 or new.size.

    Raises:
        ProtocolError: WRONG_ORIGIN, LOG_SHRANK, SPLIT_VIEW (same size, other root) or BAD_PROOF.
    """
    raise NotImplementedError
