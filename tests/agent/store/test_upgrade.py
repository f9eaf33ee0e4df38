"""A store is upgraded once it has been copied, purged together with that copy, and can be put back."""

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

import agent.store
from agent import __version__
from agent.cli.rollback import rollback
from agent.errors import BusyError, StoreError
from agent.site.directory import Site
from agent.store.database import count_versions
from agent.store.upgrade import keep_before_upgrade, list_kept
from tests.agent.delivery.whole_site import ok, run
from tests.agent.store.old_site import OLD_VERSION, copy_old_site, dump

ROOT = Path(__file__).parents[3]


@pytest.fixture
def old(tmp_path: Path) -> Site:
    return copy_old_site(tmp_path / "site")


def store_of(site: Site) -> Path:
    return site.directory / "store/site.sqlite3"


def kept_of(site: Site) -> Path:
    return site.directory / f"store/before-upgrade-{OLD_VERSION}.sqlite3"


def make_newer(site: Site, program: str = "9.9.9") -> None:
    """Do to a store what a later version would do when it upgrades it."""
    with site.store() as store:
        version = count_versions()
        keep_before_upgrade(store_of(site), version)
        connection = store.database.connection
        connection.execute("CREATE TABLE of_tomorrow (column_of_tomorrow TEXT)")
        connection.execute("INSERT INTO programs VALUES (?, ?, 0)", (version + 1, program))
        connection.execute(f"PRAGMA user_version={version + 1}")


def test_the_store_before_an_upgrade_is_kept_as_it_was(old: Site):
    before = dump(store_of(old))
    with old.store() as store:
        assert store.database.read_version() == count_versions()
        (run_a, run_b) = store.runs.select("fixtures")
        assert {run_a.state, run_b.state} == {"ended", "asking"} or {run_a.state} == {"ended"}
        event = store.audit.read_events()[-1]
        (known,) = store.copies.read_all()
        rows = store.database.connection.execute("SELECT store_version, program FROM programs")
        assert rows.fetchall() == [(count_versions(), __version__)]
    assert (event.event, f"from={OLD_VERSION} " in event.detail) == ("store upgraded", True)
    assert (known.label, known.copy_id in event.detail) == (
        f"store before the upgrade from {OLD_VERSION}",
        True,
    )
    assert dump(kept_of(old)) == before
    assert kept_of(old).stat().st_mode & 0o777 == 0o600


def test_a_command_that_waits_for_the_upgrade_of_another_keeps_the_store_before_it(old: Site):
    before = dump(store_of(old))
    with closing(sqlite3.connect(store_of(old), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = threading.Thread(target=open_and_close, args=(old,))
        waiting.start()
        time.sleep(1)
        keep_before_upgrade(store_of(old), OLD_VERSION)
        (script,) = Path(agent.store.__file__).parent.glob(f"migrations/{OLD_VERSION + 1:04}_*.sql")
        for statement in script.read_text().split(";\n"):
            other.execute(statement)
        other.execute(f"PRAGMA user_version={OLD_VERSION + 1}")
        other.execute("COMMIT")
    waiting.join(60)
    assert dump(kept_of(old)) == before
    assert list_kept(store_of(old)) == [kept_of(old)]


def open_and_close(site: Site) -> None:
    with site.store():
        pass


def test_an_upgrade_without_room_for_the_copy_changes_nothing(old: Site):
    before = dump(store_of(old))
    size = store_of(old).stat().st_size
    script = (
        "import resource, signal, sys; from pathlib import Path; from agent.site.directory import Site\n"
        "from agent.errors import StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)\n"
        "try:\n    Site(Path(sys.argv[1])).store().__enter__()\n"
        "except StoreError as error: print(error, error.advice)\n"
    )
    said = subprocess.check_output(
        [sys.executable, "-c", script, old.directory, str(size // 2)], text=True, cwd=ROOT
    )
    assert "must be upgraded, and cannot be copied before" in said
    assert dump(store_of(old)) == before
    assert not kept_of(old).exists()


def test_a_store_of_a_newer_version_says_which_one_wrote_it(old: Site):
    make_newer(old)
    with pytest.raises(StoreError, match=r"written by intramural 9\.9\.9") as caught, old.store():
        pass
    assert "rollback" in caught.value.advice


def test_purging_takes_the_texts_of_the_kept_store_too(old: Site):
    with closing(sqlite3.connect(store_of(old))) as connection:
        sealed = [row[0] for row in connection.execute("SELECT sealed FROM answers")]
        sealed += [row[0] for row in connection.execute("SELECT sealed FROM records")]

    def count_found() -> int:
        contents = [path.read_bytes() for path in store_of(old).parent.iterdir()]
        return sum(text[12:60] in content for text in sealed for content in contents)

    with old.store() as store:
        assert count_found() >= 2 * len(sealed) > 20
        assert store.purge(0) > 0
        assert count_found() == 0
        (known,) = store.copies.read_all()
        assert not known.holds_deleted_texts
    assert kept_of(old).exists()


def test_a_roll_back_puts_everything_back_but_the_log_of_it(old: Site):
    with old.store() as store:
        store.audit.record("before the upgrade", "")
    before = dump(store_of(old))
    make_newer(old)
    said = ok(old, rollback)
    assert f"set-aside-{count_versions() + 1}.sqlite3" in said
    with old.store() as store:
        events = store.audit.read_events()
    assert [event.event for event in events[-2:]] == ["before the upgrade", "store rolled back"]
    after = dump(store_of(old))
    changed = {line.split("VALUES")[0] for line in set(before) ^ set(after)}
    assert changed == {'INSERT INTO "audit_events" ', 'INSERT INTO "audit_head" '}
    aside = old.directory / f"store/set-aside-{count_versions() + 1}.sqlite3"
    assert any("of_tomorrow" in line for line in dump(aside))


def test_there_must_be_something_to_roll_back(old: Site):
    with old.store():
        pass
    result = run(old, rollback)
    assert isinstance(result.exception, StoreError)
    assert "no upgrade to roll back" in str(result.exception)
    make_newer(old)
    for kept in (old.directory / "store").glob("before-upgrade-*"):
        kept.unlink()
    result = run(old, rollback)
    assert isinstance(result.exception, StoreError)
    assert "no file of the store" in str(result.exception)


def test_a_store_that_is_in_use_is_not_rolled_back(old: Site):
    make_newer(old)
    before = dump(store_of(old))
    with closing(sqlite3.connect(store_of(old), isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM runs").fetchall()
        result = run(old, rollback)
        assert isinstance(result.exception, (StoreError, sqlite3.OperationalError))
        assert dump(store_of(old)) == before


def test_a_roll_back_beside_the_service_is_refused(old: Site):
    from agent.jobs.job_files import JobFiles, take_lock

    make_newer(old)
    old.jobs.mkdir(mode=0o700)
    descriptor = take_lock(JobFiles(old.jobs).dispatcher_lock)
    assert descriptor is not None
    assert isinstance(run(old, rollback).exception, BusyError)


@pytest.mark.full
def test_a_killed_upgrade_leaves_the_old_store_or_the_new_one(old: Site, tmp_path: Path):
    script = (
        "import sys; from pathlib import Path; from agent.site.directory import Site\n"
        "import agent.site.settings\nprint(flush=True)\n"
        "Site(Path(sys.argv[1])).store().__enter__()\n"
    )
    before = dump(store_of(old))
    versions = set()
    for number in range(10):
        site = copy_old_site(tmp_path / f"site {number}")
        process = subprocess.Popen(
            [sys.executable, "-c", script, site.directory], stdout=subprocess.PIPE, cwd=ROOT
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.004 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = dump(store_of(site))
        versions.add(found[0])
        assert found == before or found[0] == f"version {count_versions()}"
        with site.store() as store:
            store.database.check_integrity()
            assert store.audit.read_events()
        assert dump(kept_of(site)) == before
        assert list((site.directory / "store").glob(".new-*")) == []
    assert f"version {OLD_VERSION}" in versions
