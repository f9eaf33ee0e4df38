"""Signing in and out with a local account."""

import time

from starlette.responses import Response

from agent.access.refusals import SignInRefusedError, TooManyAttemptsError
from agent.access.sessions import end_session, open_session
from agent.access.sign_in import read_sign_in_limits, sign_in_locally
from agent.service.web.call import Call
from agent.service.web.callers import set_cookie, unset_cookie
from agent.service.web.local_paths import choose_local_path
from agent.service.web.service import Desk, redirect

_UNAUTHORIZED = 401
_TOO_MANY = 429


def show_sign_in(desk: Desk, call: Call) -> Response:
    """Show the form for name and password; who is signed in already goes to the start page."""
    if call.caller is not None:
        return redirect(choose_local_path(call.get("next")))
    return _draw_form(desk, call, 200, "")


def _draw_form(desk: Desk, call: Call, status: int, problem: str) -> Response:
    return desk.draw(
        "sign_in.html",
        call,
        status,
        problem=problem,
        name=call.get("name") if problem else "",
        next=choose_local_path(call.get("next")),
        has_provider=desk.site.settings.oidc_issuer is not None,
    )


def sign_in(desk: Desk, call: Call) -> Response:
    """Check name and password, and open a session. An earlier session of this browser ends."""
    name, following = call.get("name"), choose_local_path(call.get("next"))
    limits = read_sign_in_limits(desk.site.settings)
    try:
        account = sign_in_locally(desk.store, name, call.get("password"), time.time(), limits)
    except TooManyAttemptsError as error:
        return _draw_form(desk, call, _TOO_MANY, f"Too many sign-ins have failed. {error.advice}")
    except SignInRefusedError:
        problem = "Name or password is wrong, or the account is locked."
        return _draw_form(desk, call, _UNAUTHORIZED, problem)
    cookie = open_session(desk.store, account, time.time(), replaces=call.cookie)
    response = redirect(following)
    set_cookie(response, cookie, is_secure=desk.service.is_secure)
    return response


def sign_out(desk: Desk, call: Call) -> Response:
    """End the session of this browser."""
    session = call.signed_in.session
    if session is not None:
        end_session(desk.store, session)
    response = redirect("/sign-in")
    unset_cookie(response, is_secure=desk.service.is_secure)
    return response
