"""Commands by which figures leave the site: `submission prepare|show|approve|send|status`.

Whoever runs the site prepares and sends; a steward, another person with another key, approves in between.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.enrolment_commands import aggregator_of, enroll, federation_of, registry, steward_key, today_day
from agent.errors import ConfigError, DisclosureError
from agent.keys import KeyRole, load_signer, read_data_key
from agent.listing import format_option, show_rows
from agent.site import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Outbox, Submission
    from agent.disclosure.preview import Page
    from protocol.policy import DisclosurePolicy
    from protocol.registry import Registry
    from protocol.scorecard import Scorecard

__all__ = ["enroll", "registry", "steward_key", "submission"]

FILE = click.Path(dir_okay=False, path_type=Path)
DIGEST = click.option("--digest", help="The submission: at least the first 8 characters of its digest.")


@click.group()
def submission() -> None:
    """Prepare, show, approve and send signed aggregates."""


@submission.command()
@click.option("--suite", required=True, help="The suite whose runs are submitted.")
@click.option("--scorecard", "scorecard_name", help="Name of the scorecard, where several are registered.")
@click.option("--model", "models", multiple=True, help="Only this model; may be given several times.")
@format_option()
@click.pass_obj
def prepare(site: Site, suite: str, scorecard_name: str | None, models: tuple[str, ...], form: str) -> None:
    """Put the figures of a suite through the disclosure gate: one draft for each model. Nothing leaves."""
    from agent.catalog.benchmark import find_benchmarks
    from agent.disclosure.collect import collect
    from agent.disclosure.prepare import Gate, prepare

    registry = federation_of(site).registry(today_day())
    card = _scorecard(registry, scorecard_name)
    gate = Gate(
        outbox=_outbox(site),
        registry=registry,
        policy=_policy(site),
        signer=load_signer(site.keys / "agent.key", KeyRole.AGENT),
        data_key=read_data_key(site.keys / "data.key"),
        today_day=today_day(),
    )
    limits = {found.digest: found.max_tokens for found in find_benchmarks(site.own_benchmarks).values()}
    with site.store() as store:
        findings = collect(store, suite, card, models, token_limits=limits)
        if not findings:
            raise DisclosureError(f"the suite has no runs of the benchmarks of scorecard {card.name}")
        done = prepare(gate, card, findings)
        for digest in sorted(done.new):
            store.audit("submission prepared", f"digest={digest} day={today_day()}")
    rows = [{**_row(s, registry), "new": s.digest in done.new} for s in done.submissions]
    show_rows(rows, {"digest": "digest", "model": "model", "outcome": "outcome", "state": "state", "new": "new"}, form)
    if form == "table":
        for digest in done.dropped:
            click.echo(f"draft {digest[:12]} was dropped: it, or one before it, would no longer come out the same")
        used = [finding for of_model in findings.values() for finding in of_model]
        for line in sorted({f"{f.benchmark}: {f.extent}" for f in used if not f.extent.enough(f.access)}):
            click.echo(f"{line}; the board marks the result as partial")
        click.echo("Look at what would leave with `intramural submission show`.")


@submission.command()
@DIGEST
@format_option()
@click.pass_obj
def show(site: Site, digest: str | None, form: str) -> None:
    """Show what would leave, from the exact bytes: every figure with its verdict. All drafts, or one submission."""
    from agent.disclosure.preview import print_page

    registry = federation_of(site).registry(today_day())
    pages = [_page(site, registry, chosen) for chosen in _chosen(_outbox(site), digest, "prepared")]
    if form == "json":
        click.echo(json.dumps([asdict(page) for page in pages], indent=2))
        return
    for page in pages:
        print_page(page)
    if not pages:
        click.echo("No draft waits for approval. `intramural submission status` lists all submissions.")


@submission.command()
@click.option("--key", "key_path", type=FILE, required=True, help="The steward's key.")
@DIGEST
@click.option("--yes", is_flag=True, help="Do not ask; needs --digest of the page that was read.")
@click.pass_obj
def approve(site: Site, key_path: Path, digest: str | None, yes: bool) -> None:
    """Show each draft again, from its bytes, and sign it with the steward's key after confirmation."""
    from agent.disclosure.approval import approve, check_draft
    from agent.disclosure.preview import print_page

    if yes and digest is None:
        raise click.UsageError("--yes needs --digest: at least the first 8 characters of what was read and found right")
    registry, policy, outbox = federation_of(site).registry(today_day()), _policy(site), _outbox(site)
    steward, data_key = load_signer(key_path, KeyRole.STEWARD), read_data_key(site.keys / "data.key")
    chosen = _chosen(outbox, digest, "prepared")
    if not chosen:
        click.echo("No draft waits for approval.")
    for draft in chosen:
        if draft.state.value == "prepared":
            check_draft(draft, registry, policy)
            print_page(_page(site, registry, draft))
            if not yes:
                click.confirm(f"Let these bytes leave the site ({draft.digest[:8]})?", abort=True)
        done = approve(outbox, registry, policy, draft.digest, steward, data_key=data_key, audit=_audit(site))
        click.echo(f"{done.state.value} {done.digest}")


@submission.command()
@DIGEST
@click.option("--export", "target", type=click.Path(path_type=Path), help="Write to this file or folder instead.")
@click.option("--import-receipt", "receipt", type=FILE, help="Take a receipt that came as a file.")
@click.pass_obj
def send(site: Site, digest: str | None, target: Path | None, receipt: Path | None) -> None:
    """Send what is approved, in order, and verify the receipts. Sending again is the same as once."""
    from agent.delivery.send import export, import_receipt, send, waiting

    if target and receipt:
        raise click.UsageError("--export and --import-receipt are two different steps")
    outbox, federation, today = _outbox(site), federation_of(site), today_day()
    if receipt is not None:
        taken = import_receipt(outbox, federation.registry(today), receipt, today_day=today, audit=_audit(site))
        click.echo(f"{taken.state.value} {taken.digest}")
        return
    chosen = waiting(outbox) if digest is None else [outbox.find(digest)]
    unready = [s for s in chosen if s.state.value in ("prepared", "void")]
    if unready:
        raise DisclosureError(
            f"submission {unready[0].digest[:12]} is {unready[0].state.value}, so it cannot be sent",
            "A draft is approved first, with `intramural submission approve`.",
        )
    if not chosen:
        click.echo("Nothing waits to be sent.")
    elif target is not None:
        for path in export(outbox, chosen, target, today_day=today, audit=_audit(site)):
            click.echo(f"exported {path.name}")
    else:
        aggregator, registry = aggregator_of(site, federation.membership().url), federation.registry(today)
        for done in send(outbox, registry, aggregator, chosen, today_day=today, audit=_audit(site)):
            click.echo(f"{done.state.value} {done.digest}")


@submission.command()
@format_option()
@click.pass_obj
def status(site: Site, form: str) -> None:
    """List all submissions with their states."""
    from protocol.registry import RootPins

    federation, submissions = federation_of(site), _outbox(site).all()
    trusted = federation.trusted() if submissions else None
    registry = None if trusted is None or isinstance(trusted, RootPins) else trusted
    show_rows(
        [_row(s, registry) for s in submissions],
        {"digest": "digest", "model": "model", "seq": "link", "day": "day", "state": "state", "refusal": "refused for"},
        form,
    )


def _outbox(site: Site) -> "Outbox":
    from agent.delivery.outbox import Outbox

    return Outbox(site.submissions)


def _policy(site: Site) -> "DisclosurePolicy":
    from agent.disclosure.policy import read_policy

    return read_policy(site.settings.disclosure_policy, site.directory)


def _audit(site: Site) -> Callable[[str, str], None]:
    def write(event: str, detail: str) -> None:
        with site.store() as store:
            store.audit(event, detail)

    return write


def _scorecard(registry: "Registry", name: str | None) -> "Scorecard":
    """Return the registered scorecard of that name (its highest version), or the only one."""
    cards = [entry.scorecard for entry in registry.scorecards.values() if not entry.retired]
    names = sorted({card.name for card in cards})
    if name is None and len(names) == 1:
        name = names[0]
    matching = [card for card in cards if card.name == name]
    if not matching:
        raise ConfigError(
            "name the scorecard to report with --scorecard" if name is None else "there is no such scorecard",
            f"Registered are: {', '.join(names) or 'none'}.",
        )
    return max(matching, key=lambda card: card.version)


def _chosen(outbox: "Outbox", digest: str | None, state: str) -> "Sequence[Submission]":
    """Return the one submission asked for, else all in a state."""
    if digest is not None:
        return [outbox.find(digest)]
    return [found for found in outbox.all() if found.state.value == state]


def _page(site: Site, registry: "Registry", chosen: "Submission") -> "Page":
    from agent.disclosure.prepare import effective_policy
    from agent.disclosure.preview import make_page, previous_release

    outbox = _outbox(site)
    _, policy = effective_policy(registry, _policy(site))
    previous = previous_release(chosen, outbox.all())
    return make_page(chosen, registry, policy, outbox.verdicts(chosen.digest), previous)


def _row(found: "Submission", registry: "Registry | None") -> dict[str, object]:
    model = registry.models.get(found.result.model) if registry else None
    return {
        "digest": found.digest,
        "model": model.name if model else found.result.model,
        "scorecard": found.result.scorecard,
        "epoch": found.result.header.epoch,
        "seq": found.result.header.seq,
        "day": date.fromordinal(date(1970, 1, 1).toordinal() + found.result.day).isoformat(),
        "state": found.state.value,
        "outcome": found.result.outcome,
        "refusal": found.refusal,
    }
