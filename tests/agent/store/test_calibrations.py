"""What clinicians gave: nobody who holds the file, without the site's key, knows who they are."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import Store, Vault

NAME = "Dr Quillfeather"
GRADES = {"item": {"accuracy": 4.0}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "site.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path, Vault(bytes(range(32))), bytes(32))
    yield store
    store.close()


def in_the_open(path: Path) -> list[tuple[str, bytes, bytes]]:
    other = sqlite3.connect(path)
    rows = other.execute(
        "SELECT calibration, rater_key, sealed FROM ratings ORDER BY calibration"
    ).fetchall()
    other.close()
    return rows


def test_one_clinician_in_two_samples_cannot_be_linked_by_what_is_not_sealed(
    store: Store, path: Path
):
    for sample in ("may", "june"):
        store.calibrations.keep(sample, {})
        assert store.calibrations.keep_ratings(sample, NAME, GRADES) == 1
    (_, one, sealed), (_, two, again) = in_the_open(path)
    assert one != two
    assert NAME.encode() not in one + two + sealed + again


def test_ratings_moved_to_another_sample_do_not_open(store: Store, path: Path):
    store.calibrations.keep("may", {})
    store.calibrations.keep("june", {})
    store.calibrations.keep_ratings("may", NAME, GRADES)
    other = sqlite3.connect(path)
    other.execute("UPDATE ratings SET calibration = 'june'")
    other.commit()
    other.close()
    with pytest.raises(StoreError):
        store.calibrations.read_raters("june")


def test_who_hands_in_again_has_one_number_and_one_row(store: Store, path: Path):
    store.calibrations.keep("may", {})
    store.calibrations.keep_ratings("may", NAME, GRADES)
    assert store.calibrations.keep_ratings("may", "Dr Other", GRADES) == 2
    assert (
        store.calibrations.keep_ratings("may", " dr  QUILLFEATHER", {"item": {"accuracy": 1.0}})
        == 1
    )
    assert len(in_the_open(path)) == 2
    assert [
        rater.grades["item"]["accuracy"] for rater in store.calibrations.read_raters("may")
    ] == [1.0, 4.0]
