"""Reading our own log for a board.

Signatures were verified when the entries were accepted, and `verify` and `audit` verify them again. Here it is enough
that every leaf hash follows from its payload and that all of them lead to the signed head.
"""

import json
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from aggregator.board.evidence import Replayed, open_checkpoint
from aggregator.board.log_folder import BUNDLE, CHECKPOINT_FILE, REGISTRY_FILE, bundle_file
from aggregator.errors import BoardMismatchError
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.cosignatures import with_cosignatures
from aggregator.log.growing_tree import GrowingTree
from aggregator.log.publication import HiddenEntry, LogRow, read_rows
from aggregator.merge.accepted import Assurances, Result, Withdrawal
from aggregator.registry.versions import all_envelopes, newest_registry
from protocol.envelope import STATEMENT_TYPE, decode_base64, pae
from protocol.merkle import leaf_hash
from protocol.predicates import PlanPredicate, ResultPredicate, WithdrawPredicate
from protocol.registry import Publication
from protocol.statements import parse_statement

_SPOILT: Final = "the entries in the database are not those that the log's head was signed for"
_SPOILT_ADVICE: Final = "Nothing was published. Restore the database from a back-up, and find out who changed it."


@dataclass(frozen=True, slots=True)
class OwnLog:
    """Our own log, read in one pass: with everything in it, and with nothing but that which the public sees."""

    whole: Replayed
    shown: Replayed


def read_own_log(
    connection: Connection, home: Home, write: Callable[[str, bytes], None], roots_at: Container[int] = ()
) -> OwnLog:
    """Read the log in one snapshot.

    Args:
        connection: of the snapshot.
        home: whose log it is.
        write: takes each file of the public log, by its path in a board's folder.
        roots_at: sizes of earlier logs whose roots the answer has.

    Raises:
        BoardMismatchError: an entry is not what the log's head was signed for.
    """
    registry = newest_registry(connection)
    note = journal.checkpoint(connection, origin=registry.log_name, log_key=home.log_signer(registry))
    write(CHECKPOINT_FILE, with_cosignatures(connection, note, registry).encode())
    for version, envelope in enumerate(all_envelopes(connection), 1):
        write(REGISTRY_FILE.format(version=version), envelope)
    head = open_checkpoint(note, registry)
    reader = _Reader()
    roots = {0: reader.tree.root}
    lines: list[bytes] = []
    for row in read_rows(connection, end=head.size):
        reader.take(row)
        lines.append(row.published.line())
        if reader.tree.size in roots_at:
            roots[reader.tree.size] = reader.tree.root
        if len(lines) == BUNDLE or reader.tree.size == head.size:
            write(bundle_file((reader.tree.size - 1) // BUNDLE, len(lines)), b"\n".join([*lines, b""]))
            lines.clear()
    if (reader.tree.size, reader.tree.root) != (head.size, head.root):
        raise BoardMismatchError(_SPOILT, _SPOILT_ADVICE)
    whole = Replayed(registry, head, tuple(reader.results), tuple(reader.withdrawals), roots=roots)
    return OwnLog(whole, _shown(whole, reader.hidden))


def _shown(whole: Replayed, hidden: set[int]) -> Replayed:
    """Return the log without the entries at the positions `hidden`."""
    return replace(
        whole,
        results=tuple(result for result in whole.results if result.position not in hidden),
        withdrawals=tuple(entry for entry in whole.withdrawals if entry.position not in hidden),
        hidden=len(hidden),
    )


class _Reader:
    """The tree and the statements that a board is made of, entry by entry."""

    def __init__(self) -> None:
        self.tree = GrowingTree()
        self.results: list[Result] = []
        self.withdrawals: list[Withdrawal] = []
        self.hidden: set[int] = set()
        self._assurances = Assurances()

    def take(self, row: LogRow) -> None:
        """Take in the next entry."""
        position = self.tree.size
        envelope = json.loads(row.envelope)
        payload = decode_base64(envelope["payload"], "payload")
        leaf = leaf_hash(pae(STATEMENT_TYPE, payload))
        self.tree.add(leaf)
        if isinstance(row.published, HiddenEntry):
            if row.published.leaf_hash != leaf:
                raise BoardMismatchError(_SPOILT, _SPOILT_ADVICE)
            self.hidden.add(position)
        if row.kind not in {"plan", "result", "withdraw"}:
            return
        is_hidden = isinstance(row.published, HiddenEntry)
        keyids = tuple(signature["keyid"] for signature in envelope["signatures"])
        statement = parse_statement(payload)
        if isinstance(statement, PlanPredicate):
            self._assurances.note(row.digest, statement, is_hidden=is_hidden)
        elif isinstance(statement, ResultPredicate):
            assurance = self._assurances.find(statement, is_hidden=is_hidden)
            publication: Publication = "pooled" if is_hidden else "named"
            self.results.append(Result(position, keyids, statement, row.digest, publication, assurance))
        elif isinstance(statement, WithdrawPredicate):
            self.withdrawals.append(Withdrawal(position, keyids, statement))
