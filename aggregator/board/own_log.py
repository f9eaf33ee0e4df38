"""Reading our own log for a board.

Signatures were verified when the entries were accepted, and `verify` and `audit` verify them again.
Here it is enough to check that every leaf hash matches its payload and that the leaf hashes lead to
the signed head. Entries that were read before need not be read again if the log and the registry
continue the earlier ones.
"""

import json
from base64 import b64decode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from sqlalchemy import Connection, select

from aggregator.board.evidence import Replayed, open_checkpoint
from aggregator.board.followed_log import FollowedLog
from aggregator.board.log_folder import BUNDLE, CHECKPOINT_FILE, REGISTRY_FILE, bundle_file
from aggregator.errors import BoardMismatchError
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.cosignatures import with_cosignatures
from aggregator.log.growing_tree import GrowingTree
from aggregator.log.publication import HiddenEntry, LogRow, read_rows
from aggregator.log.tree_nodes import cover_tree, fold
from aggregator.merge.accepted import Result, Withdrawal
from aggregator.merge.federation import Federation
from aggregator.merge.registry_segments import Segment, SegmentedLog, add_only, divide_versions
from aggregator.registry.packing import first_of_block
from aggregator.registry.versions import newest_registry, read_envelopes
from aggregator.store.schema import entries, registry_versions
from protocol.checkpoint import Checkpoint
from protocol.envelope import REGISTRY_TYPE, STATEMENT_TYPE, decode, pae
from protocol.merkle import leaf_hash
from protocol.predicates import PlanPredicate, ResultPredicate, WithdrawPredicate
from protocol.registry import Publication, Registry
from protocol.statements import reread_statement

_SPOILT: Final = "the entries in the database do not match the signed head of the log"
_SPOILT_ADVICE: Final = (
    "Nothing was published. Restore the database from a backup, and find out who changed it."
)


class LogFiles(Protocol):
    """A destination for the files of the public log, by their paths in a board's folder."""

    def write(self, name: str, content: bytes) -> str:
        """Write a file and return its SHA-256."""

    def share(self, name: str, digest: str) -> bool:
        """Reuse the previous board's file if its SHA-256 is `digest`. Return whether it was reused."""


class NoLogFiles:
    """A destination that discards all files."""

    def write(self, name: str, content: bytes) -> str:  # noqa: ARG002
        """Write nothing."""
        return ""

    def share(self, name: str, digest: str) -> bool:  # noqa: ARG002
        """Return True: the file need not be written."""
        return True


@dataclass(frozen=True, slots=True)
class OwnLog:
    """Our own log, in full and as the public sees it.

    Attributes:
        followed: The state from which the next reading can continue.
    """

    whole: Replayed
    shown: Replayed
    followed: FollowedLog


def read_own_log(
    connection: Connection,
    home: Home,
    files: LogFiles | None = None,
    roots_at: Collection[int] = (),
    known: FollowedLog | None = None,
) -> OwnLog:
    """Read the log within one database snapshot.

    Args:
        connection: The connection with the snapshot.
        home: The aggregator's directory.
        files: Destination of the public log.
        roots_at: Sizes of earlier logs whose roots are returned. Sizes beyond the end of the log
            are ignored.
        known: The state to continue from. It is modified, and ignored if it belongs to another log.

    Raises:
        BoardMismatchError: the entries do not match the signed head of the log.
    """
    files = files or NoLogFiles()
    registry = newest_registry(connection)
    note = journal.checkpoint(
        connection, origin=registry.log_name, log_key=home.log_signer(registry)
    )
    head = open_checkpoint(note, registry)
    if known is not None and not _is_continued(known, connection, head, registry, roots_at):
        known = None
    files.write(CHECKPOINT_FILE, with_cosignatures(connection, note, registry).encode())
    payloads = _write_registries(connection, files, with_payloads=known is None)
    if known is None:
        segments = divide_versions(payloads, registry)
        followed = FollowedLog(Federation(segments[0].registry), Federation(segments[0].registry))
        reader = _Reader(followed, files, segments[1:])
    else:
        known.whole.registry = known.shown.registry = registry
        reader = _Reader(known, files)
    for row in read_rows(connection, start=reader.share_bundles(), end=head.size):
        reader.take(row, roots_at)
    reader.finish(head)
    followed = reader.followed
    followed.registry = registry.version, _digest_of_registry(connection, registry.version)
    whole = Replayed(registry, head, (), (), roots=followed.roots, federation=followed.whole)
    shown = replace(whole, hidden=followed.hidden, federation=followed.shown)
    return OwnLog(whole, shown, followed)


def _is_continued(
    known: FollowedLog,
    connection: Connection,
    head: Checkpoint,
    registry: Registry,
    roots_at: Collection[int],
) -> bool:
    """Return whether log and registry continue those followed so far, so that continuing gives the same result."""
    if known.size > head.size or any(
        size <= known.size and size not in known.roots for size in roots_at
    ):
        return False
    cover = cover_tree(known.size)
    stored = journal.read_nodes(connection, cover)
    if (
        len(stored) < len(cover)
        or fold([stored[node] for node in cover]) != known.roots[known.size]
    ):
        return False
    version, digest = known.registry
    if _digest_of_registry(connection, version) != digest:
        return False
    cards = {card for federation in known.federations for card, _ in federation.models}
    if (
        any(federation.unknown for federation in known.federations)
        or not cards <= registry.scorecards.keys()
    ):
        return False
    next_entry = select(entries.c.registry).where(entries.c.position == known.size)
    next_version = connection.execute(next_entry).scalar_one_or_none()
    if next_version is not None and next_version < version:
        return False
    later = read_envelopes(connection, first_of_block(version))
    return add_only([_payload_of(envelope) for number, envelope in later if number >= version])


def _digest_of_registry(connection: Connection, version: int) -> str:
    query = select(registry_versions.c.digest).where(registry_versions.c.version == version)
    return connection.execute(query).scalar_one_or_none() or ""


def _payload_of(envelope: bytes) -> bytes:
    return decode(envelope, REGISTRY_TYPE).payload


def _write_registries(
    connection: Connection, files: LogFiles, *, with_payloads: bool
) -> list[bytes]:
    """Write every registry version. Return their payloads if requested."""
    first = 1
    if not with_payloads:
        versions = select(registry_versions.c.version, registry_versions.c.digest).order_by(
            registry_versions.c.version
        )
        for version, digest in connection.execute(versions):
            if not files.share(REGISTRY_FILE.format(version=version), digest):
                break
            first = version + 1
    payloads = []
    for version, envelope in read_envelopes(connection, first_of_block(first)):
        if version >= first:
            files.write(REGISTRY_FILE.format(version=version), envelope)
        if with_payloads:
            payloads.append(_payload_of(envelope))
    return payloads


class _Reader:
    """A reader that builds the tree and the results of a board entry by entry.

    Each result is merged when it is read and then discarded: 50,000 of them would fill half a
    gigabyte.
    """

    def __init__(
        self, followed: FollowedLog, files: LogFiles, coming: Sequence[Segment] = ()
    ) -> None:
        self.followed = followed
        self._files = files
        self._whole = SegmentedLog(followed.whole, coming)
        self._shown = SegmentedLog(followed.shown, coming)
        self._known_bundles = len(followed.bundles)
        # The entries of the last, partial bundle are read again, since it is rewritten. The tree
        # continues from the full bundles.
        self._tree = GrowingTree(BUNDLE * self._known_bundles, followed.peaks)
        self._position = 0
        self._lines: list[bytes] = []

    def share_bundles(self) -> int:
        """Reuse the previous board's full bundles that are known. Return the number of entries in them."""
        for number, digest in enumerate(self.followed.bundles):
            if not self._files.share(bundle_file(number, BUNDLE), digest):
                break
            self._position += BUNDLE
        return self._position

    def take(self, row: LogRow, roots_at: Collection[int]) -> None:
        """Process the next entry."""
        position = self._position
        self._position += 1
        if position >= BUNDLE * self._known_bundles:
            self._check_and_follow(row, position)
            if self._tree.size in roots_at:
                self.followed.roots[self._tree.size] = self._tree.root
        self._lines.append(row.published.line())
        if len(self._lines) == BUNDLE:
            self._write_bundle()

    def _check_and_follow(self, row: LogRow, position: int) -> None:
        envelope = json.loads(row.envelope)
        payload = b64decode(envelope["payload"])
        leaf = leaf_hash(pae(STATEMENT_TYPE, payload))
        self._tree.add(leaf)
        if isinstance(row.published, HiddenEntry) and row.published.leaf_hash != leaf:
            raise BoardMismatchError(_SPOILT, _SPOILT_ADVICE)
        if position >= self.followed.size:
            self._follow(row, position, envelope, payload)
        elif (
            self._tree.size == self.followed.size
            and self._tree.root != self.followed.roots[self._tree.size]
        ):
            raise BoardMismatchError(_SPOILT, _SPOILT_ADVICE)

    def _follow(
        self, row: LogRow, position: int, envelope: Mapping[str, Any], payload: bytes
    ) -> None:
        self.followed.size += 1
        self._whole.reach(row.published.registry, position)
        self._shown.reach(row.published.registry, position)
        is_hidden = isinstance(row.published, HiddenEntry)
        self.followed.hidden += is_hidden
        if row.kind not in {"plan", "result", "withdraw"}:
            return
        publication: Publication = "pooled" if is_hidden else "named"
        keyids = tuple(signature["keyid"] for signature in envelope["signatures"])
        statement = reread_statement(payload)
        assurances = self.followed.assurances
        event: Result | Withdrawal
        match statement:
            case PlanPredicate():
                assurances.note(row.digest, statement, is_hidden=is_hidden)
                return
            case ResultPredicate():
                assurance = assurances.find(statement, is_hidden=is_hidden)
                event = Result(position, keyids, statement, row.digest, publication, assurance)
            case WithdrawPredicate():
                event = Withdrawal(position, keyids, statement, publication)
            case _:
                return
        self._whole.take(event)
        if not is_hidden:
            self._shown.take(event)

    def _write_bundle(self) -> None:
        number = (self._position - 1) // BUNDLE
        width = len(self._lines)
        digest = self._files.write(bundle_file(number, width), b"\n".join([*self._lines, b""]))
        self._lines.clear()
        if width < BUNDLE:
            return
        if number >= self._known_bundles:
            self.followed.bundles.append(digest)
            self.followed.peaks = self._tree.peaks
        elif digest != self.followed.bundles[number]:
            raise BoardMismatchError(_SPOILT, _SPOILT_ADVICE)

    def finish(self, head: Checkpoint) -> None:
        """Write the last bundle and apply the newest registry.

        Raises:
            BoardMismatchError: the entries do not match the signed `head`.
        """
        if self._lines:
            self._write_bundle()
        if (self._position, self._tree.size, self._tree.root) != (head.size, head.size, head.root):
            raise BoardMismatchError(_SPOILT, _SPOILT_ADVICE)
        self.followed.roots[head.size] = head.root
        self._whole.finish(head.size)
        self._shown.finish(head.size)
