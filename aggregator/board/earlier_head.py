"""An earlier head of a log, opened with the key that was the log's when it was signed.

A key that turns out stolen is taken back from some size of the log on, and a truthful head that it signed before
anybody knew is then no longer the newest registry's to vouch for. It still says which log its reader saw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from protocol.checkpoint import Checkpoint, LogKey, key_for_size, verify_checkpoint
from protocol.errors import Code, ProtocolError
from protocol.registry import Registry

_NOT_SIGNED = frozenset({Code.UNSIGNED_CHECKPOINT, Code.BAD_SIGNATURE})


@dataclass(frozen=True, slots=True)
class EarlierHead:
    """A head that a reader of the log saw.

    Attributes:
        checkpoint: its content.
        taken_back_from: first size of the log that the newest registry no longer lets its key sign for; None where
            the newest registry vouches for the head.
    """

    checkpoint: Checkpoint
    taken_back_from: int | None = None

    @property
    def remark(self) -> str:
        """A sentence about its key, "" where there is nothing to say."""
        if self.taken_back_from is None:
            return ""
        return (
            f"The earlier checkpoint, of {self.checkpoint.size} entries, is signed with a log key that was declared "
            f"stolen since: the registry takes it no more for logs of {self.taken_back_from} entries and more."
        )


def open_earlier_head(
    note: str, newest: Registry, earlier_keys: Iterable[Sequence[LogKey]]
) -> EarlierHead:
    """Read an earlier head of the log that `newest` names.

    Args:
        note: the signed head.
        newest: the newest registry.
        earlier_keys: the log's keys as earlier versions, which were verified, gave them.

    Raises:
        ProtocolError: as `verify_checkpoint`, by the newest registry, if none of them has the key that signed.
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
    """Return the first size that the key which signed for `size` no longer signs for."""
    signer = key_for_size(keys, size)
    for entry in newest.log_keys:
        if entry.key == signer and entry.until_size is not None:
            return entry.until_size
    return next(entry.from_size for entry in keys if entry.key == signer)
