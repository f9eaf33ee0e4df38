"""The transparency log in the database: appending, proofs, receipts. Callers bring the transaction.

The tree is never stored: every proof is computed from the leaf hashes, so that nothing can disagree with them. Only
the signed checkpoint of each size is kept, in the row of the entry that made it, so that no size is signed twice.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select

from aggregator.store.schema import entries
from protocol.canonical import canonical
from protocol.checkpoint import Checkpoint, sign_checkpoint
from protocol.identity import NONE
from protocol.keys import Signer
from protocol.merkle import consistency_proof, inclusion_proof, leaf_hash, root
from protocol.predicates import AbandonPredicate, ResultPredicate, Statement, WithdrawPredicate
from protocol.receipt import build_receipt
from protocol.statements import kind_name


@dataclass(frozen=True, slots=True)
class Link:
    """What is appended: one accepted statement.

    Attributes:
        digest, leaf: identity and PAE of the payload.
        envelope: the file as received, with its signatures.
        statement: what the payload says.
        registry: version in force when it was accepted.
        figures: fingerprint of a result's protected figures, to recognise copies.
    """

    digest: str
    leaf: bytes
    envelope: bytes
    statement: Statement
    registry: int
    figures: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as published: the envelope and the registry version it was accepted under."""

    envelope: bytes
    registry: int

    def line(self) -> bytes:
        """Return the entry as one line of canonical JSON, without the line's end."""
        return canonical({"envelope": json.loads(self.envelope), "registry": self.registry})


def size(connection: Connection) -> int:
    """Return the number of entries."""
    return connection.execute(select(func.count()).select_from(entries)).scalar_one()


def leaf_hashes(connection: Connection, upto: int | None = None) -> list[bytes]:
    """Return the leaf hashes of the first `upto` entries, or of all."""
    query = select(entries.c.leaf_hash).order_by(entries.c.position)
    return list(connection.execute(query.limit(upto)).scalars())


def append(connection: Connection, link: Link, *, origin: str, log_key: Signer) -> int:
    """Append one entry and sign the new head, in the caller's writing transaction. Returns its position."""
    hashes = [*leaf_hashes(connection), leaf_hash(link.leaf)]
    position = len(hashes) - 1
    header = link.statement.header
    connection.execute(
        insert(entries).values(
            position=position,
            digest=link.digest,
            leaf_hash=hashes[-1],
            envelope=link.envelope,
            site=header.site,
            epoch=header.epoch,
            seq=header.seq,
            kind=kind_name(link.statement),
            registry=link.registry,
            ledger_length=header.ledger.length,
            ledger_head=header.ledger.head,
            settles=settled_by(link.statement),
            scores_root=link.statement.scores_root if isinstance(link.statement, ResultPredicate) else None,
            figures=link.figures,
            checkpoint=sign_checkpoint(Checkpoint(origin, len(hashes), root(hashes)), log_key),
        )
    )
    return position


def settled_by(statement: Statement) -> str | None:
    """Return the digest of the earlier statement that this one ends: a plan or a result; None if it ends none."""
    match statement:
        case ResultPredicate(plan=plan):
            return None if plan == NONE else plan
        case AbandonPredicate(plan=plan):
            return plan
        case WithdrawPredicate(result=result):
            return result
    return None


def checkpoint(connection: Connection, *, origin: str, log_key: Signer) -> str:
    """Return the newest signed checkpoint; that of the empty log, which no entry made, is signed here."""
    query = select(entries.c.checkpoint).order_by(entries.c.position.desc()).limit(1)
    newest: str | None = connection.execute(query).scalar_one_or_none()
    return newest or sign_checkpoint(Checkpoint(origin, 0, root([])), log_key)


def receipt(connection: Connection, digest: str) -> str | None:
    """Return the receipt of an entry, None if there is none.

    It proves the entry in the tree that the entry completed, so it is the same bytes whenever it is asked for, and
    nothing is lost when the process dies between appending and answering.
    """
    query = select(entries.c.position, entries.c.checkpoint).where(entries.c.digest == digest)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    hashes = leaf_hashes(connection, row.position + 1)
    return build_receipt(row.position, inclusion_proof(hashes, row.position), row.checkpoint)


def consistency(connection: Connection, old_size: int, new_size: int) -> list[bytes]:
    """Return the proof that the log of `old_size` entries is a prefix of that of `new_size`.

    Empty where the sizes are equal or the old log was empty.

    Raises:
        ValueError: not 0 <= old_size <= new_size <= size of the log.
    """
    hashes = leaf_hashes(connection, new_size)
    if not 0 <= old_size <= new_size == len(hashes):
        raise ValueError("sizes outside the log")
    return [] if old_size == 0 else consistency_proof(hashes, old_size)


def read_entries(connection: Connection, start: int = 0, end: int | None = None) -> Iterator[Entry]:
    """Give the entries with start <= position < end, in order."""
    query = select(entries.c.envelope, entries.c.registry).where(entries.c.position >= start)
    if end is not None:
        query = query.where(entries.c.position < end)
    for row in connection.execute(query.order_by(entries.c.position)):
        yield Entry(row.envelope, row.registry)
