"""An independent witness, which cosigns a log's checkpoints if they continue everything that it has seen of the log.

It stores two files: the last checkpoint that it has seen, and the registry that named the log's
key. A witness that has cosigned one history never cosigns another, whatever the aggregator's keys
sign.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from aggregator.board.earlier_head import EarlierHead, open_earlier_head
from aggregator.board.evidence import open_checkpoint, refuse_unreleased
from aggregator.board.verification import check_expiry, parse_fingerprint
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.log.cosignatures import witness_keys
from aggregator.watching.continuity import check_continues, keep_beside
from aggregator.watching.remote_log import RemoteLog
from protocol.cosignature import cosign
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import Code, ProtocolError
from protocol.keys import Signer
from protocol.registry import Registry, RootPins, parse_registry, step_registry

CHECKPOINT_FILE: Final = "checkpoint"
REGISTRY_FILE: Final = "registry.dsse.json"
_STATE_ADVICE: Final = (
    "Nothing was cosigned. Each log needs its own folder (--state). If this is the right one, restore it from a "
    "backup: a witness that forgets what it has seen may sign two histories."
)
_UNTRUSTED: Final = (
    "Nothing was cosigned. Compare the root keys' fingerprints with those that you were given."
)
_ROOTS_ADVICE: Final = (
    "Nothing was cosigned. Keep both files, which are signed with root keys. Send them to the people who hold the root "
    "keys, and to the auditors. An aggregator that was restored from a backup must first restore its newer registry."
)


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A checkpoint that was cosigned.

    Attributes:
        origin, size: Origin and size of the log.
        seen_size: Size of the checkpoint seen before; None the first time.
        remark: A sentence about that checkpoint; may be empty.
    """

    origin: str
    size: int
    seen_size: int | None
    remark: str = ""


def witness(
    url: str, state: Path, key: Signer, root_keys: Sequence[str], *, unix_time: int, today_day: int
) -> Witnessed:
    """Fetch the newest checkpoint, check that it continues the last one seen, and cosign it.

    Args:
        url: URL of the aggregator.
        state: The witness's folder. The first checkpoint is accepted without comparison; every
            later one must continue it.
        key: The witness's key file, whose key the registry names.
        root_keys: Fingerprints of root keys, required the first time.
        unix_time: Seconds since 1970-01-01 UTC.
        today_day: Days since 1970-01-01 UTC.

    Raises:
        SettingsError: an option is wrong, or the aggregator cannot be reached.
        BoardMismatchError: the log or its registry does not continue the one seen before. Nothing
            is cosigned.
    """
    with RemoteLog(url) as remote:
        envelope = remote.newest_registry()
        kept = _read_registry(state)
        registry = _follow_registry(state, kept, envelope, root_keys)
        check_expiry(registry, today_day)
        names = [
            name
            for name, known in witness_keys(registry).items()
            if known.keyid == key.public.keyid
        ]
        if not names:
            raise SettingsError("the registry does not name this key as a witness's")
        note = remote.checkpoint()
        now = open_checkpoint(note, registry)
        seen = _read_seen(state, registry, kept)
        if seen is not None:
            size = seen.checkpoint.size
            proof = remote.consistency(size, now.size) if size <= now.size else []
            try:
                check_continues(seen, now, proof)
            except BoardMismatchError as error:
                raise keep_beside(state / CHECKPOINT_FILE, now.root, note.encode(), error) from None
        # Store the checkpoint before signing it, so that a witness that crashes has never signed
        # one that it does not remember. Store the registry last: it verifies the newer checkpoint,
        # but not necessarily the older one.
        _keep(state / CHECKPOINT_FILE, note.encode())
        _keep(state / REGISTRY_FILE, envelope)
        remote.send_cosignature(note + cosign(note, names[0], key, unix_time))
    if seen is None:
        return Witnessed(now.origin, now.size, None)
    return Witnessed(now.origin, now.size, seen.checkpoint.size, seen.remark)


def _read_registry(state: Path) -> Registry | None:
    """Return the last registry that this witness has seen; None the first time."""
    try:
        return parse_registry(decode((state / REGISTRY_FILE).read_bytes(), REGISTRY_TYPE).payload)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"the witness's folder cannot be read: {error.strerror}") from None
    except ProtocolError as error:
        raise SettingsError(
            f"{state / REGISTRY_FILE} is damaged: {error.detail}", _STATE_ADVICE
        ) from None


def _follow_registry(
    state: Path, kept: Registry | None, envelope: bytes, root_keys: Sequence[str]
) -> Registry:
    """Verify the newest registry against the last one seen, or the first time against the given roots."""
    claimed = _parse_claimed(envelope)
    if kept is not None and claimed.deployment != kept.deployment:
        fault = f"{state} is the witness's folder for {kept.deployment}, but the log is that of {claimed.deployment}"
        raise SettingsError(fault, _STATE_ADVICE)
    try:
        return step_registry(envelope, kept or _pin(claimed, root_keys))
    except ProtocolError as error:
        if error.code not in {Code.REGISTRY_ROLLBACK, Code.REGISTRY_SPLIT}:
            raise BoardMismatchError(
                f"the newest registry cannot be trusted: {error.detail}", _UNTRUSTED
            ) from None
        fault = f"the newest registry contradicts the one seen before: {error.detail}"
        contradiction = BoardMismatchError(fault, _ROOTS_ADVICE)
        raise keep_beside(
            state / REGISTRY_FILE, sha256(envelope).digest(), envelope, contradiction
        ) from None


def _parse_claimed(envelope: bytes) -> Registry:
    """Parse a registry without verifying it."""
    try:
        return parse_registry(decode(envelope, REGISTRY_TYPE).payload)
    except ProtocolError as error:
        refuse_unreleased(error)
        raise BoardMismatchError(f"the newest registry is not a registry: {error.detail}") from None


def _pin(claimed: Registry, root_keys: Sequence[str]) -> RootPins:
    if not root_keys:
        raise SettingsError(
            "a witness needs the fingerprints of the root keys the first time",
            "Specify --root-key.",
        )
    keyids = frozenset(parse_fingerprint(fingerprint) for fingerprint in root_keys)
    return RootPins(claimed.deployment, keyids, len(keyids))


def _read_seen(state: Path, registry: Registry, kept: Registry | None) -> EarlierHead | None:
    """Verify the last checkpoint seen, with the newest registry or, if its key was revoked, with
    the registry seen then.
    """
    path = state / CHECKPOINT_FILE
    try:
        note = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise SettingsError(
            "the last checkpoint in the witness's folder cannot be read", _STATE_ADVICE
        ) from None
    try:
        return open_earlier_head(note, registry, [] if kept is None else [kept.log_keys])
    except ProtocolError as error:
        raise SettingsError(
            f"{path} is damaged, or belongs to another log: {error.detail}", _STATE_ADVICE
        ) from None


def _keep(path: Path, content: bytes) -> None:
    """Replace a file atomically and sync it to disk."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise SettingsError(f"the witness's folder cannot be written: {error.strerror}") from None
