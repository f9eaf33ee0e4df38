"""The commands `accounts`: people who may use the service, their roles, passwords and sessions."""

import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import Command, format_option
from agent.cli.output import fitting, show_rows, with_site
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.site.directory import Site
from agent.store import Account, Origin, Role

if TYPE_CHECKING:
    from agent.store import Store

_LONGEST_PASSWORD_FILE = 4096  # bytes
_TRIES = 3  # passwords at a terminal
_SIGNS_IN = {
    Origin.LOCAL: "password",
    Origin.OIDC: "OpenID provider",
    Origin.PROXY: "trusted proxy",
}
_FROM_GROUPS = "The groups at the {provider} give the roles anew at the next sign-in."


def _role_option(command: Command) -> Command:
    add_option = click.option(
        "--role",
        "roles",
        type=click.Choice([role.value for role in Role]),
        multiple=True,
        required=True,
        help="A role; may be repeated. docs/service.md says what each one may do.",
    )
    return add_option(command)


def _password_file_option(command: Command) -> Command:
    add_option = click.option(
        "--password-file",
        type=click.File("r", encoding="utf-8"),
        help="Read the password from the first line of this file, or of standard input (-), instead of asking for it.",
    )
    return add_option(command)


def _own_password_option(command: Command) -> Command:
    add_option = click.option(
        "--own-password",
        is_flag=True,
        help="The person entered the password themselves, so that they need not choose another one when they sign in.",
    )
    return add_option(command)


@click.group()
def accounts() -> None:
    """Show and change accounts of people who use the service.

    Accounts are locked, never deleted, because the audit log and the queue go on naming them.
    """


@accounts.command("add")
@click.argument("name")
@_role_option
@_password_file_option
@_own_password_option
@click.option(
    "--origin",
    type=click.Choice([origin.value for origin in Origin]),
    default=Origin.LOCAL.value,
    show_default=True,
    help="Who checks the person: local (a password), oidc (the provider in site.yaml), proxy (the trusted proxy).",
)
@click.option(
    "--subject",
    help="The person's identifier at the OpenID provider (the claim `sub`). At the proxy it is the name.",
)
@click.pass_obj
def add_command(
    site: Site,
    name: str,
    roles: Sequence[str],
    password_file: Any,
    own_password: bool,
    origin: str,
    subject: str | None,
) -> None:
    """Add an account. Asks for the password of a local one without showing it."""
    from agent.access.accounts import add_account, check_name

    chosen = Origin(origin)
    check_name(name, chosen)
    key = _read_subject(site, chosen, name, subject)
    password = _read_password(name, password_file) if chosen is Origin.LOCAL else None
    with site.store() as store:
        account = add_account(
            store,
            name,
            _parse_roles(roles),
            time.time(),
            password=password,
            own_password=own_password,
            origin=chosen,
            subject=key,
        )
    click.echo(printable(f"added {account.name} ({_list_roles(account)}), id {account.account_id}"))
    if account.must_change_password:
        _note_must_change(account, "first")


@accounts.command("list")
@format_option()
@click.pass_obj
def list_command(site: Site, form: str) -> None:
    """List all accounts. The audit log names them by their id."""
    with site.store() as store:
        rows = _build_account_rows(site, store)
    if not rows and form == "table":
        hint = "`intramural accounts add NAME --role administrator` adds the first one."
        click.echo(with_site(f"There are no accounts yet; {hint}"))
        return
    columns = {
        "name": "Name",
        "roles": "Roles",
        "reveal": "Reveal",
        "state": "State",
        "signs_in_by": "Signs in by",
        "signed_in": "Last sign-in (UTC)",
        "sessions": "Sessions",
        "tokens": "API tokens",
        "id": "Id",
    }
    show_rows(rows, fitting(rows, columns, ("tokens", "sessions", "signs_in_by")), form)


@accounts.command("roles")
@click.argument("name")
@_role_option
@click.pass_obj
def roles_command(site: Site, name: str, roles: Sequence[str]) -> None:
    """Replace the roles of an account. They apply from its next request on."""
    from agent.access.accounts import change_roles

    account = _change(
        site, name, lambda store, found: change_roles(store, found, _parse_roles(roles))
    )
    click.echo(printable(f"{account.name} is now {_list_roles(account)}"))
    groups = {
        Origin.OIDC: site.settings.oidc_roles,
        Origin.PROXY: site.settings.trusted_proxy_roles,
    }
    if groups.get(account.origin):
        note = _FROM_GROUPS.format(provider=_SIGNS_IN[account.origin])
        click.echo(f"note: {note}", err=True)
    _warn_without_administrator(site)


@accounts.command("reveal")
@click.argument("name")
@click.option("--withdraw", is_flag=True, help="Withdraw it instead.")
@click.pass_obj
def reveal_command(site: Site, name: str, withdraw: bool) -> None:
    """Allow an account to see original texts. Each one that it opens is recorded in the audit log."""
    from agent.access.accounts import change_reveal

    account = _change(site, name, lambda store, found: change_reveal(store, found, not withdraw))
    may_or_not = "may see original texts" if account.may_reveal else "sees redacted texts only"
    click.echo(printable(f"{account.name} {may_or_not}"))


@accounts.command("lock")
@click.argument("name")
@click.pass_obj
def lock_command(site: Site, name: str) -> None:
    """Lock an account. Its sessions and API tokens end at once."""
    from agent.access.accounts import lock_account

    account = _change(site, name, lambda store, found: lock_account(store, found, time.time()))
    click.echo(printable(f"{account.name} is locked; its sessions and API tokens have ended"))
    _warn_without_administrator(site)


@accounts.command("unlock")
@click.argument("name")
@click.pass_obj
def unlock_command(site: Site, name: str) -> None:
    """Unlock an account. Failed sign-ins under its name are forgotten; ended API tokens stay ended."""
    from agent.access.accounts import unlock_account

    account = _change(site, name, unlock_account)
    click.echo(printable(f"{account.name} is unlocked"))


@accounts.command("password")
@click.argument("name")
@_password_file_option
@_own_password_option
@click.pass_obj
def password_command(site: Site, name: str, password_file: Any, own_password: bool) -> None:
    """Set the password of a local account. Its sessions end."""
    from agent.access.accounts import change_password, require_account

    with site.store() as store:
        require_account(store, name)  # before the password is asked for
    password = _read_password(name, password_file)
    account = _change(
        site,
        name,
        lambda store, found: change_password(store, found, password, own_password=own_password),
    )
    click.echo(printable(f"{account.name} has a new password; its sessions have ended"))
    if account.must_change_password:
        _note_must_change(account, "next")


@accounts.command("sessions")
@click.argument("name", required=False)
@format_option()
@click.pass_obj
def sessions_command(site: Site, name: str | None, form: str) -> None:
    """List who is signed in, or the sessions of one account."""
    from agent.access.accounts import require_account
    from agent.access.sessions import list_sessions, read_session_limits

    limits = read_session_limits(site.settings)
    with site.store() as store:
        account = None if name is None else require_account(store, name)
        names = {found.account_id: found.name for found in store.accounts.read_all()}
        sessions = list_sessions(store, time.time(), limits, account)
    rows = [
        {
            "name": names.get(session.account_id, ""),
            "opened": format_time(session.opened_at),
            "seen": format_time(session.seen_at),
            "ends": format_time(session.opened_at + limits.total_s),
            "id": session.session_id,
        }
        for session in sessions
    ]
    if not rows and form == "table":
        click.echo("Nobody is signed in.")
        return
    columns = {
        "name": "Name",
        "opened": "Signed in (UTC)",
        "seen": "Last request",
        "ends": "Ends at the latest",
        "id": "Id",
    }
    show_rows(rows, columns, form)


@accounts.command("end-sessions")
@click.argument("name")
@click.pass_obj
def end_sessions_command(site: Site, name: str) -> None:
    """End all sessions of an account. Its person may sign in again; `accounts lock` prevents that."""
    from agent.access.accounts import end_sessions, require_account

    with site.store() as store:
        ended = end_sessions(store, require_account(store, name))
    click.echo(f"{ended} sessions ended")


def format_time(at: int | None) -> str | None:
    """Return a time, in seconds since 1970, as tables show it; None stays None."""
    return None if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def _change(site: Site, name: str, change: Callable[["Store", Account], object]) -> Account:
    """Change the account of a name, and return it as it is then. Raises ConfigError if there is none."""
    from agent.access.accounts import require_account

    with site.store() as store:
        change(store, require_account(store, name))
        return require_account(store, name)


def _read_subject(site: Site, origin: Origin, name: str, subject: str | None) -> str | None:
    """Return what identifies the person of a new account at a provider; None for a local account."""
    from agent.access.external import join_subject

    if origin is Origin.OIDC and site.settings.oidc_issuer is None:
        raise ConfigError("site.yaml names no OpenID provider", "Set `oidc_issuer` first.")
    if origin is Origin.OIDC and not subject:
        raise ConfigError(
            "--subject is missing",
            "Give the person's identifier at the provider; they are told it when they try to sign in.",
        )
    if origin is not Origin.OIDC and subject:
        raise ConfigError("--subject is only for --origin oidc", "Leave it out.")
    match origin:
        case Origin.OIDC:
            return join_subject(site.settings.oidc_issuer or "", subject or "")
        case Origin.PROXY:
            return name
        case Origin.LOCAL:
            return None


def _read_password(name: str, file: Any) -> str:
    """Return a password from a file, or from the terminal without showing it; never from the command line itself.

    At a terminal, one that is too easy to guess is asked for again.
    """
    from agent.access.passwords import check_password_strength

    if file is not None:
        try:
            line: str = file.readline(_LONGEST_PASSWORD_FILE)
        except UnicodeDecodeError:
            raise ConfigError(
                "the file with the password is not UTF-8", "Save the file as UTF-8."
            ) from None
        return line.rstrip("\r\n")
    if not sys.stdin.isatty():
        raise ConfigError(
            "there is no terminal to ask for the password",
            "Give --password-file FILE, or --password-file - to read it from standard input.",
        )
    for _ in range(_TRIES - 1):
        password = _ask_password(name)
        try:
            check_password_strength(password, name)
        except ConfigError as error:
            click.echo(f"{error}. {error.advice}", err=True)
        else:
            return password
    return _ask_password(name)  # if it is refused again, the command ends


def _ask_password(name: str) -> str:
    asked: str = click.prompt(
        printable(f"New password for {name}"), hide_input=True, confirmation_prompt="The same again"
    )
    return asked


def _parse_roles(roles: Sequence[str]) -> frozenset[Role]:
    return frozenset(Role(role) for role in roles)


def _list_roles(account: Account) -> str:
    return ", ".join(role for role in Role if role in account.roles) or "without a role"


def _build_account_rows(site: Site, store: "Store") -> list[dict[str, Any]]:
    from agent.access.sessions import list_sessions, read_session_limits
    from agent.access.tokens import list_tokens

    now, limits = time.time(), read_session_limits(site.settings)
    rows = []
    for account in store.accounts.read_all():
        row = {
            "name": account.name,
            "roles": _list_roles(account),
            "reveal": account.may_reveal,
            "state": _describe_state(account),
            "signs_in_by": _SIGNS_IN[account.origin],
            "signed_in": format_time(account.signed_in_at),
            "sessions": len(list_sessions(store, now, limits, account)),
            "tokens": len(list_tokens(store, now, account)),
            "id": account.account_id,
        }
        rows.append(row)
    return rows


def _note_must_change(account: Account, which: str) -> None:
    words = f"note: {account.name} has to choose another password at the {which} sign-in"
    click.echo(printable(f"{words} (with --own-password they need not)"), err=True)


def _describe_state(account: Account) -> str:
    if account.locked:
        return "locked"
    return "first password" if account.must_change_password else "active"


def _warn_without_administrator(site: Site) -> None:
    from agent.access.accounts import has_administrator

    with site.store() as store:
        if has_administrator(store):
            return
    hint = "`intramural accounts add NAME --role administrator` adds one."
    click.echo(with_site(f"note: No administrator is left; {hint}"), err=True)
