"""Signing in people for whom somebody else vouches: the hospital's OpenID provider, or a trusted reverse proxy."""

import time
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from agent.access.external import is_same_person, sign_in_external
from agent.access.oidc import (
    PENDING_S,
    OidcConfig,
    begin_oidc_sign_in,
    finish_oidc_sign_in,
    read_oidc_config,
)
from agent.access.proxy import read_proxy_account, read_trusted_proxy
from agent.access.sessions import open_session, read_session, read_session_limits
from agent.errors import ConfigError
from agent.service.web.call import Call
from agent.service.web.callers import Caller, read_cookie, set_cookie
from agent.service.web.local_paths import choose_local_path
from agent.service.web.service import Desk

RETURN_PATH: Final = "/sign-in/oidc"
_PENDING_COOKIE: Final = "intramural-sign-in"


def go_to_provider(desk: Desk, call: Call) -> Response:
    """Send a person to the provider's sign-in."""
    config = _require_provider(desk)
    departure = begin_oidc_sign_in(
        desk.store,
        config,
        desk.service.origin + RETURN_PATH,
        time.time(),
        choose_local_path(call.get("next")),
    )
    response = RedirectResponse(departure.url, 303)
    # Not strict: the person comes back from another site. It proves only who began this sign-in.
    response.set_cookie(
        _PENDING_COOKIE,
        departure.cookie,
        max_age=PENDING_S,
        path="/sign-in",
        secure=desk.service.is_secure,
        httponly=True,
        samesite="lax",
    )
    return response


def come_from_provider(desk: Desk, call: Call) -> Response:
    """Sign in a person who came back from the provider, and lead on to the page that they wanted.

    It leads on with a page: after a redirect, the browser would not send the new session's strict cookie along.
    """
    config = _require_provider(desk)
    query = {name: values[0] for name, values in call.query.items()}
    pending = call.cookies.get(_PENDING_COOKIE, "")
    arrival = finish_oidc_sign_in(desk.store, config, pending, query, time.time())
    cookie = open_session(desk.store, arrival.account, time.time(), replaces=call.cookie)
    following = choose_local_path(arrival.next_path)
    response = desk.draw("arrived.html", call, following=following, name=arrival.account.name)
    set_cookie(response, cookie, is_secure=desk.service.is_secure)
    response.delete_cookie(_PENDING_COOKIE, path="/sign-in")
    return response


def _require_provider(desk: Desk) -> OidcConfig:
    config = read_oidc_config(desk.site.settings)
    if config is None:
        raise ConfigError("this service has no OpenID provider", "Sign in with name and password.")
    return config


def find_proxied_caller(desk: Desk, request: Request) -> tuple[Caller, str] | None:
    """Return the person whom the trusted proxy names, with the cookie of a new session or "" for an earlier one.

    None if there is no such proxy, or it names nobody.

    Raises:
        SignInRefusedError: the headers are not the proxy's, or the person has no account here.
    """
    settings = desk.site.settings
    proxy = read_trusted_proxy(settings)
    if proxy is None:
        return None
    peer = request.client.host if request.client else ""
    headers = [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
    ]
    identity = read_proxy_account(headers, peer, proxy)
    if identity is None:
        return None
    now = time.time()
    cookie = read_cookie(request, is_secure=desk.service.is_secure)
    session = read_session(desk.store, cookie, now, read_session_limits(settings))
    if session is not None and is_same_person(desk.store, session.account, identity):
        return Caller(session.account, session), ""
    account = sign_in_external(desk.store, identity, settings.trusted_proxy_roles, now)
    new_cookie = open_session(desk.store, account, now, replaces=cookie)
    opened = read_session(desk.store, new_cookie, now, read_session_limits(settings))
    return Caller(account, opened), new_cookie
