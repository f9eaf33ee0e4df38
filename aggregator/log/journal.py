"""The transparency log in the database: appending, proofs and receipts. Callers pass the transaction.

The tree's nodes are stored with the entries that complete them, so that appending and proving read only a few rows,
even in a long log. The signed checkpoint of each size is stored in the row of the entry that led to it, so that no
size is signed twice. Nothing is appended to a tree whose root differs from the one signed last.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, tuple_

from aggregator.errors import StoreError
from aggregator.log.restored import MARK, read_mark, refuse_mark
from aggregator.log.tree_nodes import (
    Cover,
    Node,
    complete_nodes,
    cover_consistency,
    cover_tree,
    fold,
    fold_covers,
    grow_peaks,
)
from aggregator.store.schema import entries, nodes
from protocol.checkpoint import Checkpoint, parse_hash, sign_checkpoint
from protocol.identity import NONE
from protocol.keys import Signer
from protocol.merkle import leaf_hash, root
from protocol.predicates import AbandonPredicate, ResultPredicate, Statement, WithdrawPredicate
from protocol.receipt import build_receipt
from protocol.statements import kind_name

_LEVEL, _POSITION = nodes.c.level, nodes.c.position
_NODES = select(nodes).where(tuple_(_LEVEL, _POSITION).in_(bindparam("wanted", expanding=True)))
_NEWEST_POSITION = select(entries.c.position).order_by(entries.c.position.desc()).limit(1)
_NEWEST_ENTRY = (
    select(entries.c.position, entries.c.checkpoint, MARK)
    .order_by(entries.c.position.desc())
    .limit(1)
)
_ENTRY_OF_DIGEST = select(entries.c.position, entries.c.site, entries.c.checkpoint).where(
    entries.c.digest == bindparam("wanted")
)
_INSERT_ENTRY = insert(entries)
_INSERT_NODES = insert(nodes)

MAX_RECENT = 8
_recent_peaks: dict[bytes, Sequence[bytes]] = {}
"""The complete subtrees of the trees that this process made last, by the tree's root. Entries from a transaction that
was rolled back do no harm, as no checkpoint signs their root."""


@dataclass(frozen=True, slots=True)
class Link:
    """An accepted statement to append.

    Attributes:
        digest, leaf: identity and PAE of the payload.
        envelope: the file as received, with its signatures.
        statement: the parsed payload.
        registry: version of the registry in force when it was accepted.
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
    """An entry as published: the envelope, and the registry version under which it was accepted."""

    envelope: bytes
    registry: int

    def line(self) -> bytes:
        """Return the entry as one line of canonical JSON, without the line feed."""
        # An envelope is canonical JSON, so it can be embedded unchanged in a larger value.
        return b'{"envelope":%b,"registry":%d}' % (self.envelope, self.registry)


@dataclass(frozen=True, slots=True)
class Appended:
    """An appended entry: its position, and the receipt that the site gets after the commit."""

    position: int
    receipt: str


@dataclass(frozen=True, slots=True)
class LogHead:
    """The size of the log and its newest signed checkpoint, which is None for the empty log.

    `restored_size`: number of entries in the backup, for a restored log that is not known to be the newest copy.
    """

    size: int
    checkpoint: str | None
    restored_size: int | None


def size(connection: Connection) -> int:
    """Return the number of entries."""
    newest = connection.execute(_NEWEST_POSITION).scalar_one_or_none()
    return 0 if newest is None else newest + 1


def append(connection: Connection, link: Link, *, origin: str, log_key: Signer) -> int:
    """Append one entry and sign the new head in the caller's writing transaction; return the entry's position.

    Raises:
        StoreError: the stored tree differs from the one signed last, or the log was restored and is not known to be
            the newest copy. Nothing was appended.
    """
    return append_all(connection, [link], origin=origin, log_key=log_key)[0].position


def append_all(
    connection: Connection,
    links: Sequence[Link],
    *,
    origin: str,
    log_key: Signer,
    head: LogHead | None = None,
) -> list[Appended]:
    """Append entries in order, each with its signed head.

    Args:
        connection: the connection of the caller's writing transaction.
        links: the statements to append, in order.
        origin, log_key: name of the log, and the key that signs its checkpoints.
        head: head of the log, if the caller has read it in this transaction and appended nothing since.

    Raises:
        StoreError: as `append`.
    """
    if not links:
        return []
    head = head or _read_head(connection)
    refuse_mark(head.restored_size)
    first = head.size
    peaks = (
        []
        if head.checkpoint is None
        else _read_signed_peaks(connection, first, _signed_root(head.checkpoint))
    )
    appended, entry_rows, node_rows = [], [], []
    for position, link in enumerate(links, first):
        completed = complete_nodes(position, leaf_hash(link.leaf), peaks)
        receipt_proof = peaks[::-1]
        peaks = grow_peaks(peaks, completed)
        new_root = fold(peaks)
        signed = sign_checkpoint(Checkpoint(origin, position + 1, new_root), log_key)
        appended.append(Appended(position, build_receipt(position, receipt_proof, signed)))
        entry_rows.append(_make_entry_row(link, position, completed[0][1], signed))
        for node, node_hash in completed:
            node_rows.append({"level": node.level, "position": node.position, "hash": node_hash})
    connection.execute(_INSERT_ENTRY, entry_rows)
    connection.execute(_INSERT_NODES, node_rows)
    _remember_peaks(new_root, peaks)
    return appended


def _make_entry_row(
    link: Link, position: int, leaf: bytes, signed_checkpoint: str
) -> dict[str, object]:
    header = link.statement.header
    return {
        "position": position,
        "digest": link.digest,
        "leaf_hash": leaf,
        "envelope": link.envelope,
        "site": header.site,
        "epoch": header.epoch,
        "seq": header.seq,
        "kind": kind_name(link.statement),
        "registry": link.registry,
        "ledger_length": header.ledger.length,
        "ledger_head": header.ledger.head,
        "settles": settled_by(link.statement),
        "scores_root": link.statement.scores_root
        if isinstance(link.statement, ResultPredicate)
        else None,
        "figures": link.figures,
        "checkpoint": signed_checkpoint,
    }


def settled_by(statement: Statement) -> str | None:
    """Return the digest of the plan or result that this statement ends; None if it ends none."""
    match statement:
        case ResultPredicate(plan=plan):
            return None if plan == NONE else plan
        case AbandonPredicate(plan=plan):
            return plan
        case WithdrawPredicate(result=result):
            return result
    return None


def checkpoint(connection: Connection, *, origin: str, log_key: Signer) -> str:
    """Return the newest signed checkpoint. For the empty log, which has no stored checkpoint, sign one."""
    return _read_head(connection).checkpoint or sign_checkpoint(
        Checkpoint(origin, 0, root([])), log_key
    )


def receipt(connection: Connection, digest: str, *, site: str | None = None) -> str | None:
    """Return the receipt of an entry; None if there is no such entry. With `site`, only that site's entries count.

    The receipt proves the entry in the tree of which it is the last leaf, so its bytes are always the same. Nothing is
    lost if the process dies between appending and answering.
    """
    row = connection.execute(_ENTRY_OF_DIGEST, {"wanted": digest}).one_or_none()
    if row is None or site not in {None, row.site}:
        return None
    return prove_last(connection, row.position, row.checkpoint)


def prove_last(connection: Connection, position: int, signed_checkpoint: str) -> str:
    """Return the receipt of an entry, given its position and the checkpoint in its row."""
    # The proof of a tree's last leaf consists of the complete subtrees to its left, smallest first.
    proof = _read_peaks(connection, position)[::-1]
    return build_receipt(position, proof, signed_checkpoint)


def consistency(connection: Connection, old_size: int, new_size: int) -> list[bytes]:
    """Return the proof that the log of `old_size` entries is a prefix of the log of `new_size` entries.

    The proof is empty if the sizes are equal or the old log was empty.

    Raises:
        ValueError: the sizes do not satisfy 0 <= old_size <= new_size <= size of the log.
    """
    if not 0 <= old_size <= new_size <= size(connection):
        raise ValueError("the sizes are outside the log")
    return [] if old_size == 0 else _read_proof(connection, cover_consistency(old_size, new_size))


def _read_head(connection: Connection) -> LogHead:
    newest = connection.execute(_NEWEST_ENTRY).one_or_none()
    if newest is None:
        return LogHead(0, None, read_mark(connection))
    return LogHead(newest.position + 1, newest.checkpoint, newest.mark)


def read_nodes(connection: Connection, wanted: Iterable[Node]) -> dict[Node, bytes]:
    """Return the hashes of nodes, without nodes that are not stored."""
    rows = connection.execute(_NODES, {"wanted": [tuple(node) for node in wanted]})
    return {Node(row.level, row.position): row.hash for row in rows}


def _read_peaks(connection: Connection, tree_size: int) -> list[bytes]:
    """Return the hashes of the complete subtrees that make up the tree of the first `tree_size` entries."""
    return _hashes_of(connection, cover_tree(tree_size))


def _read_signed_peaks(connection: Connection, tree_size: int, signed_root: bytes) -> list[bytes]:
    """Return the hashes of the complete subtrees of the tree that the newest checkpoint signs. Raises StoreError."""
    peaks = _recent_peaks.get(signed_root)
    if peaks is None or len(peaks) != len(cover_tree(tree_size)):
        peaks = _read_peaks(connection, tree_size)
    if fold(peaks) != signed_root:
        raise StoreError(
            "the log's stored tree differs from the one that its last checkpoint signs",
            "Restore the database from a backup, and do not run the service on this database.",
        )
    return list(peaks)


def _remember_peaks(tree_root: bytes, peaks: Sequence[bytes]) -> None:
    if len(_recent_peaks) >= MAX_RECENT:
        _recent_peaks.pop(next(iter(_recent_peaks)), None)
    _recent_peaks[tree_root] = tuple(peaks)


def _read_proof(connection: Connection, covers: Sequence[Cover]) -> list[bytes]:
    wanted = [node for cover in covers for node in cover]
    hashes = dict(zip(wanted, _hashes_of(connection, wanted), strict=True))
    return fold_covers(covers, hashes)


def _hashes_of(connection: Connection, wanted: Sequence[Node]) -> list[bytes]:
    """Return the hashes of nodes in the given order. Raises StoreError if a node is not stored."""
    if not wanted:
        return []
    stored = read_nodes(connection, wanted)
    try:
        return [stored[node] for node in wanted]
    except KeyError:
        raise StoreError(
            "the log's stored tree lacks a node",
            "Restore the database from a backup, and do not run the service on this database.",
        ) from None


def _signed_root(checkpoint_note: str) -> bytes:
    """Return the root in a checkpoint of the aggregator's own log."""
    return parse_hash(checkpoint_note.split("\n", 3)[2])


def read_entries(connection: Connection, start: int = 0, end: int | None = None) -> Iterator[Entry]:
    """Yield the entries with start <= position < end, in order."""
    query = select(entries.c.envelope, entries.c.registry).where(entries.c.position >= start)
    if end is not None:
        query = query.where(entries.c.position < end)
    for row in connection.execute(query.order_by(entries.c.position)):
        yield Entry(row.envelope, row.registry)
