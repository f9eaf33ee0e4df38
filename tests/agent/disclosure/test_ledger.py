"""The ledger of releases is append-only, hash-chained, sealed by a key of its own, and holds no unit's name."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.disclosure.ledger import (
    ClockEntry,
    DatasetEntry,
    Ledger,
    ReleaseEntry,
    ResetEntry,
    UnitRecord,
    append_entry,
    compare_persons,
    derive_ledger_key,
    open_entry,
    read_ledger,
    seal_entry,
    share_persons,
)
from agent.errors import DisclosureError
from protocol.predicates import EMPTY_LEDGER
from tests.agent.disclosure.ward import (
    DATA_KEY,
    FINGERPRINTS,
    LEDGER_KEY,
    after,
    finding,
    gate_says,
    right,
    unit,
    with_datasets,
)
from tests.protocol import world


def ledger_of(releases: int) -> Ledger:
    ledger = Ledger()
    for number in range(releases):
        ledger = after(
            ledger, gate_says([finding("ward", "exact_match", right(20, 40), first=100 * number)])
        )
    return ledger


def write(directory: Path, ledger: Ledger) -> None:
    for count in range(1, len(ledger.entries) + 1):
        append_entry(directory, Ledger(ledger.entries[:count]), LEDGER_KEY)


def test_entries_of_every_kind_come_back_as_they_were_written(tmp_path: Path) -> None:
    ledger = ledger_of(2).followed_by(ResetEntry(2, 5), world.TODAY, number=9)
    assert {type(entry.content) for entry in ledger.entries} == {
        DatasetEntry,
        ReleaseEntry,
        ResetEntry,
    }
    write(tmp_path / "ledger", ledger)
    assert read_ledger(tmp_path / "ledger", LEDGER_KEY) == ledger
    assert ledger.head.length == 9
    assert read_ledger(tmp_path / "none", LEDGER_KEY).head == EMPTY_LEDGER


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_changed_entry_stops_everything(tmp_path: Path, number: int) -> None:
    write(tmp_path, ledger_of(3))
    path = tmp_path / f"{number:08d}.json"
    path.write_bytes(path.read_bytes().replace(b'"day":', b'"day":1', 1))
    with pytest.raises(DisclosureError, match=r"does not follow|damaged"):
        read_ledger(tmp_path, LEDGER_KEY)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_removed_entry_stops_everything_and_is_located(tmp_path: Path, number: int) -> None:
    write(tmp_path, ledger_of(3))
    (tmp_path / f"{number:08d}.json").unlink()
    with pytest.raises(DisclosureError, match=f"after number {number - 1} does not follow"):
        read_ledger(tmp_path, LEDGER_KEY)


def test_two_entries_that_change_places_stop_everything(tmp_path: Path) -> None:
    write(tmp_path, ledger_of(3))
    first, second = tmp_path / "00000002.json", tmp_path / "00000003.json"
    swapped = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(swapped)
    with pytest.raises(DisclosureError, match="does not follow"):
        read_ledger(tmp_path, LEDGER_KEY)


def test_whoever_holds_the_data_key_cannot_seal_a_ledger_again(tmp_path: Path) -> None:
    """A release is taken out, and the chain made anew with every key that the store needs."""
    ledger = ledger_of(2)
    write(tmp_path, ledger)
    forged = Ledger()
    for content in (entry.content for entry in ledger.entries[:2]):
        forged = forged.followed_by(content, world.TODAY)
    for path in tmp_path.glob("*.json"):
        path.unlink()
    for count in range(1, len(forged.entries) + 1):
        append_entry(tmp_path, Ledger(forged.entries[:count]), derive_ledger_key(DATA_KEY))
    with pytest.raises(DisclosureError, match="another seal key"):
        read_ledger(tmp_path, LEDGER_KEY)


def test_only_a_reset_leaves_numbers_out(tmp_path: Path) -> None:
    ledger = ledger_of(1)
    jumped = ledger.followed_by(ledger.entries[-1].content, world.TODAY, number=7)
    write(tmp_path, jumped)
    with pytest.raises(DisclosureError, match="after number 2 does not follow"):
        read_ledger(tmp_path, LEDGER_KEY)


def test_a_ledger_holds_every_head_it_ever_had_and_no_other() -> None:
    ledger, other = ledger_of(3), ledger_of(2)
    heads = [Ledger(ledger.entries[:count]).head for count in range(len(ledger.entries) + 1)]
    assert all(ledger.holds(head) for head in heads)
    assert not other.holds(ledger.head)
    assert not ledger.holds(replace(ledger.head, head="0" * 64))


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"{}",
            b"[]",
            b"null",
            b'{"cells":{}}',
            b"\xff",
            b'{"cells":{"a":1}}',
            b'{"entry":{},"mac":""}',
        ),
        b'{"entry":{"content":{"lost_from":1},"day":1,"kind":"reset","number":1,"prev":"x"},"mac":""}',
    ],
)
def test_damaged_entries_are_named_and_not_quoted(content: bytes) -> None:
    with pytest.raises(DisclosureError, match="is damaged"):
        open_entry(content, LEDGER_KEY)


def test_no_entry_holds_anything_that_identifies_a_unit() -> None:
    contents = [seal_entry(entry, LEDGER_KEY) for entry in ledger_of(1).entries]
    for number in range(40):
        for name in (
            f"unit {number}".encode(),
            unit(f"unit {number}"),
            unit(f"unit {number}").hex().encode(),
        ):
            assert not any(name in content for content in contents)


def test_the_commitment_of_a_dataset_is_found_by_benchmark_and_definition() -> None:
    ward = finding("ward", "exact_match", right(20, 40))
    newer = finding("ward", "exact_match", right(20, 60))
    ledger = with_datasets(Ledger(), [ward.dataset, newer.dataset])
    assert ledger.find_newest_dataset("ward", ward.definition) == ledger.find_dataset(newer.dataset)
    assert ledger.find_newest_dataset("ward", "00" * 32) is None
    assert ledger.list_released_datasets() == []


scores = st.dictionaries(
    st.sampled_from([f"p{i}" for i in range(12)]), st.floats(0, 1), max_size=12
)


@given(scores, scores)
def test_fingerprints_count_exactly_the_persons_whose_score_changed(
    old: dict[str, float], new: dict[str, float]
) -> None:
    release = gate_says([finding("ward", "exact_match", right(50, 100))])

    def fingerprints(of: dict[str, float]) -> dict[str, str]:
        return {person: FINGERPRINTS.of_score(person, score) for person, score in of.items()}

    cell = replace(release.footprint["ward/exact_match"], scores=fingerprints(old))
    rescored = sum(old.get(person) != new.get(person) for person in old.keys() | new.keys())
    assert cell.count_rescored(fingerprints(new)) == rescored


def dataset(persons: dict[str, str], definition: str = "d" * 64) -> DatasetEntry:
    units = {
        f"u{person}": UnitRecord(person, person, content, "") for person, content in persons.items()
    }
    return DatasetEntry("ward", definition, "c" * 64, "c" * 64, "", "da" * 32, len(units), units)


@given(
    st.dictionaries(st.integers(0, 60).map(str), st.sampled_from("ab"), max_size=60),
    st.dictionaries(st.integers(0, 60).map(str), st.sampled_from("ab"), max_size=60),
)
def test_differences_between_versions_are_counted_by_person(
    old: dict[str, str], new: dict[str, str]
) -> None:
    found = compare_persons(dataset(old), dataset(new))
    assert found.added == len(new.keys() - old.keys())
    assert found.removed == len(old.keys() - new.keys())
    assert found.changed == sum(old[person] != new[person] for person in old.keys() & new.keys())
    assert found.is_too_small(11) is any(
        0 < number < 11 for number in (found.added, found.removed, found.changed)
    )
    assert compare_persons(dataset(old, "e" * 64), dataset(new)).changed == 0


def test_datasets_are_of_one_lineage_from_more_than_a_twentieth_in_common() -> None:
    whole = dataset({str(i): "a" for i in range(100)})
    assert share_persons(whole, dataset({str(i): "b" for i in range(94, 194)}))
    assert not share_persons(whole, dataset({str(i): "b" for i in range(95, 195)}))


def count_recent(ledger: Ledger, day: int) -> int:
    (release, *_) = (release for _, release in ledger.iterate_releases())
    commitments = [cell.commitment for cell in release.cells.values()]
    return ledger.count_other_releases_this_month(release.model, commitments, day, "00" * 32)


def test_an_entry_of_a_clock_that_was_set_back_is_refused() -> None:
    ledger = ledger_of(1)
    release = ledger.entries[-1].content
    ledger.followed_by(release, world.TODAY - 1)  # as of a machine whose time server corrects it
    with pytest.raises(DisclosureError, match="has an entry of"):
        ledger.followed_by(release, world.TODAY - 2)


def test_after_a_clock_of_2036_releases_are_of_the_day_on_which_it_was_declared_wrong(
    tmp_path: Path,
) -> None:
    future = world.TODAY + 3650
    release = gate_says([finding("ward", "exact_match", right(20, 40))])
    ledger = after(Ledger(), release, day=future)
    with pytest.raises(DisclosureError):
        ledger.followed_by(ResetEntry(2, 5), world.TODAY)
    ledger = ledger.followed_by(ClockEntry(future), world.TODAY)
    assert count_recent(ledger, world.TODAY) == 1
    assert count_recent(ledger, world.TODAY + 40) == 0
    ledger = after(ledger, release, day=world.TODAY + 40)
    with pytest.raises(DisclosureError):
        after(ledger, release, day=world.TODAY + 38)
    write(tmp_path, ledger)
    assert read_ledger(tmp_path, LEDGER_KEY) == ledger


def test_declaring_a_clock_of_2020_right_makes_no_release_look_old() -> None:
    release = gate_says([finding("ward", "exact_match", right(20, 40))])
    ledger = after(Ledger(), release).followed_by(ClockEntry(world.TODAY), world.TODAY - 2000)
    assert count_recent(ledger, world.TODAY - 2000) == 1
    assert count_recent(ledger, world.TODAY + 1) == 1
