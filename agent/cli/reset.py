"""The commands `reset show|request|send`: start a new epoch after a restore, a cloned machine or a lost key."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import open_federation, today_day, write_new_file
from agent.cli.options import FILE
from agent.cli.output import with_site
from agent.cli.rekeying_context import SiteStanding, find_steward_key, post_request, read_standing
from agent.cli.submission_context import open_outbox, record_event
from agent.errors import ConfigError, DisclosureError
from agent.keys import read_public
from agent.site.directory import Site
from agent.site.new_keys import load_new_agent_key, load_present_agent_key
from protocol.predicates import RESET_REASONS

if TYPE_CHECKING:
    from protocol.keys import Signer

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
    """Start a new epoch after restoring a backup or losing a key."""


@reset.command()
@HEAD
@click.pass_obj
def show(site: Site, head_file: Path | None) -> None:
    """Show what this machine has lost and what to do next. The exit code is 1 if anything is lost.

    Missing receipts are fetched; nothing else is changed.
    """
    standing = read_standing(site, head_file)
    for line in _describe(standing):
        click.echo(with_site(line))
    if not standing.comparison.is_whole:
        raise click.exceptions.Exit(1)


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
    from agent.disclosure.ledger import Ledger, derive_ledger_key
    from agent.disclosure.rekeying import request_reset, set_ledger_aside

    _check_keys(reason, steward_path, new_agent_key=new_agent_key)
    outbox = open_outbox(site)
    standing = read_standing(site, head_file)
    if standing.ledger is None and not new_ledger:
        raise DisclosureError(
            standing.ledger_fault,
            "Restore submissions/ledger from a backup. If no backup is intact, give --new-ledger: the old one is "
            "set aside, and figures of the datasets registered in it stay suppressed.",
        )
    if standing.comparison.is_whole and reason in ("restored", "fork"):
        raise ConfigError(
            "this machine has everything that the aggregator has, so there is nothing to reset",
            "Continue with `intramural submission send`.",
        )
    agent = _choose_agent_key(site, standing, new_agent_key=new_agent_key)
    steward = (
        read_public(steward_path)
        if steward_path
        else find_steward_key(standing.registry, standing.site_id)
    )
    with outbox.held():
        set_aside = set_ledger_aside(outbox) if new_ledger else 0
        data = request_reset(
            outbox,
            standing.registry,
            standing.comparison,
            Ledger() if new_ledger or standing.ledger is None else standing.ledger,
            agent=agent,
            steward=steward,
            reason=reason,
            ledger_seal=derive_ledger_key(site.seal_key()),
            today_day=today_day(),
            set_aside=set_aside,
        )
    record_event(
        site,
        "reset requested",
        f"epoch={standing.comparison.head.epoch + 1} reason={reason} day={today_day()}",
    )
    write_new_file(out, data)
    click.echo(
        f"Request for epoch {standing.comparison.head.epoch + 1} written to {out.name}. Its keys:"
    )
    click.echo(f"  agent    {agent.public.fingerprint}")
    click.echo(f"  steward  {steward.fingerprint}")
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
    from agent.disclosure.rekeying import check_signed
    from agent.io.atomic_files import read_bounded
    from protocol.envelope import MAX_BYTES, STATEMENT_TYPE

    federation = open_federation(site)
    registry, own = federation.read_registry(today_day()), federation.read_membership().site
    data = read_bounded(signed, MAX_BYTES[STATEMENT_TYPE], "the signed request")
    opened = check_signed(data, open_outbox(site), "reset", registry, own)
    record_event(site, "reset sent", f"digest={opened.digest} day={today_day()}")
    if out is not None:
        write_new_file(out, data)
        click.echo(f"Request written to {out.name}; hand it to the central team. {_COMPARE}")
    elif post_request(site, data, opened.digest):
        click.echo("The reset is already in force.")
    else:
        click.echo(f"Request sent; it awaits a decision by the central team. {_COMPARE}")
    click.echo(
        with_site("Once it is in force, run `intramural registry update`, then prepare again.")
    )


def _check_keys(reason: str, steward_path: Path | None, *, new_agent_key: bool) -> None:
    if reason == "lost_steward_key" and steward_path is None:
        raise click.UsageError(
            "--reason lost_steward_key needs the new public key: --steward-public FILE.pub"
        )
    if reason == "stolen_key" and steward_path is None and not new_agent_key:
        raise click.UsageError(
            "--reason stolen_key needs a new key: --new-agent-key, --steward-public, or both"
        )


def _choose_agent_key(site: Site, standing: SiteStanding, *, new_agent_key: bool) -> "Signer":
    """Return the agent key for the new epoch: a new one, or the present one if it is still valid."""
    if new_agent_key:
        return load_new_agent_key(site.keys)
    if not (site.keys / "agent.key").exists():
        raise ConfigError("the agent key is missing", "Make a new one with --new-agent-key.")
    signer = load_present_agent_key(site.keys)
    found = standing.registry.site_of(signer.public.keyid)
    if found is None:
        return signer  # a newly set up machine
    entry = found[1]
    ended = entry.revoked_from is not None or entry.until_index is not None
    if found[0] != standing.site_id or entry.role != "agent" or ended:
        raise ConfigError(
            "the agent's key here was replaced or revoked", "Make a new one with --new-agent-key."
        )
    return signer


def _describe(standing: SiteStanding) -> list[str]:
    comparison, head = standing.comparison, standing.comparison.head
    lines = [
        f"In the aggregator's log ({head.log_size} entries) this site's last link is {head.seq} of epoch {head.epoch}, "
        f"with {head.ledger.length} ledger entries"
        + ("; the site is frozen after a fork." if head.frozen else "."),
        f"This machine agrees with it up to link {comparison.common_seq}"
        + _format_if_any(
            comparison.waiting_links,
            "; {} statement approved here follows it",
            "; {} statements approved here follow it",
        )
        + _format_if_any(
            comparison.stray_links,
            "; {} statement approved here no longer fits the chain",
            "; {} statements approved here no longer fit the chain",
        )
        + ".",
    ]
    if standing.ledger is None:
        lines.append(f"The ledger here cannot be read: {standing.ledger_fault}.")
    elif comparison.ledger is not None:
        lines.append(f"The ledger here has {comparison.ledger.length} entries.")
    if comparison.is_whole:
        return [
            *lines,
            "Nothing is lost. Continue with `intramural submission send` or `intramural submission prepare`.",
        ]
    lost = [
        _format_if_any(comparison.lost_links, "{} link", "{} links"),
        _format_if_any(
            comparison.lost_entries, "{} entry of the ledger", "up to {} entries of the ledger"
        ),
    ]
    if any(lost):
        lines.append(f"Lost here: {' and '.join(text for text in lost if text)}.")
    reason = "fork" if head.frozen else "restored"
    return [
        *lines,
        "What to do: if a newer backup of the folder submissions/ exists, restore it and run this command again. If "
        "several machines run as this site, keep only one. Then request a new epoch: "
        f"`intramural reset request --reason {reason} --out REQUEST`"
        + (" --new-ledger" if standing.ledger is None else "")
        + ". Figures of datasets whose entries are lost stay suppressed until a newer version is registered.",
    ]


def _format_if_any(number: int, singular: str, plural: str) -> str:
    if not number:
        return ""
    return (singular if number == 1 else plural).format(number)
