"""The commands `reset show|continue|request|send`: a new epoch after a restore, a cloned machine or a lost key."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import today_day, write_new_file
from agent.cli.options import FILE
from agent.cli.output import with_site
from agent.cli.submission_context import record_event
from agent.keys import read_public
from agent.site.directory import Site
from protocol.predicates import RESET_REASONS

if TYPE_CHECKING:
    from agent.disclosure.site_standing import SiteStanding

HEAD = click.option(
    "--head",
    "head_file",
    type=FILE,
    help="The aggregator's signed head of this site's chain, if received as a file.",
)
_COMPARE = (
    "Read the fingerprints to the central team by telephone or face to face. The team decides."
)


@click.group()
def reset() -> None:
    """Start a new epoch after a restored backup or a lost key."""


@reset.command()
@HEAD
@click.pass_obj
def show(site: Site, head_file: Path | None) -> None:
    """Show what this machine has lost and what to do next. The exit code is 1 if anything is lost.

    Missing receipts are fetched; nothing else is changed.
    """
    standing = read_standing_here(site, head_file)
    for line in [*_describe(standing), *_describe_restored(site, standing)]:
        click.echo(with_site(line))
    if not standing.comparison.is_whole:
        raise click.exceptions.Exit(1)


@reset.command("continue")
@HEAD
@click.option(
    "--head-is-new",
    is_flag=True,
    help="The central team has written the --head file after this site was restored.",
)
@click.pass_obj
def continue_(site: Site, head_file: Path | None, head_is_new: bool) -> None:
    """Let a restored site submit again, if it has lost nothing.

    It is compared with the aggregator's log once more. No other machine may run as this site any longer.
    """
    from agent.disclosure.restored_site import continue_after_restore

    if (head_file is not None) != head_is_new:
        raise click.UsageError(
            "--head needs --head-is-new: an old file would not show what the site has sent since"
        )
    standing = read_standing_here(site, head_file)
    continue_after_restore(site, standing, partial(record_event, site))
    click.echo("Nothing is lost. This site submits again.")


@reset.command()
@click.option(
    "--reason", type=click.Choice(RESET_REASONS), required=True, help="Reason for the reset."
)
@click.option(
    "--steward-public",
    "steward_path",
    type=FILE,
    help="The steward's new .pub file, if that key changes.",
)
@click.option(
    "--new-agent-key",
    is_flag=True,
    help="Make a new agent key, which is used once the registry names it.",
)
@click.option(
    "--new-ledger", is_flag=True, help="Set an unreadable ledger aside and start a new one."
)
@HEAD
@click.option(
    "--out", type=FILE, required=True, help="Write the request for the steward to this file."
)
@click.pass_obj
def request(
    site: Site,
    reason: str,
    steward_path: Path | None,
    new_agent_key: bool,
    new_ledger: bool,
    head_file: Path | None,
    out: Path,
) -> None:
    """Request a new epoch of the site's chain.

    The epoch begins where the site's chain ends in the aggregator's log. The steward signs the request with
    `intramural-steward sign-request`. Running the same command again writes the same bytes.
    """
    from agent.disclosure.key_requests import ResetWish, draft_reset

    _check_keys(reason, steward_path, new_agent_key=new_agent_key)
    standing = read_standing_here(site, head_file)
    wish = ResetWish(
        reason=reason,
        steward=read_public(steward_path) if steward_path else None,
        new_agent_key=new_agent_key,
        new_ledger=new_ledger,
    )
    drafted = draft_reset(site, standing, wish, today_day(site), partial(record_event, site))
    write_new_file(out, drafted.data)
    click.echo(
        f"Request for epoch {standing.comparison.head.epoch + 1} written to {out.name}. Its keys:"
    )
    click.echo(f"  agent    {drafted.keys['agent'].fingerprint}")
    click.echo(f"  steward  {drafted.keys['steward'].fingerprint}")
    click.echo(
        f"The steward signs it with `intramural-steward sign-request {out.name} --key KEY --out SIGNED`;"
    )
    click.echo(with_site(f"send the signed file with `intramural reset send SIGNED`. {_COMPARE}"))


@reset.command()
@click.argument("signed", type=FILE)
@click.option(
    "--out", type=FILE, help="Check the request and write it to this file instead of sending it."
)
@click.pass_obj
def send(site: Site, signed: Path, out: Path | None) -> None:
    """Send the request signed by the steward. The central team decides about it."""
    from agent.disclosure.key_requests import send_reset
    from agent.io.atomic_files import read_given
    from protocol.envelope import MAX_BYTES, STATEMENT_TYPE

    _ = site.settings  # a folder that is not a site is refused
    data = read_given(signed, MAX_BYTES[STATEMENT_TYPE], "the signed request")
    audit = partial(record_event, site)
    in_force = send_reset(site, data, today_day(site), audit, post=out is None)
    if out is not None:
        write_new_file(out, data)
        click.echo(f"Request written to {out.name}; hand it to the central team. {_COMPARE}")
    elif in_force:
        click.echo("The reset is already in force.")
    else:
        click.echo(f"Request sent; it awaits a decision by the central team. {_COMPARE}")
    click.echo(
        with_site("Once it is in force, run `intramural registry update`, then prepare again.")
    )


def read_standing_here(site: Site, head_file: Path | None) -> "SiteStanding":
    """Compare this machine with the aggregator's signed head of the chain, fetched now or read from a file."""
    from agent.disclosure.site_standing import read_standing
    from agent.io.atomic_files import read_given
    from protocol.site_head import MAX_SITE_HEAD

    _ = site.settings  # a folder that is not a site is refused
    carried = None
    if head_file is not None:
        note = read_given(head_file, MAX_SITE_HEAD, "the aggregator's signed head")
        carried = note.decode("utf-8", "replace")
    return read_standing(site, carried, today_day(site))


def _check_keys(reason: str, steward_path: Path | None, *, new_agent_key: bool) -> None:
    if reason == "lost_steward_key" and steward_path is None:
        raise click.UsageError(
            "--reason lost_steward_key needs the new public key: --steward-public FILE.pub"
        )
    if reason == "stolen_key" and steward_path is None and not new_agent_key:
        raise click.UsageError(
            "--reason stolen_key needs a new key: --new-agent-key, --steward-public, or both"
        )


def _describe_restored(site: Site, standing: "SiteStanding") -> list[str]:
    """Return what a restored site that has lost nothing can do."""
    from agent.disclosure.restored_site import describe_restoration, find_open_restoration

    if not standing.comparison.is_whole:
        return []
    with site.store() as store:
        restoration = find_open_restoration(site, store)
    if restoration is None:
        return []
    sentence = describe_restoration(restoration)
    return [
        f"{sentence[0].upper()}{sentence[1:]}: until you say so, it submits nothing.",
        "If no other machine runs as this site: `intramural reset continue`. If you cannot be sure: "
        "`intramural reset request --reason restored --out REQUEST`, which shuts such a machine out.",
    ]


def _describe(standing: "SiteStanding") -> list[str]:
    from agent.disclosure.site_standing import choose_reset_reason, describe_history

    lines = describe_history(standing)
    if standing.comparison.is_whole:
        return [
            *lines,
            "Nothing is lost. Continue with `intramural submission send` or `intramural submission prepare`.",
        ]
    return [
        *lines,
        "What to do: if a newer backup of the folder submissions/ exists, restore it and run this command again. If "
        "several machines run as this site, keep only one. Then request a new epoch: "
        f"`intramural reset request --reason {choose_reset_reason(standing)} --out REQUEST`"
        + (" --new-ledger" if standing.ledger is None else "")
        + ". Figures of datasets whose entries are lost stay suppressed until a newer version is registered.",
    ]
