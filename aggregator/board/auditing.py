"""Auditing a board: an auditor opens the archive, recomputes the figures that the public cannot, and signs the board.

The audit runs on the auditor's computer, with the published board, the sealed archive and the
auditor's key.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregator.board.archive import read_archive, write_archive
from aggregator.board.earlier_releases import CheckedReleases, recompute_releases
from aggregator.board.evidence import Evidence, replay
from aggregator.board.kept import read_kept
from aggregator.board.merging import merge_audited
from aggregator.board.publish import AUDITED_FILE, audit_of
from aggregator.board.verification import Verified, read_evidence, verify
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.home import Home
from aggregator.key_files import load_key
from aggregator.log import journal
from aggregator.log.journal import Entry
from aggregator.log.publication import PublishedEntry, as_published
from aggregator.merge.board_model import AuditedFigures
from aggregator.registry.versions import newest_registry
from protocol.audit import AUDIT_FILE, sign_audit
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import ProtocolError
from protocol.registry import Registry, parse_registry
from protocol.statements import parse_statement


@dataclass(frozen=True, slots=True)
class Audited:
    """A board that an auditor has recomputed and signed.

    Attributes:
        verified: The part that the public can recompute.
        hidden: Number of entries that only auditors can read.
        file: Path of the signature in the board's folder.
        releases: Earlier releases, recomputed from the whole log.
    """

    verified: Verified
    hidden: int
    file: Path
    releases: CheckedReleases


def archive(home: Home, out: Path) -> int:
    """Write the whole log to an archive sealed to the registry's auditors. Return the number of entries.

    Raises:
        SettingsError: the registry names no auditors, or the file cannot be written.
    """
    with home.database.reading() as connection:
        auditors = [auditor.key for auditor in newest_registry(connection).auditors.keys]
        return write_archive(out, journal.read_entries(connection), auditors)


def audit(
    board: Path, archived: Path, key_file: Path, root_keys: Sequence[str], *, today_day: int
) -> Audited:
    """Recompute a board from the public log and the archive, and sign it if everything matches.

    Args:
        board: Folder of the published board. The signature is written into it.
        archived: Archive of this log, made when the log was at least as long as the board's.
        key_file: The auditor's private key file.
        root_keys: As for `verify`.
        today_day: As for `verify`.

    Raises:
        SettingsError, KeyFileError: a file cannot be read, or is the wrong file.
        BoardMismatchError: the board does not match the log. Nothing is signed.
    """
    auditor = load_key(key_file)
    # A large board takes hours, so reject a wrong file or key first.
    first = next(read_archive(archived, auditor.public.keyid, auditor.seed), None)
    verified = verify(board, root_keys, today_day=today_day)
    if auditor.public.keyid not in verified.log.registry.auditors.by_keyid():
        raise SettingsError("the registry does not name this key as an auditor's")
    _check_deployment(first, archived, verified.log.registry.deployment)
    shown = read_evidence(board)
    size = verified.log.checkpoint.size
    entries = itertools.islice(read_archive(archived, auditor.public.keyid, auditor.seed), size)
    compared = _compare_entries(shown.registries, shown.entries, entries)
    whole = replay(Evidence(shown.registries, compared, shown.checkpoint, is_whole=True))
    _compare_figures((board / AUDITED_FILE).read_bytes(), merge_audited(whole))
    releases = recompute_releases(read_kept(board).releases, shown.registries, verified.log, whole)
    signature = sign_audit(audit_of(whole, verified.digest), auditor)
    file = board / AUDIT_FILE.format(keyid=auditor.public.keyid)
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(signature)
    except OSError as error:
        raise SettingsError(
            f"the signature cannot be written to {file}: {error.strerror}"
        ) from None
    return Audited(verified, verified.log.hidden, file, releases)


def _check_deployment(first: Entry | None, archived: Path, deployment: str) -> None:
    """Check that the archive's first entry names the board's deployment. Raises SettingsError."""
    if first is None:
        return
    try:
        claimed = parse_statement(decode(first.envelope).payload).header.deployment
    except ProtocolError:
        return  # the comparison reports the error
    if claimed != deployment:
        raise SettingsError(
            f"{archived.name} is an archive from {claimed}, but the board belongs to {deployment}",
            "Use --archive with the archive that came with this board.",
        )


def _compare_entries(
    registries: Sequence[bytes], shown: Iterable[PublishedEntry], archived: Iterable[Entry]
) -> Iterator[Entry]:
    """Yield the archived entries after comparing each with the published one. Check that only entries that may be
    hidden are hidden.
    """
    versions: dict[int, Registry] = {}
    position = 0
    for position, (published, entry) in enumerate(itertools.zip_longest(shown, archived), 1):
        if entry is None:
            raise SettingsError(
                f"the archive ends before log entry {position - 1} of the board, so it was made before the board",
                "Ask the people who run the aggregator for a newer archive, and name it with --archive.",
            )
        if published is None or not 1 <= entry.registry <= len(registries):
            raise BoardMismatchError(
                f"log entry {position - 1} of the archive differs from the published one"
            )
        if entry.registry not in versions:
            # The replay verifies them. Here they only show which sites were named.
            envelope = decode(registries[entry.registry - 1], REGISTRY_TYPE)
            versions = {entry.registry: parse_registry(envelope.payload)}
        expected = as_published(entry, versions[entry.registry])
        if published != expected:
            hidden = (
                "hides a statement that must be public"
                if isinstance(expected, Entry)
                else "differs from the archive's"
            )
            raise BoardMismatchError(f"log entry {position - 1} of the board {hidden}")
        yield entry


def _compare_figures(published: bytes, recomputed: AuditedFigures) -> None:
    if published != recomputed.to_bytes():
        raise BoardMismatchError(
            f"{AUDITED_FILE} does not match the whole log",
            "Do not sign. Inform the other auditors.",
        )
