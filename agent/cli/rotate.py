"""The commands `rotate request|send|cancel`: replace the site's agent key or steward's key."""

from functools import partial
from pathlib import Path

import click

from agent.cli.federation import today_day, write_new_file
from agent.cli.options import FILE
from agent.cli.output import with_site
from agent.cli.reset import HEAD, read_standing_here
from agent.cli.submission_context import record_event
from agent.keys import read_public
from agent.site.directory import Site

_COMPARE = (
    "Read the fingerprint to the central team by telephone or face to face. The team decides."
)


@click.group()
def rotate() -> None:
    """Replace the agent's or the steward's key."""


@rotate.command()
@click.option(
    "--role",
    type=click.Choice(["agent", "steward"]),
    required=True,
    help="Owner of the key to replace.",
)
@click.option(
    "--steward-public", "steward_path", type=FILE, help="The new steward's key: its .pub file."
)
@click.option(
    "--out", type=FILE, required=True, help="Write the request for the steward to this file."
)
@click.pass_obj
def request(site: Site, role: str, steward_path: Path | None, out: Path) -> None:
    """Request the replacement of a key. Both old keys and the new one sign the request.

    A new agent key is stored as keys/agent.key.new, and replaces the old one once the registry names it.
    """
    from agent.disclosure.key_requests import draft_rotation

    if (role == "steward") != (steward_path is not None):
        raise click.UsageError(
            "--steward-public must be given with --role steward, and with no other role"
        )
    _ = site.settings  # a folder that is not a site is refused
    steward_public = read_public(steward_path) if steward_path is not None else None
    drafted = draft_rotation(site, steward_public, today_day(site), partial(record_event, site))
    write_new_file(out, drafted.data)
    click.echo(f"Request written to {out.name}. The new key:")
    click.echo(f"  {role:<8} {drafted.keys[role].fingerprint}")
    twice = (
        " first with the old key, then the resulting file with the new one,"
        if role == "steward"
        else ""
    )
    click.echo(f"The steward signs it,{twice} with")
    click.echo(f"  intramural-steward sign-request {out.name} --key KEY --out SIGNED")
    click.echo(with_site(f"Send the signed file with `intramural rotate send SIGNED`. {_COMPARE}"))


@rotate.command()
@click.argument("signed", type=FILE)
@click.option(
    "--out", type=FILE, help="Check the request and write it to this file instead of sending it."
)
@click.pass_obj
def send(site: Site, signed: Path, out: Path | None) -> None:
    """Send the request signed by the steward. Until it is in force, nothing else can be prepared."""
    from agent.disclosure.key_requests import send_rotation
    from agent.io.atomic_files import read_given
    from protocol.envelope import MAX_BYTES, STATEMENT_TYPE

    _ = site.settings  # a folder that is not a site is refused
    data = read_given(signed, MAX_BYTES[STATEMENT_TYPE], "the signed request")
    send_rotation(site, data, today_day(site), partial(record_event, site), post=out is None)
    if out is not None:
        write_new_file(out, data)
        click.echo(f"Request written to {out.name}; hand it to the central team. {_COMPARE}")
    else:
        click.echo(f"Request sent; it awaits a decision by the central team. {_COMPARE}")
    click.echo(
        with_site(
            "Once it is in force, run `intramural registry update`, then `intramural submission send`."
        )
    )


@rotate.command()
@HEAD
@click.pass_obj
def cancel(site: Site, head_file: Path | None) -> None:
    """Cancel a rotation that will not be put in force.

    First ask the central team to drop the request.
    """
    from agent.disclosure.key_requests import cancel_rotation

    standing = read_standing_here(site, head_file)
    for digest in cancel_rotation(site, standing, today_day(site), partial(record_event, site)):
        click.echo(f"cancelled {digest}")
