"""The commands `tokens`: secrets of programs that use the service's HTTP interface."""

import time
from collections.abc import Sequence

import click

from agent.cli.accounts import format_time
from agent.cli.options import format_option
from agent.cli.output import fitting, show_rows, with_site
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.site.directory import Site


@click.group()
def tokens() -> None:
    """Create, list and revoke API tokens of the service."""


@tokens.command("create")
@click.argument("name")
@click.option("--label", required=True, help="The program's purpose, in a few words.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    metavar="SCOPE",
    help="An action that the token allows, such as queue_jobs; may be repeated. The account must be allowed it too.",
)
@click.option(
    "--days",
    type=click.IntRange(1),
    default=30,
    show_default=True,
    help="Days until it expires; at most api_token_days of site.yaml.",
)
@click.pass_obj
def create_command(site: Site, name: str, label: str, scopes: Sequence[str], days: int) -> None:
    """Create an API token that acts for the account NAME. It is printed now and never again."""
    from agent.access.accounts import require_account
    from agent.access.roles import Action
    from agent.access.tokens import create_token, list_scopes

    with site.store() as store:
        account = require_account(store, name)
        unknown = [scope for scope in scopes if scope not in set(Action)]
        if unknown:
            raise ConfigError(
                f"there is no scope named {unknown[0]}",
                f"Scopes for {account.name}: {', '.join(list_scopes(account)) or 'none'}.",
            )
        new = create_token(
            store,
            account,
            label,
            [Action(scope) for scope in dict.fromkeys(scopes)],
            days,
            time.time(),
            most_days=site.settings.api_token_days,
        )
    click.echo(new.secret)
    note = f"Token {new.row.token_id} of {account.name} expires at {format_time(new.row.expires_at)} UTC."
    click.echo(printable(note), err=True)
    click.echo("Keep it in a file with mode 0600; it is not shown again.", err=True)


@tokens.command("list")
@click.argument("name", required=False)
@format_option()
@click.pass_obj
def list_command(site: Site, name: str | None, form: str) -> None:
    """List the API tokens that still work, of all accounts or of one. Their secrets are not stored."""
    from agent.access.accounts import require_account
    from agent.access.tokens import list_tokens

    with site.store() as store:
        account = None if name is None else require_account(store, name)
        names = {found.account_id: found.name for found in store.accounts.read_all()}
        listed = list_tokens(store, time.time(), account)
    rows = [
        {
            "id": token.token_id,
            "account": names.get(token.account_id, ""),
            "label": token.label,
            "expires": format_time(token.expires_at),
            "used": format_time(token.used_at),
            "created": format_time(token.created_at),
            "scopes": ", ".join(sorted(token.scopes)),
        }
        for token in listed
    ]
    if not rows and form == "table":
        click.echo(with_site("There are no API tokens; `intramural tokens create` makes one."))
        return
    columns = {
        "id": "Id",
        "account": "Account",
        "label": "Label",
        "expires": "Expires (UTC)",
        "used": "Last use",
        "created": "Created",
        "scopes": "Scopes",
    }
    shown = fitting(rows, columns, ("created", "used"), folds=True)
    show_rows(rows, shown, form, folds=True)


@tokens.command("revoke")
@click.argument("token_id", metavar="ID")
@click.pass_obj
def revoke_command(site: Site, token_id: str) -> None:
    """Revoke an API token at once and for good."""
    from agent.access.tokens import require_token, revoke_token

    with site.store() as store:
        revoke_token(store, require_token(store, token_id), time.time())
    click.echo(f"{token_id} is revoked")
