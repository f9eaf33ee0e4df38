"""Sessions of people who are signed in: opened at each sign-in, limited in time, and revocable at once.

The cookie holds 256 random bits; the store holds only their keyed hash. The secret of a session's forms (CSRF) is
derived from the cookie under the site's key, so it is stored nowhere.
"""

import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.access.clock import STEP_S, keep_time, notice_setback, skip_if_not_writable
from agent.store import Account, SessionRow, Store

if TYPE_CHECKING:
    from agent.site.settings import Settings

_SECRET_BYTES: Final = 32
_LONGEST_COOKIE: Final = 200  # characters; longer values are not even hashed
_MOST_PER_ACCOUNT: Final = (
    20  # open sessions; a program that signs in again and again ends its own oldest ones
)


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How long sessions last, in seconds: without a request, and altogether."""

    idle_s: int
    total_s: int


@dataclass(frozen=True, slots=True)
class Session:
    """A valid session.

    Attributes:
        session_id: names the session in lists; it is no secret.
        account: the account as stored now, so that a change of its roles applies at once.
        csrf: the secret that forms of this session must contain, 64 hex digits.
        opened_at: seconds since 1970 of the sign-in.
        ends_at: seconds since 1970 at which the session ends in any case.
        idle_ends_at: seconds since 1970 at which the session ends if there is no further request.
    """

    session_id: str
    account: Account
    csrf: str
    opened_at: int
    ends_at: int
    idle_ends_at: int


def read_session_limits(settings: "Settings") -> SessionLimits:
    """Return the site's limits of sessions."""
    return SessionLimits(settings.session_idle_minutes * 60, settings.session_hours * 3600)


def open_session(store: Store, account: Account, now: float, *, replaces: str = "") -> str:
    """Open a session for an account that has just signed in. Return the value of its cookie.

    The value is always new, so that nobody can prepare a session for someone else to sign in to (fixation).

    Args:
        store: the site's store.
        account: the account.
        now: the time, in seconds since 1970.
        replaces: the cookie that the browser sent with the sign-in; its session ends.
    """
    notice_setback(store, int(now))
    cookie = secrets.token_urlsafe(_SECRET_BYTES)
    with store.transaction():
        replaced = _find_row(store, replaces)
        if replaced is not None:
            store.sessions.end(replaced.session_id)
        store.sessions.end_oldest(account.account_id, _MOST_PER_ACCOUNT - 1)
        store.sessions.add(cookie, account.account_id, int(now))
    return cookie


def read_session(store: Store, cookie: str, now: float, limits: SessionLimits) -> Session | None:
    """Return the session of a cookie, or None if there is none, it has ended, or its account is locked.

    The time of the request is recorded in steps of half a minute, so an idle session may end that much earlier.
    """
    keep_time(store, int(now), limits.idle_s, limits.total_s)
    row = _find_row(store, cookie)
    if row is None:
        return None
    at = max(int(now), row.seen_at)
    account = store.accounts.find_id(row.account_id)
    if account is None or account.locked or _has_ended(row, at, limits):
        with skip_if_not_writable(store):
            store.sessions.end(row.session_id)
        return None
    if at - row.seen_at >= STEP_S:
        with skip_if_not_writable(store):
            store.sessions.note_seen(row.session_id, at)
    return Session(
        session_id=row.session_id,
        account=account,
        csrf=store.sessions.derive_csrf(cookie),
        opened_at=row.opened_at,
        ends_at=row.opened_at + limits.total_s,
        idle_ends_at=at + limits.idle_s,
    )


def check_csrf(session: Session, sent: str) -> bool:
    """Return whether a form was made for this session."""
    return hmac.compare_digest(session.csrf.encode(), sent.encode("utf-8", "surrogatepass"))


def end_session(store: Store, session: Session) -> None:
    """End a session, as when its person signs out."""
    store.sessions.end(session.session_id)


def end_own_session(store: Store, account: Account, session_id: str) -> bool:
    """End a session by its id, if it is one of this account. Return whether there was one."""
    for row in store.sessions.read_all():
        if row.session_id == session_id and row.account_id == account.account_id:
            store.sessions.end(session_id)
            return True
    return False


def end_all_sessions(store: Store, account: Account, *, except_id: str = "") -> int:
    """End the sessions of an account, except one if it is named. Return their number."""
    return store.sessions.end_all(account.account_id, except_id=except_id)


def list_sessions(
    store: Store, now: float, limits: SessionLimits, account: Account | None = None
) -> list[SessionRow]:
    """Return the sessions that are still valid, of one account or of all, the one used last first."""
    rows = []
    for row in store.sessions.read_all():
        is_meant = account is None or row.account_id == account.account_id
        if is_meant and not _has_ended(row, int(now), limits):
            rows.append(row)
    return rows


def _find_row(store: Store, cookie: str) -> SessionRow | None:
    if not 0 < len(cookie) <= _LONGEST_COOKIE:
        return None
    return store.sessions.find(cookie)


def _has_ended(row: SessionRow, at: int, limits: SessionLimits) -> bool:
    return at >= row.opened_at + limits.total_s or at >= row.seen_at + limits.idle_s
