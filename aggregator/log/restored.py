"""The mark of a restored log, which forbids appending until the copy is shown to be up to date.

A copy that lacks entries for which receipts were issued would sign a second tree of the same size. This would fork the
log, and every site would have reason to distrust it. The mark is a row in the database, so that no program and no other
directory with the same database can circumvent it.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from aggregator.errors import StoreError
from aggregator.store.schema import entries, restorations
from protocol.checkpoint import Checkpoint, LogKey, verify_checkpoint
from protocol.envelope import encode_base64
from protocol.errors import ProtocolError

_MARK = select(restorations.c.log_size).limit(1)
MARK: ColumnElement[int | None] = _MARK.scalar_subquery().label("mark")
"""For reading the mark together with other values; see `refuse_mark`."""


class RestoredLogError(StoreError):
    """The log was restored from a backup and is not known to be the newest copy."""

    advice = (
        "Compare it with the newest checkpoint from a witness, a published board or the sites' receipts: "
        "`intramural-aggregator resume --checkpoint FILE`."
    )


def mark_restored(connection: Connection, log_size: int, restored_day: int) -> None:
    """Forbid appending to a log that was just restored with `log_size` entries."""
    connection.execute(insert(restorations).values(log_size=log_size, restored_day=restored_day))


def refuse_restored(connection: Connection) -> None:
    """Check that entries may be appended. Raises RestoredLogError."""
    refuse_mark(read_mark(connection))


def read_mark(connection: Connection) -> int | None:
    """Return the number of entries in the backup; None if the log was not restored or has since been compared."""
    return connection.execute(_MARK).scalar_one_or_none()


def refuse_mark(log_size: int | None) -> None:
    """Check that there is no mark. `log_size`: number of entries in the backup, as marked. Raises RestoredLogError."""
    if log_size is not None:
        raise RestoredLogError(
            f"this log was restored from a backup of {log_size} entries and has not been compared with checkpoints "
            "from outside, so nothing is appended to it"
        )


def resume(
    connection: Connection,
    notes: Sequence[str],
    log_keys: Sequence[LogKey],
    origin: str,
    *,
    asked_everybody: bool,
) -> Checkpoint | None:
    """Compare the log with checkpoints from outside and allow appending again; return the newest of them.

    If the log is not marked as restored, the checkpoints are compared but nothing is changed. A database that was
    rolled back in another way has no mark.

    Args:
        connection: the connection of a writing transaction.
        notes: signed checkpoints from outside: from witnesses, published boards or receipts.
        log_keys: the registry's `log_keys`.
        origin: the registry's `log_name`.
        asked_everybody: whether a person states that no site and no witness has a newer checkpoint.

    Raises:
        RestoredLogError: the copy lacks entries that a checkpoint covers, or the checkpoints do not prove that it is
            complete.
        StoreError: a checkpoint is not from this log.
    """
    mark = read_mark(connection)
    log_size = (
        connection.execute(select(func.count()).select_from(entries)).scalar_one()
        if mark is None
        else mark
    )
    newest: Checkpoint | None = None
    for note in notes:
        checkpoint = _read_checkpoint(note, log_keys, origin)
        _check_not_ahead(connection, checkpoint, log_size)
        if newest is None or checkpoint.size > newest.size:
            newest = checkpoint
    if mark is None:
        return newest
    known = newest.size if newest is not None else 0
    if known < log_size and not asked_everybody:
        raise RestoredLogError(
            f"the newest checkpoint given covers {known} entries, and this copy has {log_size}; entries may have been "
            "added after the backup",
            "Find a checkpoint of exactly this size or a newer one. If every site and witness was asked and none has "
            "one, say so with --asked-everybody.",
        )
    connection.execute(delete(restorations))
    return newest


def _read_checkpoint(note: str, log_keys: Sequence[LogKey], origin: str) -> Checkpoint:
    try:
        return verify_checkpoint(note, log_keys, origin)
    except ProtocolError as error:
        raise StoreError(
            f"a checkpoint is refused: {error.code}",
            f"Give unchanged checkpoints that {origin} has signed.",
        ) from None


def _check_not_ahead(connection: Connection, checkpoint: Checkpoint, log_size: int) -> None:
    if checkpoint.size > log_size:
        raise RestoredLogError(
            f"this copy has {log_size} entries, but {checkpoint.size} were signed, so it lacks "
            f"{checkpoint.size - log_size} of them",
            "Restore a newer backup. Without one, this log cannot continue, because its sites hold receipts for "
            "entries that it has lost: found a new deployment.",
        )
    if checkpoint.size == 0:
        return
    query = select(entries.c.checkpoint).where(entries.c.position == checkpoint.size - 1)
    ours = connection.execute(query).scalar_one()
    if ours.split("\n")[:3] != [checkpoint.origin, str(checkpoint.size), _root_line(checkpoint)]:
        raise RestoredLogError(
            f"this copy and the given checkpoint have different trees of {checkpoint.size} entries",
            "Two logs were signed with one key. Keep both, and tell the sites and the witnesses.",
        )


def _root_line(checkpoint: Checkpoint) -> str:
    return encode_base64(checkpoint.root)
