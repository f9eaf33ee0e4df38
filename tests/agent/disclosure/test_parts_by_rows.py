"""A public benchmark in parts, whose units are row numbers: the first row of one part is not that of another."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.store import Store, Vault
from tests.agent.disclosure.test_collect import EXAM, card, fill, found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "site.sqlite3", Vault(b"k" * 32), b"a" * 32)
    yield store
    store.close()


@pytest.mark.parametrize(("named", "units"), [(False, 80), (True, 40)])
def test_rows_of_two_parts_are_as_many_units_as_rows_and_named_units_are_whom_they_name(
    store: Store, named: bool, units: int
) -> None:
    for subset in ("icliniq", "magic"):
        fill(
            store,
            EXAM,
            [str(n) for n in range(40)],
            part=subset,
            arguments={"subset": subset},
            parts={"subset": ["icliniq", "magic"]},
            overrides=["subset"],
            unit_named=named,
            right=20,
        )
    (whole,) = found(store, card(EXAM))
    assert len(whole.scores) == 80
    assert len({score.unit_key for score in whole.scores}) == units
