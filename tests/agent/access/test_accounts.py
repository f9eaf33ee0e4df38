"""Changes to accounts: each is logged by id, none quotes a password, and the last administrator stays."""

import json
from pathlib import Path

import pytest

from agent.access.accounts import (
    COMMAND_LINE,
    add_account,
    change_password,
    change_reveal,
    change_roles,
    end_sessions,
    has_administrator,
    lock_account,
    require_account,
    unlock_account,
)
from agent.access.sessions import SessionLimits, open_session, read_session
from agent.errors import ConfigError
from agent.store import Account, Origin, Role, Store
from tests.agent.access.people import NOW, PASSWORD, everything_kept, read_again


def test_a_name_that_is_taken_empty_or_invisible_is_refused(store: Store, anna: Account):
    for name in ("Anna", "", "   ", "x" * 101, "a\nb", "\u202eanna", "\ud800"):
        with pytest.raises(ConfigError):
            add_account(store, name, [Role.VIEWER], NOW)
    with pytest.raises(ConfigError, match="needs a role"):
        add_account(store, "dora", [], NOW)
    with pytest.raises(ConfigError, match="fewer than 12"):
        add_account(store, "dora", [Role.VIEWER], NOW, password="short")
    assert [account.name for account in store.accounts.read_all()] == ["anna"]


@pytest.mark.parametrize(
    "name", ["new user!", "new user", "a/b", "a\\b", "a:b", "a\u00a0b", "<b>", "a'b", "a,b"]
)
def test_a_name_with_blanks_or_other_signs_is_refused_in_words(store: Store, name: str):
    with pytest.raises(ConfigError):
        add_account(store, name, [Role.VIEWER], NOW)
    with pytest.raises(ConfigError, match=r"letters, digits and the signs \. _ - @ only"):
        add_account(store, "new user!", [Role.VIEWER], NOW)


@pytest.mark.parametrize(
    "name",
    ["anna", "Jörg.Müller", "anna_2@ward-7.example", "Ольга", "王小明", "हिन्दी", "אנה", "٣٤"],
)
def test_letters_of_every_script_are_accepted(store: Store, name: str):
    assert add_account(store, name, [Role.VIEWER], NOW).name == name


def test_names_of_a_provider_are_its_own_affair(store: Store):
    added = add_account(store, "Dora O'Neill", [Role.VIEWER], NOW, origin=Origin.OIDC, subject="1")
    assert added.name == "Dora O'Neill"


def test_who_chose_a_password_decides_whether_it_must_be_changed(store: Store):
    given = add_account(store, "dora", [Role.VIEWER], NOW, password=PASSWORD)
    own = add_account(store, "emil", [Role.VIEWER], NOW, password=PASSWORD, own_password=True)
    outside = add_account(store, "fritz", [Role.VIEWER], NOW, origin=Origin.OIDC, subject="1")
    states = [read_again(store, one).must_change_password for one in (given, own, outside)]
    assert states == [True, False, False]
    change_password(store, given, "another four words", by=given.account_id, own_password=True)
    change_password(store, own, "another four words", by="c" * 16)
    assert not read_again(store, given).must_change_password
    assert read_again(store, own).must_change_password


def test_an_account_of_an_earlier_version_need_not_change_its_password(store: Store, anna: Account):
    """Its sealed values do not say who chose the password."""
    (row,) = store.accounts._connection.execute("SELECT sealed FROM accounts").fetchall()
    vault, bound = store.accounts._vault, b"account\0" + anna.account_id.encode()
    values = json.loads(vault.open(bound, row[0]))
    del values["must_change_password"]
    sealed = vault.seal(bound, json.dumps(values).encode())
    store.accounts._connection.execute("UPDATE accounts SET sealed = ?", (sealed,))
    assert not read_again(store, anna).must_change_password


def test_the_same_person_of_a_provider_gets_one_account(store: Store):
    add_account(store, "dora", [Role.VIEWER], NOW, origin=Origin.OIDC, subject="1")
    with pytest.raises(ConfigError, match="under another name"):
        add_account(store, "emil", [Role.VIEWER], NOW, origin=Origin.OIDC, subject="1")


def test_every_change_is_in_the_audit_log_by_id_and_without_names(
    store: Store, anna: Account, path: Path
):
    change_roles(store, anna, [Role.STEWARD, Role.VIEWER], by="c" * 16)
    change_reveal(store, anna, True, by="c" * 16)
    change_reveal(store, anna, False)
    lock_account(store, anna, NOW, by="c" * 16)
    unlock_account(store, anna)
    end_sessions(store, anna)
    one = f"account={anna.account_id}"
    log = [(event.event, event.detail) for event in store.audit.read_events()]
    assert log == [
        ("account added", f"{one} roles=data_scientist origin=local by=command line"),
        (
            "account's roles changed",
            f"{one} from=data_scientist to=viewer+steward by=cccccccccccccccc",
        ),
        ("reveal granted", f"{one} by=cccccccccccccccc"),
        ("reveal withdrawn", f"{one} by=command line"),
        ("account locked", f"{one} sessions=0 tokens=0 by=cccccccccccccccc"),
        ("account unlocked", f"{one} by=command line"),
        ("sessions ended", f"{one} count=0 by=command line"),
    ]
    assert b"anna" not in everything_kept(store, path)


def test_nobody_allows_themselves_to_see_original_text(store: Store, clara: Account):
    with pytest.raises(ConfigError, match="cannot allow itself"):
        change_reveal(store, clara, True, by=clara.account_id)
    assert not read_again(store, clara).may_reveal


def test_the_last_administrator_is_neither_locked_nor_demoted_by_an_account(
    store: Store, clara: Account
):
    for by in (clara.account_id, "d" * 16):
        with pytest.raises(ConfigError, match="only administrator"):
            lock_account(store, clara, NOW, by=by)
        with pytest.raises(ConfigError, match="only administrator"):
            change_roles(store, clara, [Role.VIEWER], by=by)
    assert has_administrator(store)
    second = add_account(store, "dora", [Role.ADMINISTRATOR], NOW)
    lock_account(store, clara, NOW, by=second.account_id)
    with pytest.raises(ConfigError, match="only administrator"):
        lock_account(store, second, NOW, by=second.account_id)
    # Whoever owns the site's directory can lock a stolen account at once, and add another administrator.
    lock_account(store, second, NOW, by=COMMAND_LINE)
    assert not has_administrator(store)


def test_a_new_password_ends_the_other_sessions(
    store: Store, anna: Account, session_limits: SessionLimits
):
    own, stolen = open_session(store, anna, NOW), open_session(store, anna, NOW)
    session = read_session(store, own, NOW, session_limits)
    assert session is not None
    ended = change_password(
        store, anna, "another four words here", except_session=session.session_id
    )
    assert ended == 1
    assert read_session(store, stolen, NOW, session_limits) is None
    assert read_session(store, own, NOW, session_limits)


def test_a_weak_new_password_changes_nothing(
    store: Store, anna: Account, session_limits: SessionLimits
):
    cookie = open_session(store, anna, NOW)
    before = store.accounts.read_password_hash(anna.account_id)
    with pytest.raises(ConfigError):
        change_password(store, anna, "password1234")
    assert store.accounts.read_password_hash(anna.account_id) == before
    assert read_session(store, cookie, NOW, session_limits)


def test_an_account_of_a_provider_has_no_password_here(store: Store):
    dora = add_account(store, "dora", [Role.VIEWER], NOW, origin=Origin.OIDC, subject="1")
    with pytest.raises(ConfigError, match="signs in elsewhere"):
        change_password(store, dora, PASSWORD)


def test_an_unknown_name_is_named(store: Store, anna: Account):
    assert require_account(store, "ANNA") == anna
    with pytest.raises(ConfigError, match="no account named nobody"):
        require_account(store, "nobody")
