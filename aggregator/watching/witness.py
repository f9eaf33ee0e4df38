"""An independent witness: it cosigns the checkpoints of a log that continue all that it has seen of it.

It keeps two files: the last checkpoint that it has seen, and the registry that named the log's key. A witness that has
cosigned one history never cosigns another, whatever the aggregator's keys sign.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aggregator.board.evidence import open_checkpoint, refuse_unreleased
from aggregator.board.verification import check_expiry, parse_fingerprint
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.log.cosignatures import witness_keys
from aggregator.watching.continuity import EVIDENCE_ADVICE, check_continues
from aggregator.watching.remote_log import RemoteLog
from protocol.checkpoint import Checkpoint
from protocol.cosignature import cosign
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import Code, ProtocolError
from protocol.keys import Signer
from protocol.registry import Registry, RootPins, parse_registry, step_registry

CHECKPOINT_FILE: Final = "checkpoint"
REGISTRY_FILE: Final = "registry.dsse.json"


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A checkpoint that was cosigned: the log's size, and the size seen before (None the first time)."""

    origin: str
    size: int
    seen_size: int | None


def witness(
    url: str, state: Path, key: Signer, root_keys: Sequence[str], *, unix_time: int, today_day: int
) -> Witnessed:
    """Fetch the newest checkpoint, check that it continues the last one seen, and cosign it.

    Args:
        url: of the aggregator.
        state: the witness's folder; the first checkpoint is taken as it comes, every later one must continue it.
        key: the witness's, which the registry names.
        root_keys: fingerprints of the roots, needed the first time.
        unix_time: seconds since 1970-01-01 UTC.
        today_day: days since then.

    Raises:
        SettingsError: an option is wrong, or the aggregator cannot be reached.
        BoardMismatchError: the log or its registry does not continue the one seen before; nothing is cosigned.
    """
    with RemoteLog(url) as remote:
        envelope = remote.newest_registry()
        registry = _follow_registry(state, envelope, root_keys)
        check_expiry(registry, today_day)
        names = [name for name, known in witness_keys(registry).items() if known.keyid == key.public.keyid]
        if not names:
            raise SettingsError("the registry does not name this key as a witness's")
        note = remote.checkpoint()
        now = open_checkpoint(note, registry)
        seen = _read_seen(state, registry)
        if seen is not None:
            proof = remote.consistency(seen.size, now.size) if seen.size <= now.size else []
            check_continues(seen, now, proof)
        # Kept before it is signed: a witness that dies between the two has signed nothing that it does not remember.
        _keep(state / REGISTRY_FILE, envelope)
        _keep(state / CHECKPOINT_FILE, note.encode())
        remote.send_cosignature(note + cosign(note, names[0], key, unix_time))
    return Witnessed(now.origin, now.size, None if seen is None else seen.size)


def _follow_registry(state: Path, envelope: bytes, root_keys: Sequence[str]) -> Registry:
    """Verify the newest registry against the last one seen, or the first time against the given roots."""
    try:
        kept = (state / REGISTRY_FILE).read_bytes()
    except FileNotFoundError:
        return _step(envelope, _pin(envelope, root_keys))
    except OSError as error:
        raise SettingsError(f"the witness's folder cannot be read: {error.strerror}") from None
    return _step(envelope, parse_registry(decode(kept, REGISTRY_TYPE).payload))


def _step(envelope: bytes, trusted: Registry | RootPins) -> Registry:
    try:
        return step_registry(envelope, trusted)
    except ProtocolError as error:
        refuse_unreleased(error)
        advice = "Nothing was cosigned. Compare the root keys' fingerprints with those that you were given."
        if error.code in {Code.REGISTRY_ROLLBACK, Code.REGISTRY_SPLIT}:
            advice = EVIDENCE_ADVICE
        raise BoardMismatchError(f"the newest registry is not to be trusted: {error.detail}", advice) from None


def _pin(envelope: bytes, root_keys: Sequence[str]) -> RootPins:
    if not root_keys:
        raise SettingsError("the first time a witness needs the roots' fingerprints", "Give --root-key.")
    keyids = frozenset(parse_fingerprint(fingerprint) for fingerprint in root_keys)
    try:
        claimed = parse_registry(decode(envelope, REGISTRY_TYPE).payload)
    except ProtocolError as error:
        raise BoardMismatchError(f"the newest registry is not a registry: {error.detail}") from None
    return RootPins(claimed.deployment, keyids, len(keyids))


def _read_seen(state: Path, registry: Registry) -> Checkpoint | None:
    try:
        note = (state / CHECKPOINT_FILE).read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise SettingsError("the last checkpoint in the witness's folder cannot be read") from None
    return open_checkpoint(note, registry)


def _keep(path: Path, content: bytes) -> None:
    """Replace a file so that it is the old or the new one at any moment, and on the disk afterwards."""
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
