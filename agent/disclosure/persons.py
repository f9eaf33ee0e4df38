"""Identifying the persons behind a dataset's units: a patient under two names, or in two versions, is one person."""

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

# Records of 60 to 300 words keep half to nine tenths of their shingles when every name and identifier in them is
# replaced. Records of two patients share a few in a hundred once common text is out; in notes made of few stock phrases
# at most 42 in a hundred were measured.
_SAME_PERSON_PERCENT: Final = 45
_LEFT_OVER_PERCENT: Final = 33
# Within a version patients may differ by a few numbers only, so records must hardly differ to be one person's.
_SAME_RECORD_PERCENT: Final = 85
_FINE_PERMUTATIONS: Final = (
    128  # of the sketches by which units of one version are compared, which are not stored
)
_COMMON_PERCENT: Final = (
    20  # of the persons: shingles that more of them share are the benchmark's text
)
_NEARLY_ALL_PERCENT: Final = 90  # the same, before copies of one unit have been grouped


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit of the new version, as it is compared with others.

    Attributes:
        key: fingerprint of the unit's key.
        identity: fingerprint of its identifier.
        content: fingerprint of its records.
        sketch: of its records' words; "" where they have too few.
        group: number of its group; units of one group are one person.
    """

    key: str
    identity: str
    content: str
    sketch: str
    group: int


@dataclass(frozen=True, slots=True)
class _Match:
    """The person that a unit is most like, and the number of values in which their sketches agree."""

    person: str
    agreeing: int


def identify_persons(
    read: ReadVersion, earlier: Sequence[DatasetEntry], key: bytes
) -> dict[str, UnitRecord]:
    """Return the ledger's record of each unit, by the fingerprint of its key: above all, its person.

    Args:
        read: the version.
        earlier: every version that was registered before, of any benchmark, oldest first.
        key: see `derive_fingerprint_key`.
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
    """Return the fingerprints of each unit, and its group."""
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
    """Return a group for each unit: those with the same records, or with records that hardly differ, are in one."""
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
    """Return a sketch of each unit as text; "" where too few shingles remain without the common text."""
    distinctive = drop_common(units, groups, _COMMON_PERCENT)
    rows = _select_sketchable(distinctive)
    sketches = sketcher.sketch([distinctive[row] for row in rows])
    texts = [""] * len(units)
    for row, sketch in zip(rows, sketches, strict=True):
        texts[row] = encode_sketch(sketch)
    return texts


def _select_sketchable(units: Sequence[Shingles]) -> list[int]:
    """Return the rows of the units with enough shingles for a sketch."""
    return [row for row, shingles in enumerate(units) if len(shingles) >= MIN_SHINGLES]


def _recognise_units(units: Sequence[_Unit], earlier: Sequence[DatasetEntry]) -> dict[int, str]:
    """Return, for each row of a unit that an earlier version has, the person it was counted as there."""
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

    # Once most units are recognised, few units and persons remain, so that a lower similarity says as much. A person
    # that units of several groups are like is one of theirs: for the others, too, a remaining person may fit.
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
    """Return the match of each unit that has one, by row.

    Args:
        units: sketches by row.
        persons: persons by sketch.
        percent: of the sketch's values that must agree.
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
    """Return the rows of the units whose person another group's unit is more like."""
    holders: dict[str, int] = {}  # by person, the row of the unit that is most like it
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
    """Return the person of each group: the oldest that any of its units was recognised as, else a new one."""
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
