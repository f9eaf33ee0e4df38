"""The command `submission send`: send approved submissions over the network or as files, and import the answers."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import open_federation, today_day
from agent.cli.options import FILE
from agent.cli.submission_context import DIGEST, open_outbox, record_event
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Submission


@click.command()
@DIGEST
@click.option(
    "--export",
    "target",
    type=click.Path(path_type=Path),
    help="Write to this file or folder instead.",
)
@click.option("--import-receipt", "receipt", type=FILE, help="Import a receipt from a file.")
@click.option("--import-refusal", "refusal", type=FILE, help="Import a signed refusal from a file.")
@click.option(
    "--keep-trying", is_flag=True, help="Keep trying until every submission has an answer."
)
@click.pass_obj
def send(
    site: Site,
    digest: str | None,
    target: Path | None,
    receipt: Path | None,
    refusal: Path | None,
    keep_trying: bool,
) -> None:
    """Send approved statements in order and verify the receipts. Sending again has no further effect.

    With --keep-trying, the command waits increasingly long between attempts (at most 5 minutes), and ends once every
    statement has a receipt or a signed refusal. It may be stopped and restarted at any time, because its only state is
    the files in submissions/.
    """
    if sum((target is not None, receipt is not None, refusal is not None, keep_trying)) > 1:
        raise click.UsageError(
            "--export, --import-receipt, --import-refusal and --keep-trying cannot be combined"
        )
    if receipt is not None:
        _import_receipt(site, receipt)
    elif refusal is not None:
        _import_refusal(site, refusal)
    elif target is not None:
        _export(site, digest, target)
    elif keep_trying:
        from agent.delivery.retries import keep_trying as repeat

        repeat(lambda: _send(site, digest), say=lambda text: click.echo(text, err=True))
    else:
        _send(site, digest)


def _send(site: Site, digest: str | None) -> None:
    """Try once to send everything pending. Read settings, registry and files each time, to notice changes."""
    from agent.disclosure.dispatch import send_chosen

    chosen = _choose(site, digest)
    if not chosen:
        click.echo("Nothing is waiting to be sent.")
        return
    for submission in send_chosen(site, chosen, today_day(site), partial(record_event, site)):
        click.echo(f"{submission.state.value} {submission.digest}")


def _choose(site: Site, digest: str | None) -> "Sequence[Submission]":
    """Return the requested submission, else all pending ones. Raises DisclosureError if one is not approved."""
    from agent.disclosure.dispatch import choose_unsent

    _ = site.settings  # a folder that is not a site is refused
    return choose_unsent(site, digest)


def _export(site: Site, digest: str | None, target: Path) -> None:
    from agent.delivery.send import export
    from agent.disclosure.restored_site import require_own_history

    chosen = _choose(site, digest)
    if not chosen:
        click.echo("Nothing is waiting to be sent.")
        return
    require_own_history(site)
    registry = open_federation(site).read_registry(today_day(site))
    paths = export(
        open_outbox(site),
        registry,
        chosen,
        target,
        today_day=today_day(site),
        audit=partial(record_event, site),
    )
    for path in paths:
        click.echo(f"exported {path.name}")


def _import_receipt(site: Site, path: Path) -> None:
    from agent.delivery.send import import_receipt

    federation = open_federation(site)
    taken = import_receipt(
        open_outbox(site),
        federation.read_registry(today_day(site)),
        path,
        made_under=federation.read_version,
        today_day=today_day(site),
        audit=partial(record_event, site),
    )
    click.echo(f"{taken.state.value} {taken.digest}")


def _import_refusal(site: Site, path: Path) -> None:
    from agent.delivery.send import take_refusal
    from agent.io.atomic_files import read_given
    from protocol.refusal import MAX_REFUSAL

    note = read_given(path, MAX_REFUSAL, "the refusal").decode("utf-8", "replace")
    registry = open_federation(site).read_registry(today_day(site))
    taken = take_refusal(
        open_outbox(site),
        registry,
        note,
        today_day=today_day(site),
        audit=partial(record_event, site),
    )
    click.echo(
        f"{taken.state.value} {taken.digest}" + (f" ({taken.refusal})" if taken.refusal else "")
    )
