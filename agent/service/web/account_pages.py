"""The pages of accounts: one's own password, sessions and API tokens, and everybody's account for the administrator."""

import time

from starlette.responses import Response

from agent.access.accounts import (
    add_account,
    change_password,
    change_reveal,
    change_roles,
    end_sessions,
    lock_account,
    unlock_account,
)
from agent.access.refusals import SignInRefusedError, TooManyAttemptsError
from agent.access.sessions import list_sessions, read_session_limits
from agent.access.sign_in import confirm_password, read_sign_in_limits
from agent.access.tokens import (
    create_token,
    list_scopes,
    list_tokens,
    require_token,
    revoke_token,
)
from agent.errors import AgentError, ConfigError
from agent.service.web.call import Call
from agent.service.web.service import Desk, redirect
from agent.store import Account, Role

_LONGEST_NUMBER = 9  # digits


def show_own(desk: Desk, call: Call) -> Response:
    """Show one's own account with its sessions and API tokens."""
    return _draw_own(desk, call)


def _draw_own(
    desk: Desk,
    call: Call,
    status: int = 200,
    *,
    new_token: str = "",
    problem: AgentError | None = None,
) -> Response:
    account, now = call.signed_in.account, time.time()
    limits = read_session_limits(desk.site.settings)
    return desk.draw(
        "account.html",
        call,
        status,
        account=account,
        sessions=list_sessions(desk.store, now, limits, account),
        tokens=list_tokens(desk.store, now, account),
        present=call.signed_in.session,
        scopes=list_scopes(account),
        new_token=new_token,
        problem=problem,
        longest_days=desk.site.settings.api_token_days,
    )


def set_own_password(desk: Desk, call: Call) -> Response:
    """Change one's own password, after the present one was given again; other sessions end."""
    account, session = call.signed_in.account, call.signed_in.session
    limits = read_sign_in_limits(desk.site.settings)
    kept = session.session_id if session else ""
    try:
        confirm_password(desk.store, account, call.get("present"), time.time(), limits)
        if call.get("new") != call.get("again"):
            raise ConfigError("the new passwords differ", "Enter the new one twice.")
        change_password(
            desk.store, account, call.get("new"), by=account.account_id, except_session=kept
        )
    except TooManyAttemptsError as error:
        return _draw_own(desk, call, 403, problem=error)
    except SignInRefusedError:
        wrong = ConfigError("the present password is wrong", "Nothing was changed.")
        return _draw_own(desk, call, 403, problem=wrong)
    except ConfigError as error:
        return _draw_own(desk, call, 400, problem=error)
    return redirect("/account")


def end_own_sessions(desk: Desk, call: Call) -> Response:
    """End all of one's own sessions, this one too."""
    account = call.signed_in.account
    end_sessions(desk.store, account, by=account.account_id)
    return redirect("/sign-in")


def make_own_token(desk: Desk, call: Call) -> Response:
    """Make an API token for oneself, and show it this once."""
    try:
        secret = _make_token(desk, call)
    except ConfigError as error:
        return _draw_own(desk, call, 400, problem=error)
    return _draw_own(desk, call, new_token=secret)


def _make_token(desk: Desk, call: Call) -> str:
    account, settings = call.signed_in.account, desk.site.settings
    days = call.get("days")
    if not days.isascii() or not days.isdigit() or len(days) > _LONGEST_NUMBER:
        raise ConfigError("the days must be a whole number", "Enter a number.")
    offered = {action.value: action for action in list_scopes(account)}
    chosen = call.form.get("scope", ())
    if not chosen or not set(chosen) <= offered.keys():
        raise ConfigError(
            "no action was chosen for the token", "Choose what it may do from the list."
        )
    token = create_token(
        desk.store,
        account,
        call.get("label"),
        [offered[name] for name in chosen],
        int(days),
        time.time(),
        most_days=settings.api_token_days,
        by=account.account_id,
    )
    return token.secret


def revoke_own_token(desk: Desk, call: Call) -> Response:
    """End one of one's own API tokens."""
    account = call.signed_in.account
    row = require_token(desk.store, call.path["token_id"])
    if row.account_id != account.account_id:
        raise ConfigError("there is no API token with this id", "Choose one from the list.")
    revoke_token(desk.store, row, time.time(), by=account.account_id)
    return redirect("/account")


def list_accounts(desk: Desk, call: Call) -> Response:
    """Show all accounts with their roles."""
    return _draw_accounts(desk, call)


def _draw_accounts(
    desk: Desk, call: Call, status: int = 200, *, problem: AgentError | None = None
) -> Response:
    accounts = sorted(desk.store.accounts.read_all(), key=lambda account: account.name)
    return desk.draw(
        "accounts.html",
        call,
        status,
        accounts=accounts,
        roles=list(Role),
        problem=problem,
        filled_name=call.get("name"),
        filled_roles=call.form.get("role", ()),
    )


def show_account(desk: Desk, call: Call) -> Response:
    """Show one account, with what an administrator may change."""
    account = _find_account(desk, call)
    limits = read_session_limits(desk.site.settings)
    now = time.time()
    return desk.draw(
        "other_account.html",
        call,
        account=account,
        roles=list(Role),
        sessions=list_sessions(desk.store, now, limits, account),
        tokens=list_tokens(desk.store, now, account),
        is_own=account.account_id == call.signed_in.account.account_id,
    )


def add(desk: Desk, call: Call) -> Response:
    """Add a local account with a first password."""
    try:
        account = add_account(
            desk.store,
            call.require("name", "The name"),
            _read_roles(call),
            time.time(),
            by=call.signed_in.account.account_id,
            password=call.require("password", "The first password"),
        )
    except ConfigError as error:
        return _draw_accounts(desk, call, 400, problem=error)
    return redirect(f"/accounts/{account.account_id}")


def change(desk: Desk, call: Call) -> Response:
    """Carry out what an administrator chose for one account."""
    account, by = _find_account(desk, call), call.signed_in.account.account_id
    match call.get("step"):
        case "roles":
            change_roles(desk.store, account, _read_roles(call), by=by)
        case "lock":
            lock_account(desk.store, account, time.time(), by=by)
        case "unlock":
            unlock_account(desk.store, account, by=by)
        case "end":
            end_sessions(desk.store, account, by=by)
        case "reveal":
            change_reveal(desk.store, account, may_reveal=True, by=by)
        case "hide":
            change_reveal(desk.store, account, may_reveal=False, by=by)
        case _:
            raise ConfigError("nothing was chosen", "Use the buttons of the page.")
    return redirect(f"/accounts/{account.account_id}")


def _read_roles(call: Call) -> set[Role]:
    try:
        return {Role(name) for name in call.form.get("role", ())}
    except ValueError:
        raise ConfigError("there is no such role", "Choose from the list.") from None


def _find_account(desk: Desk, call: Call) -> Account:
    account = desk.store.accounts.find_id(call.path["account_id"])
    if account is None:
        raise ConfigError("there is no such account", "Choose one from the list.")
    return account
