"""The audit log under attack by somebody who may write the database file, and may hold the data key too.

Each attacker works on a real store with SQLite alone. The last part removes the rule (a key that the data key does not
lead to, heads kept elsewhere) and shows that the attack then succeeds.
"""

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.keys import derive_key
from agent.site.directory import Site, create_site
from agent.store import AuditHead, Store, Vault
from agent.store.audit_chain import AuditEvent, encode_event, seal_event, seal_head
from tests.agent.store.reveals import reveal

DATA_KEY = bytes(range(32))
AUDIT_KEY = bytes(range(32, 64))
EVENTS = 24


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "site.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """Return a store whose log has 24 events; event 21 is an approval, and so is event 22."""
    store = Store(path, Vault(DATA_KEY), AUDIT_KEY)
    for number in range(1, EVENTS + 1):
        store.audit.record(
            "submission approved" if number in (21, 22) else "reveal", f"run={number}"
        )
    yield store
    store.close()


def attack(path: Path, *statements: str) -> None:
    """Change the database as somebody who holds no key can."""
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def finding(store: Store) -> str:
    """Return what reading the log says of its changes."""
    with pytest.raises(StoreError, match="the audit log was changed") as caught:
        store.audit.read_events()
    return str(caught.value).removeprefix("the audit log was changed: ")


def test_untouched_log_is_read_with_its_numbers(store: Store) -> None:
    events = store.audit.read_events()
    assert [event.number for event in events] == list(range(1, EVENTS + 1))
    assert (events[20].event, events[20].detail) == ("submission approved", "run=21")
    assert store.audit.read_head() == (EVENTS, events[-1].link)


def test_deleted_events_in_the_middle_are_located(store: Store, path: Path) -> None:
    attack(
        path,
        "DELETE FROM audit_events WHERE number BETWEEN 20 AND 22",
        "DELETE FROM audit_events WHERE number = 5",
    )
    assert finding(store) == "event 5 is missing; events 20 to 22 are missing"


def test_deleted_events_are_located_though_those_after_them_were_renumbered(
    store: Store, path: Path
) -> None:
    attack(
        path,
        "DELETE FROM audit_events WHERE number BETWEEN 20 AND 22",
        "UPDATE audit_events SET number = 20 WHERE number = 23",
        "UPDATE audit_events SET number = 21 WHERE number = 24",
    )
    assert (
        finding(store)
        == "events 20 to 22 are missing; events 23 to 24 stand in the places of events 20 to 21"
    )


def test_deleted_last_events_are_located(store: Store, path: Path) -> None:
    attack(path, "DELETE FROM audit_events WHERE number > 20")
    assert finding(store) == "events 21 to 24 are missing"


def test_deleted_last_events_stay_missing_when_the_site_logs_on(store: Store, path: Path) -> None:
    attack(path, "DELETE FROM audit_events WHERE number > 22")
    store.audit.record("purge", "texts=0")
    assert finding(store) == "events 23 to 24 are missing"


def test_emptied_log_is_located(store: Store, path: Path) -> None:
    attack(path, "DELETE FROM audit_events")
    assert finding(store) == "events 1 to 24 are missing"


@pytest.mark.parametrize("column", ["at", "event", "detail", "number", "previous"])
def test_edited_event_is_located(store: Store, path: Path, column: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        (record,) = database.execute("SELECT record FROM audit_events WHERE number = 17").fetchone()
        fields = json.loads(record)
        fields[column] = 3 if isinstance(fields[column], int) else "reveal run=3"
        changed = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        database.execute("UPDATE audit_events SET record = ? WHERE number = 17", (changed,))
    assert finding(store) == "event 17 was changed"


def test_event_whose_link_was_overwritten_is_located(store: Store, path: Path) -> None:
    attack(path, f"UPDATE audit_events SET link = '{'0' * 64}' WHERE number = 17")
    assert finding(store) == "event 17 was changed"


def test_event_overwritten_with_bytes_that_are_no_text_is_located(store: Store, path: Path) -> None:
    attack(path, "UPDATE audit_events SET record = CAST(x'ff00' AS TEXT) WHERE number = 17")
    assert finding(store) == "event 17 was changed"


def test_two_events_that_changed_places_are_located(store: Store, path: Path) -> None:
    attack(
        path,
        "UPDATE audit_events SET number = 1000 WHERE number = 5",
        "UPDATE audit_events SET number = 5 WHERE number = 6",
        "UPDATE audit_events SET number = 6 WHERE number = 1000",
    )
    assert finding(store) == "events 5 and 6 changed places"


def test_event_moved_to_the_end_is_located(store: Store, path: Path) -> None:
    attack(path, "UPDATE audit_events SET number = 25 WHERE number = 9")
    assert finding(store) == "event 9 stands in the place of event 25"


def test_event_copied_over_another_is_located(store: Store, path: Path) -> None:
    attack(
        path,
        "DELETE FROM audit_events WHERE number = 21",
        "INSERT INTO audit_events SELECT 21, record, link FROM audit_events WHERE number = 3",
    )
    assert finding(store) == "event 3 stands in the place of event 21; event 21 is missing"


def test_invented_event_is_located(store: Store, path: Path) -> None:
    attack(path, "INSERT INTO audit_events SELECT 25, 'x', link FROM audit_events WHERE number = 3")
    assert finding(store) == "event 25 was added without the seal key"
    with pytest.raises(StoreError, match="it contains event 25 after its last event"):
        store.audit.record("purge", "")


def test_changed_head_stops_reading_and_writing(store: Store, path: Path) -> None:
    attack(path, "DELETE FROM audit_events WHERE number > 20", "UPDATE audit_head SET number = 20")
    for use in (
        store.audit.read_events,
        store.audit.read_head,
        lambda: store.audit.record("purge", ""),
    ):
        with pytest.raises(StoreError, match="head of the audit log is missing or was changed"):
            use()
    attack(path, "DELETE FROM audit_head")
    with pytest.raises(StoreError, match="head of the audit log is missing or was changed"):
        store.audit.record("purge", "")


def test_head_of_an_older_copy_over_newer_events_is_noticed(
    store: Store, path: Path, tmp_path: Path
) -> None:
    store.close()
    shutil.copy(path, tmp_path / "older.sqlite3")
    store = Store(path, Vault(DATA_KEY), AUDIT_KEY)
    store.audit.record("reveal", "run=25")
    attack(
        path,
        f"ATTACH '{tmp_path / 'older.sqlite3'}' AS older",
        "DELETE FROM audit_head",
        "INSERT INTO audit_head SELECT * FROM older.audit_head",
    )
    assert finding(store) == "event 25 is newer than the log's head: an older head was restored"
    with pytest.raises(StoreError, match="it contains event 25 after its last event"):
        store.audit.record("purge", "")  # it would take the place of the genuine event
    store.close()


def test_event_of_another_copy_of_the_log_is_located(
    store: Store, path: Path, tmp_path: Path
) -> None:
    """Two copies of one store went on apart; an event of one stands in the other, under the right key and number."""
    store.close()
    shutil.copy(path, tmp_path / "other.sqlite3")
    with closing(Store(tmp_path / "other.sqlite3", Vault(DATA_KEY), AUDIT_KEY)) as other:
        for number in range(25, 28):
            other.audit.record("reveal", f"harmless={number}")
    store = Store(path, Vault(DATA_KEY), AUDIT_KEY)
    for number in range(25, 28):
        store.audit.record("reveal", f"run={number}")
    attack(
        path,
        f"ATTACH '{tmp_path / 'other.sqlite3'}' AS other",
        "DELETE FROM audit_events WHERE number = 26",
        "INSERT INTO audit_events SELECT * FROM other.audit_events WHERE number = 26",
    )
    assert finding(store) == (
        "event 26 does not follow event 25: it comes from another copy of the log; "
        "event 27 does not follow event 26: it comes from another copy of the log"
    )
    attack(
        path,
        f"ATTACH '{tmp_path / 'other.sqlite3'}' AS other",
        "DELETE FROM audit_events WHERE number > 24",
        "INSERT INTO audit_events SELECT * FROM other.audit_events WHERE number > 24",
    )
    assert (
        finding(store)
        == "event 27 is not the one named by the log's head: it comes from another copy of the log"
    )
    store.close()


def test_many_changes_are_counted_after_the_first(store: Store, path: Path) -> None:
    attack(path, "UPDATE audit_events SET record = 'x'")
    assert (
        finding(store)
        == "; ".join(f"event {number} was changed" for number in range(1, 11)) + "; and 14 more"
    )


def test_another_sites_seal_key_is_refused_before_anything_is_logged(
    store: Store, path: Path
) -> None:
    store.close()
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match="the seal key is not the one that this store was created with"
    ):
        Store(path, Vault(DATA_KEY), bytes(32))
    assert path.read_bytes() == before


def test_log_is_read_whole_while_another_command_writes_to_it(store: Store, path: Path) -> None:
    def write() -> None:
        with closing(Store(path, Vault(DATA_KEY), AUDIT_KEY)) as other:
            for number in range(200):
                other.audit.record("reveal", f"page={number}")

    writer = threading.Thread(target=write)
    writer.start()
    lengths = []
    while writer.is_alive():
        lengths.append(len(store.audit.read_events()))
    writer.join()
    assert len(store.audit.read_events()) == EVENTS + 200
    assert lengths == sorted(lengths)


# Attack 5: rewriting with the data key.
def rewrite_without_approvals(path: Path, key: bytes) -> None:
    """Remove both approvals and chain the rest anew under `key`, as whoever knows all of the agent's code would."""
    with closing(sqlite3.connect(path)) as database, database:
        records = [
            record
            for (record,) in database.execute("SELECT record FROM audit_events ORDER BY number")
        ]
        events = [json.loads(record) for record in records]
        kept = [event for event in events if event["event"] != "submission approved"]
        database.execute("DELETE FROM audit_events")
        link = "0" * 64
        for number, event in enumerate(kept, 1):
            record = encode_event(
                AuditEvent(number, event["at"], event["event"], event["detail"], link, "")
            )
            link = seal_event(record, key)
            database.execute("INSERT INTO audit_events VALUES (?, ?, ?)", (number, record, link))
        seal = seal_head(AuditHead(len(kept), link), key)
        database.execute(
            "UPDATE audit_head SET number = ?, link = ?, seal = ?", (len(kept), link, seal)
        )


def test_rewriting_the_log_with_the_data_key_is_noticed(store: Store, path: Path) -> None:
    for key in (
        DATA_KEY,
        derive_key(DATA_KEY, "audit-log/v2"),
        derive_key(DATA_KEY, "keyed-hash/v1"),
    ):
        rewrite_without_approvals(path, key)
        with pytest.raises(StoreError, match="head of the audit log is missing or was changed"):
            store.audit.read_events()


def test_rewriting_events_alone_with_the_data_key_is_located(store: Store, path: Path) -> None:
    """The attacker leaves the head as it was, and so many events as it counts."""
    with closing(sqlite3.connect(path)) as database, database:
        link = database.execute("SELECT link FROM audit_events WHERE number = 20").fetchone()[0]
        for number in (21, 22):
            record = encode_event(AuditEvent(number, 0, "reveal", "run=1", link, ""))
            link = seal_event(record, derive_key(DATA_KEY, "audit-log/v2"))
            database.execute(
                "UPDATE audit_events SET record = ?, link = ? WHERE number = ?",
                (record, link, number),
            )
    assert finding(store) == "event 21 was changed; event 22 was changed"


def test_without_a_seal_key_of_its_own_the_rewriting_would_succeed(tmp_path: Path) -> None:
    """The rule is removed: the log is chained under a key that derives from the data key, as it once was."""
    path, key = tmp_path / "store" / "site.sqlite3", derive_key(DATA_KEY, "audit-log/v2")
    with closing(Store(path, Vault(DATA_KEY), key)) as store:
        for event in ("site created", "submission approved", "submission approved", "purge"):
            store.audit.record(event, "")
        rewrite_without_approvals(path, key)
        assert [event.event for event in store.audit.read_events()] == ["site created", "purge"]


# Attack 5: the whole store is put back, and what was revealed since is gone.
@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "St. Elsewhere")


def test_head_of_another_site_or_of_no_event_is_no_match(site: Site, store: Store) -> None:
    with site.store() as mine:
        assert "differs from the kept one" in mine.audit.compare_head(
            1, store.audit.read_events()[0].link
        )
        with pytest.raises(StoreError, match="event numbers start at 1"):
            mine.audit.compare_head(0, "0" * 64)


def test_head_is_not_compared_with_a_log_that_was_changed(store: Store, path: Path) -> None:
    head = store.audit.read_head()
    attack(path, "DELETE FROM audit_events WHERE number = 7")
    with pytest.raises(StoreError, match="event 7 is missing"):
        store.audit.compare_head(*head)


def test_deleted_store_is_not_replaced_by_an_empty_one_in_silence(site: Site) -> None:
    reveal(site, 1)
    shutil.rmtree(site.directory / "store")
    with pytest.raises(StoreError, match="the site's store is missing"), site.store():
        pass
    assert not (site.directory / "store").exists()


def test_emptied_tables_are_not_taken_for_a_new_log(store: Store, path: Path) -> None:
    """The attacker removes every trace by which an opened store is told from a new one, but for its tables."""
    store.close()
    attack(path, "DELETE FROM audit_events", "DELETE FROM audit_head", "DELETE FROM seals")
    with (
        pytest.raises(StoreError, match="head of the audit log is missing or was changed"),
        closing(Store(path, Vault(DATA_KEY), AUDIT_KEY)) as again,
    ):
        again.audit.record("site created", "")
