"""Accounts: sealed in their places, found without regard to case, and never in clear text in the file."""

import sqlite3
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import Origin, Role, Store


def file_bytes(path: Path) -> bytes:
    """Return the bytes of the store's file and of its write-ahead log."""
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_a_name_is_found_in_any_case_and_spacing_and_given_once(store: Store):
    anna = store.accounts.add("Anna  Müller", [Role.VIEWER], 10.0)
    assert store.accounts.find("anna müller") == anna
    assert store.accounts.find("ANNA MU\u0308LLER") == anna
    assert store.accounts.find("boris") is None
    with pytest.raises(StoreError, match="exists already"):
        store.accounts.add("ANNA MÜLLER", [Role.STEWARD], 11.0)
    assert store.accounts.read_all() == [anna]


def test_every_change_is_read_again_and_changes_nothing_else(store: Store):
    anna = store.accounts.add("anna", [Role.VIEWER], 10.0, password_hash="hash")
    store.accounts.set_roles(anna.account_id, [Role.STEWARD, Role.VIEWER])
    store.accounts.set_reveal(anna.account_id, may_reveal=True)
    store.accounts.set_locked(anna.account_id, locked=True)
    store.accounts.note_sign_in(anna.account_id, 99.9)
    changed = store.accounts.find("anna")
    assert changed is not None
    assert changed.roles == {Role.STEWARD, Role.VIEWER}
    assert (changed.may_reveal, changed.locked, changed.signed_in_at) == (True, True, 99)
    assert (changed.account_id, changed.created_at, changed.origin) == (
        anna.account_id,
        10,
        Origin.LOCAL,
    )
    assert store.accounts.read_password_hash(anna.account_id) == "hash"
    store.accounts.set_password_hash(anna.account_id, "other")
    assert store.accounts.read_password_hash(anna.account_id) == "other"
    assert store.accounts.find("anna") == changed


def test_a_person_of_one_provider_is_not_that_of_another(store: Store):
    anna = store.accounts.add("anna", [], 0, origin=Origin.OIDC, subject="1")
    assert store.accounts.find_subject(Origin.OIDC, "1") == anna
    assert store.accounts.find_subject(Origin.PROXY, "1") is None
    with pytest.raises(StoreError, match="has an account already"):
        store.accounts.add("boris", [], 0, origin=Origin.OIDC, subject="1")


def test_an_account_that_does_not_exist_cannot_be_changed(store: Store):
    with pytest.raises(StoreError, match="no such account"):
        store.accounts.set_roles("0" * 16, [Role.ADMINISTRATOR])


def test_whoever_edits_the_file_gives_nobody_the_roles_or_the_password_of_another(
    store: Store, path: Path
):
    viewer = store.accounts.add("anna", [Role.VIEWER], 0)
    store.accounts.add("boris", [Role.ADMINISTRATOR], 0)
    with sqlite3.connect(path) as other:
        other.execute(
            "UPDATE accounts SET sealed = (SELECT sealed FROM accounts WHERE account_id <> ?) WHERE account_id = ?",
            (viewer.account_id, viewer.account_id),
        )
    other.close()
    with pytest.raises(StoreError, match="cannot be decrypted"):
        store.accounts.find("anna")


def test_the_file_holds_no_name_role_password_hash_or_subject_in_clear_text(
    store: Store, path: Path
):
    store.accounts.add(
        "Quackenbush",
        [Role.STEWARD],
        0,
        origin=Origin.OIDC,
        subject="sub-4711",
        password_hash="$argon2id$x",
    )
    store.close()
    for word in (b"uackenbush", b"steward", b"sub-4711", b"argon2"):
        assert word not in file_bytes(path)


def test_keys_of_several_accounts_are_read_together(store: Store):
    anna, boris = (store.accounts.add(name, [], 0) for name in ("anna", "boris"))
    store.accounts.add_key(anna.account_id, "one")
    store.accounts.add_key(anna.account_id, "one")
    store.accounts.add_key(boris.account_id, "two")
    assert store.accounts.read_keys([anna.account_id]) == {"one"}
    assert store.accounts.read_keys([anna.account_id, boris.account_id]) == {"one", "two"}
    assert store.accounts.read_keys([]) == frozenset()
