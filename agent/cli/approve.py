"""The command `submission approve`: the steward approves or rejects drafts, with a key of their own."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import open_federation, today_day, write_new_file
from agent.cli.options import FILE
from agent.cli.output import with_site
from agent.cli.submission_context import (
    DIGEST,
    choose_submissions,
    count_drafts,
    open_outbox,
    read_site_policy,
    record_event,
)
from agent.cli.submission_page import build_page, print_page
from agent.keys import KeyRole, load_signer
from agent.site.directory import Site
from agent.site.key_custody import ONE_ACCOUNT_WARNING, check_custody

if TYPE_CHECKING:
    from agent.delivery.outbox import Submission


@click.command()
@click.option("--out", type=FILE, help="Write a request for the steward to this file.")
@click.option("--signed", "signed_path", type=FILE, help="File that the steward signed.")
@click.option("--rejected", "rejected_path", type=FILE, help="File with the steward's rejections.")
@click.option(
    "--key", "key_path", type=FILE, help="The steward's private key, if it is available here."
)
@DIGEST
@click.option(
    "--yes",
    is_flag=True,
    help="With --key: skip the confirmation; requires the --digest of the page that was read.",
)
@click.pass_obj
def approve(
    site: Site,
    out: Path | None,
    signed_path: Path | None,
    rejected_path: Path | None,
    key_path: Path | None,
    digest: str | None,
    yes: bool,
) -> None:
    """Have the steward (a second person) sign draft submissions.

    \b
    At the site:             --out REQUEST
    The steward, elsewhere:  intramural-steward approve REQUEST --key KEY --out SIGNED
    Back at the site:        --signed SIGNED   (or --rejected FILE)
    --signed repeats every check; the submission can be sent only if all of them pass.

    With --key the steward signs on this machine, after reading the page of each draft. The key is refused if the
    account that runs the site can read it: that account could then approve alone. `unsafe_one_account_approval: true`
    in site.yaml allows that.
    """
    if yes and digest is None:
        raise click.UsageError(
            "--yes needs --digest: at least the first 8 characters of the digest on the page read"
        )
    match key_path, out, signed_path, rejected_path:
        case Path(), None, None, None:
            _approve_here(site, key_path, digest, yes=yes)
        case None, Path(), None, None if not yes:
            _write_request(site, digest, out)
        case None, None, Path(), None if not (yes or digest):
            _import_signed_file(site, signed_path)
        case None, None, None, Path() if not (yes or digest):
            _import_rejected(site, rejected_path)
        case _:
            raise click.UsageError(
                "these options cannot be combined; see --help for the ways to approve"
            )


def _approve_here(site: Site, key_path: Path, digest: str | None, *, yes: bool) -> None:
    from agent.disclosure.approval import check_draft, check_steward, countersign

    if check_custody(
        key_path, site.directory, one_account=site.settings.unsafe_one_account_approval
    ):
        click.secho(ONE_ACCOUNT_WARNING, fg="red", bold=True)
    registry = open_federation(site).read_registry(today_day(site))
    policy = read_site_policy(site)
    outbox = open_outbox(site)
    steward = load_signer(key_path, KeyRole.STEWARD)
    chosen = choose_submissions(outbox, digest, "prepared")
    if not chosen:
        click.echo("No draft is waiting for approval.")
    for draft in chosen:
        check_steward(draft, registry, steward.public)
        if draft.state.value == "prepared":
            check_draft(draft, registry, policy)
            print_page(build_page(site, registry, draft))
            if not (yes or _confirm_release(draft)):
                raise _decline(approved_before=draft is not chosen[0])
        _import_signed(site, countersign(draft, registry, policy, steward))


def _write_request(site: Site, digest: str | None, out: Path) -> None:
    from agent.disclosure.handover import write_drafts

    _ = open_federation(site)  # refuses a folder that is not a site
    chosen = choose_submissions(open_outbox(site), digest, "prepared")
    if not chosen:
        click.echo("No draft is waiting for approval.")
        return
    write_new_file(out, write_drafts(site, chosen, today_day(site)))
    click.echo(
        f"{count_drafts(len(chosen))} written to {out.name}. The steward reads and signs them on another "
        "computer with"
    )
    click.echo(f"  intramural-steward approve {out.name} --key KEY --out SIGNED")
    click.echo(
        with_site(
            "Then import the signed file with `intramural submission approve --signed SIGNED`."
        )
    )


def _import_signed_file(site: Site, signed_path: Path) -> None:
    from agent.disclosure.exchange import MAX_EXCHANGED_BYTES, read_signed
    from agent.io.atomic_files import read_given

    for signed in read_signed(
        read_given(signed_path, MAX_EXCHANGED_BYTES, "the file signed by the steward")
    ):
        _import_signed(site, signed)


def _import_rejected(site: Site, rejected_path: Path) -> None:
    """Show why the steward rejected drafts, and discard the rejected drafts with all drafts that follow them."""
    from agent.disclosure.exchange import MAX_EXCHANGED_BYTES
    from agent.disclosure.handover import take_rejected
    from agent.io.atomic_files import read_given

    data = read_given(rejected_path, MAX_EXCHANGED_BYTES, "the file of rejections")
    rejected = take_rejected(site, data, partial(record_event, site))
    click.echo(f"The steward rejected {count_drafts(rejected.count)}: {rejected.words}.")
    for digest in rejected.unknown:
        click.echo(f"{digest}: no such draft here; it may have been discarded already")
    for digest in rejected.discarded:
        click.echo(f"discarded {digest}")


def _import_signed(site: Site, signed: bytes) -> None:
    from agent.disclosure.handover import accept_signed

    _ = open_federation(site)  # refuses a folder that is not a site
    done = accept_signed(site, signed, today_day(site), partial(record_event, site))
    click.echo(f"{done.state.value} {done.digest}")


def _confirm_release(draft: "Submission") -> bool:
    return click.confirm(f"Let these bytes leave the site ({draft.digest[:8]})?")


def _decline(*, approved_before: bool = False) -> click.exceptions.Exit:
    click.echo(
        "Not approved; nothing " + ("more was changed." if approved_before else "was changed.")
    )
    return click.exceptions.Exit(1)
