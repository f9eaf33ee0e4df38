"""API tokens: shown once, limited in what they do and how long, and worthless to whoever reads the store."""

import re
from pathlib import Path

import pytest

from agent.access.accounts import change_roles, lock_account, unlock_account
from agent.access.roles import Action
from agent.access.sessions import SessionLimits, open_session, read_session
from agent.access.tokens import (
    PERSONAL,
    create_token,
    list_scopes,
    list_tokens,
    read_bearer,
    read_token,
    require_token,
    revoke_token,
)
from agent.errors import ConfigError
from agent.store import Account, Role, Store
from tests.agent.access.people import NOW, events, everything_kept

DAY = 86_400


@pytest.fixture
def secret(store: Store, anna: Account) -> str:
    scopes = [Action.QUEUE_JOBS, Action.CHANGE_JOBS]
    return create_token(store, anna, "night runs", scopes, 30, NOW, most_days=90).secret


def test_a_token_acts_for_its_account_within_its_scopes(store: Store, anna: Account, secret: str):
    assert re.fullmatch(r"imt_[0-9a-f]{64}", secret)
    use = read_token(store, secret, NOW)
    assert use is not None
    assert use.account == anna
    assert use.may(Action.QUEUE_JOBS)
    assert not use.may(Action.VIEW_RUNS)
    assert use.may(Action.CHANGE_JOBS, anna.account_id)
    assert not use.may(Action.CHANGE_JOBS, "b" * 16)


@pytest.mark.parametrize(
    "guess", ["", "imt_", "imt_" + "0" * 64, "x", "imt_" + "0" * 1_000_000, "imt_\ud800", "\x00"]
)
def test_a_guessed_token_is_none(store: Store, secret: str, guess: str):
    assert read_token(store, guess, NOW) is None
    assert read_token(store, secret + "0", NOW) is None
    assert read_token(store, secret.upper(), NOW) is None


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer imt_1", "imt_1"),
        ("bearer  imt_1 ", "imt_1"),
        ("Basic imt_1", ""),
        ("imt_1", ""),
        ("", ""),
        ("Bearer", ""),
    ],
)
def test_a_token_is_read_from_a_bearer_header_alone(header: str, token: str):
    assert read_bearer(header) == token


def test_an_expired_token_never_works_again_even_if_the_clock_is_set_back(
    store: Store, anna: Account, secret: str, session_limits: SessionLimits
):
    assert read_token(store, secret, NOW + 30 * DAY - 1)
    assert read_token(store, secret, NOW + 30 * DAY) is None
    assert read_token(store, secret, NOW) is None
    other = create_token(store, anna, "x", [Action.VIEW_RUNS], 1, NOW, most_days=90)
    # Nobody used this one when it expired, but someone else used the service.
    read_session(store, open_session(store, anna, NOW), NOW + 2 * DAY, session_limits)
    assert read_token(store, other.secret, NOW) is None


def test_a_revoked_token_never_works_again(store: Store, anna: Account, secret: str):
    (row,) = list_tokens(store, NOW, anna)
    revoke_token(store, require_token(store, row.token_id), NOW)
    assert read_token(store, secret, NOW) is None
    assert list_tokens(store, NOW, anna) == []
    assert events(store, "API token revoked") == [
        f"token={row.token_id} account={anna.account_id} by=command line"
    ]


def test_a_locked_accounts_tokens_end_at_once_and_stay_ended(
    store: Store, anna: Account, secret: str
):
    lock_account(store, anna, NOW)
    assert read_token(store, secret, NOW) is None
    unlock_account(store, anna)
    assert read_token(store, secret, NOW) is None


def test_a_role_that_is_lost_is_lost_to_the_token_too(store: Store, anna: Account, secret: str):
    change_roles(store, anna, [Role.VIEWER])
    use = read_token(store, secret, NOW)
    assert use is not None
    assert not use.may(Action.QUEUE_JOBS)


@pytest.mark.parametrize("action", sorted(PERSONAL))
def test_what_only_a_person_may_do_is_no_scope(store: Store, action: Action):
    everything = store.accounts.add("root", list(Role), NOW)
    store.accounts.set_reveal(everything.account_id, may_reveal=True)
    account = store.accounts.find("root")
    assert account is not None
    assert action not in list_scopes(account)
    with pytest.raises(ConfigError, match="not for programs"):
        create_token(store, account, "x", [action], 1, NOW, most_days=90)


def test_a_scope_that_does_nothing_is_refused(store: Store, anna: Account):
    with pytest.raises(ConfigError, match="export_tables does nothing"):
        create_token(store, anna, "x", [Action.EXPORT_TABLES], 1, NOW, most_days=90)


def test_a_token_cannot_do_more_than_its_account(store: Store, anna: Account):
    with pytest.raises(ConfigError, match="may not view_audit itself") as refused:
        create_token(store, anna, "x", [Action.VIEW_AUDIT], 1, NOW, most_days=90)
    assert "queue_jobs" in refused.value.advice


@pytest.mark.parametrize(
    ("label", "scopes", "days", "finding"),
    [
        ("", [Action.VIEW_RUNS], 1, "label"),
        ("x" * 101, [Action.VIEW_RUNS], 1, "label"),
        ("a\nb", [Action.VIEW_RUNS], 1, "label"),
        ("x", [], 1, "needs a scope"),
        ("x", [Action.VIEW_RUNS], 0, "1 to 90 days"),
        ("x", [Action.VIEW_RUNS], 91, "1 to 90 days"),
    ],
)
def test_a_token_without_purpose_scope_or_end_is_refused(
    store: Store, anna: Account, label: str, scopes: list[Action], days: int, finding: str
):
    with pytest.raises(ConfigError, match=finding):
        create_token(store, anna, label, scopes, days, NOW, most_days=90)


def test_a_locked_account_gets_no_token(store: Store, anna: Account):
    lock_account(store, anna, NOW)
    locked = store.accounts.find("anna")
    assert locked is not None
    with pytest.raises(ConfigError, match="is locked"):
        create_token(store, locked, "x", [Action.VIEW_RUNS], 1, NOW, most_days=90)


def test_the_last_use_is_listed(store: Store, anna: Account, secret: str):
    read_token(store, secret, NOW + 100)
    (row,) = list_tokens(store, NOW, anna)
    assert (row.label, row.used_at, row.expires_at) == ("night runs", NOW + 100, NOW + 30 * DAY)


def test_the_secret_is_neither_stored_nor_logged(store: Store, secret: str, path: Path):
    kept = everything_kept(store, path)
    assert secret.encode() not in kept
    assert secret.removeprefix("imt_").encode() not in kept
    assert bytes.fromhex(secret.removeprefix("imt_")) not in kept
    (created,) = events(store, "API token created")
    assert created.endswith("scopes=change_jobs+queue_jobs days=30 by=command line")


def test_an_unknown_id_is_named_as_such(store: Store):
    with pytest.raises(ConfigError, match="no API token"):
        require_token(store, "0" * 16)
