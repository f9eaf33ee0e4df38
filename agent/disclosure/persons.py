"""Identify the persons behind a dataset's units: a patient who has two identifiers, or is in two versions, is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent.disclosure.dataset_reading import ReadUnit, ReadVersion
from agent.disclosure.ledger import DatasetEntry, Fingerprints, UnitRecord
from agent.disclosure.sketches import (
    MIN_SHINGLES,
    Shingles,
    Sketcher,
    decode_sketches,
    drop_common,
    encode_sketch,
    find_root,
    find_similar,
    group_similar,
)

# Records of 60 to 300 words keep 50 to 90 % of their shingles when all names and identifiers in them are replaced.
# Records of two patients share a few per cent once common text is removed; the maximum measured, in notes made of a few
# stock phrases, was 42 %.
_SAME_PERSON_PERCENT: Final = 45
_LEFT_OVER_PERCENT: Final = 33
# Different patients of one version may differ only in a few numbers, so a higher similarity is required there.
_SAME_RECORD_PERCENT: Final = 85
# Permutations of the sketches that compare units of one version. These sketches are not stored.
_FINE_PERMUTATIONS: Final = 128
# Shingles that a larger percentage of the persons share count as the benchmark's own text.
_COMMON_PERCENT: Final = 20
# The corresponding percentage before copies of one unit have been grouped.
_NEARLY_ALL_PERCENT: Final = 90


@dataclass(frozen=True, slots=True)
class _Unit:
    """The fingerprints of a unit in the new version.

    Attributes:
        key: fingerprint of the unit's key.
        identity: fingerprint of its identifier.
        content: fingerprint of its records.
        sketch: sketch of its records' words; "" if they have too few words.
        group: number of its group; units of one group belong to one person.
    """

    key: str
    identity: str
    content: str
    sketch: str
    group: int


@dataclass(frozen=True, slots=True)
class _Match:
    """The person that is most similar to a unit, and the number of values in which their sketches agree."""

    person: str
    agreeing: int


def identify_persons(
    read: ReadVersion, earlier: Sequence[DatasetEntry], key: bytes
) -> dict[str, UnitRecord]:
    """Return each unit's record for the ledger, with the unit's person, by the fingerprint of the unit's key.

    Args:
        read: the new version.
        earlier: all earlier registered versions of any benchmark, oldest first.
        key: the key for fingerprints, see `derive_fingerprint_key`.
    """
    units = _fingerprint_units(read.units, key)
    recognised = _recognise_units(units, earlier)
    persons = _choose_persons(units, recognised, earlier)
    records: dict[str, UnitRecord] = {}
    for unit in units:
        records[unit.key] = UnitRecord(
            person=persons[unit.group],
            identity=unit.identity,
            content=unit.content,
            sketch=unit.sketch,
        )
    return records


def _fingerprint_units(units: Sequence[ReadUnit], key: bytes) -> list[_Unit]:
    """Return the fingerprints and the group of each unit."""
    fingerprints = Fingerprints(key)
    contents = [fingerprints.of_content("\n".join(unit.contents).encode()) for unit in units]
    groups = _group_copies(units, contents, Sketcher(key, _FINE_PERMUTATIONS))
    numberless = [unit.shingles.numberless for unit in units]
    sketches = _sketch_units(numberless, groups, Sketcher(key))
    fingerprinted: list[_Unit] = []
    for unit, content, group, sketch in zip(units, contents, groups, sketches, strict=True):
        fingerprinted.append(
            _Unit(
                key=fingerprints.of_unit(unit.key),
                identity=fingerprints.of_identity(unit.identifier),
                content=content,
                sketch=sketch,
                group=group,
            )
        )
    return fingerprinted


def _group_copies(
    units: Sequence[ReadUnit], contents: Sequence[str], sketcher: Sketcher
) -> list[int]:
    """Return the group of each unit. Units with equal or nearly equal records are in the same group."""
    parents = list(range(len(units)))
    first_rows: dict[str, int] = {}
    for row, content in enumerate(contents):
        parents[row] = first_rows.setdefault(content, row)
    distinctive = drop_common(
        [unit.shingles.exact for unit in units], range(len(units)), _NEARLY_ALL_PERCENT
    )
    rows = _select_sketchable(distinctive)
    sketches = sketcher.sketch([distinctive[row] for row in rows])
    for row, group in zip(rows, group_similar(sketches, _SAME_RECORD_PERCENT), strict=True):
        parents[find_root(parents, row)] = find_root(parents, rows[group])
    return [find_root(parents, row) for row in range(len(units))]


def _sketch_units(
    units: Sequence[Shingles], groups: Sequence[int], sketcher: Sketcher
) -> list[str]:
    """Return the sketch of each unit as text; "" if too few shingles remain without the common text."""
    distinctive = drop_common(units, groups, _COMMON_PERCENT)
    rows = _select_sketchable(distinctive)
    sketches = sketcher.sketch([distinctive[row] for row in rows])
    texts = [""] * len(units)
    for row, sketch in zip(rows, sketches, strict=True):
        texts[row] = encode_sketch(sketch)
    return texts


def _select_sketchable(units: Sequence[Shingles]) -> list[int]:
    """Return the rows of units that have enough shingles for a sketch."""
    return [row for row, shingles in enumerate(units) if len(shingles) >= MIN_SHINGLES]


def _recognise_units(units: Sequence[_Unit], earlier: Sequence[DatasetEntry]) -> dict[int, str]:
    """Return the persons of units that are recognised from earlier versions, by row."""
    by_identity: dict[str, str] = {}
    by_content: dict[str, str] = {}
    by_sketch: dict[str, str] = {}
    for dataset in earlier:
        for record in dataset.units.values():
            by_identity.setdefault(record.identity, record.person)
            by_content.setdefault(record.content, record.person)
            if record.sketch:
                by_sketch.setdefault(record.sketch, record.person)

    recognised: dict[int, str] = {}
    unrecognised: dict[int, str] = {}
    for row, unit in enumerate(units):
        person = by_identity.get(unit.identity) or by_content.get(unit.content)
        if person:
            recognised[row] = person
        elif unit.sketch:
            unrecognised[row] = unit.sketch
    matches = _match_sketches(unrecognised, by_sketch, _SAME_PERSON_PERCENT)

    # Once most units are recognised, few units and persons remain, so a lower similarity is sufficient. If units of
    # several groups match one person, only one group can be right, so the other groups are matched again as well.
    contested = _find_contested(matches, units)
    open_units: dict[int, str] = {}
    for row, sketch in unrecognised.items():
        if row not in matches or row in contested:
            open_units[row] = sketch
    taken = set(recognised.values()) | {match.person for match in matches.values()}
    open_persons: dict[str, str] = {}
    for sketch, person in by_sketch.items():
        if person not in taken:
            open_persons[sketch] = person
    matches |= _match_sketches(open_units, open_persons, _LEFT_OVER_PERCENT)
    return recognised | {row: match.person for row, match in matches.items()}


def _match_sketches(
    units: Mapping[int, str], persons: Mapping[str, str], percent: int
) -> dict[int, _Match]:
    """Return the matches of units with persons, by row.

    Args:
        units: sketches of the units by row.
        persons: persons by sketch.
        percent: minimum percentage of a sketch's values that must agree.
    """
    rows, person_sketches = list(units), list(persons)
    new = decode_sketches(list(units.values()))
    old = decode_sketches(person_sketches)
    matches: dict[int, _Match] = {}
    for position, similar in find_similar(new, old, percent).items():
        person = persons[person_sketches[similar.row]]
        matches[rows[position]] = _Match(person, similar.agreeing)
    return matches


def _find_contested(matches: Mapping[int, _Match], units: Sequence[_Unit]) -> set[int]:
    """Return the rows of units whose person is more similar to a unit of another group."""
    holders: dict[str, int] = {}  # person -> row of the most similar unit
    for row, match in matches.items():
        holder = holders.setdefault(match.person, row)
        if match.agreeing > matches[holder].agreeing:
            holders[match.person] = row
    contested: set[int] = set()
    for row, match in matches.items():
        if units[holders[match.person]].group != units[row].group:
            contested.add(row)
    return contested


def _choose_persons(
    units: Sequence[_Unit], recognised: Mapping[int, str], earlier: Sequence[DatasetEntry]
) -> dict[int, str]:
    """Return the person of each group: the oldest person recognised in any of its units, or else a new one."""
    ages: dict[str, int] = {}
    for dataset in earlier:
        for record in dataset.units.values():
            ages.setdefault(record.person, len(ages))
    members: dict[int, list[int]] = {}
    for row, unit in enumerate(units):
        members.setdefault(unit.group, []).append(row)
    persons: dict[int, str] = {}
    for group, rows in members.items():
        candidates = [recognised[row] for row in rows if row in recognised]
        if candidates:
            persons[group] = min(candidates, key=ages.__getitem__)
        else:
            persons[group] = min(units[row].identity for row in rows)
    return persons
