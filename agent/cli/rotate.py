"""The commands `rotate request|send|cancel`: replace the site's agent key or steward's key."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import open_federation, today_day, write_new_file
from agent.cli.options import FILE
from agent.cli.output import with_site
from agent.cli.rekeying_context import post_request, read_standing
from agent.cli.reset import HEAD
from agent.cli.submission_context import open_gate, open_outbox, record_event
from agent.errors import ConfigError, DisclosureError
from agent.keys import KeyRole, load_signer, read_public
from agent.site.directory import Site
from agent.site.new_keys import load_new_agent_key

if TYPE_CHECKING:
    from protocol.keys import Signer

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
    from agent.disclosure.ledger import derive_ledger_key, read_ledger
    from agent.disclosure.prepare import find_enrolled_site
    from agent.disclosure.rekeying import request_rotation

    if (role == "steward") != (steward_path is not None):
        raise click.UsageError(
            "--steward-public must be given with --role steward, and with no other role"
        )
    gate, outbox = open_gate(site), open_outbox(site)
    old = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    signers: dict[str, Signer] = {old.public.keyid: old}
    with outbox.held():
        if steward_path is not None:
            new = read_public(steward_path)
        else:
            signer = load_new_agent_key(site.keys)
            new, signers[signer.public.keyid] = signer.public, signer
        ledger = read_ledger(outbox.ledger, derive_ledger_key(site.seal_key()))
        own = find_enrolled_site(gate.registry, old.public.keyid)
        data = request_rotation(
            outbox, gate.registry, own, ledger, role=role, signers=signers, new=new
        )
    record_event(site, "rotation requested", f"role={role} key={new.keyid} day={today_day()}")
    write_new_file(out, data)
    click.echo(f"Request written to {out.name}. The new key:")
    click.echo(f"  {role:<8} {new.fingerprint}")
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
    from agent.disclosure.chain import settle_chain
    from agent.disclosure.rekeying import check_signed
    from agent.io.atomic_files import read_bounded
    from protocol.envelope import MAX_BYTES, STATEMENT_TYPE
    from protocol.statements import parse_statement

    federation, outbox = open_federation(site), open_outbox(site)
    registry, own = federation.read_registry(today_day()), federation.read_membership().site
    data = read_bounded(signed, MAX_BYTES[STATEMENT_TYPE], "the signed request")
    opened = check_signed(data, outbox, "rotate", registry, own)
    with outbox.held():
        in_chain = {
            s.digest for s in outbox.list_submissions() if s.state.value in ("sent", "receipted")
        }
        if opened.digest not in in_chain:
            end = settle_chain(outbox, registry.sites[own], outbox.list_submissions())
            header = parse_statement(opened.payload).header
            if (header.epoch, header.seq, header.prev) != (end.epoch, end.seq, end.prev):
                raise DisclosureError(
                    "the site's chain has grown since the rotation was requested",
                    "Nothing was sent. Request the rotation again, and have the new request signed.",
                )
            if not outbox.restore(opened.digest):
                outbox.put_approved(opened.digest, data)
            # Recorded before anything is sent: from now on the chain may contain this link.
            outbox.mark_sent(opened.digest, today_day())
    record_event(site, "rotation sent", f"digest={opened.digest} day={today_day()}")
    if out is not None:
        write_new_file(out, data)
        click.echo(f"Request written to {out.name}; hand it to the central team. {_COMPARE}")
    else:
        post_request(site, data, opened.digest)
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
    standing = read_standing(site, head_file)
    outbox = open_outbox(site)
    with outbox.held():
        waiting = [
            s for s in outbox.list_submissions() if s.kind == "rotate" and s.state.value == "sent"
        ]
        if not waiting:
            raise ConfigError(
                "no rotation is pending", "`intramural submission status` lists the site's chain."
            )
        for rotation in waiting:
            if rotation.header.seq <= standing.comparison.head.seq:
                raise DisclosureError(
                    "the aggregator's log contains the rotation, or another link in its place",
                    "Nothing was changed.",
                )
            outbox.make_void(rotation.digest)
            record_event(site, "rotation cancelled", f"digest={rotation.digest} day={today_day()}")
            click.echo(f"cancelled {rotation.digest}")
