"""Whom the units of a dataset are counted as: a patient under two names, or in two versions, is one person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent.disclosure.dataset_reading import ReadUnit, ReadVersion
from agent.disclosure.ledger import DatasetEntry, Fingerprints, UnitRecord
from agent.disclosure.sketches import (
    LEAST_SHINGLES,
    Shingles,
    Sketcher,
    decode_sketches,
    drop_common,
    encode_sketch,
    find_alike,
    find_root,
    group_alike,
)

# Records of 60 to 300 words keep half to nine tenths of their shingles when every name and identifier in them is
# replaced. Records of two patients share a few in a hundred once common text is out; in notes made of few stock phrases
# at most 42 in a hundred were measured.
_SAME_PERSON_PERCENT: Final = 45
_LEFT_OVER_PERCENT: Final = 33
# Within a version patients may differ by a few numbers only, so records must hardly differ to be one person's.
_SAME_RECORD_PERCENT: Final = 85
_FINER: Final = 128  # places of the sketches by which they are compared, which are not kept
_COMMON_PERCENT: Final = 20  # of the persons: what more of them share is the benchmark's text
_EVERYBODYS_PERCENT: Final = 90  # the same, before it is known which units are copies of each other


def identify_persons(read: ReadVersion, earlier: Sequence[DatasetEntry], key: bytes) -> dict[str, UnitRecord]:
    """Return what the ledger keeps of each unit, by the fingerprint of its key: above all, whom it is counted as.

    Args:
        read: the version.
        earlier: every version that was registered before, of any benchmark, oldest first.
        key: see `derive_fingerprint_key`.
    """
    fingerprints, sketcher = Fingerprints(key), Sketcher(key)
    identities = [fingerprints.of_identity(unit.identifier) for unit in read.units]
    contents = [fingerprints.of_content("\n".join(unit.contents).encode()) for unit in read.units]
    groups = _group_copies(read.units, contents, Sketcher(key, _FINER))
    sketches = _sketch_all([unit.shingles.numberless for unit in read.units], groups, _COMMON_PERCENT, sketcher)
    known = _recognise(identities, contents, sketches, groups, earlier)
    persons = _name_groups(groups, identities, known, earlier)
    return {
        fingerprints.of_unit(unit.key): UnitRecord(persons[group], identity, content, sketch)
        for unit, group, identity, content, sketch in zip(
            read.units, groups, identities, contents, sketches, strict=True
        )
    }


def _group_copies(units: Sequence[ReadUnit], contents: Sequence[str], sketcher: Sketcher) -> list[int]:
    """Return a group for each unit: those with the same records, or with records that hardly differ, are in one."""
    parents = list(range(len(units)))
    first: dict[str, int] = {}
    for place, content in enumerate(contents):
        parents[place] = first.setdefault(content, place)
    distinctive = drop_common([unit.shingles.exact for unit in units], range(len(units)), _EVERYBODYS_PERCENT)
    places = [place for place, shingles in enumerate(distinctive) if len(shingles) >= LEAST_SHINGLES]
    alike = group_alike(sketcher.sketch([distinctive[place] for place in places]), _SAME_RECORD_PERCENT)
    for place, group in zip(places, alike, strict=True):
        parents[find_root(parents, place)] = find_root(parents, places[group])
    return [find_root(parents, place) for place in range(len(units))]


def _sketch_all(units: Sequence[Shingles], groups: Sequence[int], percent: int, sketcher: Sketcher) -> list[str]:
    """Return a sketch of each unit as text; "" where too little is left without the common text."""
    distinctive = drop_common(units, groups, percent)
    places = [place for place, shingles in enumerate(distinctive) if len(shingles) >= LEAST_SHINGLES]
    sketches = sketcher.sketch([distinctive[place] for place in places])
    texts = [""] * len(units)
    for place, sketch in zip(places, sketches, strict=True):
        texts[place] = encode_sketch(sketch)
    return texts


def _recognise(
    identities: Sequence[str],
    contents: Sequence[str],
    sketches: Sequence[str],
    groups: Sequence[int],
    earlier: Sequence[DatasetEntry],
) -> dict[int, str]:
    """Return, for each unit that an earlier version has, the person it was counted as there."""
    by_identity: dict[str, str] = {}
    by_content: dict[str, str] = {}
    by_sketch: dict[str, str] = {}
    for dataset in earlier:
        for unit in dataset.units.values():
            by_identity.setdefault(unit.identity, unit.person)
            by_content.setdefault(unit.content, unit.person)
            if unit.sketch:
                by_sketch.setdefault(unit.sketch, unit.person)
    known: dict[int, str] = {}
    for place, (identity, content) in enumerate(zip(identities, contents, strict=True)):
        person = by_identity.get(identity) or by_content.get(content)
        if person:
            known[place] = person
    unknown = {place: sketch for place, sketch in enumerate(sketches) if sketch and place not in known}
    alike = _find_by_sketch(unknown, by_sketch, _SAME_PERSON_PERCENT)
    # Who is left on both sides once most are known is few, so that less likeness says as much. A person that units of
    # several groups are like is one of theirs: for the others, too, somebody who is left may fit.
    taken = {*known.values(), *(match.person for match in alike.values())}
    contested = _find_contested(alike, groups)
    open_units = {place: sketch for place, sketch in unknown.items() if place not in alike or place in contested}
    left = {sketch: person for sketch, person in by_sketch.items() if person not in taken}
    alike |= _find_by_sketch(open_units, left, _LEFT_OVER_PERCENT)
    return known | {place: match.person for place, match in alike.items()}


@dataclass(frozen=True, slots=True)
class _Match:
    """The person that a unit is most like, and in how many places their sketches agree."""

    person: str
    agreeing: int


def _find_by_sketch(units: Mapping[int, str], persons: Mapping[str, str], percent: int) -> dict[int, _Match]:
    """Return the match of each unit that has one. Units and persons are given by, and with, their sketches."""
    places, old = list(units), list(persons)
    alike = find_alike(decode_sketches(list(units.values())), decode_sketches(old), percent)
    return {places[row]: _Match(persons[old[found.row]], found.agreeing) for row, found in alike.items()}


def _find_contested(alike: Mapping[int, _Match], groups: Sequence[int]) -> set[int]:
    """Return the units whose person another group's unit is more like."""
    best: dict[str, int] = {}
    for place, match in alike.items():
        holder = best.setdefault(match.person, place)
        if match.agreeing > alike[holder].agreeing:
            best[match.person] = place
    return {place for place, match in alike.items() if groups[best[match.person]] != groups[place]}


def _name_groups(
    groups: Sequence[int], identities: Sequence[str], known: Mapping[int, str], earlier: Sequence[DatasetEntry]
) -> dict[int, str]:
    """Return whom each group is counted as: the oldest person that any of its units was, else a new one."""
    age: dict[str, int] = {}
    for dataset in earlier:
        for unit in dataset.units.values():
            age.setdefault(unit.person, len(age))
    members: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    persons: dict[int, str] = {}
    for group, places in members.items():
        seen = [known[place] for place in places if place in known]
        persons[group] = min(seen, key=lambda person: age[person]) if seen else min(identities[p] for p in places)
    return persons
