"""The ledger of releases: what this site has let out of each dataset, so that two releases cannot be subtracted.

One file an entry, `ledger/00000001.json`, canonical JSON, each naming the SHA-256 of the one before and sealed with a
MAC under a key derived from the site's data key: whoever may write the folder but not read that key can change, make,
move or leave out no entry. An entry is written before the approved submission, never changed and never taken back: a
crash in between costs a release, it does not refund one. Units appear as keyed fingerprints only.

The newest entries cannot be taken away while a submission that they are about is there (`missing_submissions`). What
cannot be seen here is the whole folder submissions/ put back from an older back-up, entries and submissions together:
the aggregator sees it, because the next submission then takes a place in the chain that is taken, or follows a link
that is not the last; so does whoever holds a later receipt.

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
from agent.keys import derive_key
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
    """One release.

    Attributes:
        prev: link of the entry before.
        submission, model, scorecard, scores_root: digests; all of them are in the submission, too.
        day: days since 1970-01-01 UTC.
        cells: the protected figures, by the scorecard's keys.
    """

    prev: str
    submission: str
    model: str
    scorecard: str
    scores_root: str
    day: int
    cells: Mapping[str, ReleasedCell]

    def to_json(self) -> dict[str, object]:
        """Return what the entry's file holds besides the seal."""
        return {
            "prev": self.prev,
            "submission": self.submission,
            "model": self.model,
            "scorecard": self.scorecard,
            "scores_root": self.scores_root,
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

    @property
    def link(self) -> str:
        """What the next entry names as the one before: hex SHA-256 of the canonical JSON."""
        return hashlib.sha256(canonical(self.to_json())).hexdigest()


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

    def other_releases_this_month(self, model: str, lineage: str, day: int, scores_root: str) -> int:
        """Return how many releases of this model and lineage fall in the 30 days that end with `day`.

        The same scores again are the same release, however often they had to be sent, so they count once; and those
        behind `scores_root` do not count here.
        """
        roots = {
            entry.scores_root
            for entry in self.entries
            if entry.model == model
            and day - MONTH_DAYS < entry.day
            and any(cell.lineage == lineage for cell in entry.cells.values())
        }
        return len(roots - {scores_root})

    def followed_by(self, entry: Entry) -> "Ledger":
        """Return the ledger with one more entry. Raises DisclosureError if it does not follow from the last."""
        if entry.prev != self.head:
            raise DisclosureError(
                "the ledger of releases has moved on since this submission was prepared",
                "Run `intramural submission prepare` again.",
            )
        return Ledger((*self.entries, entry))


def ledger_key(data_key: bytes) -> bytes:
    """Return the key that seals entries."""
    return derive_key(data_key, "release-ledger/v1")


def read_ledger(directory: Path, key: bytes) -> Ledger:
    """Read the ledger; a folder that is not there is an empty one.

    Args:
        directory: the ledger's folder.
        key: see `ledger_key`.

    Raises:
        DisclosureError: an entry is missing, changed or unreadable: nothing leaves until it is restored.
    """
    entries: list[Entry] = []
    paths = sorted(directory.glob("*.json")) if directory.is_dir() else []
    prev = NO_ENTRY
    for number, path in enumerate(paths, 1):
        content = read_bounded(path, _LARGEST_ENTRY, f"entry {number} of the ledger of releases")
        entry = open_entry(content, key)
        if path != _entry_path(directory, number) or entry.prev != prev:
            raise _broken(number)
        entries.append(entry)
        prev = entry.link
    return Ledger(tuple(entries))


def append_entry(directory: Path, entry: Entry, key: bytes) -> None:
    """Write an entry. The same again, right after the first time, changes nothing.

    Raises:
        DisclosureError: it does not follow from the last entry, or the ledger is damaged.
        StoreError: the disk refuses.
    """
    ledger = read_ledger(directory, key)
    if ledger.entries and ledger.entries[-1] == entry:
        return
    ledger.followed_by(entry)
    directory.mkdir(mode=0o700, exist_ok=True)
    write_atomically(_entry_path(directory, len(ledger.entries) + 1), seal_entry(entry, key))


def seal_entry(entry: Entry, key: bytes) -> bytes:
    """Return the bytes of the entry's file, with the MAC over everything in it."""
    body = entry.to_json()
    return canonical({"entry": body, "mac": hmac.digest(key, canonical(body), "sha256").hex()})


def open_entry(content: bytes, key: bytes) -> Entry:
    """Read the bytes of an entry's file. Raises DisclosureError where anything in it was changed."""
    try:
        value: Any = parse_canonical(content)
        body = value["entry"]
        cells = {name: ReleasedCell(**{"spread": None, **cell}) for name, cell in body.pop("cells").items()}
        entry = Entry(cells=cells, **body)
        # Names are checked by the constructors; everything else, the MAC too, by coming out the same again.
        whole = hmac.compare_digest(seal_entry(entry, key), content)
    except (ProtocolError, KeyError, TypeError, AttributeError, ValueError):
        whole = False
    if not whole:
        raise DisclosureError(
            "an entry of the ledger of releases is damaged, was changed, or was made with another data key", _RESTORE
        )
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
