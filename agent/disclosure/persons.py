"""Whom the units of a dataset are counted as: a patient under two names, or in two versions, is one person."""

from collections.abc import Mapping, Sequence
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

# Two versions of one record keep more than half of their shingles when every name and identifier in them is replaced
# (measured on records of 60 to 300 words); records of two patients share a few in a hundred, once common text is out.
_SAME_PERSON_PERCENT: Final = 50
# Within a version patients may differ by a few numbers only, so records must hardly differ to be one person's.
_SAME_RECORD_PERCENT: Final = 90
_COMMON_PERCENT: Final = 20  # of the persons: what more of them share is the benchmark's text
_EVERYBODYS_PERCENT: Final = 90  # the same, before it is known which units are copies of each other


def identify_persons(read: ReadVersion, earlier: Sequence[DatasetEntry], key: bytes) -> dict[str, UnitRecord]:
    """Return what the ledger keeps of each unit, by the fingerprint of its key: above all, whom it is counted as.

    Args:
        read: the version.
        earlier: every version that was registered before, of any benchmark, oldest first.
        key: see `fingerprint_key`.
    """
    fingerprints, sketcher = Fingerprints(key), Sketcher(key)
    identities = [fingerprints.of_identity(unit.identifier) for unit in read.units]
    contents = [fingerprints.of_content("\n".join(unit.contents).encode()) for unit in read.units]
    groups = _group_copies(read.units, contents, sketcher)
    sketches = _sketch_all([unit.shingles.numberless for unit in read.units], groups, _COMMON_PERCENT, sketcher)
    known = _recognise(identities, contents, sketches, earlier)
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
    identities: Sequence[str], contents: Sequence[str], sketches: Sequence[str], earlier: Sequence[DatasetEntry]
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
    unknown = [place for place, sketch in enumerate(sketches) if sketch and place not in known]
    old = list(by_sketch)
    alike = find_alike(decode_sketches([sketches[p] for p in unknown]), decode_sketches(old), _SAME_PERSON_PERCENT)
    for row, old_row in alike.items():
        known[unknown[row]] = by_sketch[old[old_row]]
    return known


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
