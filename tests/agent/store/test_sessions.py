"""Sessions: found by their secret alone, ended for good, and no secret in the file."""

from pathlib import Path

import pytest

from agent.store import Account, Store
from tests.agent.store.test_accounts import file_bytes


@pytest.fixture
def anna(store: Store) -> Account:
    return store.accounts.add("anna", [], 0)


def test_a_session_is_found_by_its_secret_alone(store: Store, anna: Account):
    row = store.sessions.add("secret", anna.account_id, 100)
    assert store.sessions.find("secret") == row
    for guess in ("", "Secret", row.session_id, "secret\ud800"):
        assert store.sessions.find(guess) is None


def test_the_secret_is_not_in_the_file(store: Store, anna: Account, path: Path):
    store.sessions.add("secret-of-a-session", anna.account_id, 100)
    csrf = store.sessions.derive_csrf("secret-of-a-session")
    store.close()
    assert b"secret-of-a-session" not in file_bytes(path)
    assert csrf.encode() not in file_bytes(path)
    assert bytes.fromhex(csrf) not in file_bytes(path)


def test_the_sessions_of_an_account_end_together_except_the_one_named(store: Store, anna: Account):
    boris = store.accounts.add("boris", [], 0)
    kept = store.sessions.add("a", anna.account_id, 100)
    store.sessions.add("b", anna.account_id, 100)
    other = store.sessions.add("c", boris.account_id, 99)
    assert store.sessions.end_all(anna.account_id, except_id=kept.session_id) == 1
    assert store.sessions.read_all() == [kept, other]
    assert store.sessions.end_all(anna.account_id) == 1
    assert store.sessions.read_all() == [other]
    assert store.sessions.end_everybodys() == 1


def test_more_sessions_than_allowed_end_those_used_longest_ago(store: Store, anna: Account):
    for number in range(5):
        store.sessions.add(str(number), anna.account_id, 100 + number)
    store.sessions.end_oldest(anna.account_id, 2)
    assert [store.sessions.find(str(number)) is not None for number in range(5)] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_sessions_end_by_their_age_or_by_their_last_use(store: Store, anna: Account):
    old = store.sessions.add("old", anna.account_id, 100)
    store.sessions.note_seen(old.session_id, 500)
    store.sessions.add("idle", anna.account_id, 300)
    live = store.sessions.add("live", anna.account_id, 400)
    store.sessions.end_older(opened_by=100, seen_by=300)
    assert store.sessions.read_all() == [live]


def test_the_latest_time_is_kept(store: Store):
    assert store.sessions.read_latest_time() == 0
    store.sessions.keep_latest_time(7)
    store.sessions.keep_latest_time(9)
    assert store.sessions.read_latest_time() == 9
