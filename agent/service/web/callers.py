"""Who asks: the account behind a session's cookie or an API token."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from agent.access.roles import Action, find_reach, may
from agent.access.sessions import Session, SessionLimits, read_session
from agent.access.tokens import read_bearer, read_token
from agent.store import PUBLIC, Account, Audience, Store

# A browser sends a cookie with this prefix only to the host that set it, and only over HTTPS.
_SECURE_COOKIE: Final = "__Host-intramural"
_COOKIE: Final = "intramural"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        account: the account, as it is stored now.
        session: the session of a browser; None for an API token.
        scopes: the actions to which an API token is limited; None for a session.
    """

    account: Account
    session: Session | None = None
    scopes: frozenset[Action] | None = None

    def may(self, action: Action, owner: str | None = None) -> bool:
        """Return whether the caller may take an action on what `owner` owns (None: on something without an owner)."""
        if self.scopes is not None and action not in self.scopes:
            return False
        return may(self.account, action, owner)

    def lacks_scope(self, action: Action) -> bool:
        """Return whether the account may take an action, and only its API token does not allow it."""
        if self.scopes is None or action in self.scopes:
            return False
        return find_reach(self.account, action) is not None

    @property
    def owes_password(self) -> bool:
        """Whether the caller has to choose another password before anything else; a program with a token need not."""
        return self.session is not None and self.account.must_change_password

    def can_enter(self, action: Action) -> bool:
        """Return whether the caller may take an action at all, be it only on what is their own."""
        if self.scopes is not None and action not in self.scopes:
            return False
        return find_reach(self.account, action) is not None

    @property
    def audience(self) -> Audience:
        """Which runs the caller sees: those of everyone, and their own private ones."""
        account_id = self.account.account_id
        return Audience(account_id) if self.may(Action.VIEW_PRIVATE_RUNS, account_id) else PUBLIC

    @property
    def csrf(self) -> str:
        """The secret that forms of this session send back; empty for an API token, which sends no forms."""
        return self.session.csrf if self.session else ""


def find_caller(
    store: Store, request: Request, now: float, limits: SessionLimits, *, is_secure: bool
) -> Caller | None:
    """Return who sends a request; None if nobody is signed in, or the session or token has ended.

    A request with an Authorization header is the token's alone, whatever cookie comes with it.
    """
    authorization = request.headers.get("authorization")
    if authorization is not None:
        use = read_token(store, read_bearer(authorization), now)
        return None if use is None else Caller(use.account, scopes=use.scopes)
    session = read_session(store, read_cookie(request, is_secure=is_secure), now, limits)
    return None if session is None else Caller(session.account, session)


def read_cookie(request: Request, *, is_secure: bool) -> str:
    """Return the cookie of the session; empty if there is none."""
    return request.cookies.get(_name_cookie(is_secure=is_secure), "")


def set_cookie(response: Response, cookie: str, *, is_secure: bool) -> None:
    """Have the browser keep the cookie of a session until it is closed, and send it to no other site."""
    response.set_cookie(
        _name_cookie(is_secure=is_secure),
        cookie,
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )


def unset_cookie(response: Response, *, is_secure: bool) -> None:
    """Have the browser forget the cookie."""
    response.delete_cookie(
        _name_cookie(is_secure=is_secure),
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )


def _name_cookie(*, is_secure: bool) -> str:
    return _SECURE_COOKIE if is_secure else _COOKIE
