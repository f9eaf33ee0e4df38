"""A restored copy of the log appends nothing until somebody has shown that it is not behind what others have seen.

A copy that lacks entries for which receipts were given would sign another tree of the same size: the log would be
forked, and every site would have reason to distrust it. The mark is a row in the database, so no program and no other
directory on the same database gets around it.
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
"""To be asked along with other things; see `refuse_mark`."""


class RestoredLogError(StoreError):
    """The log was restored from a back-up and is not known to be the newest."""

    advice = (
        "Compare it with the newest checkpoint of a witness, a published board or the sites' receipts: "
        "`intramural-aggregator resume --checkpoint FILE`."
    )


def mark_restored(connection: Connection, log_size: int, restored_day: int) -> None:
    """Forbid appending to a log that was just restored with `log_size` entries."""
    connection.execute(insert(restorations).values(log_size=log_size, restored_day=restored_day))


def refuse_restored(connection: Connection) -> None:
    """Return if entries may be appended. Raises RestoredLogError."""
    refuse_mark(read_mark(connection))


def read_mark(connection: Connection) -> int | None:
    """Return how many entries the back-up had, None if the log was not restored or has been compared."""
    return connection.execute(_MARK).scalar_one_or_none()


def refuse_mark(log_size: int | None) -> None:
    """Return if there is no mark, which says how many entries the back-up had. Raises RestoredLogError."""
    if log_size is not None:
        raise RestoredLogError(
            f"this log was restored from a back-up of {log_size} entries and has not been compared with what others "
            "have seen, so nothing is appended to it"
        )


def resume(
    connection: Connection,
    notes: Sequence[str],
    log_keys: Sequence[LogKey],
    origin: str,
    *,
    asked_everybody: bool,
) -> Checkpoint | None:
    """Allow appending again, once checkpoints that others hold have been compared; return the newest of them.

    Of a log that is not marked as restored nothing is changed, but the checkpoints are compared: a database that was
    set back in another way bears no mark.

    Args:
        connection: of a writing transaction.
        notes: signed checkpoints from outside: of witnesses, of published boards, out of receipts.
        log_keys: the registry's `log_keys`.
        origin: the registry's `log_name`.
        asked_everybody: a person says that no site and no witness holds a newer one.

    Raises:
        RestoredLogError: the copy is behind one of them, or they do not show that it is not.
        StoreError: a checkpoint is not of this log.
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
            f"the newest checkpoint given is of {known} entries, and this copy has {log_size}; entries may have been "
            "added after the back-up",
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
            f"Give checkpoints that {origin} has signed, as they came.",
        ) from None


def _check_not_ahead(connection: Connection, checkpoint: Checkpoint, log_size: int) -> None:
    if checkpoint.size > log_size:
        raise RestoredLogError(
            f"this copy has {log_size} entries, and {checkpoint.size} were signed: it lacks "
            f"{checkpoint.size - log_size} of them",
            "Restore a newer back-up. Without one this log cannot go on: found a new deployment, or its sites would "
            "hold receipts that no log keeps.",
        )
    if checkpoint.size == 0:
        return
    query = select(entries.c.checkpoint).where(entries.c.position == checkpoint.size - 1)
    ours = connection.execute(query).scalar_one()
    if ours.split("\n")[:3] != [checkpoint.origin, str(checkpoint.size), _root_line(checkpoint)]:
        raise RestoredLogError(
            f"this copy has another tree of {checkpoint.size} entries than the checkpoint that was given",
            "Two logs were signed with one key. Keep both, and tell the sites and the witnesses.",
        )


def _root_line(checkpoint: Checkpoint) -> str:
    return encode_base64(checkpoint.root)
