"""Sign-in by password under attack: guessing, listing of accounts, attempts at the same time, and typing mistakes."""

import logging
import threading
import time
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.access.accounts import add_account, change_password, lock_account, unlock_account
from agent.access.passwords import prepare_verification
from agent.access.refusals import SignInRefusedError, TooManyAttemptsError
from agent.access.sign_in import SignInLimits, confirm_password, sign_in_locally
from agent.errors import AgentError
from agent.store import Account, Origin, Role, Store, Vault
from tests.agent.access.people import NOW, PASSWORD, events, everything_kept, read_again
from tests.agent.store.begun_runs import AUDIT_KEY, KEY

MINUTE = 60


def fail(store: Store, name: str, now: float, limits: SignInLimits) -> SignInRefusedError:
    """Try a wrong password and return the refusal."""
    with pytest.raises(SignInRefusedError) as refused:
        sign_in_locally(store, name, "a wrong password for all", now, limits)
    return refused.value


def test_name_and_password_give_the_account_in_any_case_of_the_name(
    store: Store, anna: Account, sign_in_limits: SignInLimits
):
    for name in ("anna", "Anna", " ANNA "):
        account = sign_in_locally(store, name, PASSWORD, NOW, sign_in_limits)
        assert account.account_id == anna.account_id
    assert read_again(store, anna).signed_in_at == NOW
    assert events(store, "signed in") == [f"account={anna.account_id} by=password"] * 3


def test_the_refusal_is_the_same_whether_the_account_exists_is_locked_or_has_no_password(
    store: Store, anna: Account, boris: Account, sign_in_limits: SignInLimits
):
    lock_account(store, boris, NOW)
    store.accounts.add("dora", [Role.VIEWER], NOW, origin=Origin.OIDC, subject="1")
    refusals = [
        fail(store, name, NOW, sign_in_limits) for name in ("anna", "boris", "dora", "nobody", "")
    ]
    with pytest.raises(SignInRefusedError) as refused:
        sign_in_locally(store, "boris", PASSWORD, NOW, sign_in_limits)
    words = {(type(error), str(error), error.advice) for error in [*refusals, refused.value]}
    assert len(words) == 1


@pytest.mark.usefixtures("real_passwords")
def test_the_time_does_not_tell_whether_an_account_exists(
    store: Store, anna: Account, boris: Account
):
    lock_account(store, boris, NOW)
    limits = SignInLimits(per_name=1_000, overall=1_000, window_s=60)
    prepare_verification()
    seconds: dict[str, list[float]] = {"anna": [], "boris": [], "nobody": []}
    for _ in range(5):
        for name, taken in seconds.items():
            begin = time.thread_time()
            fail(store, name, NOW, limits)
            taken.append(time.thread_time() - begin)
    # Argon2 runs in threads of its own, so this is the rest: look-up, log, words.
    medians = [median(taken) for taken in seconds.values()]
    assert max(medians) - min(medians) < 0.02


@pytest.mark.usefixtures("real_passwords")
def test_every_refusal_verifies_a_password(
    store: Store, anna: Account, sign_in_limits: SignInLimits, monkeypatch: pytest.MonkeyPatch
):
    from argon2 import PasswordHasher

    verified = []
    verify = PasswordHasher.verify

    def count(self: PasswordHasher, *given: str) -> bool:
        verified.append(given)
        return verify(self, *given)

    monkeypatch.setattr(PasswordHasher, "verify", count)
    for name in ("anna", "nobody", "", "x" * 1_000_000, "\ud800"):
        fail(store, name, NOW, sign_in_limits)
    assert len(verified) == 5


def test_guessing_under_one_name_stops_with_the_right_password_too_and_others_still_sign_in(
    store: Store, anna: Account, boris: Account, sign_in_limits: SignInLimits
):
    for _ in range(sign_in_limits.per_name):
        assert type(fail(store, "anna", NOW, sign_in_limits)) is SignInRefusedError
    with pytest.raises(TooManyAttemptsError) as refused:
        sign_in_locally(store, "ANNA", PASSWORD, NOW + 1, sign_in_limits)
    assert "15 minutes" in refused.value.advice
    assert sign_in_locally(store, "boris", PASSWORD, NOW + 1, sign_in_limits)
    assert sign_in_locally(store, "anna", PASSWORD, NOW + 15 * MINUTE, sign_in_limits)


def test_the_limit_does_not_tell_whether_a_name_has_an_account(
    store: Store, anna: Account, sign_in_limits: SignInLimits
):
    answers = {}
    for name in ("anna", "nobody"):
        refusals = [fail(store, name, NOW, sign_in_limits) for _ in range(12)]
        answers[name] = [(type(error), str(error), error.advice) for error in refusals]
    assert answers["anna"] == answers["nobody"]


def test_guessing_under_many_names_stops_for_all(store: Store, anna: Account):
    limits = SignInLimits(per_name=3, overall=10, window_s=15 * MINUTE)
    for number in range(10):
        fail(store, f"name {number}", NOW, limits)
    with pytest.raises(TooManyAttemptsError):
        sign_in_locally(store, "anna", PASSWORD, NOW, limits)
    assert sign_in_locally(store, "anna", PASSWORD, NOW + 15 * MINUTE, limits)


def test_a_restart_forgets_no_failed_sign_in(
    store: Store, anna: Account, sign_in_limits: SignInLimits, path: Path
):
    for _ in range(sign_in_limits.per_name):
        fail(store, "anna", NOW, sign_in_limits)
    store.close()
    again = Store(path, Vault(KEY), AUDIT_KEY)
    with pytest.raises(TooManyAttemptsError):
        sign_in_locally(again, "anna", PASSWORD, NOW, sign_in_limits)
    again.close()


@pytest.mark.usefixtures("real_passwords")
def test_attempts_at_the_same_time_are_counted_before_they_are_decided(
    store: Store, anna: Account, path: Path
):
    limits = SignInLimits(per_name=3, overall=100, window_s=60)
    refusals: list[type] = []

    def guess() -> None:
        own = Store(path, Vault(KEY), AUDIT_KEY)
        try:
            refusals.append(type(fail(own, "anna", NOW, limits)))
        finally:
            own.close()

    threads = [threading.Thread(target=guess) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refusals.count(SignInRefusedError) == 3
    assert refusals.count(TooManyAttemptsError) == 5


def test_a_person_who_mistyped_twice_starts_anew_after_a_sign_in_and_their_neighbour_does_not(
    store: Store, anna: Account, boris: Account
):
    limits = SignInLimits(per_name=3, overall=100, window_s=60)
    for _ in range(2):
        fail(store, "anna", NOW, limits)
        fail(store, "boris", NOW, limits)
    sign_in_locally(store, "anna", PASSWORD, NOW, limits)
    for _ in range(2):
        assert type(fail(store, "anna", NOW, limits)) is SignInRefusedError
    assert type(fail(store, "boris", NOW, limits)) is SignInRefusedError
    assert type(fail(store, "boris", NOW, limits)) is TooManyAttemptsError


def test_an_administrator_unlocks_a_name_under_which_too_many_attempts_failed(
    store: Store, anna: Account, sign_in_limits: SignInLimits
):
    for _ in range(sign_in_limits.per_name + 1):
        fail(store, "anna", NOW, sign_in_limits)
    unlock_account(store, anna)
    assert sign_in_locally(store, "anna", PASSWORD, NOW, sign_in_limits)


def test_whoever_finds_a_browser_cannot_guess_the_password_there_either(
    store: Store, anna: Account, sign_in_limits: SignInLimits
):
    confirm_password(store, anna, PASSWORD, NOW, sign_in_limits)
    assert read_again(store, anna).signed_in_at is None
    for _ in range(sign_in_limits.per_name):
        with pytest.raises(SignInRefusedError):
            confirm_password(store, anna, "a wrong password for all", NOW, sign_in_limits)
    with pytest.raises(TooManyAttemptsError):
        confirm_password(store, anna, PASSWORD, NOW, sign_in_limits)


def test_attempts_leave_no_rows_behind(store: Store, anna: Account, sign_in_limits: SignInLimits):
    for number in range(30):
        fail(store, "anna", NOW + number * 5 * MINUTE, sign_in_limits)
    (rows,) = store.database.connection.execute("SELECT count(*) FROM sign_in_attempts").fetchone()
    assert rows <= 4


@pytest.mark.usefixtures("real_passwords")
def test_a_hash_with_earlier_parameters_is_made_again_at_the_sign_in(
    store: Store, anna: Account, sign_in_limits: SignInLimits
):
    from argon2 import PasswordHasher

    store.accounts.set_password_hash(anna.account_id, PasswordHasher(1, 8192, 1).hash(PASSWORD))
    assert sign_in_locally(store, "anna", PASSWORD, NOW, sign_in_limits)
    renewed = store.accounts.read_password_hash(anna.account_id)
    assert renewed is not None
    assert "m=65536,t=3,p=4" in renewed


def test_neither_passwords_nor_names_typed_are_stored_or_logged(
    store: Store,
    anna: Account,
    sign_in_limits: SignInLimits,
    path: Path,
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG)
    sign_in_locally(store, "anna", PASSWORD, NOW, sign_in_limits)
    fail(store, PASSWORD, NOW, sign_in_limits)  # typed into the field of the name
    change_password(store, anna, "another four words here")
    assert events(store, "sign-in refused") == ["account=unknown"]
    for secret in (PASSWORD, "another four words here", "a wrong password for all", "anna"):
        assert secret.encode() not in everything_kept(store, path)
        assert secret not in caplog.text


@settings(max_examples=5)
@given(st.text(min_size=12, max_size=40).filter(lambda text: len(set(text)) > 6))
def test_no_password_is_in_an_error_the_log_or_the_store(
    tmp_path_factory: pytest.TempPathFactory, password: str
):
    path = tmp_path_factory.mktemp("secret") / "store" / "site.sqlite3"
    store = Store(path, Vault(KEY), AUDIT_KEY)
    limits = SignInLimits(per_name=10, overall=10, window_s=60)
    said = ""
    for name, given_password in (
        ("anna", password),
        ("anna", password),
        (password, "x"),
        ("", password),
    ):
        try:
            add_account(store, name, [Role.VIEWER], NOW, password=given_password)
            sign_in_locally(store, name, password[1:], NOW, limits)
        except AgentError as error:
            said += str(error) + error.advice
    kept = everything_kept(store, path)
    store.close()
    assert password.encode("utf-8", "surrogatepass") not in kept
    assert password not in said.replace(f"named {password} already", "")
