"""Publication of a board as a folder of plain files."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from aggregator.board.earlier_head import EarlierHead, open_earlier_head
from aggregator.board.evidence import Replayed
from aggregator.board.followed_log import FollowedLog, read_followed_log, write_followed_log
from aggregator.board.kept import Kept, keep_releases, kept_before
from aggregator.board.log_folder import CHECKPOINT_FILE
from aggregator.board.merging import merge_audited, merge_board
from aggregator.board.own_log import OwnLog, read_own_log
from aggregator.board.pages import Publication, render
from aggregator.board.releases import BoardOrigin, add_release, check_releases
from aggregator.board.replaced_board import count_signatures, refuse_foreign_files
from aggregator.board.replacement import Replacement, replacing
from aggregator.board.tables import json_file
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.home import Home, today_day
from aggregator.merge.board_model import AuditedFigures
from aggregator.registry.versions import newest_registry, read_envelopes
from protocol.audit import AUDITS_FOLDER, Audit, board_digest, open_audit
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import ProtocolError
from protocol.registry import Registry, parse_registry

JSON_FILE = "board.json"
AUDITED_FILE = "audited.json"


@dataclass(frozen=True, slots=True)
class Published:
    """A board that was written.

    Attributes:
        log: The whole log, as the aggregator has it.
        audited: The figures that rely on auditors.
        digest: The digest of the board.
        audits: Number of auditors' signatures for exactly this board.
        lapsed_audits: Number of signatures of the previous board that do not cover this one and
            were removed.
    """

    log: Replayed
    audited: AuditedFigures
    digest: str
    audits: int
    lapsed_audits: int


def derived_files(
    shown: Replayed, audited: AuditedFigures, kept: Kept, *, published_day: int | None = None
) -> dict[str, bytes]:
    """Return every file derived from the public log, the audited figures and the kept files, by path. Pure.

    Args:
        shown: The public log.
        audited: The figures that rely on auditors.
        kept: Releases before this board, and the public results shown with it.
        published_day: Day on which this board becomes a release; None if it already is the last
            release of `kept`.

    Raises:
        BoardMismatchError: the last release belongs to another board.
    """
    board = merge_board(shown, audited)
    head = BoardOrigin(shown.checkpoint.size, shown.checkpoint.root.hex(), shown.registry.version)
    board_json = json_file(board, shown.registry, head)
    releases = kept.releases
    if published_day is None:
        check_releases(releases, board, board_json, head)
    else:
        releases = add_release(releases, board, board_json, head, day=published_day)
    publication = Publication(shown.registry, head, releases, kept.references)
    return {AUDITED_FILE: audited.to_bytes(), **render(board, publication, board_json)}


def publish(home: Home, out: Path, *, from_scratch: bool = False) -> Published:
    """Write the board to `out`, replacing an earlier board as a whole. Unchanged files are hard-linked.

    Auditors' signatures are kept if they are for exactly this board.

    Args:
        home: The aggregator's directory.
        out: Folder of the board.
        from_scratch: Read every entry again, ignoring the state stored by an earlier publication.

    Raises:
        BoardMismatchError: our own log is not valid, or does not continue that of the existing
            board. Nothing is changed.
        SettingsError: `out` is not a board, contains files that do not belong to the board, or
            cannot be written.
    """
    _refuse_other_content(out)
    with _no_garbage_collected(), replacing(out) as folder, home.database.reading() as connection:
        kept = kept_before(out, home.directory)
        known = (
            None if from_scratch else read_followed_log(home.directory, newest_registry(connection))
        )
        log = _read_log(connection, home, out, folder, kept.log_sizes, known)
        kept.check_roots(log.whole.roots)
        audited = merge_audited(log.whole)
        derived = derived_files(log.shown, audited, kept, published_day=today_day())
        for name, content in derived.items():
            folder.write(name, content)
        digest = board_digest(folder.digests)
        audits = _keep_audits(out, folder, audit_of(log.whole, digest), log.whole.registry)
        lapsed = count_signatures(out) - audits
        refuse_foreign_files(out, folder.digests)
        folder.take_place()
        keep_releases(home.directory, derived)
        with suppress(OSError):  # without the file the next publication only takes longer
            write_followed_log(home.directory, log.followed)
    return Published(log.whole, audited, digest, audits, lapsed)


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Suspend garbage collection, which would repeatedly scan a million objects that are all in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def audit_of(log: Replayed, digest: str) -> Audit:
    """Return the statement that an auditor of this board would sign."""
    head = log.checkpoint
    return Audit(log.registry.deployment, log.registry.version, digest, head.size, head.root.hex())


def _refuse_other_content(out: Path) -> None:
    if not out.exists():
        return
    is_board = (out / JSON_FILE).is_file() and (out / CHECKPOINT_FILE).is_file()
    if not out.is_dir() or not (is_board or not any(out.iterdir())):
        raise SettingsError(
            f"{out} exists and is not a board", "Name an empty or new folder with --out."
        )


def _read_log(
    connection: Connection,
    home: Home,
    out: Path,
    folder: Replacement,
    sizes: set[int],
    known: FollowedLog | None,
) -> OwnLog:
    """Read our log, write its files, and check that it continues the log of the existing board."""
    old = _read_old_checkpoint(out, connection)
    log = read_own_log(
        connection, home, folder, {old.checkpoint.size, *sizes} if old else sizes, known
    )
    if old is not None:
        _check_continues(old, log.whole)
    return log


def _read_old_checkpoint(out: Path, connection: Connection) -> EarlierHead | None:
    """Verify the head of the existing board, with the keys of an earlier registry version if necessary."""
    path = out / CHECKPOINT_FILE
    if not path.exists():
        return None
    earlier_keys = (
        parse_registry(decode(envelope, REGISTRY_TYPE).payload).log_keys
        for _, envelope in read_envelopes(connection)
    )
    try:
        return open_earlier_head(path.read_text("utf-8"), newest_registry(connection), earlier_keys)
    except (UnicodeDecodeError, ProtocolError):
        raise BoardMismatchError(
            f"{out} contains the board of another log, or its {CHECKPOINT_FILE} was changed",
            "Nothing was published. Name another folder with --out, or find out who changed this one.",
        ) from None


def _check_continues(old: EarlierHead, log: Replayed) -> None:
    """Refuse a log that does not continue that of the old board. Raises BoardMismatchError."""
    size = old.checkpoint.size
    if size > log.checkpoint.size:
        fault = f"the existing board was published from {size} log entries, but the database has {log.checkpoint.size}"
    elif log.roots[size] != old.checkpoint.root:
        fault = f"the first {size} entries of the log differ from those of the existing board"
    else:
        return
    if old.remark:
        raise BoardMismatchError(
            f"{fault}. {old.remark}",
            "Nothing was published. Keep a copy of the existing board as evidence. If the thief of the log key "
            "published it, inform the board's readers and publish to another folder with --out. If you published it, "
            "the database was restored from an old backup: restore a newer one.",
        )
    raise BoardMismatchError(
        fault,
        "Nothing was published: readers would see two histories of one log. If the database was restored from "
        "a backup, restore a newer one.",
    )


def _keep_audits(out: Path, folder: Replacement, audit: Audit, registry: Registry) -> int:
    """Copy the auditors' signatures for exactly this board. Return their number."""
    kept = 0
    for path in sorted((out / AUDITS_FOLDER).glob("*.dsse.json")):
        content = path.read_bytes()
        try:
            _, signed = open_audit(content, registry.auditors.by_keyid())
        except ProtocolError:
            continue
        if signed == audit:
            folder.write(f"{AUDITS_FOLDER}{path.name}", content)
            kept += 1
    return kept
