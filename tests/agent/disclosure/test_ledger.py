"""The ledger of releases is append-only, hash-chained, and holds no unit's name."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.disclosure.ledger import NO_ENTRY, Entry, Ledger, append_entry, open_entry, read_ledger, seal_entry
from agent.errors import DisclosureError
from tests.agent.disclosure.ward import FINGERPRINTS, LEDGER_KEY, after, finding, gate_says, right, unit


def entries(count: int) -> list[Entry]:
    ledger = Ledger()
    for number in range(count):
        ledger = after(ledger, gate_says([finding("ward", "rouge_l", [0.3, 0.8] * 20, first=100 * number)]))
    return list(ledger.entries)


def test_entries_come_back_as_they_were_written(tmp_path: Path) -> None:
    written = entries(3)
    for entry in written:
        append_entry(tmp_path / "ledger", entry, LEDGER_KEY)
    assert read_ledger(tmp_path / "ledger", LEDGER_KEY) == Ledger(tuple(written))
    assert written[0].prev == NO_ENTRY


def test_writing_the_last_entry_again_is_writing_it_once(tmp_path: Path) -> None:
    first, second = entries(2)
    for entry in (first, first, second, second):
        append_entry(tmp_path, entry, LEDGER_KEY)
    assert len(read_ledger(tmp_path, LEDGER_KEY).entries) == 2


def test_an_entry_that_does_not_follow_is_refused(tmp_path: Path) -> None:
    first, second = entries(2)
    with pytest.raises(DisclosureError, match="moved on"):
        append_entry(tmp_path, second, LEDGER_KEY)
    append_entry(tmp_path, first, LEDGER_KEY)
    with pytest.raises(DisclosureError, match="moved on"):
        append_entry(tmp_path, replace(first, day=first.day + 1), LEDGER_KEY)


@pytest.mark.parametrize("number", [1, 2])
def test_a_changed_entry_stops_everything(tmp_path: Path, number: int) -> None:
    for entry in entries(3):
        append_entry(tmp_path, entry, LEDGER_KEY)
    path = tmp_path / f"{number:08d}.json"
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"value":', b'"value":1', 1))
    with pytest.raises(DisclosureError, match=r"does not follow|damaged"):
        read_ledger(tmp_path, LEDGER_KEY)


@pytest.mark.parametrize("number", [1, 2])
def test_a_removed_entry_stops_everything(tmp_path: Path, number: int) -> None:
    for entry in entries(3):
        append_entry(tmp_path, entry, LEDGER_KEY)
    (tmp_path / f"{number:08d}.json").unlink()
    with pytest.raises(DisclosureError, match="does not follow"):
        read_ledger(tmp_path, LEDGER_KEY)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b'{"cells":{}}', b"\xff", b'{"cells":{"a":1}}', b'{"entry":{},"mac":""}']
)
def test_damaged_entries_are_named_and_not_quoted(content: bytes) -> None:
    with pytest.raises(DisclosureError, match="is damaged"):
        open_entry(content, LEDGER_KEY)


def test_no_entry_holds_anything_that_identifies_a_unit() -> None:
    (entry,) = entries(1)
    content = seal_entry(entry, LEDGER_KEY)
    for number in range(40):
        for name in (f"unit {number}".encode(), unit(f"unit {number}"), unit(f"unit {number}").hex().encode()):
            assert name not in content


@given(
    st.dictionaries(st.binary(min_size=1, max_size=4), st.floats(0, 1), max_size=12),
    st.dictionaries(st.binary(min_size=1, max_size=4), st.floats(0, 1), max_size=12),
)
def test_fingerprints_count_exactly_the_units_that_changed(old: dict[bytes, float], new: dict[bytes, float]) -> None:
    release = after(Ledger(), gate_says([finding("ward", "exact_match", right(50, 100))])).entries[0]
    cell = replace(release.cells["ward/exact_match"], units=FINGERPRINTS.of("ward", old))
    changed = sum(old.get(unit) != new.get(unit) for unit in old.keys() | new.keys())
    assert cell.changed_units(FINGERPRINTS.of("ward", new)) == changed


def test_fingerprints_of_two_lineages_have_nothing_in_common() -> None:
    means = {unit(str(i)): 0.5 for i in range(20)}
    one, other = FINGERPRINTS.of("ward", means), FINGERPRINTS.of("clinic", means)
    assert not set(one) & set(other)
    assert not set(one.values()) & set(other.values())
