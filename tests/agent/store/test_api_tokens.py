"""API tokens: found by their secret alone, bound to their account, and ended for good."""

import sqlite3
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import Account, Store
from tests.agent.store.test_accounts import file_bytes


@pytest.fixture
def anna(store: Store) -> Account:
    return store.accounts.add("anna", [], 0)


def test_a_token_is_found_by_its_secret_with_what_it_allows(store: Store, anna: Account):
    row = store.api_tokens.add(
        "imt_x", anna.account_id, "night runs", ["view_runs"], now=5, expires_at=50
    )
    assert store.api_tokens.find("imt_x") == row
    assert store.api_tokens.find_id(row.token_id) == row
    assert store.api_tokens.find("imt_y") is None
    assert store.api_tokens.find(row.token_id) is None
    store.api_tokens.note_used(row.token_id, 7)
    (used,) = store.api_tokens.read_all()
    assert (used.label, used.scopes, used.used_at, used.ended) == (
        "night runs",
        {"view_runs"},
        7,
        False,
    )


def test_neither_secret_nor_label_is_in_the_file(store: Store, anna: Account, path: Path):
    store.api_tokens.add("imt_secret", anna.account_id, "night runs", [], now=5, expires_at=50)
    store.close()
    assert b"imt_secret" not in file_bytes(path)
    assert b"night runs" not in file_bytes(path)


def test_an_ended_token_stays_ended_and_listed(store: Store, anna: Account):
    for secret, expires_at in (("a", 50), ("b", 60), ("c", 70)):
        store.api_tokens.add(secret, anna.account_id, "", [], now=5, expires_at=expires_at)
    store.api_tokens.end_expired(50)
    revoked = store.api_tokens.find("b")
    assert revoked is not None
    store.api_tokens.end(revoked.token_id, 51)
    rows = [store.api_tokens.find(secret) for secret in "abc"]
    assert [row is not None and row.ended for row in rows] == [True, True, False]
    assert store.api_tokens.end_all(anna.account_id, 52) == 1
    assert len(store.api_tokens.read_all()) == 3


def test_whoever_edits_the_file_cannot_move_a_token_to_another_account(
    store: Store, anna: Account, path: Path
):
    boris = store.accounts.add("boris", [], 0)
    store.api_tokens.add("a", anna.account_id, "", ["view_runs"], now=5, expires_at=50)
    with sqlite3.connect(path) as other:
        other.execute("UPDATE api_tokens SET account_id = ?", (boris.account_id,))
    other.close()
    with pytest.raises(StoreError, match="cannot be decrypted"):
        store.api_tokens.find("a")
