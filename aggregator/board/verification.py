"""Checking a published board: all that the public can recompute, byte for byte, and the auditors' signatures."""

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

MAX_FILE = 512 * 1024 * 1024  # bytes; larger ones are not a board's
_FOLDER_ADVICE = "Give the folder that `intramural-aggregator publish --out` wrote, or a copy (--board, or --log)."
_STRANGE_FILE_ADVICE = (
    "If you put it there yourself, move it elsewhere. If it came with the board, tell the people who run it: no board "
    "that `publish` writes holds it."
)
_NO_AUDITORS_ADVICE = (
    "Cells that are not marked as resting on auditors are recomputed and right. Nobody can vouch for the others yet: "
    "the people who run the board first name auditors (`intramural-aggregator registry propose --add-auditor`)."
)
_SIZE_LINE = re.compile(r"(?:0|[1-9][0-9]{0,15})")


@dataclass(frozen=True, slots=True)
class Verified:
    """A board that is all that its log says.

    Attributes:
        log: as far as it is public.
        digest: of the board.
        audited_cells: how many cells rest on auditors' signatures.
        auditors: names of those who have signed this very board.
        witnesses: names of those who have cosigned its checkpoint.
        releases: before this board.
    """

    log: Replayed
    digest: str
    audited_cells: int
    auditors: tuple[str, ...]
    witnesses: tuple[str, ...]
    releases: CheckedReleases

    def check_audited(self) -> None:
        """Return if enough auditors have signed, or the log hides nothing from the public.

        A board whose log hides entries needs them even if no cell rests on these: whether they were results, and are
        left out, only auditors can see.

        Raises:
            UnauditedBoardError: says how many signatures are missing.
        """
        threshold = self.log.registry.auditors.threshold
        if not self.log.hidden or 0 < threshold <= len(self.auditors):
            return
        if threshold == 0:
            fault, advice = "the registry names no auditors", _NO_AUDITORS_ADVICE
        else:
            fault = f"{len(self.auditors)} of the {threshold} auditors' signatures that it takes are there"
            advice = None
        raise UnauditedBoardError(
            f"{self.audited_cells} cells rest on auditors' signatures, and {fault}; {self.log.hidden} log entries are "
            "hidden from the public",
            advice,
        )


def verify(folder: Path, root_keys: Sequence[str] = (), *, today_day: int) -> Verified:
    """Recompute the board in `folder` from its own public log, and compare every byte.

    Figures that pooled sites' statements are needed for are taken from `audited.json`: `Verified.check_audited` says
    whether enough auditors vouch for them.

    Args:
        folder: a published board.
        root_keys: fingerprints of root keys, all of which must have signed the first registry; none takes that
            registry at its word.
        today_day: days since 1970-01-01 UTC; a board whose registry has expired by then is refused.

    Raises:
        SettingsError: a root key is not a fingerprint, or `folder` is none.
        BoardMismatchError: says what differs.
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
    """Read the public log of a published board; nothing of it is verified yet.

    Raises:
        BoardMismatchError: a file is missing or not in its form.
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
    """Return the number of entries that a checkpoint speaks of, before anybody believes it."""
    lines = checkpoint.split("\n")
    if len(lines) < 3 or not _SIZE_LINE.fullmatch(lines[1]):
        raise BoardMismatchError(f"{CHECKPOINT_FILE} is not a checkpoint")
    return int(lines[1])


def parse_fingerprint(fingerprint: str) -> str:
    """Return the key id that a person has typed as a fingerprint. Raises SettingsError."""
    keyid = re.sub(r"[\s:]", "", fingerprint).lower()
    if re.fullmatch(r"[0-9a-f]{64}", keyid) is None:
        raise SettingsError("a root key's fingerprint has 64 hexadecimal digits")
    return keyid


def pin_roots(evidence: Evidence, keyids: frozenset[str]) -> RootPins:
    """Pin the given roots; the deployment's name is the one that they signed.

    Raises:
        BoardMismatchError: a given key is no root of the first registry. Whether it was mistyped or the log is another
            one, only the reader can find out.
    """
    claimed = _parse_claimed(evidence.registries, 1)
    for keyid in sorted(keyids - {root.keyid for root in claimed.roots}):
        shown = f"{keyid[:16]}..."
        newest = _parse_claimed(evidence.registries, len(evidence.registries))
        if keyid in {root.keyid for root in newest.roots}:
            raise BoardMismatchError(
                f"root key {shown} is of registry version {newest.version}, and not yet of version 1",
                "With --root-key give the root keys of the first version: ask the people who hold the root keys.",
            )
        roots = ", ".join(f"{root.keyid[:16]}..." for root in claimed.roots)
        raise BoardMismatchError(
            f"root key {shown} has not signed the first registry, whose root keys are {roots}",
            "Compare --root-key with the fingerprint that you were given. If that is right, this is the log of another "
            "deployment or a forgery: do not trust it.",
        )
    return RootPins(claimed.deployment, keyids, len(keyids))


def _parse_claimed(registries: Sequence[bytes], version: int) -> Registry:
    """Read a registry version that nobody has verified yet."""
    try:
        return parse_registry(decode(registries[version - 1], REGISTRY_TYPE).payload)
    except ProtocolError as error:
        refuse_unreleased(error)
        raise BoardMismatchError(
            f"registry version {version} is not a registry: {error.detail}"
        ) from None


def check_expiry(registry: Registry, today_day: int) -> None:
    """Refuse a registry that is too old to vouch for keys. Raises BoardMismatchError."""
    if today_day >= registry.expires_day:
        day = date(1970, 1, 1) + timedelta(days=registry.expires_day)
        raise BoardMismatchError(
            f"its newest registry, version {registry.version}, has expired on {day.isoformat()}",
            "Fetch the board again: keys that were revoked since would not be known from this one.",
        )


def read_witnesses(note: str, registry: Registry) -> tuple[str, ...]:
    """Return the names of the registry's witnesses who have cosigned a checkpoint.

    Raises:
        BoardMismatchError: a signature that bears a witness's name does not verify.
    """
    try:
        return tuple(sorted(read_cosignatures(note, witness_keys(registry))))
    except ProtocolError as error:
        raise BoardMismatchError(
            f"a witness's signature of the checkpoint does not verify: {error.detail}"
        ) from None


def _list_files(folder: Path) -> dict[str, int]:
    """Return the size of every file by its path; a board holds nothing but plain files."""
    if not folder.is_dir():
        raise SettingsError(f"{folder} is not a folder", _FOLDER_ADVICE)
    if not any((folder / name).exists() for name in (CHECKPOINT_FILE, JSON_FILE)):
        raise SettingsError(
            f"{folder} is not a published board: {CHECKPOINT_FILE} is not in it", _FOLDER_ADVICE
        )
    sizes = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise BoardMismatchError(f"{name} is not a plain file", _STRANGE_FILE_ADVICE)
        if path.is_file():
            sizes[name] = path.stat().st_size
            if sizes[name] > MAX_FILE:
                raise BoardMismatchError(f"{name} is too large to be a board's")
    return sizes


def _read_audited(folder: Path, names: Mapping[str, int], log: Replayed) -> AuditedFigures:
    if AUDITED_FILE not in names:
        raise BoardMismatchError(f"{AUDITED_FILE} is missing", MISSING_ADVICE)
    try:
        audited = parse_audited((folder / AUDITED_FILE).read_bytes())
    except ProtocolError as error:
        raise BoardMismatchError(f"{AUDITED_FILE} is not in its form: {error.detail}") from None
    if audited.log_size != log.checkpoint.size:
        raise BoardMismatchError(
            f"{AUDITED_FILE} was computed from {audited.log_size} log entries; the log has {log.checkpoint.size}"
        )
    if not log.hidden and audited != AuditedFigures(log.checkpoint.size):
        raise BoardMismatchError(f"{AUDITED_FILE} has figures, but the log hides no entry")
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
    raise BoardMismatchError(f"{name} differs from what the log says, first in line {line + 1}")


def _verify_audits(
    folder: Path, names: Mapping[str, int], audit: Audit, registry: Registry
) -> tuple[str, ...]:
    """Return the names of the auditors who have signed this very board.

    Raises:
        BoardMismatchError: a file among the audits is none of this board by one of the registry's auditors.
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
                    f"{name} is signed by a key that is no auditor's"
                ) from None
            raise BoardMismatchError(
                f"{name} is not an audit: {error.detail} ({error.code})"
            ) from None
        if name != AUDIT_FILE.format(keyid=keyid):
            raise BoardMismatchError(
                f"{name} is not named after the key that signed it, which may sign once"
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
