"""Verification of a published board: everything that the public can recompute, byte for byte, and
the auditors' signatures.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

from aggregator.board.earlier_releases import CheckedReleases, recompute_releases
from aggregator.board.evidence import Evidence, Replayed, refuse_unreleased, replay
from aggregator.board.kept import read_kept
from aggregator.board.log_folder import (
    CHECKPOINT_FILE,
    MISSING_ADVICE,
    REGISTRY_FILE,
    bundle_files,
    read_bundles,
)
from aggregator.board.publish import AUDITED_FILE, JSON_FILE, audit_of, derived_files
from aggregator.errors import BoardMismatchError, SettingsError, UnauditedBoardError
from aggregator.log.cosignatures import witness_keys
from aggregator.merge.board_model import AuditedFigures, parse_audited
from protocol.audit import AUDIT_FILE, AUDITS_FOLDER, Audit, board_digest, open_audit
from protocol.cosignature import read_cosignatures
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import Code, ProtocolError
from protocol.registry import Registry, RootPins, parse_registry

MAX_FILE = 512 * 1024 * 1024  # bytes; no file of a board is larger
_FOLDER_ADVICE = "Use a folder written by `intramural-aggregator publish --out`, or a copy of it (--board or --log)."
_STRANGE_FILE_ADVICE = (
    "If you put it there yourself, move it elsewhere. If it came with the board, inform the people who run the board: "
    "`publish` does not write such a file."
)
_NO_AUDITORS_ADVICE = (
    "Cells that are not marked as relying on auditors were recomputed and are correct. The others cannot be checked "
    "yet: the people who run the board must name auditors (`intramural-aggregator registry propose --add-auditor`)."
)
_SIZE_LINE = re.compile(r"(?:0|[1-9][0-9]{0,15})")


@dataclass(frozen=True, slots=True)
class Verified:
    """A board that matches its log.

    Attributes:
        log: The public log.
        digest: The digest of the board.
        audited_cells: Number of cells that rely on auditors' signatures.
        auditors: Names of the auditors who have signed exactly this board.
        witnesses: Names of the witnesses who have cosigned its checkpoint.
        releases: The releases before this board.
    """

    log: Replayed
    digest: str
    audited_cells: int
    auditors: tuple[str, ...]
    witnesses: tuple[str, ...]
    releases: CheckedReleases

    def check_audited(self) -> None:
        """Check that enough auditors have signed, unless the log hides nothing from the public.

        If the log hides entries, signatures are needed even if no cell relies on them: only
            auditors can see whether a hidden entry is a result that should count.

        Raises:
            UnauditedBoardError: states how many signatures are missing.
        """
        threshold = self.log.registry.auditors.threshold
        if not self.log.hidden or 0 < threshold <= len(self.auditors):
            return
        if threshold == 0:
            fault, advice = "the registry names no auditors", _NO_AUDITORS_ADVICE
        else:
            fault = f"{len(self.auditors)} of {threshold} required auditors' signatures are present"
            advice = None
        raise UnauditedBoardError(
            f"{self.audited_cells} cells rely on auditors' signatures, and {fault}; {self.log.hidden} log entries are "
            "hidden from the public",
            advice,
        )


def verify(folder: Path, root_keys: Sequence[str] = (), *, today_day: int) -> Verified:
    """Recompute the board in `folder` from its own public log, and compare every byte.

    Figures that depend on pooled sites' statements are taken from `audited.json`.
    `Verified.check_audited` checks whether enough auditors vouch for them.

    Args:
        folder: A published board.
        root_keys: Fingerprints of root keys, all of which must have signed the first registry. If
            empty, the roots that the first registry names are trusted.
        today_day: Days since 1970-01-01 UTC. A board whose registry has expired by then is refused.

    Raises:
        SettingsError: a root key is not a fingerprint, or `folder` is not a board.
        BoardMismatchError: the board does not match its log; the message names the difference.
    """
    keyids = frozenset(parse_fingerprint(fingerprint) for fingerprint in root_keys)
    names = _list_files(folder)
    evidence = read_evidence(folder, names)
    kept = read_kept(folder)
    log = replay(evidence, pin_roots(evidence, keyids) if keyids else None, kept.log_sizes)
    kept.check_roots(log.roots)
    check_expiry(log.registry, today_day)
    audited = _read_audited(folder, names, log)
    expected = derived_files(log, audited, kept)
    log_files = _log_files(evidence, log)
    _compare_names(names, {*expected, *log_files})
    for name in sorted(expected):
        _compare(name, (folder / name).read_bytes(), expected[name])
    digests = {name: sha256(content).hexdigest() for name, content in expected.items()}
    digests |= {name: sha256((folder / name).read_bytes()).hexdigest() for name in log_files}
    digest = board_digest(digests)
    return Verified(
        log=log,
        digest=digest,
        audited_cells=audited.cells,
        auditors=_verify_audits(folder, names, audit_of(log, digest), log.registry),
        witnesses=read_witnesses(evidence.checkpoint, log.registry),
        releases=recompute_releases(kept.releases, evidence.registries, log),
    )


def read_evidence(folder: Path, names: Mapping[str, int] | None = None) -> Evidence:
    """Read the public log of a published board without verifying it.

    Raises:
        BoardMismatchError: a file is missing or malformed.
    """
    names = _list_files(folder) if names is None else names
    registries: list[bytes] = []
    while (name := REGISTRY_FILE.format(version=len(registries) + 1)) in names:
        registries.append((folder / name).read_bytes())
    for name in (REGISTRY_FILE.format(version=1), CHECKPOINT_FILE):
        if name not in names:
            raise BoardMismatchError(f"{name} is missing", MISSING_ADVICE)
    try:
        checkpoint = (folder / CHECKPOINT_FILE).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise BoardMismatchError(f"{CHECKPOINT_FILE} is not UTF-8 text") from None
    return Evidence(tuple(registries), read_bundles(folder, claimed_size(checkpoint)), checkpoint)


def claimed_size(checkpoint: str) -> int:
    """Return the number of entries that a checkpoint claims, without verifying it."""
    lines = checkpoint.split("\n")
    if len(lines) < 3 or not _SIZE_LINE.fullmatch(lines[1]):
        raise BoardMismatchError(f"{CHECKPOINT_FILE} is not a checkpoint")
    return int(lines[1])


def parse_fingerprint(fingerprint: str) -> str:
    """Return the key id for a fingerprint as typed by a user. Raises SettingsError."""
    keyid = re.sub(r"[\s:]", "", fingerprint).lower()
    if re.fullmatch(r"[0-9a-f]{64}", keyid) is None:
        raise SettingsError("a root key's fingerprint has 64 hexadecimal digits")
    return keyid


def pin_roots(evidence: Evidence, keyids: frozenset[str]) -> RootPins:
    """Pin the given root keys, with the deployment name that they signed.

    Raises:
        BoardMismatchError: a given key is not a root of the first registry. Only the user can find
            out whether it was mistyped or the log is another one.
    """
    claimed = _parse_claimed(evidence.registries, 1)
    for keyid in sorted(keyids - {root.keyid for root in claimed.roots}):
        shown = f"{keyid[:16]}..."
        newest = _parse_claimed(evidence.registries, len(evidence.registries))
        if keyid in {root.keyid for root in newest.roots}:
            raise BoardMismatchError(
                f"root key {shown} belongs to registry version {newest.version}, but not to version 1",
                "Use --root-key with the root keys of version 1: ask the people who hold the root keys.",
            )
        roots = ", ".join(f"{root.keyid[:16]}..." for root in claimed.roots)
        raise BoardMismatchError(
            f"root key {shown} has not signed the first registry, whose root keys are {roots}",
            "Compare --root-key with the fingerprint that you were given. If they match, this is the log of another "
            "deployment or a forgery: do not trust it.",
        )
    return RootPins(claimed.deployment, keyids, len(keyids))


def _parse_claimed(registries: Sequence[bytes], version: int) -> Registry:
    """Parse a registry version without verifying it."""
    try:
        return parse_registry(decode(registries[version - 1], REGISTRY_TYPE).payload)
    except ProtocolError as error:
        refuse_unreleased(error)
        raise BoardMismatchError(
            f"registry version {version} is not a registry: {error.detail}"
        ) from None


def check_expiry(registry: Registry, today_day: int) -> None:
    """Refuse an expired registry. Raises BoardMismatchError."""
    if today_day >= registry.expires_day:
        day = date(1970, 1, 1) + timedelta(days=registry.expires_day)
        raise BoardMismatchError(
            f"its newest registry, version {registry.version}, expired on {day.isoformat()}",
            "Fetch the board again: this copy may lack revocations of keys since then.",
        )


def read_witnesses(note: str, registry: Registry) -> tuple[str, ...]:
    """Return the names of the registry's witnesses who have cosigned a checkpoint.

    Raises:
        BoardMismatchError: a signature in a witness's name does not verify.
    """
    try:
        return tuple(sorted(read_cosignatures(note, witness_keys(registry))))
    except ProtocolError as error:
        raise BoardMismatchError(
            f"a witness's signature of the checkpoint does not verify: {error.detail}"
        ) from None


def _list_files(folder: Path) -> dict[str, int]:
    """Return the size of every file by path. Refuse a folder that contains anything but plain files."""
    if not folder.is_dir():
        raise SettingsError(f"{folder} is not a folder", _FOLDER_ADVICE)
    if not any((folder / name).exists() for name in (CHECKPOINT_FILE, JSON_FILE)):
        raise SettingsError(
            f"{folder} is not a published board: it lacks {CHECKPOINT_FILE}", _FOLDER_ADVICE
        )
    sizes = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise BoardMismatchError(f"{name} is not a plain file", _STRANGE_FILE_ADVICE)
        if path.is_file():
            sizes[name] = path.stat().st_size
            if sizes[name] > MAX_FILE:
                raise BoardMismatchError(f"{name} is too large to be a file of a board")
    return sizes


def _read_audited(folder: Path, names: Mapping[str, int], log: Replayed) -> AuditedFigures:
    if AUDITED_FILE not in names:
        raise BoardMismatchError(f"{AUDITED_FILE} is missing", MISSING_ADVICE)
    try:
        audited = parse_audited((folder / AUDITED_FILE).read_bytes())
    except ProtocolError as error:
        raise BoardMismatchError(f"{AUDITED_FILE} is malformed: {error.detail}") from None
    if audited.log_size != log.checkpoint.size:
        raise BoardMismatchError(
            f"{AUDITED_FILE} was computed from {audited.log_size} log entries, but the log has {log.checkpoint.size}"
        )
    if not log.hidden and audited != AuditedFigures(log.checkpoint.size):
        raise BoardMismatchError(f"{AUDITED_FILE} contains figures, but the log hides no entry")
    return audited


def _log_files(evidence: Evidence, log: Replayed) -> list[str]:
    registries = [
        REGISTRY_FILE.format(version=version) for version in range(1, len(evidence.registries) + 1)
    ]
    return [*registries, CHECKPOINT_FILE, *bundle_files(log.checkpoint.size)]


def _compare_names(names: Mapping[str, int], expected: set[str]) -> None:
    missing = sorted(expected - names.keys())
    unknown = sorted(name for name in names.keys() - expected if not name.startswith(AUDITS_FOLDER))
    if missing:
        raise BoardMismatchError(f"{missing[0]} is missing", MISSING_ADVICE)
    if unknown:
        raise BoardMismatchError(f"{unknown[0]} does not belong to the board", _STRANGE_FILE_ADVICE)


def _compare(name: str, published: bytes, expected: bytes) -> None:
    if published == expected:
        return
    theirs, ours = published.split(b"\n"), expected.split(b"\n")
    line = min(len(theirs), len(ours))
    for number, (their_line, our_line) in enumerate(zip(theirs, ours, strict=False)):
        if their_line != our_line:
            line = number
            break
    raise BoardMismatchError(f"{name} differs from the recomputed file, first in line {line + 1}")


def _verify_audits(
    folder: Path, names: Mapping[str, int], audit: Audit, registry: Registry
) -> tuple[str, ...]:
    """Return the names of the auditors who have signed exactly this board.

    Raises:
        BoardMismatchError: a file among the audits is not an audit of this board by one of the
            registry's auditors.
    """
    signed = set()
    for name in sorted(names):
        if not name.startswith(AUDITS_FOLDER):
            continue
        try:
            keyid, found = open_audit((folder / name).read_bytes(), registry.auditors.by_keyid())
        except ProtocolError as error:
            if error.code is Code.UNKNOWN_KEY:
                raise BoardMismatchError(
                    f"{name} is signed with a key that is not an auditor's"
                ) from None
            raise BoardMismatchError(
                f"{name} is not an audit: {error.detail} ({error.code})"
            ) from None
        if name != AUDIT_FILE.format(keyid=keyid):
            raise BoardMismatchError(
                f"{name} is not named after the key that signed it; each key may sign only once"
            )
        if found != audit:
            raise BoardMismatchError(
                f"{name} is the audit of another board: {_first_other(found, audit)}"
            )
        signed.add(keyid)
    return tuple(auditor.name for auditor in registry.auditors.keys if auditor.key.keyid in signed)


def _first_other(found: Audit, expected: Audit) -> str:
    for name in ("deployment", "log_size", "log_root", "registry", "board"):
        theirs, ours = getattr(found, name), getattr(expected, name)
        if theirs != ours:
            return f"its {name.replace('_', ' ')} is {theirs}, not {ours}"
    return "it is another statement"
