"""Witnesses' cosignatures in the database, stored for the newest checkpoints that each witness has signed."""

from collections.abc import Mapping

from sqlalchemy import Connection, delete, insert, select

from aggregator.errors import StoreError
from aggregator.log import journal
from aggregator.store.schema import cosignatures
from protocol.checkpoint import Checkpoint, check_growth, verify_checkpoint
from protocol.cosignature import read_cosignatures
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey
from protocol.registry import Registry
from protocol.signed_note import MAX_NOTE_SIGNATURES

KEPT = 16  # checkpoints per witness


def witness_keys(registry: Registry) -> dict[str, PublicKey]:
    """Return the registry's witnesses by name."""
    return {entry.name: entry.key for entry in registry.witnesses.keys}


def check_cosignatures(
    connection: Connection, note: str, registry: Registry, newest: Checkpoint
) -> dict[str, str]:
    """Verify a cosigned checkpoint of this log, and return its cosignature lines by the witness's name.

    Args:
        connection: a connection to the log's database.
        note: the checkpoint, with signatures by the log and by witnesses.
        registry: the newest registry.
        newest: the newest checkpoint of this log.

    Raises:
        ProtocolError: as `verify_checkpoint` and `read_cosignatures`; BAD_PROOF or SPLIT_VIEW for a checkpoint that
            this log did not sign; UNKNOWN_KEY if no witness in the registry has cosigned.
    """
    checkpoint = verify_checkpoint(note, registry.log_keys, registry.log_name)
    names = read_cosignatures(note, witness_keys(registry))
    if not names:
        raise ProtocolError(Code.UNKNOWN_KEY, "no witness in the registry has cosigned")
    if checkpoint.size > newest.size:
        raise ProtocolError(Code.SPLIT_VIEW, "the checkpoint is of a larger log than this one")
    check_growth(checkpoint, newest, _proof(connection, checkpoint.size, newest.size))
    body, _, tail = note.rpartition("\n\n")
    lines: dict[str, str] = {}
    for line in tail.splitlines():
        lines |= dict.fromkeys(
            read_cosignatures(f"{body}\n\n{line}\n", witness_keys(registry)), line
        )
    return lines


def _proof(connection: Connection, old_size: int, new_size: int) -> list[bytes]:
    return [] if old_size == new_size else journal.consistency(connection, old_size, new_size)


def keep_cosignatures(connection: Connection, size: int, lines: Mapping[str, str]) -> None:
    """Store the cosignatures, checked by `check_cosignatures`, of the checkpoint of a given size."""
    table = cosignatures.c
    for name, line in lines.items():
        connection.execute(delete(cosignatures).where(table.name == name, table.size == size))
        connection.execute(insert(cosignatures).values(size=size, name=name, line=line))
        newest = (
            select(table.size)
            .where(table.name == name)
            .order_by(table.size.desc())
            .offset(KEPT)
            .limit(1)
        )
        too_old = connection.execute(newest).scalar_one_or_none()
        if too_old is not None:
            connection.execute(
                delete(cosignatures).where(table.name == name, table.size <= too_old)
            )


def with_cosignatures(connection: Connection, note: str, registry: Registry) -> str:
    """Return a checkpoint of this log with the cosignatures stored for it."""
    size = int(note.split("\n")[1])
    query = (
        select(cosignatures.c.line).where(cosignatures.c.size == size).order_by(cosignatures.c.name)
    )
    lines = connection.execute(query).scalars().all()
    complete = note + "".join(f"{line}\n" for line in lines[: MAX_NOTE_SIGNATURES - 1])
    try:
        read_cosignatures(complete, witness_keys(registry))
    except ProtocolError:
        raise StoreError("a stored cosignature does not verify: the database was changed") from None
    return complete
