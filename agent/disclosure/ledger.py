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
_UNIT_HEX, _SCORE_HEX = 24, 16  # 96 and 64 bits: an accidental match is out of reach
_LARGEST_ENTRY: Final = 256 * 1024 * 1024  # bytes
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

    def persons(self) -> frozenset[str]:
        """Return whom the units are counted as."""
        return frozenset(unit.person for unit in self.units.values())

    def contents(self) -> dict[str, str]:
        """Return one fingerprint of all records of each person."""
        found: dict[str, list[str]] = {}
        for unit in self.units.values():
            found.setdefault(unit.person, []).append(unit.content)
        return {person: ",".join(sorted(contents)) for person, contents in found.items()}


@dataclass(frozen=True, slots=True)
class PersonDifference:
    """How many persons two versions differ by; `changed` counts those in both whose records differ."""

    added: int
    removed: int
    changed: int

    def is_too_small(self, threshold: int) -> bool:
        """Whether any of the numbers is neither 0 nor at least `threshold`."""
        return any(0 < number < threshold for number in (self.added, self.removed, self.changed))


def difference_between(old: DatasetEntry, new: DatasetEntry) -> PersonDifference:
    """Return how `new` differs from `old`. Records of two benchmarks are different questions, so they never compare."""
    before, after = old.persons(), new.persons()
    changed = 0
    if old.definition == new.definition:
        contents = old.contents()
        changed = sum(contents.get(person, content) != content for person, content in new.contents().items())
    return PersonDifference(len(after - before), len(before - after), changed)


def share_persons(old: DatasetEntry, new: DatasetEntry) -> bool:
    """Whether two versions have more than 5 % of the smaller one's persons in common: then they are one lineage."""
    before, after = old.persons(), new.persons()
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

    def rescored(self, scores: Mapping[str, str]) -> int:
        """Return how many persons came, went or changed their score between this figure and `scores`."""
        return sum(self.scores.get(person) != scores.get(person) for person in self.scores.keys() | scores.keys())


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
        """Return what the entry's file holds besides the seal."""
        return {
            "number": self.number,
            "prev": self.prev,
            "day": self.day,
            "kind": self.kind,
            "content": _without_none(asdict(self.content)),
        }

    @cached_property  # a dataset of 20,000 units takes a second to write
    def link(self) -> str:
        """What the next entry names as the one before: hex SHA-256 of the canonical JSON."""
        return hashlib.sha256(canonical(self.to_json())).hexdigest()

    @property
    def head(self) -> LedgerHead:
        """What statements say of a ledger that ends with this entry."""
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

    def datasets(self) -> list[DatasetEntry]:
        """Return every registered version, oldest first."""
        return [entry.content for entry in self.entries if isinstance(entry.content, DatasetEntry)]

    def dataset(self, commitment: str) -> DatasetEntry | None:
        """Return a registered version."""
        return next((dataset for dataset in self.datasets() if dataset.commitment == commitment), None)

    def newest_dataset(self, benchmark: str, definition: str) -> DatasetEntry | None:
        """Return the newest registered version of a benchmark's data, read by exactly this definition."""
        found = [d for d in self.datasets() if (d.benchmark, d.definition) == (benchmark, definition)]
        return found[-1] if found else None

    def releases(self) -> Iterator[tuple[LedgerEntry, ReleaseEntry]]:
        """Yield every debit, oldest first."""
        for entry in self.entries:
            if isinstance(entry.content, ReleaseEntry):
                yield entry, entry.content

    def released_datasets(self) -> list[DatasetEntry]:
        """Return the versions that some figure was prepared from, oldest first."""
        used = {cell.commitment for _, release in self.releases() for cell in release.cells.values()}
        return [dataset for dataset in self.datasets() if dataset.commitment in used]

    def find_debit(self, model: str, scorecard: str, scores_root: str) -> tuple[LedgerEntry, ReleaseEntry] | None:
        """Return the newest debit for exactly these scores, with its entry."""
        wanted = (model, scorecard, scores_root)
        found = [(e, r) for e, r in self.releases() if (r.model, r.scorecard, r.scores_root) == wanted]
        return found[-1] if found else None

    def other_releases_this_month(self, model: str, commitments: Sequence[str], day: int, scores_root: str) -> int:
        """Return how many releases of this model from these dataset versions fall in the 30 days that end with `day`.

        The same scores again are the same release, however often they had to be prepared, so they count once; and
        those behind `scores_root` do not count here.
        """
        roots = {
            release.scores_root
            for entry, release in self.releases()
            if release.model == model
            and day - MONTH_DAYS < entry.day
            and any(cell.commitment in commitments for cell in release.cells.values())
        }
        return len(roots - {scores_root})

    @property
    def began_in(self) -> int:
        """The epoch whose reset began this ledger, because the one before was lost; 0 for a first ledger."""
        first = self.entries[0].content if self.entries else None
        return first.epoch if isinstance(first, ResetEntry) else 0

    def lost_after(self, dataset: DatasetEntry) -> bool:
        """Whether entries were lost since a version was registered, so that nobody knows what was made from it."""
        registered = next(entry.number for entry in self.entries if entry.content == dataset)
        return any(
            isinstance(entry.content, ResetEntry)
            and registered < entry.number
            and entry.content.lost_from < entry.number
            for entry in self.entries
        )

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
    for path in sorted(directory.glob("*.json")) if directory.is_dir() else []:
        content = read_bounded(path, _LARGEST_ENTRY, f"entry {path.stem} of the ledger of releases")
        entry = open_entry(content, key)
        may_jump = isinstance(entry.content, ResetEntry)
        in_order = entry.number > previous.length if may_jump else entry.number == previous.length + 1
        if path != _entry_path(directory, entry.number) or entry.prev != previous.head or not in_order:
            raise DisclosureError(
                f"the ledger of releases was changed: the entry after number {previous.length} does not follow from it",
                _RESTORE,
            )
        entries.append(entry)
        previous = entry.head
    return Ledger(tuple(entries))


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
        # Names are checked by the constructors; everything else, the MAC too, by coming out the same again.
        whole = hmac.compare_digest(seal_entry(entry, key), content)
    except (ProtocolError, KeyError, TypeError, AttributeError, ValueError):
        whole = False
    if not whole:
        raise DisclosureError(
            "an entry of the ledger of releases is damaged, was changed, or was made with another seal key", _RESTORE
        )
    return entry


def _parse_entry(body: Any) -> LedgerEntry:
    fields = dict(body["content"])
    content: Content
    match body["kind"]:
        case "dataset":
            units = {name: UnitRecord(**unit) for name, unit in fields.pop("units").items()}
            content = DatasetEntry(units=units, **fields)
        case "release":
            cells = {name: ReleasedCell(**{"spread": None, **cell}) for name, cell in fields.pop("cells").items()}
            content = ReleaseEntry(cells=cells, **fields)
        case "reset":
            content = ResetEntry(**fields)
        case _:
            raise ValueError("unknown kind")
    return LedgerEntry(body["number"], body["prev"], body["day"], content)


def _entry_path(directory: Path, number: int) -> Path:
    return directory / f"{number:08d}.json"
