"""Commands by which figures leave the site: `submission prepare|show|approve|discard|send|status`.

Whoever runs the site prepares and sends; a steward, another person with another key, approves in between.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.enrolment_commands import aggregator_of, federation_of, today_day, write_new
from agent.errors import ConfigError, DisclosureError
from agent.keys import KeyRole, load_signer, read_data_key
from agent.listing import format_option, show_rows, with_site
from agent.site import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Outbox, Submission
    from agent.disclosure.preview import Page
    from protocol.policy import DisclosurePolicy
    from protocol.registry import Registry
    from protocol.scorecard import Scorecard

FILE = click.Path(dir_okay=False, path_type=Path)
_SHORT = 12  # characters of a digest in a table
DIGEST = click.option("--digest", help="The submission: at least the first 8 characters of its digest.")


@click.group()
def submission() -> None:
    """Prepare, show, approve and send signed aggregates."""


@submission.command()
@click.option("--suite", default="default", show_default=True, help="The suite whose runs are submitted.")
@click.option("--scorecard", "scorecard_name", help="Name of the scorecard, where several are registered.")
@click.option("--model", "models", multiple=True, help="Only this model; may be given several times.")
@format_option()
@click.pass_obj
def prepare(site: Site, suite: str, scorecard_name: str | None, models: tuple[str, ...], form: str) -> None:
    """Draft what would leave: a suite's figures, through the gate.

    One draft for each model. Nothing leaves.
    """
    from agent.disclosure.collect import collect
    from agent.disclosure.prepare import Gate, prepare
    from agent.disclosure.scorecard import token_limits

    registry = federation_of(site).registry(today_day())
    card = _scorecard(registry, scorecard_name)
    gate = Gate(
        outbox=_outbox(site),
        registry=registry,
        policy=_policy(site),
        signer=load_signer(site.keys / "agent.key", KeyRole.AGENT),
        data_key=read_data_key(site.keys / "data.key"),
        seal_key=site.seal_key(),
        today_day=today_day(),
    )
    limits = token_limits(card, site.own_benchmarks)
    with site.store() as store:
        findings = collect(store, suite, card, models, token_limits=limits)
        if not findings:
            raise DisclosureError(f"the suite has no runs of the benchmarks of scorecard {card.name}")
        done = prepare(gate, card, findings, suite)
        for digest in sorted(done.new):
            store.audit("submission prepared", f"digest={digest} day={today_day()}")
    rows = [{**_row(s, registry, form), "new": s.digest in done.new} for s in done.submissions]
    columns = {"digest": "Digest", "model": "Model", "outcome": "Outcome", "state": "State", "new": "New"}
    show_rows(rows, columns, form)
    if form == "table":
        for digest in done.dropped:
            click.echo(f"draft {digest[:12]} was dropped: it, or one before it, would no longer come out the same")
        used = [finding for of_model in findings.values() for finding in of_model]
        for line in sorted({f"{f.benchmark}: {f.extent}" for f in used if not f.extent.enough(f.access)}):
            click.echo(f"{line}; the board marks the result as partial")
        click.echo(with_site("Look at what would leave with `intramural submission show`."))


@submission.command()
@DIGEST
@format_option()
@click.pass_obj
def show(site: Site, digest: str | None, form: str) -> None:
    """Show what would leave: every figure with its verdict.

    From the exact bytes, of all drafts or of one submission.
    """
    from agent.disclosure.preview import print_page

    registry = federation_of(site).registry(today_day())
    pages = [_page(site, registry, chosen) for chosen in _chosen(_outbox(site), digest, "prepared")]
    if form == "json":
        click.echo(json.dumps([asdict(page) for page in pages], indent=2))
        return
    for page in pages:
        print_page(page)
    if not pages:
        click.echo(with_site("No draft waits for approval. `intramural submission status` lists all submissions."))


@submission.command()
@click.option("--key", "key_path", type=FILE, help="The steward's key.")
@click.option(
    "--out", type=FILE, help="Write a request for the steward to this file; or, with --request, what is signed."
)
@click.option("--request", "request_path", type=FILE, help="The steward's: a request, to be read and signed to --out.")
@click.option(
    "--root", "roots", multiple=True, metavar="KEYID", help="The steward's: who must have signed the registry."
)
@click.option("--signed", "signed_path", type=FILE, help="What the steward signed elsewhere.")
@DIGEST
@click.option("--yes", is_flag=True, help="Do not ask; needs --digest of the page that was read, and --root elsewhere.")
@click.pass_obj
def approve(
    site: Site,
    key_path: Path | None,
    out: Path | None,
    request_path: Path | None,
    roots: tuple[str, ...],
    signed_path: Path | None,
    digest: str | None,
    yes: bool,
) -> None:
    """Show each draft again and sign it with the steward's key.

    It is shown from its bytes, and signed after confirmation.

    \b
    With the steward's key at the site:  --key KEY
    Else, at the site:                   --out REQUEST
          the steward, anywhere:         --request REQUEST --key KEY --out SIGNED
          at the site:                   --signed SIGNED
    The last step counts: it checks everything again and notes the release in the site's ledger.
    Whoever answers no leaves with exit code 1, and everything stays as it was.
    """
    if yes and digest is None:
        raise click.UsageError("--yes needs --digest: at least the first 8 characters of what was read and found right")
    match key_path, request_path, signed_path, out:
        case Path(), None, None, None if not roots:
            _approve_here(site, key_path, digest, yes=yes)
        case None, None, None, Path() if not (roots or yes):
            _write_request(site, digest, out)
        case Path(), Path(), None, Path() if roots or not yes:
            _approve_elsewhere(request_path, key_path, roots, digest, out, yes=yes)
        case None, None, Path(), None if not (roots or yes or digest):
            _take_signed(site, signed_path)
        case _:
            raise click.UsageError("these options do not go together; see --help for the ways to approve")


@submission.command()
@click.option("--digest", required=True, help="The draft: at least the first 8 characters of its digest.")
@click.pass_obj
def discard(site: Site, digest: str) -> None:
    """Forget a draft that nobody has approved.

    And those after it in the chain. Nothing of them has left.
    """
    from agent.disclosure.approval import discard

    outbox = _outbox(site)
    for gone in discard(outbox, outbox.find(digest).digest, audit=_audit(site)):
        click.echo(f"discarded {gone}")


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
        for path in export(outbox, federation.registry(today), chosen, target, today_day=today, audit=_audit(site)):
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
    columns = {
        "digest": "Digest",
        "model": "Model",
        "seq": "Link",
        "day": "Day",
        "outcome": "Outcome",
        "state": "State",
        "refusal": "Refused for",
    }
    show_rows([_row(s, registry, form) for s in submissions], columns, form, folds=True)


def _approve_here(site: Site, key_path: Path, digest: str | None, *, yes: bool) -> None:
    from agent.disclosure.approval import check_draft, check_steward, countersign
    from agent.disclosure.preview import print_page

    registry, policy, outbox = federation_of(site).registry(today_day()), _policy(site), _outbox(site)
    steward = load_signer(key_path, KeyRole.STEWARD)
    chosen = _chosen(outbox, digest, "prepared")
    if not chosen:
        click.echo("No draft waits for approval.")
    for draft in chosen:
        check_steward(draft, registry, steward.public)
        if draft.state.value == "prepared":
            check_draft(draft, registry, policy)
            print_page(_page(site, registry, draft))
            if not (yes or _agreed(draft)):
                raise _declined(approved_before=draft is not chosen[0])
        _take(site, countersign(draft, registry, policy, steward))


def _write_request(site: Site, digest: str | None, out: Path) -> None:
    from agent.disclosure.approval import check_draft
    from agent.disclosure.exchange import Draft, write_request
    from agent.disclosure.preview import previous_release

    federation, policy, outbox = federation_of(site), _policy(site), _outbox(site)
    registry, everything = federation.registry(today_day()), outbox.all()
    chosen = _chosen(outbox, digest, "prepared")
    if not chosen:
        click.echo("No draft waits for approval.")
        return
    for draft in chosen:
        check_draft(draft, registry, policy)
    drafts = [Draft(s, outbox.verdicts(s.digest), previous_release(s, everything)) for s in chosen]
    write_new(out, write_request(federation.registry_file(today_day()), policy, drafts))
    click.echo(
        f"{_counted(len(drafts))} written to {out.name}. The steward reads and signs them, on any computer, with"
    )
    click.echo(f"  intramural submission approve --request {out.name} --key KEY --out SIGNED")


def _approve_elsewhere(
    request_path: Path, key_path: Path, roots: tuple[str, ...], digest: str | None, out: Path, *, yes: bool
) -> None:
    """Show and sign the drafts of a request. No site is needed; where one is named, nothing of it is used."""
    from agent.disclosure.approval import check_steward, countersign
    from agent.disclosure.exchange import LARGEST, open_request, write_signed
    from agent.disclosure.prepare import effective_policy
    from agent.disclosure.preview import make_page, print_page
    from agent.files import read_bounded

    request = open_request(read_bounded(request_path, LARGEST, "the request"), roots, today_day())
    registry, steward = request.registry, load_signer(key_path, KeyRole.STEWARD)
    chosen = [d for d in request.drafts if digest is None or d.submission.digest.startswith(digest)]
    if not chosen or (digest is not None and len(digest) < 8):
        raise DisclosureError("the request has no draft with this digest", "Give at least its first 8 characters.")
    for draft in chosen:
        check_steward(draft.submission, registry, steward.public)
    _, policy = effective_policy(registry, request.policy)
    click.echo(f"Names below come from registry {registry.version} of {registry.deployment}, signed by root key")
    for root in request.roots:
        click.echo(f"  {root.fingerprint}{' (as you named it)' if root.keyid in roots else ''}")
    if not roots:
        click.echo(
            "Compare it with what the aggregator's people told you: whoever holds this key decides on the names."
        )
    signed = []
    for draft in chosen:
        print_page(make_page(draft.submission, registry, policy, draft.verdicts, draft.previous))
        if not (yes or _agreed(draft.submission)):
            raise _declined()
        signed.append(countersign(draft.submission, registry, request.policy, steward))
    write_new(out, write_signed(signed))
    click.echo(f"{_counted(len(signed))} signed to {out.name}. They count once the site has taken them, with")
    click.echo(with_site(f"  intramural submission approve --signed {out.name}"))


def _take_signed(site: Site, signed_path: Path) -> None:
    from agent.disclosure.exchange import LARGEST, read_signed
    from agent.files import read_bounded

    for signed in read_signed(read_bounded(signed_path, LARGEST, "what the steward signed")):
        _take(site, signed)


def _take(site: Site, signed: bytes) -> None:
    from agent.disclosure.approval import approve

    registry = federation_of(site).registry(today_day())
    done = approve(_outbox(site), registry, _policy(site), signed, seal_key=site.seal_key(), audit=_audit(site))
    click.echo(f"{done.state.value} {done.digest}")


def _agreed(draft: "Submission") -> bool:
    return click.confirm(f"Let these bytes leave the site ({draft.digest[:8]})?")


def _declined(*, approved_before: bool = False) -> click.exceptions.Exit:
    click.echo("Not approved; nothing " + ("more was changed." if approved_before else "was changed."))
    return click.exceptions.Exit(1)


def _counted(drafts: int) -> str:
    return "1 draft" if drafts == 1 else f"{drafts} drafts"


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
    if not names:
        raise ConfigError("no scorecard is registered with the aggregator", "Ask its central team to register one.")
    if not matching:
        raise ConfigError(
            "name the scorecard to report with --scorecard" if name is None else "there is no such scorecard",
            f"Registered are: {', '.join(names)}.",
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


def _row(found: "Submission", registry: "Registry | None", form: str) -> dict[str, object]:
    """Return a submission's row; in a table digests have the 12 characters that tell them apart."""
    shown = _SHORT if form == "table" else None
    model = registry.models.get(found.result.model) if registry else None
    return {
        "digest": found.digest[:shown],
        "model": model.name if model else found.result.model[:shown],
        "scorecard": found.result.scorecard,
        "epoch": found.result.header.epoch,
        "seq": found.result.header.seq,
        "day": date.fromordinal(date(1970, 1, 1).toordinal() + found.result.day).isoformat(),
        "outcome": found.result.outcome,
        "state": found.state.value,
        "refusal": found.refusal,
    }
