"""Verification of a log from another computer: every entry, the whole registry, and continuity with an earlier head."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aggregator.board.earlier_head import EarlierHead, open_earlier_head
from aggregator.board.evidence import Evidence, Replayed, replay
from aggregator.board.verification import (
    check_expiry,
    claimed_size,
    parse_fingerprint,
    pin_roots,
    read_evidence,
    read_witnesses,
)
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.small_file import read_small
from aggregator.watching.continuity import check_root, keep_beside
from aggregator.watching.remote_log import RemoteLog
from protocol.errors import Code, ProtocolError


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """A log whose public part was verified.

    Attributes:
        log: The public log.
        note: Its signed checkpoint.
        continues: Size of the earlier log that it continues; None if none was given.
        witnesses: Names of the witnesses who have cosigned the checkpoint.
        remark: A sentence about the earlier checkpoint; may be empty.
    """

    log: Replayed
    note: str
    continues: int | None
    witnesses: tuple[str, ...]
    remark: str = ""


_SINCE_ADVICE: Final = (
    "Use --since with a file that `verify --log ... --save FILE` wrote for this log."
)
_OTHER_KEY_ADVICE: Final = (
    "Either the file was changed, or two logs have the same name. Keep the file, and compare the root keys with the "
    "people who hold them: trust only the log whose root keys they confirm (--root-key)."
)


def check_log(
    source: str, since: Path | None, root_keys: Sequence[str], *, today_day: int
) -> CheckedLog:
    """Verify a complete public log.

    Args:
        source: URL of an aggregator, or folder of a published board.
        since: File with an earlier checkpoint of the same log.
        root_keys: Fingerprints of root keys, all of which must have signed the first registry. If
            empty, the roots that it names are trusted.
        today_day: Days since 1970-01-01 UTC.

    Raises:
        SettingsError: an option or a file is wrong, or the aggregator cannot be reached.
        BoardMismatchError: the log is not valid; the message names the problem.
    """
    keyids = frozenset(parse_fingerprint(fingerprint) for fingerprint in root_keys)
    earlier = None if since is None else _read_earlier(since)
    if "://" not in source:
        return _check(read_evidence(Path(source)), earlier, keyids, today_day)
    with RemoteLog(source) as remote:
        note = remote.checkpoint()
        try:
            size = claimed_size(note)
        except BoardMismatchError:
            raise SettingsError(
                f"{source} does not return a valid checkpoint",
                "Use --log with the address of an aggregator.",
            ) from None
        return _check(
            Evidence(remote.registries(), remote.entries(size), note), earlier, keyids, today_day
        )


@dataclass(frozen=True, slots=True)
class _EarlierNote:
    """A file with an earlier checkpoint, its text, and the claimed log size."""

    path: Path
    note: str
    size: int


def _read_earlier(path: Path) -> _EarlierNote:
    try:
        note = read_small(path).decode("utf-8")
        return _EarlierNote(path, note, claimed_size(note))
    except (UnicodeDecodeError, BoardMismatchError):
        raise SettingsError(f"{path.name} is not a checkpoint", _SINCE_ADVICE) from None


def _check(
    evidence: Evidence, earlier: _EarlierNote | None, keyids: frozenset[str], today_day: int
) -> CheckedLog:
    sizes = set() if earlier is None else {earlier.size}
    log = replay(evidence, pin_roots(evidence, keyids) if keyids else None, sizes)
    check_expiry(log.registry, today_day)
    seen = None if earlier is None else _check_continues(earlier, log, evidence.checkpoint)
    return CheckedLog(
        log=log,
        note=evidence.checkpoint,
        continues=None if seen is None else seen.checkpoint.size,
        witnesses=read_witnesses(evidence.checkpoint, log.registry),
        remark="" if seen is None else seen.remark,
    )


def _check_continues(earlier: _EarlierNote, log: Replayed, newest_note: str) -> EarlierHead:
    """Return the earlier head if the log continues it. Otherwise store the newest checkpoint next
    to the file and raise.
    """
    try:
        seen = open_earlier_head(earlier.note, log.registry, log.log_keys)
    except ProtocolError as error:
        name = earlier.path.name
        if error.code is Code.WRONG_ORIGIN:
            origin = earlier.note.partition("\n")[0]
            fault = f"{name} is a checkpoint of another log: of {origin}, not of {log.registry.log_name}"
            raise SettingsError(fault, _SINCE_ADVICE) from None
        if error.code is Code.BAD_CHECKPOINT:
            raise SettingsError(
                f"{name} is not a checkpoint: {error.detail}", _SINCE_ADVICE
            ) from None
        raise BoardMismatchError(
            f"no registry version of this log names the key that signed the checkpoint in {name}",
            _OTHER_KEY_ADVICE,
        ) from None
    try:
        check_root(seen, log.checkpoint, log.roots.get(seen.checkpoint.size))
    except BoardMismatchError as error:
        raise keep_beside(earlier.path, log.checkpoint.root, newest_note.encode(), error) from None
    return seen
