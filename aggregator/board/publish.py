"""Publishing a board as a folder of plain files, and checking such a folder against its own log."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from aggregator.board.evidence import Evidence, Replayed, parse_evidence, refuse_unreleased, replay
from aggregator.board.pages import render_pages
from aggregator.board.tables import csv_file, json_file
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.merge.table import build_board
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import ProtocolError
from protocol.registry import RootPins, parse_registry

JSON_FILE, CSV_FILE = "board.json", "board.csv"
LARGEST_FILE = 512 * 1024 * 1024  # bytes; larger ones are not a board's


def board_files(evidence: Evidence, pins: RootPins | None = None) -> tuple[Replayed, dict[str, bytes]]:
    """Verify a log and make every file of its board, by path. The same log gives the same bytes. Pure.

    Raises:
        BoardMismatchError: the log does not hold.
    """
    replayed = replay(evidence, pins)
    board = build_board(replayed.results, replayed.registry, replayed.withdrawals)
    files = {
        **evidence.files(),
        **render_pages(board, replayed),
        JSON_FILE: json_file(board, replayed),
        CSV_FILE: csv_file(board),
    }
    return replayed, files


def publish(evidence: Evidence, out: Path) -> Replayed:
    """Write the board to `out`, replacing an earlier board there as a whole.

    Raises:
        BoardMismatchError: our own log does not hold; nothing is written.
        SettingsError: `out` holds something that is not a board, or cannot be written.
    """
    replayed, files = board_files(evidence)
    if out.exists() and not (out.is_dir() and ((out / JSON_FILE).is_file() or not any(out.iterdir()))):
        raise SettingsError(f"{out} exists and is not a board", "Name an empty or a new folder with --out.")
    fresh, old = (out.with_name(f".{out.name}.{suffix}") for suffix in ("new", "old"))
    try:
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        for name, content in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
        if out.exists():
            out.rename(old)
        fresh.rename(out)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise SettingsError(f"the board cannot be written to {out}: {error.strerror}") from None
    return replayed


def verify(folder: Path, root_keys: Sequence[str] = ()) -> Replayed:
    """Recompute the board in `folder` from its own log, and compare every byte.

    Args:
        folder: a published board.
        root_keys: fingerprints of root keys, all of which must have signed the first registry; none takes that
            registry at its word.

    Raises:
        SettingsError: a root key is not a fingerprint.
        BoardMismatchError: says what differs.
    """
    keyids = frozenset(_keyid(fingerprint) for fingerprint in root_keys)
    found = _read(folder)
    evidence = parse_evidence(found)
    replayed, expected = board_files(evidence, _pins(evidence, keyids) if keyids else None)
    _compare(found, expected)
    return replayed


def _keyid(fingerprint: str) -> str:
    keyid = re.sub(r"[\s:]", "", fingerprint).lower()
    if re.fullmatch(r"[0-9a-f]{64}", keyid) is None:
        raise SettingsError("a root key's fingerprint has 64 hexadecimal digits")
    return keyid


def _pins(evidence: Evidence, keyids: frozenset[str]) -> RootPins:
    """Pin the given roots; the deployment's name is what they signed it to be."""
    try:
        claimed = parse_registry(decode(evidence.registries[0], REGISTRY_TYPE).payload)
    except ProtocolError as error:
        refuse_unreleased(error)
        raise BoardMismatchError(f"registry version 1 is not a registry: {error.detail}") from None
    return RootPins(claimed.deployment, keyids, len(keyids))


def _read(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        raise SettingsError(f"{folder} is not a folder")
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise BoardMismatchError(f"{name} is not a plain file")
        if path.is_file():
            if path.stat().st_size > LARGEST_FILE:
                raise BoardMismatchError(f"{name} is too large to be a board's")
            found[name] = path.read_bytes()
    return found


def _compare(found: Mapping[str, bytes], expected: Mapping[str, bytes]) -> None:
    missing, unknown = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    if missing:
        raise BoardMismatchError(f"{missing[0]} is missing")
    if unknown:
        raise BoardMismatchError(f"{unknown[0]} does not belong to the board")
    for name in sorted(expected):
        if found[name] != expected[name]:
            raise BoardMismatchError(
                f"{name} differs from what the log says, {_first_difference(found[name], expected[name])}"
            )


def _first_difference(found: bytes, expected: bytes) -> str:
    theirs, ours = found.split(b"\n"), expected.split(b"\n")
    number = next(
        (i for i, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(len(theirs), len(ours))
    )
    return f"first in line {number + 1}"
