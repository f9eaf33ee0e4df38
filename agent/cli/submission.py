"""Commands by which figures leave the site: `submission prepare|show|discard|status`, and those of other modules.

Whoever runs the site prepares and sends; a steward, another person with another key, approves in between.
"""

import json
from typing import TYPE_CHECKING

import click

from agent.cli.approve import approve
from agent.cli.enroll import federation_of, today_day
from agent.cli.options import format_option
from agent.cli.output import show_rows, with_site
from agent.cli.plan import abandon, plan, withdraw
from agent.cli.send import send
from agent.cli.submission_context import (
    DIGEST,
    SHORT,
    audit_of,
    choose_submissions,
    find_scorecard,
    open_gate,
    outbox_of,
)
from agent.cli.submission_page import page_of, print_page
from agent.errors import DisclosureError
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Submission
    from protocol.registry import Registry

_LONGEST_SUBJECT = 40  # characters of a table's column


@click.group()
def submission() -> None:
    """Prepare, show, approve and send signed aggregates."""


for command in (plan, approve, send, abandon, withdraw):
    submission.add_command(command)


@submission.command()
@click.option("--suite", default="default", show_default=True, help="Suite to submit.")
@click.option("--scorecard", "scorecard_name", help="Name of the scorecard, where several are registered.")
@click.option("--model", "models", multiple=True, help="Submit only this model; may be repeated.")
@format_option()
@click.pass_obj
def prepare(site: Site, suite: str, scorecard_name: str | None, models: tuple[str, ...], form: str) -> None:
    """Draft the submission of a suite's figures.

    They pass the disclosure gate. One draft for each model; nothing leaves.
    """
    from agent.disclosure.collect import collect
    from agent.disclosure.prepare import prepare
    from agent.disclosure.scorecard import token_limits

    gate = open_gate(site)
    registry = gate.registry
    card = find_scorecard(registry, scorecard_name)
    limits = token_limits(card, site.own_benchmarks)
    with site.store() as store:
        findings = collect(store, suite, card, models, token_limits=limits)
        if not findings:
            raise DisclosureError(f"the suite has no runs of the benchmarks of scorecard {card.name}")
        done = prepare(gate, card, findings, suite)
        for digest in sorted(done.new):
            store.audit.record("submission prepared", f"digest={digest} day={today_day()}")
    rows = [{**_describe_row(s, registry, form), "new": s.digest in done.new} for s in done.submissions]
    columns = {"digest": "Digest", "model": "Model", "outcome": "Outcome", "state": "State", "new": "New"}
    show_rows(rows, columns, form)
    if form == "table":
        for digest in done.dropped:
            click.echo(f"draft {digest[:12]} was dropped: it, or one before it, would no longer come out the same")
        used = [finding for of_model in findings.values() for finding in of_model if finding.subgroup is None]
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
    registry = federation_of(site).registry(today_day())
    pages = [page_of(site, registry, chosen) for chosen in choose_submissions(outbox_of(site), digest, "prepared")]
    if form == "json":
        click.echo(json.dumps([page.to_json() for page in pages], indent=2))
        return
    for page in pages:
        print_page(page)
    if not pages:
        click.echo(with_site("No draft waits for approval. `intramural submission status` lists all submissions."))


@submission.command()
@click.option("--digest", required=True, help="The draft: at least the first 8 characters of its digest.")
@click.pass_obj
def discard(site: Site, digest: str) -> None:
    """Delete a draft that has not been approved.

    Drafts after it in the chain are deleted too. None of them has left.
    """
    from agent.disclosure.approval import discard

    outbox = outbox_of(site)
    for gone in discard(outbox, outbox.find(digest).digest, audit=audit_of(site)):
        click.echo(f"discarded {gone}")


@submission.command()
@format_option()
@click.pass_obj
def status(site: Site, form: str) -> None:
    """List all submissions with their states."""
    from protocol.registry import RootPins

    federation, submissions = federation_of(site), outbox_of(site).all()
    trusted = federation.trusted() if submissions else None
    registry = None if trusted is None or isinstance(trusted, RootPins) else trusted
    columns = {
        "digest": "Digest",
        "kind": "Kind",
        "about": "About",
        "seq": "Link",
        "day": "Day",
        "outcome": "Outcome",
        "state": "State",
        "refusal": "Refused for",
    }
    show_rows([_describe_row(s, registry, form) for s in submissions], columns, form, folds=True)
    carried = sum(found.receipt_is_carried for found in submissions)
    if carried and form == "table":
        click.echo(
            with_site(
                f"{carried} of the receipts came as files, and no network has proven yet that they are of the log that "
                "the aggregator shows. `intramural registry update` proves them."
            )
        )


def _describe_row(found: "Submission", registry: "Registry | None", form: str) -> dict[str, object]:
    """Return a submission's row; in a table digests have the 12 characters that tell them apart."""
    from protocol.description import format_day

    shown = SHORT if form == "table" else None
    header, result = found.header, found.result if found.is_result else None
    return {
        "digest": found.digest[:shown],
        "kind": found.kind,
        "about": _describe_subject(found, registry)[: _LONGEST_SUBJECT if form == "table" else None],
        "model": _name_model(found, registry),
        "scorecard": result.scorecard if result else "",
        "epoch": header.epoch,
        "seq": header.seq,
        "day": format_day(result.day) if result else "",
        "outcome": result.outcome if result else "",
        "state": found.state.value,
        "receipt_is_carried": found.receipt_is_carried,
        "refusal": found.refusal,
    }


def _describe_subject(found: "Submission", registry: "Registry | None") -> str:
    """Return what a statement is about: a model, a benchmark, a key, or another statement."""
    from protocol.predicates import AbandonPredicate, DatasetPredicate, RotatePredicate, WithdrawPredicate

    match found.statement:
        case DatasetPredicate(definition=definition):
            cards = registry.scorecards.values() if registry else ()
            entries = [entry for card in cards for entry in card.scorecard.benchmarks]
            return next((entry.id for entry in entries if entry.definition == definition), definition)
        case AbandonPredicate(plan=plan):
            return f"plan {plan}"
        case WithdrawPredicate(result=result):
            return f"result {result}"
        case RotatePredicate(role=role):
            return f"{role}'s key"
    return _name_model(found, registry)


def _name_model(found: "Submission", registry: "Registry | None") -> str:
    """Return the registered name of the model that a result or plan is about, else its digest; "" for other kinds."""
    if found.is_result:
        digest = found.result.model
    elif found.plan is not None:
        digest = found.plan.model
    else:
        return ""
    model = registry.models.get(digest) if registry else None
    return model.name if model else digest
