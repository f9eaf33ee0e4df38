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
from agent.io.wording import format_count
from agent.service.web.call import Call
from agent.service.web.numbers import read_whole_number
from agent.service.web.service import Desk, redirect
from agent.store import Account, Role, TokenRow

_PERSON_CHOOSES = "The person has to choose another password when they sign in next."


def show_own(desk: Desk, call: Call) -> Response:
    """Show one's own account with its sessions and API tokens."""
    return _draw_own(desk, call)


def show_new_password(desk: Desk, call: Call) -> Response:
    """Show the form for another password to someone whose password somebody else chose."""
    if not call.signed_in.owes_password:
        return redirect("/account")
    return _draw_own(desk, call)


def _draw_own(
    desk: Desk,
    call: Call,
    status: int = 200,
    *,
    new_token: str = "",
    problem: AgentError | None = None,
) -> Response:
    if call.signed_in.owes_password:
        return desk.draw("new_password.html", call, status, problem=problem)
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
        if call.get("new") == call.get("present"):
            raise ConfigError("this is the present password", "Choose another one.")
        change_password(
            desk.store,
            account,
            call.get("new"),
            by=account.account_id,
            own_password=True,
            except_session=kept,
        )
    except TooManyAttemptsError as error:
        return _draw_own(desk, call, 403, problem=error)
    except SignInRefusedError:
        wrong = ConfigError("the present password is wrong", "Nothing was changed.")
        return _draw_own(desk, call, 403, problem=wrong)
    except ConfigError as error:
        return _draw_own(desk, call, 400, problem=error)
    words = "Your password is changed. Other sessions of yours have ended."
    return desk.confirm(call, "/" if call.signed_in.owes_password else "/account", words)


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
    most_days = settings.api_token_days
    days = read_whole_number(call.get("days"), "the days until it expires", 1, most_days)
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
        days,
        time.time(),
        most_days=most_days,
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
    return desk.confirm(call, "/account", f"The API token “{row.label}” is revoked.")


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
    return _draw_account(desk, call, _find_account(desk, call))


def _draw_account(
    desk: Desk,
    call: Call,
    account: Account,
    status: int = 200,
    *,
    problem: ConfigError | None = None,
) -> Response:
    limits = read_session_limits(desk.site.settings)
    now = time.time()
    return desk.draw(
        "other_account.html",
        call,
        status,
        problem=problem,
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
    words = f"The account {account.name} is added. {_PERSON_CHOOSES}"
    return desk.confirm(call, f"/accounts/{account.account_id}", words)


def change(desk: Desk, call: Call) -> Response:
    """Carry out what an administrator chose for one account."""
    account, by = _find_account(desk, call), call.signed_in.account.account_id
    try:
        words = _carry_out(desk, call, account, by)
    except ConfigError as error:
        return _draw_account(desk, call, account, 400, problem=error)
    return desk.confirm(call, f"/accounts/{account.account_id}", words)


def _carry_out(desk: Desk, call: Call, account: Account, by: str) -> str:
    """Carry out one step, and return what it did, in words. Raises ConfigError if it cannot be done."""
    match call.get("step"):
        case "roles":
            change_roles(desk.store, account, _read_roles(call), by=by)
            words = "The roles are changed. They apply from the next request on."
        case "lock":
            lock_account(desk.store, account, time.time(), by=by)
            words = "The account is locked. Its sessions and API tokens have ended."
        case "unlock":
            unlock_account(desk.store, account, by=by)
            words = "The account is unlocked. Its API tokens stay ended."
        case "end":
            count = end_sessions(desk.store, account, by=by)
            words = f"{format_count(count, 'session')} ended."
        case "reveal":
            change_reveal(desk.store, account, may_reveal=True, by=by)
            words = "The account may see original text."
        case "hide":
            change_reveal(desk.store, account, may_reveal=False, by=by)
            words = "The account sees redacted text only."
        case "password":
            if by == account.account_id:
                raise ConfigError("this is your own account", "Its page has a form for that.")
            password = call.require("password", "The new password")
            change_password(desk.store, account, password, by=by)
            words = f"The account has a new password; its sessions have ended. {_PERSON_CHOOSES}"
        case "revoke":
            row = _find_token(desk, account, call.get("token"))
            revoke_token(desk.store, row, time.time(), by=by)
            words = f"The API token “{row.label}” is revoked."
        case _:
            raise ConfigError("nothing was chosen", "Use the buttons of the page.")
    return words


def _find_token(desk: Desk, account: Account, token_id: str) -> TokenRow:
    """Return an API token of an account. Raises ConfigError if it has none with this id."""
    row = require_token(desk.store, token_id)
    if row.account_id != account.account_id:
        raise ConfigError("this account has no API token with this id", "Choose one from the list.")
    return row


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
