"""A machine whose clock is wrong, once or for good: no text is purged too early, and none is kept for ever."""

import re
import sqlite3
from pathlib import Path

import pytest

from agent.errors import ClockError
from agent.store import Store, Vault
from agent.store.clock import STAMPED
from tests.agent.store.begun_runs import AUDIT_KEY, KEY, begin, response
from tests.agent.store.set_clock import DAY, START, SetClock, give_clock

YEAR = 365 * DAY


@pytest.fixture
def clock(store: Store) -> SetClock:
    clock = give_clock(store, SetClock())
    store.clock.stamp()
    return clock


def answer(store: Store) -> None:
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(key, response()) for key in keys], [])


def list_times(path: Path) -> set[int]:
    other = sqlite3.connect(path)
    rows = other.execute(
        "SELECT created_at FROM answers UNION SELECT last_used_at FROM records"
    ).fetchall()
    other.close()
    return {at for (at,) in rows}


def test_texts_of_minutes_ago_are_not_purged_because_the_clock_is_set_forward(
    store: Store, clock: SetClock
):
    answer(store)
    clock.now += YEAR
    with pytest.raises(ClockError, match="365 days more than the time that has passed"):
        store.purge(30)
    assert store.purge(0) == 8  # without regard to any clock


def test_texts_are_not_stored_under_a_clock_of_the_past(store: Store, path: Path, clock: SetClock):
    clock.now -= 6 * YEAR
    with pytest.raises(ClockError, match=r"2020-02-04.*should be 2026-02-02"):
        answer(store)
    clock.restart()
    with pytest.raises(ClockError, match=r"2020-02-04.*has seen 2026-02-02 .*2,190 days later"):
        answer(store)
    assert list_times(path) == set()


def test_texts_are_not_stored_under_a_clock_that_leapt_ahead(store: Store, clock: SetClock):
    clock.now += 10 * YEAR
    with pytest.raises(ClockError):
        answer(store)


def test_many_small_steps_of_the_clock_add_up(store: Store, clock: SetClock):
    for _ in range(2):
        clock.now += DAY // 2
        clock.pass_time(60)
        store.clock.stamp()
    clock.now += DAY // 2
    with pytest.raises(ClockError):
        store.clock.stamp()


def test_a_time_server_may_correct_the_clock_and_times_never_go_back(
    store: Store, path: Path, clock: SetClock
):
    answer(store)
    clock.pass_time(60)
    clock.now -= 3600
    store.clock.stamp()
    _, (key, *_) = begin(store)
    run_id = store.identities.run_id("s", "b:model=m")
    store.answers.settle(run_id, [(key, response("again"))], [])
    assert min(list_times(path)) >= START


def test_texts_stored_under_a_clock_of_2036_are_purged_when_everything_is(
    store: Store, clock: SetClock
):
    clock.restart(off_s=10 * YEAR)
    answer(store)
    clock.restart(off_s=-10 * YEAR)
    assert store.purge(0) == 8


def test_a_machine_that_starts_in_2036_does_not_purge_the_texts_of_today(
    store: Store, clock: SetClock
):
    answer(store)
    clock.restart(off_s=10 * YEAR)
    with pytest.raises(ClockError, match="this site was not used"):
        store.purge(30)
    store.clock.stamp()  # whatever else is written in the meantime
    clock.pass_time(DAY)
    with pytest.raises(ClockError, match=r"from 2026-02-02 .* to 2036-"):
        store.purge(30)
    store.clock.accept()  # a person says that it really is 2036
    assert store.purge(30) == 8


def test_a_machine_that_is_often_off_purges_without_asking(store: Store, clock: SetClock):
    answer(store)
    for _ in range(2):
        clock.restart(off_s=31 * DAY)
        purged = store.purge(40)
    assert purged == 8


def test_after_a_clock_of_2036_the_right_one_is_accepted_and_texts_keep_their_whole_term(
    store: Store, path: Path, clock: SetClock
):
    clock.restart(off_s=10 * YEAR)
    answer(store)
    clock.restart(off_s=-10 * YEAR)
    with pytest.raises(ClockError, match="has seen 2036-"):
        store.purge(30)
    with pytest.raises(ClockError):
        answer(store)
    accepted = store.clock.accept()
    assert accepted.restamped >= 8
    assert list_times(path) == {clock.now}
    clock.pass_time(29 * DAY)
    assert store.purge(30) == 0
    clock.pass_time(2 * DAY)
    assert store.purge(30) == 8


def test_a_site_that_was_made_under_a_clock_of_2020_does_not_purge_its_new_texts(
    store: Store, path: Path
):
    clock = give_clock(store, SetClock(START - 6 * YEAR))
    answer(store)
    clock.now += 6 * YEAR
    with pytest.raises(ClockError):
        store.purge(30)
    clock.restart()
    with pytest.raises(ClockError):
        store.purge(30)
    store.clock.accept(wrong_since=START - 6 * YEAR)
    assert list_times(path) == {clock.now}
    assert store.purge(30) == 0


def test_what_the_store_saw_cannot_be_changed_back_without_the_audit_log(
    store: Store, path: Path, clock: SetClock
):
    store.audit.record("site created", "")  # at the real time of this test
    other = sqlite3.connect(path)
    other.execute("DELETE FROM clock")
    other.commit()
    other.close()
    clock.now = START - 6 * YEAR
    with pytest.raises(ClockError):
        store.purge(30)


def test_an_api_token_of_a_clock_ahead_is_revoked(store: Store, clock: SetClock):
    account = store.accounts.add("anna", [], clock.now)
    made_at = clock.now + 10 * YEAR
    expires_at = made_at + 90 * DAY
    store.api_tokens.add(
        "secret", account.account_id, "label", (), now=made_at, expires_at=expires_at
    )
    assert store.clock.accept().ended_tokens == 1
    (token,) = store.api_tokens.read_all()
    assert token.ended


def test_a_schedule_that_waits_for_2036_is_queued_again(store: Store, clock: SetClock):
    from agent.store import QueuedCommand

    store.jobs.add_schedule("0 3 * * *", QueuedCommand(("purge",), "purge", ""), clock.now + YEAR)
    store.clock.accept()
    (schedule,) = store.jobs.list_schedules()
    assert schedule.considered_until == clock.now


def test_a_store_of_an_earlier_version_has_seen_the_times_of_its_rows(path: Path):
    scripts = sorted(Path("agent/store/migrations").glob("*.sql"))[:13]
    path.parent.mkdir(mode=0o700, parents=True)
    path.touch(0o600)
    old = sqlite3.connect(path)
    old.executescript("".join(script.read_text() for script in scripts) + "PRAGMA user_version=13;")
    old.execute("INSERT INTO records VALUES (x'00', x'00', ?)", (START + 10 * YEAR,))
    old.commit()
    old.close()
    store = Store(path, Vault(KEY), AUDIT_KEY)
    clock = give_clock(store, SetClock())
    assert store.clock.read_latest() == START + 10 * YEAR
    with pytest.raises(ClockError):
        store.purge(30)
    clock.restart(off_s=10 * YEAR + 30)
    assert store.purge(30) == 0
    store.close()


def test_every_time_in_the_store_is_either_restamped_or_means_the_future(store: Store, path: Path):
    other = sqlite3.connect(path)
    tables = [
        name for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type='table'")
    ]
    found = set()
    for table in tables:
        for _, column, kind, *_ in other.execute(f"PRAGMA table_info({table})"):
            if kind in ("INTEGER", "REAL") and re.search(r"(^|_)(at|since|until)$", column):
                found.add((table, column))
    other.close()
    restamped = {(table, column) for table, columns in STAMPED.items() for column in columns}
    others = {
        ("access_clock", "latest_at"),  # see agent/access/clock.py, which ends all sessions
        ("sessions", "opened_at"),
        ("sessions", "seen_at"),
        ("sign_in_attempts", "at"),
        (
            "api_tokens",
            "expires_at",
        ),  # in the future by design; tokens made in the future are revoked
        ("pending_sign_ins", "expires_at"),
        ("clock", "latest_at"),
    }
    assert found == restamped | others
