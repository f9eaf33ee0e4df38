"""Reading our own log for a board.

Signatures were verified when the entries were accepted, and `verify` and `audit` verify them again. Here it is enough
that every leaf hash follows from its payload and that all of them lead to the signed head.
"""

import json
from base64 import b64decode
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
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
from aggregator.merge.registry_segments import Segment, SegmentedLog, divide_versions
from aggregator.registry.versions import all_envelopes, newest_registry
from protocol.checkpoint import Checkpoint
from protocol.envelope import REGISTRY_TYPE, STATEMENT_TYPE, decode, pae
from protocol.merkle import leaf_hash
from protocol.predicates import PlanPredicate, ResultPredicate, WithdrawPredicate
from protocol.registry import Publication, Registry
from protocol.statements import reread_statement

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
    payloads = []
    for version, envelope in enumerate(all_envelopes(connection), 1):
        write(REGISTRY_FILE.format(version=version), envelope)
        payloads.append(decode(envelope, REGISTRY_TYPE).payload)
    head = open_checkpoint(note, registry)
    reader = _Reader(registry, divide_versions(payloads, registry))
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
    return reader.finish(head, roots)


class _Reader:
    """The tree and the results that a board is made of, entry by entry.

    Results are followed as they come and then forgotten: 50,000 of them would fill half a gigabyte.
    """

    def __init__(self, registry: Registry, segments: Sequence[Segment]) -> None:
        self.tree = GrowingTree()
        self._registry = registry
        self._whole = SegmentedLog(segments)
        self._shown = SegmentedLog(segments)
        self._hidden = 0
        self._assurances = Assurances()

    def take(self, row: LogRow) -> None:
        """Take in the next entry."""
        position = self.tree.size
        self._whole.reach(row.published.registry, position)
        self._shown.reach(row.published.registry, position)
        envelope = json.loads(row.envelope)
        payload = b64decode(envelope["payload"])
        leaf = leaf_hash(pae(STATEMENT_TYPE, payload))
        self.tree.add(leaf)
        is_hidden = isinstance(row.published, HiddenEntry)
        if isinstance(row.published, HiddenEntry):
            if row.published.leaf_hash != leaf:
                raise BoardMismatchError(_SPOILT, _SPOILT_ADVICE)
            self._hidden += 1
        if row.kind not in {"plan", "result", "withdraw"}:
            return
        publication: Publication = "pooled" if is_hidden else "named"
        keyids = tuple(signature["keyid"] for signature in envelope["signatures"])
        statement = reread_statement(payload)
        if isinstance(statement, PlanPredicate):
            self._assurances.note(row.digest, statement, is_hidden=is_hidden)
        elif isinstance(statement, ResultPredicate):
            assurance = self._assurances.find(statement, is_hidden=is_hidden)
            result = Result(position, keyids, statement, row.digest, publication, assurance)
            self._follow(result, is_hidden=is_hidden)
        elif isinstance(statement, WithdrawPredicate):
            self._follow(Withdrawal(position, keyids, statement, publication), is_hidden=is_hidden)

    def _follow(self, event: Result | Withdrawal, *, is_hidden: bool) -> None:
        self._whole.federation.take(event)
        if not is_hidden:
            self._shown.federation.take(event)

    def finish(self, head: Checkpoint, roots: Mapping[int, bytes]) -> OwnLog:
        """Put the newest registry in force, and return what was read."""
        followed, seen = self._whole.finish(self.tree.size), self._shown.finish(self.tree.size)
        whole = Replayed(self._registry, head, (), (), roots=roots, federation=followed)
        shown = Replayed(self._registry, head, (), (), self._hidden, roots, seen)
        return OwnLog(whole, shown)
