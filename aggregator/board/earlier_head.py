"""An earlier head of a log, verified with the log key in force when it was signed.

When a log key is stolen, the registry revokes it from some log size on. The newest registry then no
longer vouches for heads of that size or larger, even for genuine heads signed before the theft
was known. Such a head still shows which log its reader saw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from protocol.checkpoint import Checkpoint, LogKey, key_for_size, verify_checkpoint
from protocol.errors import Code, ProtocolError
from protocol.registry import Registry

_NOT_SIGNED = frozenset({Code.UNSIGNED_CHECKPOINT, Code.BAD_SIGNATURE})


@dataclass(frozen=True, slots=True)
class EarlierHead:
    """A head that a reader of the log has seen.

    Attributes:
        checkpoint: The parsed head.
        taken_back_from: First log size from which the newest registry has revoked the signing key;
            None if the newest registry vouches for the head.
    """

    checkpoint: Checkpoint
    taken_back_from: int | None = None

    @property
    def remark(self) -> str:
        """A sentence about a revoked log key; empty if the newest registry vouches for the head."""
        if self.taken_back_from is None:
            return ""
        return (
            f"The earlier checkpoint, of {self.checkpoint.size} entries, is signed with a log key that has since been "
            f"declared stolen: the registry no longer accepts it for logs of {self.taken_back_from} or more entries."
        )


def open_earlier_head(
    note: str, newest: Registry, earlier_keys: Iterable[Sequence[LogKey]]
) -> EarlierHead:
    """Verify and return an earlier head of the log that `newest` names.

    Args:
        note: The signed head.
        newest: The newest registry.
        earlier_keys: The log keys of earlier, verified registry versions.

    Raises:
        ProtocolError: no registry version has a key that verifies the head; the error is that of
            `verify_checkpoint` for the newest registry.
    """
    try:
        return EarlierHead(verify_checkpoint(note, newest.log_keys, newest.log_name))
    except ProtocolError as error:
        if error.code not in _NOT_SIGNED:
            raise
        refusal = error
    for keys in earlier_keys:
        try:
            checkpoint = verify_checkpoint(note, keys, newest.log_name)
        except ProtocolError:
            continue
        return EarlierHead(checkpoint, _taken_back_from(keys, newest, checkpoint.size))
    raise refusal


def _taken_back_from(keys: Sequence[LogKey], newest: Registry, size: int) -> int:
    """Return the first log size for which the key that signed for `size` is revoked."""
    signer = key_for_size(keys, size)
    for entry in newest.log_keys:
        if entry.key == signer and entry.until_size is not None:
            return entry.until_size
    return next(entry.from_size for entry in keys if entry.key == signer)
