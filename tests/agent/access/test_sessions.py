"""Sessions: new at each sign-in, limited, revocable at once, and never valid again once they have ended."""

import itertools
import sqlite3
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.access.accounts import lock_account, unlock_account
from agent.access.roles import Action
from agent.access.sessions import (
    Session,
    SessionLimits,
    check_csrf,
    end_own_session,
    end_session,
    list_sessions,
    open_session,
    read_session,
)
from agent.access.tokens import create_token, read_token
from agent.store import Account, Role, Store, Vault
from tests.agent.access.people import NOW, events, everything_kept
from tests.agent.store.begun_runs import AUDIT_KEY, KEY

MINUTE, HOUR = 60, 3600


@pytest.fixture
def cookie(store: Store, anna: Account) -> str:
    return open_session(store, anna, NOW)


def test_a_cookie_gives_the_account_and_a_csrf_secret_of_its_own(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits
):
    session = read_session(store, cookie, NOW + 5.5, session_limits)
    assert session is not None
    assert session.account == anna
    assert len(cookie) >= 43
    assert (session.opened_at, session.ends_at) == (NOW, NOW + 12 * HOUR)
    assert session.idle_ends_at == NOW + 5 + 30 * MINUTE
    other = read_session(store, open_session(store, anna, NOW), NOW, session_limits)
    assert other is not None
    assert check_csrf(session, session.csrf)
    for wrong in ("", other.csrf, session.csrf.upper() + "x", "\ud800", session.csrf[:-1]):
        assert not check_csrf(session, wrong)


@pytest.mark.parametrize(
    "guess", ["", "x", "x" * 43, "x" * 1_000_000, "\x00", "\ud800", "' OR 1=1 --"]
)
def test_a_guessed_cookie_is_no_session(
    store: Store, cookie: str, session_limits: SessionLimits, guess: str
):
    assert read_session(store, guess, NOW, session_limits) is None


def test_a_cookie_that_an_attacker_planted_is_not_the_one_of_the_sign_in(
    store: Store, anna: Account, boris: Account, session_limits: SessionLimits
):
    planted = open_session(store, boris, NOW)
    cookie = open_session(store, anna, NOW, replaces=planted)
    assert cookie != planted
    assert read_session(store, planted, NOW, session_limits) is None
    session = read_session(store, cookie, NOW, session_limits)
    assert session is not None
    assert session.account == anna
    assert read_session(
        store, open_session(store, anna, NOW, replaces="made up"), NOW, session_limits
    )


def test_a_person_who_went_away_for_half_an_hour_signs_in_again(
    store: Store, cookie: str, session_limits: SessionLimits
):
    for minutes in range(0, 120, 29):
        assert read_session(store, cookie, NOW + minutes * MINUTE, session_limits)
    assert read_session(store, cookie, NOW + (116 + 30) * MINUTE, session_limits) is None


def test_a_person_who_never_pauses_signs_in_again_after_half_a_day(
    store: Store, cookie: str, session_limits: SessionLimits
):
    for seconds in range(0, 12 * HOUR, 10 * MINUTE):
        assert read_session(store, cookie, NOW + seconds, session_limits)
    assert read_session(store, cookie, NOW + 12 * HOUR, session_limits) is None


def test_a_stricter_setting_applies_to_sessions_that_are_open(
    store: Store, cookie: str, session_limits: SessionLimits
):
    assert read_session(store, cookie, NOW + 10 * MINUTE, session_limits)
    assert read_session(store, cookie, NOW + 16 * MINUTE, SessionLimits(5 * MINUTE, HOUR)) is None
    assert read_session(store, cookie, NOW + 16 * MINUTE, session_limits) is None


def test_signing_out_ends_this_session_alone(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits
):
    other = open_session(store, anna, NOW)
    session = read_session(store, cookie, NOW, session_limits)
    assert session is not None
    end_session(store, session)
    assert read_session(store, cookie, NOW, session_limits) is None
    assert read_session(store, other, NOW, session_limits)


def test_a_locked_accounts_sessions_end_at_once_and_stay_ended(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits
):
    assert read_session(store, cookie, NOW, session_limits)
    lock_account(store, anna, NOW)
    assert read_session(store, cookie, NOW, session_limits) is None
    unlock_account(store, anna)
    assert read_session(store, cookie, NOW, session_limits) is None


def test_a_change_of_roles_applies_to_the_next_request(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits
):
    store.accounts.set_roles(anna.account_id, [Role.VIEWER])
    session = read_session(store, cookie, NOW, session_limits)
    assert session is not None
    assert session.account.roles == {Role.VIEWER}


def test_a_program_that_signs_in_again_and_again_ends_its_own_oldest_sessions(
    store: Store, anna: Account, boris: Account, session_limits: SessionLimits
):
    kept = open_session(store, boris, NOW)
    cookies = [open_session(store, anna, NOW + number) for number in range(25)]
    assert len(list_sessions(store, NOW + 25, session_limits, anna)) == 20
    assert read_session(store, cookies[0], NOW + 25, session_limits) is None
    assert read_session(store, cookies[-1], NOW + 25, session_limits)
    assert read_session(store, kept, NOW + 25, session_limits)


@pytest.mark.parametrize("hours", [1, 24, 24 * 365])
def test_after_the_clock_was_set_back_everyone_signs_in_again(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits, hours: int
):
    assert read_session(store, cookie, NOW, session_limits)
    again = open_session(store, anna, NOW - hours * HOUR)
    assert read_session(store, cookie, NOW - hours * HOUR, session_limits) is None
    assert read_session(store, again, NOW - hours * HOUR + MINUTE, session_limits)
    assert events(store, "sessions ended") == ["reason=clock_set_back count=1"]
    assert read_session(store, cookie, NOW, session_limits) is None


def test_a_time_server_that_takes_back_a_minute_ends_nothing(
    store: Store, cookie: str, session_limits: SessionLimits
):
    assert read_session(store, cookie, NOW + 10, session_limits)
    assert read_session(store, cookie, NOW - 50, session_limits)


def test_an_expired_session_that_nobody_asked_for_stays_expired_once_another_was_read(
    store: Store, anna: Account, boris: Account, session_limits: SessionLimits
):
    forgotten = open_session(store, anna, NOW)
    later = open_session(store, boris, NOW + HOUR)
    assert read_session(store, later, NOW + HOUR, session_limits)
    assert read_session(store, forgotten, NOW + 1, session_limits) is None


def test_a_restart_ends_no_session_and_shows_no_ended_one(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits, path
):
    other = open_session(store, anna, NOW)
    session = read_session(store, other, NOW, session_limits)
    assert isinstance(session, Session)
    end_session(store, session)
    store.close()
    again = Store(path, Vault(KEY), AUDIT_KEY)
    assert read_session(again, cookie, NOW + MINUTE, session_limits)
    assert read_session(again, other, NOW + MINUTE, session_limits) is None
    again.close()


def test_requests_every_few_seconds_seldom_write(
    store: Store, cookie: str, session_limits: SessionLimits
):
    before = store.database.connection.total_changes
    for seconds in range(0, 300, 5):
        assert read_session(store, cookie, NOW + seconds, session_limits)
    assert store.database.connection.total_changes - before <= 25


def test_neither_cookie_nor_csrf_secret_is_stored_or_logged(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits, path
):
    session = read_session(store, cookie, NOW, session_limits)
    assert session is not None
    lock_account(store, anna, NOW)
    kept = everything_kept(store, path)
    assert cookie.encode() not in kept
    assert session.csrf.encode() not in kept
    assert bytes.fromhex(session.csrf) not in kept


def test_pages_stay_readable_while_another_command_holds_the_store(
    store: Store, anna: Account, cookie: str, session_limits: SessionLimits, path
):
    token = create_token(store, anna, "x", [Action.VIEW_RUNS], 1, NOW, most_days=90)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        assert read_session(store, cookie, NOW + 5 * MINUTE, session_limits)
        assert read_token(store, token.secret, NOW + 5 * MINUTE)
        assert read_session(store, cookie, NOW + HOUR, session_limits) is None
        assert time.monotonic() - begin < 5
    # Nothing of that was recorded, so an hour later the session is as idle as it was.
    assert read_session(store, cookie, NOW + HOUR, session_limits) is None


def test_a_person_ends_their_own_sessions_alone(
    store: Store, anna: Account, boris: Account, cookie: str, session_limits: SessionLimits
):
    session = read_session(store, cookie, NOW, session_limits)
    assert session is not None
    assert not end_own_session(store, boris, session.session_id)
    assert read_session(store, cookie, NOW, session_limits)
    assert end_own_session(store, anna, session.session_id)
    assert read_session(store, cookie, NOW, session_limits) is None


@given(st.lists(st.integers(-30 * HOUR, 30 * HOUR), min_size=2, max_size=12))
def test_no_order_of_clock_changes_makes_an_ended_session_valid(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int]
):
    limits = SessionLimits(30 * MINUTE, 12 * HOUR)
    path = tmp_path_factory.mktemp("clock") / "store" / "site.sqlite3"
    store = Store(path, Vault(KEY), AUDIT_KEY)
    anna = store.accounts.add("anna", [Role.VIEWER], NOW)
    cookie = open_session(store, anna, NOW)
    times = itertools.accumulate(steps, initial=NOW)
    valid = [read_session(store, cookie, at, limits) is not None for at in times]
    store.close()
    assert valid == sorted(valid, reverse=True)
