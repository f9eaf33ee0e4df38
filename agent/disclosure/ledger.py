"""The ledger of releases: every registered dataset and every figure prepared from one, so that none can be subtracted.

One file for each entry, `ledger/00000001.json`: canonical JSON that names the SHA-256 of the entry before and is sealed
with a MAC under the site's seal key. That key is not derived from the data key, so whoever reads the store cannot
rewrite the ledger. An entry is never changed and never taken back.

    dataset   a frozen version of a protected dataset: keyed fingerprints of its units, and whose records they are
    release   a debit: the protected figures of one prepared submission, whether or not it is ever sent
    reset     the site started a new epoch; entries up to a number may be lost

Number and link of the last entry travel in every statement. The aggregator refuses a ledger that is shorter than
before, or another of the same length: a ledger that was put back from a back-up together with everything else cannot
be seen here, but it is seen there, and on the steward's own list.

Units appear as keyed fingerprints only. A *person* is what units are counted by: units with the same identifier or the
same record content, in any version of any dataset, are one person.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from agent.errors import DisclosureError
from agent.io.atomic_files import read_bounded, write_atomically
from agent.keys import derive_key
from protocol.canonical import canonical, parse_canonical
from protocol.errors import ProtocolError
from protocol.predicates import EMPTY_LEDGER, LedgerHead

MONTH_DAYS: Final = 30
_RESTORE: Final = (
    "Nothing leaves until the folder submissions/ledger is restored from a back-up; if none is whole, `intramural "
    "reset` starts a new epoch with the aggregator's and the steward's help."
)
# Digits of a fingerprint: 96 and 64 bits, which no two units and no two scores of a person share by chance.
_UNIT_HEX: Final = 24
_SCORE_HEX: Final = 16
_MAX_ENTRY: Final = 256 * 1024 * 1024  # bytes
_SAME_LINEAGE_PERCENT: Final = 5  # of the smaller dataset's persons, in common


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """One unit of a dataset version; everything is a keyed fingerprint in hexadecimal.

    Attributes:
        person: whom the unit is counted as.
        identity: of the unit's identifier.
        content: of its records, to the letter.
        sketch: MinHash signature of its records' words; empty where they have too few.
    """

    person: str
    identity: str
    content: str
    sketch: str


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """A registered version of a protected dataset.

    Attributes:
        benchmark: id of the benchmark that reads it.
        definition: digest of that benchmark's definition.
        commitment: salted Merkle root over its records; names the version.
        lineage: commitment of the first version of its lineage.
        previous: commitment of the version of this benchmark and lineage before it; "" if there is none.
        data: digest of the frozen files.
        instances: how many it gives.
        units: fingerprint of each unit, as runs name it, -> what is known of it.
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
        """Return the persons that the units are counted as."""
        return frozenset(unit.person for unit in self.units.values())

    def join_contents(self) -> dict[str, str]:
        """Return for each person the fingerprints of all their records, joined in a fixed order."""
        contents_by_person: dict[str, list[str]] = {}
        for unit in self.units.values():
            contents_by_person.setdefault(unit.person, []).append(unit.content)
        return {
            person: ",".join(sorted(contents)) for person, contents in contents_by_person.items()
        }


@dataclass(frozen=True, slots=True)
class PersonDifference:
    """How many persons two versions differ by; `changed` counts those in both whose records differ."""

    added: int
    removed: int
    changed: int

    def is_too_small(self, threshold: int) -> bool:
        """Whether any of the numbers is neither 0 nor at least `threshold`."""
        return any(0 < number < threshold for number in (self.added, self.removed, self.changed))


def compare_persons(old: DatasetEntry, new: DatasetEntry) -> PersonDifference:
    """Return how `new` differs from `old`. Records of two benchmarks are different questions, so they never compare."""
    before, after = old.list_persons(), new.list_persons()
    changed = 0
    if old.definition == new.definition:
        old_contents = old.join_contents()
        for person, content in new.join_contents().items():
            if old_contents.get(person, content) != content:
                changed += 1
    return PersonDifference(added=len(after - before), removed=len(before - after), changed=changed)


def share_persons(old: DatasetEntry, new: DatasetEntry) -> bool:
    """Whether two versions have more than 5 % of the smaller one's persons in common: then they are one lineage."""
    before, after = old.list_persons(), new.list_persons()
    return 100 * len(before & after) > _SAME_LINEAGE_PERCENT * min(len(before), len(after))


@dataclass(frozen=True, slots=True)
class ReleasedCell:
    """One protected figure as it was decided, and the persons behind it.

    Attributes:
        benchmark, metric, subgroup: which figure; subgroup is "" for all units.
        definition: digest of the benchmark's definition.
        commitment: the dataset version.
        value, spread: as published; spread is None where the scorecard has none.
        bucket: published size of the figure's group.
        scores: person -> keyed fingerprint of the person's score.
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
        """Return how many persons came, went or changed their score between this figure and `scores`."""
        persons = self.scores.keys() | scores.keys()
        return sum(self.scores.get(person) != scores.get(person) for person in persons)


@dataclass(frozen=True, slots=True)
class ReleaseEntry:
    """A debit: one submission as it was prepared.

    Attributes:
        policy: digest of the policy that was applied, the stricter of site and federation.
        cells: the protected figures, by the scorecard's keys.
    """

    model: str
    scorecard: str
    scores_root: str
    policy: str
    cells: Mapping[str, ReleasedCell]


@dataclass(frozen=True, slots=True)
class ResetEntry:
    """A new epoch. Entries with numbers from `lost_from` to this one's are not known here any more."""

    epoch: int
    lost_from: int


Content = DatasetEntry | ReleaseEntry | ResetEntry


@dataclass(frozen=True)
class LedgerEntry:
    """One entry.

    Attributes:
        number: from 1; a reset may leave numbers out.
        prev: link of the entry before.
        day: days since 1970-01-01 UTC.
    """

    number: int
    prev: str
    day: int
    content: Content

    @property
    def kind(self) -> str:
        """`dataset`, `release` or `reset`."""
        return _kind_of(self.content)

    def to_json(self) -> dict[str, object]:
        """Return the entry's file without the seal."""
        return {
            "number": self.number,
            "prev": self.prev,
            "day": self.day,
            "kind": self.kind,
            "content": _without_none(asdict(self.content)),
        }

    @cached_property  # a dataset of 20,000 units takes a second to write
    def link(self) -> str:
        """Hex SHA-256 of the canonical JSON, by which the next entry names this one."""
        return hashlib.sha256(canonical(self.to_json())).hexdigest()

    @property
    def head(self) -> LedgerHead:
        """The head of a ledger that ends with this entry, as statements name it."""
        return LedgerHead(self.number, self.link)


def _kind_of(content: Content) -> str:
    match content:
        case DatasetEntry():
            return "dataset"
        case ReleaseEntry():
            return "release"
        case ResetEntry():
            return "reset"


def _without_none(value: Any) -> Any:
    """Leave out fields that are None: canonical JSON has no null."""
    if isinstance(value, Mapping):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    return value


class Fingerprints:
    """Keyed fingerprints: equal for equal values, telling nothing to whoever lacks the site's seal key."""

    def __init__(self, key: bytes) -> None:
        """`key` is 32 bytes, see `derive_fingerprint_key`."""
        self._key = key

    def of_unit(self, unit_key: bytes) -> str:
        """Return the fingerprint of a unit as runs name it (`agent.store` gives its key)."""
        return self._hash("unit", unit_key)[:_UNIT_HEX]

    def of_identity(self, unit: str) -> str:
        """Return the fingerprint of a unit's identifier, whichever benchmark names it."""
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
    """All entries, oldest first, already checked to follow from each other."""

    entries: tuple[LedgerEntry, ...] = ()

    @property
    def head(self) -> LedgerHead:
        """Number and link of the last entry."""
        return self.entries[-1].head if self.entries else EMPTY_LEDGER

    def holds(self, head: LedgerHead) -> bool:
        """Whether this ledger ends with, or continues, the one that ended with `head`."""
        return head == EMPTY_LEDGER or any(entry.head == head for entry in self.entries)

    def list_datasets(self) -> list[DatasetEntry]:
        """Return every registered version, oldest first."""
        return [entry.content for entry in self.entries if isinstance(entry.content, DatasetEntry)]

    def find_dataset(self, commitment: str) -> DatasetEntry | None:
        """Return the registered version with this commitment, None if it is not registered."""
        for dataset in self.list_datasets():
            if dataset.commitment == commitment:
                return dataset
        return None

    def find_newest_dataset(self, benchmark: str, definition: str) -> DatasetEntry | None:
        """Return the newest registered version of a benchmark's data, read by exactly this definition."""
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
        """Return the versions that some figure was prepared from, oldest first."""
        commitments: set[str] = set()
        for _, release in self.iterate_releases():
            commitments.update(cell.commitment for cell in release.cells.values())
        return [dataset for dataset in self.list_datasets() if dataset.commitment in commitments]

    def find_debit(
        self, model: str, scorecard: str, scores_root: str
    ) -> tuple[LedgerEntry, ReleaseEntry] | None:
        """Return the newest debit for exactly these scores, with its entry."""
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
        """Return how many releases of this model from these dataset versions fall in the 30 days that end with `day`.

        The same scores again are the same release, however often they had to be prepared, so they count once; and
        those behind `scores_root` do not count here.
        """
        other_roots: set[str] = set()
        for entry, release in self.iterate_releases():
            is_recent = entry.day > day - MONTH_DAYS
            is_other = release.model == model and release.scores_root != scores_root
            if not (is_recent and is_other):
                continue
            if any(cell.commitment in commitments for cell in release.cells.values()):
                other_roots.add(release.scores_root)
        return len(other_roots)

    @property
    def began_in(self) -> int:
        """The epoch whose reset began this ledger, because the one before was lost; 0 for a first ledger."""
        first = self.entries[0].content if self.entries else None
        return first.epoch if isinstance(first, ResetEntry) else 0

    def lost_entries_after(self, dataset: DatasetEntry) -> bool:
        """Whether entries were lost since a version was registered: they may have been figures made from it."""
        registered = next(entry.number for entry in self.entries if entry.content == dataset)
        for entry in self.entries:
            if entry.number <= registered or not isinstance(entry.content, ResetEntry):
                continue
            if entry.content.lost_from < entry.number:
                return True
        return False

    def followed_by(self, content: Content, day: int, *, number: int | None = None) -> "Ledger":
        """Return the ledger with one more entry; `number` is the next one unless a reset leaves some out."""
        entry = LedgerEntry(number or self.head.length + 1, self.head.head, day, content)
        return Ledger((*self.entries, entry))


def derive_ledger_key(seal_key: bytes) -> bytes:
    """Return the key that seals entries."""
    return derive_key(seal_key, "release-ledger/v2")


def derive_fingerprint_key(seal_key: bytes) -> bytes:
    """Return the key of `Fingerprints`."""
    return derive_key(seal_key, "release-fingerprints/v2")


def read_ledger(directory: Path, key: bytes) -> Ledger:
    """Read the ledger; a folder that is not there is an empty one.

    Args:
        directory: the ledger's folder.
        key: see `derive_ledger_key`.

    Raises:
        DisclosureError: an entry is missing, changed or unreadable: nothing leaves until it is restored. Names the
            first entry that is not as it was.
    """
    entries: list[LedgerEntry] = []
    previous = EMPTY_LEDGER
    for path in sorted(directory.glob("*.json")):  # none where the folder does not exist
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
    """Whether an entry names the one before it and has the next number; a reset may leave numbers out."""
    if entry.prev != previous.head:
        return False
    if isinstance(entry.content, ResetEntry):
        return entry.number > previous.length
    return entry.number == previous.length + 1


def append_entry(directory: Path, ledger: Ledger, key: bytes) -> None:
    """Write the last entry of `ledger`, whose others are on the disk already. The caller holds the outbox.

    Raises:
        StoreError: the disk refuses.
    """
    entry = ledger.entries[-1]
    directory.mkdir(mode=0o700, exist_ok=True)
    write_atomically(_entry_path(directory, entry.number), seal_entry(entry, key))


def seal_entry(entry: LedgerEntry, key: bytes) -> bytes:
    """Return the bytes of the entry's file, with the MAC over everything in it."""
    body = entry.to_json()
    return canonical({"entry": body, "mac": hmac.digest(key, canonical(body), "sha256").hex()})


def open_entry(content: bytes, key: bytes) -> LedgerEntry:
    """Read the bytes of an entry's file. Raises DisclosureError where anything in it was changed."""
    try:
        value: Any = parse_canonical(content)
        entry = _parse_entry(value["entry"])
        # The constructors check names of fields; sealing again gives the same bytes only if all else, the MAC too, is
        # whole.
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
                # A cell without a spread is written without the field.
                cells[name] = ReleasedCell(**{"spread": None, **cell_fields})
            content = ReleaseEntry(cells=cells, **fields)
        case "reset":
            content = ResetEntry(**fields)
        case _:
            raise ValueError("unknown kind")
    return LedgerEntry(number=body["number"], prev=body["prev"], day=body["day"], content=content)


def _entry_path(directory: Path, number: int) -> Path:
    return directory / f"{number:08d}.json"
