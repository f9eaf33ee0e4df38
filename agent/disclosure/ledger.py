"""The ledger of releases: what this site has let out of each dataset, so that two releases cannot be subtracted.

One file an entry, `ledger/00000001.json`, canonical JSON, each naming the SHA-256 of the one before. An entry is
written before the approved submission, never changed and never taken back: a crash in between costs a release, it
does not refund one. Units appear as keyed fingerprints only.

The rule (16 ways of differencing, numbers 6 to 8 and 16): between a release and every earlier one of the same model,
lineage, metric and subgroup, the number of units that came, went or changed their score is 0 or at least
`changed_units`. Otherwise the old figures are repeated, all those of the benchmark together.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.errors import DisclosureError
from agent.files import read_bounded, write_atomically
from protocol.canonical import canonical, parse_canonical
from protocol.errors import ProtocolError

NO_ENTRY: Final = "0" * 64  # what the first entry names as the one before
MONTH_DAYS: Final = 30
_RESTORE: Final = "Nothing leaves until the folder submissions/ledger is restored from a back-up."
_UNIT_HEX, _SCORE_HEX = 24, 16  # 96 and 64 bits: an accidental match is out of reach
_LARGEST_ENTRY: Final = 256 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class ReleasedCell:
    """One protected figure as it was let out, and the units behind it.

    Attributes:
        benchmark, metric, subgroup: which figure; subgroup is "" for all units.
        lineage: the dataset.
        value, spread: as published; spread is None where the scorecard has none.
        bucket: published size of the figure's group.
        units: keyed fingerprint of each unit -> keyed fingerprint of it with its score.
    """

    benchmark: str
    metric: str
    subgroup: str
    lineage: str
    value: int
    spread: int | None
    bucket: int
    units: Mapping[str, str]

    def changed_units(self, units: Mapping[str, str]) -> int:
        """Return how many units came, went or changed their score between this release and `units`."""
        return sum(self.units.get(unit) != units.get(unit) for unit in self.units.keys() | units.keys())


@dataclass(frozen=True, slots=True)
class Entry:
    """One release: a submission's digest, model digest, scorecard digest, day, and its protected figures by key."""

    prev: str
    submission: str
    model: str
    scorecard: str
    day: int
    cells: Mapping[str, ReleasedCell]

    def encode(self) -> bytes:
        """Return the bytes of the entry's file."""
        return canonical(
            {
                "prev": self.prev,
                "submission": self.submission,
                "model": self.model,
                "scorecard": self.scorecard,
                "day": self.day,
                "cells": {
                    key: {
                        "benchmark": cell.benchmark,
                        "metric": cell.metric,
                        "subgroup": cell.subgroup,
                        "lineage": cell.lineage,
                        "value": cell.value,
                        **({} if cell.spread is None else {"spread": cell.spread}),
                        "bucket": cell.bucket,
                        "units": dict(cell.units),
                    }
                    for key, cell in self.cells.items()
                },
            }
        )

    @property
    def link(self) -> str:
        """What the next entry names as the one before: hex SHA-256 of the bytes."""
        return hashlib.sha256(self.encode()).hexdigest()


class Fingerprints:
    """Keyed fingerprints of units: equal for equal units, telling nothing to who lacks the site's data key."""

    def __init__(self, key: bytes) -> None:
        """`key` is 32 bytes, derived from the site's data key for this purpose alone."""
        self._key = key

    def of(self, lineage: str, means: Mapping[bytes, float]) -> dict[str, str]:
        """Return the fingerprints of units and of their scores, as a ledger entry keeps them."""
        found = {}
        for unit, score in means.items():
            with_score = unit + float(score).hex().encode()
            found[self._hash("unit", lineage, unit)[:_UNIT_HEX]] = self._hash("score", lineage, with_score)[:_SCORE_HEX]
        return found

    def _hash(self, kind: str, lineage: str, data: bytes) -> str:
        return hmac.digest(self._key, f"{kind}\0{lineage}\0".encode() + data, "sha256").hex()


@dataclass(frozen=True, slots=True)
class Ledger:
    """All entries, oldest first, already checked to follow from each other."""

    entries: tuple[Entry, ...] = ()

    @property
    def head(self) -> str:
        """What a new entry must name as the one before."""
        return self.entries[-1].link if self.entries else NO_ENTRY

    def releases(self, model: str, lineage: str, metric: str, subgroup: str) -> list[ReleasedCell]:
        """Return every earlier release that a new one of this figure could be subtracted from, oldest first."""
        return [
            cell
            for entry in self.entries
            if entry.model == model
            for cell in entry.cells.values()
            if (cell.lineage, cell.metric, cell.subgroup) == (lineage, metric, subgroup)
        ]

    def releases_this_month(self, model: str, lineage: str, day: int) -> int:
        """Return how many submissions of this model and lineage fall in the 30 days that end with `day`."""
        return sum(
            entry.model == model
            and day - MONTH_DAYS < entry.day
            and any(cell.lineage == lineage for cell in entry.cells.values())
            for entry in self.entries
        )

    def followed_by(self, entry: Entry) -> "Ledger":
        """Return the ledger with one more entry. Raises DisclosureError if it does not follow from the last."""
        if entry.prev != self.head:
            raise DisclosureError(
                "the ledger of releases has moved on since this submission was prepared",
                "Run `intramural submission prepare` again.",
            )
        return Ledger((*self.entries, entry))


def read_ledger(directory: Path) -> Ledger:
    """Read the ledger; a folder that is not there is an empty one.

    Raises:
        DisclosureError: an entry is missing, changed or unreadable: nothing leaves until it is restored.
    """
    entries: list[Entry] = []
    paths = sorted(directory.glob("*.json")) if directory.is_dir() else []
    prev = NO_ENTRY
    for number, path in enumerate(paths, 1):
        content = read_bounded(path, _LARGEST_ENTRY, f"entry {number} of the ledger of releases")
        entry = decode_entry(content)
        if path != _entry_path(directory, number) or entry.prev != prev:
            raise _broken(number)
        entries.append(entry)
        prev = hashlib.sha256(content).hexdigest()
    return Ledger(tuple(entries))


def append_entry(directory: Path, entry: Entry) -> None:
    """Write an entry. The same again, right after the first time, changes nothing.

    Raises:
        DisclosureError: it does not follow from the last entry, or the ledger is damaged.
        StoreError: the disk refuses.
    """
    ledger = read_ledger(directory)
    if ledger.entries and ledger.entries[-1] == entry:
        return
    ledger.followed_by(entry)
    directory.mkdir(mode=0o700, exist_ok=True)
    write_atomically(_entry_path(directory, len(ledger.entries) + 1), entry.encode())


def decode_entry(content: bytes) -> Entry:
    """Read the bytes of an entry. Raises DisclosureError."""
    try:
        value: Any = parse_canonical(content)
        cells = {key: ReleasedCell(**{"spread": None, **cell}) for key, cell in value.pop("cells").items()}
        entry = Entry(cells=cells, **value)
        # Names are checked by the constructors, everything else by coming out the same again.
        whole = entry.encode() == content
    except (ProtocolError, KeyError, TypeError, AttributeError, ValueError):
        whole = False
    if not whole:
        raise DisclosureError("an entry of the ledger of releases is damaged", _RESTORE)
    return entry


def _entry_path(directory: Path, number: int) -> Path:
    return directory / f"{number:08d}.json"


def _broken(number: int) -> DisclosureError:
    return DisclosureError(
        f"the ledger of releases was changed: entry {number} does not follow from the one before", _RESTORE
    )


def missing_submissions(ledger: Ledger, approved: Sequence[str]) -> list[str]:
    """Return the approved submissions that the ledger does not know: it was restored from an old back-up or cut."""
    known = {entry.submission for entry in ledger.entries}
    return [digest for digest in approved if digest not in known]
