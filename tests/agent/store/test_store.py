"""The whole store: no text of a case reaches its files, and a purge takes every text."""

import sqlite3
from pathlib import Path

from agent.store import Store
from tests.agent.store.begun_runs import CANARY, begin, response
from tests.agent.store.set_clock import DAY, SetClock, give_clock


def test_no_text_reaches_the_file_its_journal_or_a_temporary_file(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(
        run_id, [(key, response()) for key in keys], [(i, "exact_match", 1.0) for i in range(4)]
    )
    files = list(path.parent.iterdir())
    assert any(file.name.endswith("-wal") for file in files)
    for file in files:
        data = file.read_bytes()
        for part in CANARY.split():
            assert part.encode() not in data, file.name
        assert file.stat().st_mode & 0o077 == 0, file.name


def test_purge_removes_texts_and_keeps_scores(store: Store, path: Path):
    clock = give_clock(store, SetClock())
    run_id, keys = begin(store)
    store.answers.settle(
        run_id, [(key, response()) for key in keys], [(i, "exact_match", 1.0) for i in range(4)]
    )
    assert store.purge(30) == 0
    clock.pass_time(30 * DAY - 60)
    assert store.purge(30) == 0
    clock.pass_time(120)
    assert store.purge(30) == 8
    assert [stored.instance for stored in store.answers.read_instances(run_id, 0, 10)] == [None] * 4
    assert len([s for s in store.scores.read_units(run_id, "exact_match") if s.value == 1.0]) == 4
    assert store.answers.read_settled_positions(run_id) == {0, 1, 2, 3}


def test_purging_everything_today_means_everything(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(key, response()) for key in keys], [])
    assert store.purge(0) == 8
    assert store.answers.find(keys[0]) is None


def test_purged_texts_are_not_even_left_sealed_in_a_file(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(
        run_id, [(key, response("x" * 500)) for key in keys], [(0, "exact_match", 1.0)]
    )
    other = sqlite3.connect(path)
    sealed = [
        blob
        for (blob,) in other.execute(
            "SELECT sealed FROM answers UNION ALL SELECT sealed FROM records"
        )
    ]
    other.close()

    def found() -> int:
        files = [file.read_bytes() for file in path.parent.iterdir()]
        return sum(blob[12:60] in data for blob in sealed for data in files)

    assert found() >= len(sealed) == 8
    store.purge(0)
    assert found() == 0
