"""The ledger of releases: every registered dataset and every figure prepared from one, to prevent differencing.

Each entry is a file such as `ledger/00000001.json`: canonical JSON that contains the SHA-256 of the previous entry and
a MAC under the site's seal key. That key is not derived from the data key, so the ability to read the store does not
suffice to rewrite the ledger. Entries are never changed or removed.

    dataset   a frozen version of a protected dataset: keyed fingerprints of its units, and the person behind each
    release   a debit: the protected figures of one prepared submission, whether or not it is ever sent
    reset     the site started a new epoch; a range of earlier entries may be lost
    clock     earlier entries may have days in the future, because the machine's clock was wrong

Every statement contains the number and link of the last entry. The aggregator refuses a ledger that is shorter than
before, or differs from the one it knows at the same length. A machine that is restored completely from a
backup cannot detect this itself, but the aggregator can, and so can the steward with a separate list.

Units appear only as keyed fingerprints. A *person* groups units: units with the same identifier or the same record
content, in any version of any dataset, belong to one person.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from agent.errors import ClockError, DisclosureError
from agent.io.atomic_files import read_bounded, write_atomically
from agent.keys import derive_key
from protocol.canonical import canonical, parse_canonical
from protocol.description import format_day
from protocol.errors import ProtocolError
from protocol.predicates import EMPTY_LEDGER, LedgerHead

MONTH_DAYS: Final = 30
_RESTORE: Final = (
    "Nothing is submitted until the folder submissions/ledger is restored from a backup. If no backup is intact, "
    "`intramural reset` starts a new epoch with the aggregator's and the steward's help."
)
# Hexadecimal digits of fingerprints: with 96 bits for units and 64 bits for scores, collisions are negligible.
_UNIT_HEX: Final = 24
_SCORE_HEX: Final = 16
_MAX_ENTRY: Final = 256 * 1024 * 1024  # bytes
_TOLERATED_DAYS: Final = 1  # as in the store's clock
_SAME_LINEAGE_PERCENT: Final = 5  # percentage of the smaller dataset's persons that both share


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """One unit of a dataset version; all fields are keyed fingerprints in hexadecimal.

    Attributes:
        person: the person that the unit belongs to.
        identity: fingerprint of the unit's identifier.
        content: fingerprint of the normalised content of its records.
        sketch: MinHash signature of its records' words; empty if they have too few words.
    """

    person: str
    identity: str
    content: str
    sketch: str


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """A registered version of a protected dataset.

    Attributes:
        benchmark: id of the benchmark.
        definition: digest of that benchmark's definition.
        commitment: salted Merkle root over its records, which identifies the version.
        lineage: commitment of the first version of its lineage (registered datasets that share persons).
        previous: commitment of the previous version of this benchmark and lineage; "" if there is none.
        data: digest of the frozen files.
        instances: number of instances in the files.
        units: the record of each unit by the fingerprint of its key in runs.
    """

    benchmark: str
    definition: str
    commitment: str
    lineage: str
    previous: str
    data: str
    instances: int
    units: Mapping[str, UnitRecord]

    def list_persons(self) -> frozenset[str]:
        """Return the persons that the units belong to."""
        return frozenset(unit.person for unit in self.units.values())

    def join_contents(self) -> dict[str, str]:
        """Return the fingerprints of each person's records, joined in a fixed order, by person."""
        contents_by_person: dict[str, list[str]] = {}
        for unit in self.units.values():
            contents_by_person.setdefault(unit.person, []).append(unit.content)
        return {
            person: ",".join(sorted(contents)) for person, contents in contents_by_person.items()
        }


@dataclass(frozen=True, slots=True)
class PersonDifference:
    """The numbers of persons by which two versions differ; `changed` counts persons in both with different records."""

    added: int
    removed: int
    changed: int

    def is_too_small(self, threshold: int) -> bool:
        """Return whether any of the numbers is above 0 but below `threshold`."""
        return any(0 < number < threshold for number in (self.added, self.removed, self.changed))


def compare_persons(old: DatasetEntry, new: DatasetEntry) -> PersonDifference:
    """Return the difference from `old` to `new`. Records are compared only if both have the same definition."""
    before, after = old.list_persons(), new.list_persons()
    changed = 0
    if old.definition == new.definition:
        old_contents = old.join_contents()
        for person, content in new.join_contents().items():
            if old_contents.get(person, content) != content:
                changed += 1
    return PersonDifference(added=len(after - before), removed=len(before - after), changed=changed)


def share_persons(old: DatasetEntry, new: DatasetEntry) -> bool:
    """Return whether two versions belong to one lineage: they share more than 5 % of the smaller one's persons."""
    before, after = old.list_persons(), new.list_persons()
    return 100 * len(before & after) > _SAME_LINEAGE_PERCENT * min(len(before), len(after))


@dataclass(frozen=True, slots=True)
class ReleasedCell:
    """One protected figure as the gate decided it, and the persons behind it.

    Attributes:
        benchmark: the cell's benchmark.
        metric: the cell's metric.
        subgroup: the cell's subgroup; "" for all units.
        definition: digest of the benchmark's definition.
        commitment: commitment of the dataset version.
        value: the published value.
        spread: the published spread; None if the cell has none.
        bucket: the published size of the cell's group.
        scores: keyed fingerprint of each person's score, by person.
    """

    benchmark: str
    metric: str
    subgroup: str
    definition: str
    commitment: str
    value: int
    spread: int | None
    bucket: int
    scores: Mapping[str, str]

    def count_rescored(self, scores: Mapping[str, str]) -> int:
        """Return the number of persons that were added, removed or rescored between this figure and `scores`."""
        persons = self.scores.keys() | scores.keys()
        return sum(self.scores.get(person) != scores.get(person) for person in persons)


@dataclass(frozen=True, slots=True)
class ReleaseEntry:
    """A debit: the protected figures of one prepared submission.

    Attributes:
        model: digest of the model.
        scorecard: digest of the scorecard.
        scores_root: root over the scores behind the submission.
        policy: digest of the applied policy, the stricter of the site's and the federation's.
        cells: the protected figures by cell key.
    """

    model: str
    scorecard: str
    scores_root: str
    policy: str
    cells: Mapping[str, ReleasedCell]


@dataclass(frozen=True, slots=True)
class ResetEntry:
    """The start of a new epoch. Entries from number `lost_from` up to this entry may be lost."""

    epoch: int
    lost_from: int


@dataclass(frozen=True, slots=True)
class ClockEntry:
    """The machine's clock was wrong, and is right again: earlier entries with later days are of this entry's day."""

    wrong_until: int


Content = DatasetEntry | ReleaseEntry | ResetEntry | ClockEntry


@dataclass(frozen=True)
class LedgerEntry:
    """One entry of the ledger.

    Attributes:
        number: number of the entry, from 1; a reset may skip numbers.
        prev: link of the previous entry.
        day: day of the entry, in days since 1970-01-01 UTC.
        content: the dataset, release or reset.
    """

    number: int
    prev: str
    day: int
    content: Content

    @property
    def kind(self) -> str:
        """The type of the entry: `dataset`, `release`, `reset` or `clock`."""
        return _kind_of(self.content)

    def to_json(self) -> dict[str, object]:
        """Return the content of the entry's file, without the seal."""
        return {
            "number": self.number,
            "prev": self.prev,
            "day": self.day,
            "kind": self.kind,
            "content": _without_none(asdict(self.content)),
        }

    @cached_property  # hashing a dataset of 20,000 units takes a second
    def link(self) -> str:
        """SHA-256 of the canonical JSON (64 hex digits), which the next entry refers to."""
        return hashlib.sha256(canonical(self.to_json())).hexdigest()

    @property
    def head(self) -> LedgerHead:
        """The head of a ledger that ends with this entry, as given in statements."""
        return LedgerHead(self.number, self.link)


def _kind_of(content: Content) -> str:
    match content:
        case DatasetEntry():
            return "dataset"
        case ReleaseEntry():
            return "release"
        case ResetEntry():
            return "reset"
        case ClockEntry():
            return "clock"


def _without_none(value: Any) -> Any:
    """Return a copy without fields that are None, because canonical JSON has no null."""
    if isinstance(value, Mapping):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    return value


class Fingerprints:
    """Keyed fingerprints: equal for equal values, and meaningless without the site's seal key."""

    def __init__(self, key: bytes) -> None:
        """Use `key` (32 bytes), see `derive_fingerprint_key`."""
        self._key = key

    def of_unit(self, unit_key: bytes) -> str:
        """Return the fingerprint of a unit's key in runs (see `agent.store`)."""
        return self._hash("unit", unit_key)[:_UNIT_HEX]

    def of_identity(self, unit: str) -> str:
        """Return the fingerprint of a unit's identifier, which does not depend on the benchmark."""
        return self._hash("identity", unit.encode())[:_UNIT_HEX]

    def of_content(self, content: bytes) -> str:
        """Return the fingerprint of a unit's records."""
        return self._hash("content", content)[:_UNIT_HEX]

    def of_score(self, person: str, score: float) -> str:
        """Return the fingerprint of a person's score."""
        return self._hash("score", f"{person}\0{float(score).hex()}".encode())[:_SCORE_HEX]

    def _hash(self, kind: str, data: bytes) -> str:
        return hmac.digest(self._key, f"{kind}\0".encode() + data, "sha256").hex()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The verified entries of the ledger, oldest first."""

    entries: tuple[LedgerEntry, ...] = ()

    @property
    def head(self) -> LedgerHead:
        """Number and link of the last entry."""
        return self.entries[-1].head if self.entries else EMPTY_LEDGER

    def holds(self, head: LedgerHead) -> bool:
        """Return whether `head` is a head of this ledger, now or in the past."""
        return head == EMPTY_LEDGER or any(entry.head == head for entry in self.entries)

    def list_datasets(self) -> list[DatasetEntry]:
        """Return every registered version, oldest first."""
        return [entry.content for entry in self.entries if isinstance(entry.content, DatasetEntry)]

    def find_dataset(self, commitment: str) -> DatasetEntry | None:
        """Return the registered version with this commitment, or None."""
        for dataset in self.list_datasets():
            if dataset.commitment == commitment:
                return dataset
        return None

    def find_newest_dataset(self, benchmark: str, definition: str) -> DatasetEntry | None:
        """Return the newest registered version of a benchmark's data under this definition, or None."""
        for dataset in reversed(self.list_datasets()):
            if (dataset.benchmark, dataset.definition) == (benchmark, definition):
                return dataset
        return None

    def iterate_releases(self) -> Iterator[tuple[LedgerEntry, ReleaseEntry]]:
        """Yield every debit, oldest first."""
        for entry in self.entries:
            if isinstance(entry.content, ReleaseEntry):
                yield entry, entry.content

    def list_released_datasets(self) -> list[DatasetEntry]:
        """Return the versions from which any figure was prepared, oldest first."""
        commitments: set[str] = set()
        for _, release in self.iterate_releases():
            commitments.update(cell.commitment for cell in release.cells.values())
        return [dataset for dataset in self.list_datasets() if dataset.commitment in commitments]

    def find_debit(
        self, model: str, scorecard: str, scores_root: str
    ) -> tuple[LedgerEntry, ReleaseEntry] | None:
        """Return the newest debit for these scores with its entry, or None."""
        newest = None
        for entry, release in self.iterate_releases():
            if (release.model, release.scorecard, release.scores_root) == (
                model,
                scorecard,
                scores_root,
            ):
                newest = (entry, release)
        return newest

    def count_other_releases_this_month(
        self, model: str, commitments: Sequence[str], day: int, scores_root: str
    ) -> int:
        """Return the number of this model's other releases from these dataset versions in the 30 days up to `day`.

        Releases of the same scores count once, however often they were prepared. Releases of the scores behind
        `scores_root` do not count.
        """
        other_roots: set[str] = set()
        corrected_days = self._correct_days()
        for entry, release in self.iterate_releases():
            # A day that has come is believed: a clock that was set back must not make releases look old.
            entry_day = entry.day if entry.day <= day else corrected_days[entry.number]
            is_recent = entry_day > day - MONTH_DAYS
            is_other = release.model == model and release.scores_root != scores_root
            if not (is_recent and is_other):
                continue
            if any(cell.commitment in commitments for cell in release.cells.values()):
                other_roots.add(release.scores_root)
        return len(other_roots)

    def _correct_days(self) -> dict[int, int]:
        """Return the day of each entry by its number, at most that of a later `clock` entry."""
        days: dict[int, int] = {}
        latest_possible = max((entry.day for entry in self.entries), default=0)
        for entry in reversed(self.entries):
            days[entry.number] = min(entry.day, latest_possible)
            if isinstance(entry.content, ClockEntry):
                latest_possible = days[entry.number]
        return days

    @property
    def latest_day(self) -> int:
        """The latest day of an entry, without those that a `clock` entry declares wrong; 0 if there is none."""
        return max(self._correct_days().values(), default=0)

    @property
    def began_in(self) -> int:
        """The epoch whose reset started this ledger after the previous one was lost; 0 for the site's first ledger."""
        first = self.entries[0].content if self.entries else None
        return first.epoch if isinstance(first, ResetEntry) else 0

    def lost_entries_after(self, dataset: DatasetEntry) -> bool:
        """Return whether lost entries may have been releases from this version."""
        registered = next(entry.number for entry in self.entries if entry.content == dataset)
        for entry in self.entries:
            if entry.number <= registered or not isinstance(entry.content, ResetEntry):
                continue
            if entry.content.lost_from < entry.number:
                return True
        return False

    def followed_by(self, content: Content, day: int, *, number: int | None = None) -> "Ledger":
        """Return the ledger with one more entry; `number` is the next number unless a reset skips some.

        Raises:
            DisclosureError: `day` is more than a day before that of an earlier entry.
        """
        if day < self.latest_day - _TOLERATED_DAYS and not isinstance(content, ClockEntry):
            raise DisclosureError(
                f"the ledger of releases has an entry of {format_day(self.latest_day)}, but today would be "
                f"{format_day(day)}",
                ClockError.advice,
            )
        entry = LedgerEntry(number or self.head.length + 1, self.head.head, day, content)
        return Ledger((*self.entries, entry))


def derive_ledger_key(seal_key: bytes) -> bytes:
    """Return the key for the MACs of entries."""
    return derive_key(seal_key, "release-ledger/v2")


def derive_fingerprint_key(seal_key: bytes) -> bytes:
    """Return the key for `Fingerprints`."""
    return derive_key(seal_key, "release-fingerprints/v2")


def read_ledger(directory: Path, key: bytes) -> Ledger:
    """Read and verify the ledger; it is empty if its folder does not exist.

    Args:
        directory: the ledger's folder.
        key: the key for MACs, see `derive_ledger_key`.

    Raises:
        DisclosureError: an entry is missing, changed or unreadable. The message states where the first fault is.
    """
    entries: list[LedgerEntry] = []
    previous = EMPTY_LEDGER
    for path in sorted(directory.glob("*.json")):  # empty if the folder does not exist
        content = read_bounded(path, _MAX_ENTRY, f"entry {path.stem} of the ledger of releases")
        entry = open_entry(content, key)
        has_own_name = path == _entry_path(directory, entry.number)
        if not has_own_name or not _follows(entry, previous):
            raise DisclosureError(
                f"the ledger of releases was changed: the entry after number {previous.length} does not follow from it",
                _RESTORE,
            )
        entries.append(entry)
        previous = entry.head
    return Ledger(tuple(entries))


def _follows(entry: LedgerEntry, previous: LedgerHead) -> bool:
    """Return whether an entry refers to the previous one and has the next number; a reset may skip numbers."""
    if entry.prev != previous.head:
        return False
    if isinstance(entry.content, ResetEntry):
        return entry.number > previous.length
    return entry.number == previous.length + 1


def append_entry(directory: Path, ledger: Ledger, key: bytes) -> None:
    """Write the last entry of `ledger`; the others are already on disk. The caller holds the outbox.

    Raises:
        StoreError: the file cannot be written.
    """
    entry = ledger.entries[-1]
    directory.mkdir(mode=0o700, exist_ok=True)
    write_atomically(_entry_path(directory, entry.number), seal_entry(entry, key))


def seal_entry(entry: LedgerEntry, key: bytes) -> bytes:
    """Return the content of the entry's file, with a MAC over the whole entry."""
    body = entry.to_json()
    return canonical({"entry": body, "mac": hmac.digest(key, canonical(body), "sha256").hex()})


def open_entry(content: bytes, key: bytes) -> LedgerEntry:
    """Parse and verify the content of an entry's file. Raises DisclosureError if it was changed."""
    try:
        value: Any = parse_canonical(content)
        entry = _parse_entry(value["entry"])
        # The constructors check the names of fields. Sealing the entry again gives the same bytes only if everything
        # else is intact, including the MAC.
        is_whole = hmac.compare_digest(seal_entry(entry, key), content)
    except (ProtocolError, KeyError, TypeError, AttributeError, ValueError):
        is_whole = False
    if not is_whole:
        raise DisclosureError(
            "an entry of the ledger of releases is damaged, was changed, or was made with another seal key",
            _RESTORE,
        )
    return entry


def _parse_entry(body: Any) -> LedgerEntry:
    fields = dict(body["content"])
    content: Content
    match body["kind"]:
        case "dataset":
            units: dict[str, UnitRecord] = {}
            for name, unit_fields in fields.pop("units").items():
                units[name] = UnitRecord(**unit_fields)
            content = DatasetEntry(units=units, **fields)
        case "release":
            cells: dict[str, ReleasedCell] = {}
            for name, cell_fields in fields.pop("cells").items():
                # The field is absent in cells without a spread.
                cells[name] = ReleasedCell(**{"spread": None, **cell_fields})
            content = ReleaseEntry(cells=cells, **fields)
        case "reset":
            content = ResetEntry(**fields)
        case "clock":
            content = ClockEntry(**fields)
        case _:
            raise ValueError("unknown kind")
    return LedgerEntry(number=body["number"], prev=body["prev"], day=body["day"], content=content)


def _entry_path(directory: Path, number: int) -> Path:
    return directory / f"{number:08d}.json"
