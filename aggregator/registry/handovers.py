"""Signing again after a key of the aggregator is replaced: checkpoints by both log keys, refusals by the new key."""

from sqlalchemy import Connection, select, update

from aggregator.errors import RegistryError
from aggregator.home import Home
from aggregator.log import journal
from aggregator.store.schema import entries, refusals
from protocol.checkpoint import Checkpoint, parse_hash, sign_checkpoint
from protocol.errors import Code
from protocol.refusal import Refusal, sign_refusal
from protocol.registry import Registry


def hand_over_log(connection: Connection, home: Home, before: Registry, after: Registry) -> None:
    """Sign the checkpoint of the hand-over with both keys, and all later ones with the new key.

    The checkpoint right before the new key's first size bears both signatures: a site that knows the old key alone and
    one that knows the new key see one log. Later checkpoints are there where the log grew while the roots signed, or
    where the old key was stolen some time ago.

    Raises:
        RegistryError: the keys of earlier sizes are changed, or the new one begins beyond the log's next entry.
        KeyFileError: the new key is not here.
    """
    start = after.log_keys[-1].from_size
    size = journal.size(connection)
    if start > size + 1 or not _continues(before, after):
        raise RegistryError(
            "the new log key does not continue the old one",
            "Nothing was changed. Propose it again.",
        )
    new = home.log_signer(after)
    query = select(entries.c.position, entries.c.checkpoint).where(
        entries.c.position >= max(0, start - 2)
    )
    for row in connection.execute(query).all():
        root = parse_hash(row.checkpoint.split("\n")[2])
        signed = sign_checkpoint(Checkpoint(after.log_name, row.position + 1, root), new)
        both = row.checkpoint + signed.rpartition("\n\n")[2]
        connection.execute(
            update(entries).where(entries.c.position == row.position).values(checkpoint=both)
        )


def _continues(before: Registry, after: Registry) -> bool:
    """Return whether the new registry only cut the last log keys short and added one."""
    for old, kept in zip(before.log_keys, after.log_keys[:-1], strict=False):
        if (old.key, old.from_size) != (kept.key, kept.from_size):
            return False
        if kept.until_size is None or (
            old.until_size is not None and kept.until_size > old.until_size
        ):
            return False
    return len(after.log_keys) <= len(before.log_keys) + 1


def sign_refusals_again(connection: Connection, home: Home, after: Registry) -> None:
    """Sign every remembered refusal with the new receipt key: a site that asks again can verify the answer.

    Raises:
        KeyFileError: the new key is not here.
    """
    signer = home.receipt_signer(after)
    for row in connection.execute(select(refusals)).all():
        note = sign_refusal(
            Refusal(row.digest, Code(row.code), row.log_size), after.log_name, signer
        )
        connection.execute(
            update(refusals).where(refusals.c.digest == row.digest).values(note=note)
        )
