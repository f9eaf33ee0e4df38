"""Checking a log on another computer: every entry, the whole registry, and an earlier head that it must continue."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregator.board.evidence import Evidence, Replayed, open_checkpoint, replay
from aggregator.board.verification import check_expiry, claimed_size, parse_fingerprint, pin_roots, read_evidence
from aggregator.errors import BoardMismatchError
from aggregator.log.cosignatures import witness_keys
from aggregator.small_file import read_small
from aggregator.watching.continuity import check_root
from aggregator.watching.remote_log import RemoteLog
from protocol.cosignature import read_cosignatures
from protocol.errors import ProtocolError


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """A log in which everything public holds.

    Attributes:
        log: as far as it is public.
        note: its checkpoint, as signed.
        continues: size of the earlier log that it was found to continue; None without one.
        witnesses: names of those who have cosigned the checkpoint.
    """

    log: Replayed
    note: str
    continues: int | None
    witnesses: tuple[str, ...]


def check_log(source: str, since: Path | None, root_keys: Sequence[str], *, today_day: int) -> CheckedLog:
    """Verify a public log from its first byte.

    Args:
        source: URL of an aggregator, or folder of a published board.
        since: file with an earlier checkpoint of the same log.
        root_keys: fingerprints of root keys, all of which must have signed the first registry; none takes that
            registry at its word.
        today_day: days since 1970-01-01 UTC.

    Raises:
        SettingsError: an option or a file is wrong, or the aggregator cannot be reached.
        BoardMismatchError: says what does not hold.
    """
    if "://" not in source:
        return _check(read_evidence(Path(source)), since, root_keys, today_day)
    with RemoteLog(source) as remote:
        note = remote.checkpoint()
        evidence = Evidence(remote.registries(), remote.entries(claimed_size(note)), note)
        return _check(evidence, since, root_keys, today_day)


def _check(evidence: Evidence, since: Path | None, root_keys: Sequence[str], today_day: int) -> CheckedLog:
    keyids = frozenset(parse_fingerprint(fingerprint) for fingerprint in root_keys)
    earlier = None if since is None else _read_note(since)
    sizes = set() if earlier is None else {claimed_size(earlier)}
    log = replay(evidence, pin_roots(evidence, keyids) if keyids else None, sizes)
    check_expiry(log.registry, today_day)
    continues = None
    if earlier is not None:
        seen = open_checkpoint(earlier, log.registry)
        check_root(seen, log.checkpoint, log.roots.get(seen.size))
        continues = seen.size
    return CheckedLog(log, evidence.checkpoint, continues, _witnesses_of(evidence.checkpoint, log))


def _read_note(path: Path) -> str:
    try:
        return read_small(path).decode("utf-8")
    except UnicodeDecodeError:
        raise BoardMismatchError(f"{path.name} is not a checkpoint") from None


def _witnesses_of(note: str, log: Replayed) -> tuple[str, ...]:
    try:
        return tuple(sorted(read_cosignatures(note, witness_keys(log.registry))))
    except ProtocolError as error:
        raise BoardMismatchError(f"a witness's signature of the checkpoint does not verify: {error.detail}") from None
