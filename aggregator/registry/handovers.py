"""New signatures after a key of the aggregator is replaced: checkpoints for a log key, refusals for a receipt key."""

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
    """Sign the checkpoint of the hand-over with both log keys, and all later ones with the new key.

    The checkpoint just before the new key's first size has both signatures, so that sites that know only the old key
    and sites that know the new key see the same log. There are later checkpoints if the log grew while the roots
    signed, or if the old key was stolen some time ago.

    Raises:
        RegistryError: the keys of earlier sizes were changed, or the new key begins after the log's next entry.
        KeyFileError: the new key is not on this machine.
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
    """Return whether the new registry only shortens the ranges of the last log keys and adds one key."""
    for old, kept in zip(before.log_keys, after.log_keys[:-1], strict=False):
        if (old.key, old.from_size) != (kept.key, kept.from_size):
            return False
        if kept.until_size is None or (
            old.until_size is not None and kept.until_size > old.until_size
        ):
            return False
    return len(after.log_keys) <= len(before.log_keys) + 1


def sign_refusals_again(connection: Connection, home: Home, after: Registry) -> None:
    """Sign every stored refusal with the new receipt key, so that a site that asks again can verify the answer.

    Raises:
        KeyFileError: the new key is not on this machine.
    """
    signer = home.receipt_signer(after)
    for row in connection.execute(select(refusals)).all():
        note = sign_refusal(
            Refusal(row.digest, Code(row.code), row.log_size), after.log_name, signer
        )
        connection.execute(
            update(refusals).where(refusals.c.digest == row.digest).values(note=note)
        )
