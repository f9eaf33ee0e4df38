"""Sign-in by name and password: limited per name and over all names, and equal in words and time whatever is wrong."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.access.passwords import (
    hash_password,
    is_outdated,
    prepare_verification,
    verify_password,
)
from agent.access.refusals import SignInRefusedError, TooManyAttemptsError
from agent.store import Account, Store

if TYPE_CHECKING:
    from agent.site.settings import Settings


@dataclass(frozen=True, slots=True)
class SignInLimits:
    """How many attempts may fail in a stretch of time before further ones are refused.

    Attributes:
        per_name: failed attempts under one name.
        overall: failed attempts under all names together.
        window_s: length of the stretch, in seconds.
    """

    per_name: int
    overall: int
    window_s: int


def read_sign_in_limits(settings: "Settings") -> SignInLimits:
    """Return the site's limits of failed sign-ins."""
    return SignInLimits(
        per_name=settings.sign_in_failures_per_name,
        overall=settings.sign_in_failures_overall,
        window_s=settings.sign_in_window_minutes * 60,
    )


def sign_in_locally(
    store: Store, name: str, password: str, now: float, limits: SignInLimits
) -> Account:
    """Return the account of a name, if the password is right. Open a session for it with `open_session`.

    An attempt takes about 0.1 s of a processor and 64 MiB, so it should not run in a server's event loop.

    Raises:
        SignInRefusedError: there is no such account, it is locked, or the password is wrong; the words do not tell
            which.
        TooManyAttemptsError: too many attempts failed under this name or in all; the password was not looked at.
    """
    account = _verify(store, name, password, now, limits)
    with store.transaction():
        store.accounts.note_sign_in(account.account_id, now)
        store.audit.record("signed in", f"account={account.account_id} by=password")
    return account


def confirm_password(
    store: Store, account: Account, password: str, now: float, limits: SignInLimits
) -> None:
    """Check the password of someone who is signed in, before a change that whoever found the browser must not make.

    Raises:
        SignInRefusedError: the password is wrong.
        TooManyAttemptsError: too many attempts failed; the limits are those of signing in.
    """
    _verify(store, account.name, password, now, limits)


def _verify(store: Store, name: str, password: str, now: float, limits: SignInLimits) -> Account:
    """Return the account of a name if the password is right, and forget failed attempts under the name."""
    name_key = store.accounts.key_name(name)
    _begin_attempt(store, name_key, int(now), limits)
    account = store.accounts.find(name)
    password_hash = (
        None if account is None else store.accounts.read_password_hash(account.account_id)
    )
    prepare_verification()
    is_right = verify_password(password_hash, password)
    if account is None or account.locked or not is_right:
        store.audit.record("sign-in refused", f"account={_describe(account)}")
        raise SignInRefusedError("the sign-in was refused")
    with store.transaction():
        if password_hash is not None and is_outdated(password_hash):
            store.accounts.set_password_hash(account.account_id, hash_password(password))
        store.sign_ins.forget_attempts(name_key)
    return account


def _begin_attempt(store: Store, name_key: bytes, now: int, limits: SignInLimits) -> None:
    """Count an attempt before it is decided, so that a thousand attempts at the same time are not a thousand tries.

    Raises:
        TooManyAttemptsError: the limit is reached. The attempt is not counted, so that waiting helps.
    """
    with store.transaction():
        store.sign_ins.delete_older(now - limits.window_s)
        counts = store.sign_ins.count_attempts(name_key, now - limits.window_s)
        is_too_many = counts.of_name >= limits.per_name or counts.overall >= limits.overall
        if not is_too_many:
            store.sign_ins.add_attempt(name_key, now)
    if is_too_many:
        minutes = -(-limits.window_s // 60)
        raise TooManyAttemptsError(
            "too many sign-ins have failed",
            f"Wait {minutes} minutes, or ask an administrator of this service.",
        )


def _describe(account: Account | None) -> str:
    # A name without an account is not logged: people type passwords into the wrong field.
    return "unknown" if account is None else account.account_id
