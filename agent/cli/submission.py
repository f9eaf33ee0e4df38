"""The command group `submission`, with which figures leave the site: `prepare|show|discard|status`.

The site's operator prepares and sends. In between the steward, a different person with a different key, approves.
"""

import json
from functools import partial
from typing import TYPE_CHECKING

import click

from agent.cli.approve import approve
from agent.cli.federation import open_federation, today_day
from agent.cli.options import format_option
from agent.cli.output import show_rows, with_site
from agent.cli.plan import abandon, plan, withdraw
from agent.cli.send import send
from agent.cli.submission_context import (
    DIGEST,
    SHORT,
    choose_submissions,
    open_outbox,
    record_event,
)
from agent.cli.submission_page import build_page, print_page
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Submission
    from protocol.registry import Registry

_MAX_SUBJECT_LENGTH = 40  # maximum characters in a table's column


@click.group()
def submission() -> None:
    """Prepare, show, approve and send signed aggregates."""


for command in (plan, approve, send, abandon, withdraw):
    submission.add_command(command)


@submission.command()
@click.option("--suite", default="default", show_default=True, help="Suite to submit.")
@click.option(
    "--scorecard", "scorecard_name", help="Name of the scorecard, if several are registered."
)
@click.option("--model", "models", multiple=True, help="Submit only this model; may be repeated.")
@format_option()
@click.pass_obj
def prepare(
    site: Site, suite: str, scorecard_name: str | None, models: tuple[str, ...], form: str
) -> None:
    """Draft submissions of a suite's figures.

    The figures pass the disclosure gate. There is one draft for each model. Nothing leaves the site yet.
    """
    from agent.disclosure.drafting import prepare_suite

    _ = site.settings  # reads the file, so that a folder that is not a site is refused
    with site.store() as store:
        done = prepare_suite(
            site, store, suite, scorecard_name, models, today_day(site), store.audit.record
        )
    prepared, figures = done.prepared, done.figures
    for notice in figures.left_out:
        click.echo(f"note: {notice}", err=True)
    rows = []
    for draft in prepared.submissions:
        rows.append({**_build_row(draft, done.registry, form), "new": draft.digest in prepared.new})
    columns = {
        "digest": "Digest",
        "model": "Model",
        "outcome": "Outcome",
        "state": "State",
        "new": "New",
    }
    show_rows(rows, columns, form)
    if form != "table":
        return
    for digest in prepared.dropped:
        click.echo(
            f"draft {digest[:SHORT]} was dropped, because it or an earlier draft would have different contents now"
        )
    for line in figures.partial:
        click.echo(f"{line}; the board marks the result as partial")
    click.echo(with_site("Show what would leave with `intramural submission show`."))


@submission.command()
@DIGEST
@format_option()
@click.pass_obj
def show(site: Site, digest: str | None, form: str) -> None:
    """Show what would leave the site: every figure with its verdict.

    The page is made from the exact bytes of all drafts, or of one submission.
    """
    registry = open_federation(site).read_registry(today_day(site))
    submissions = choose_submissions(open_outbox(site), digest, "prepared")
    pages = [build_page(site, registry, draft) for draft in submissions]
    if form == "json":
        click.echo(json.dumps([page.to_json() for page in pages], indent=2))
        return
    for page in pages:
        print_page(page)
    if not pages:
        click.echo(
            with_site(
                "No draft is waiting for approval. `intramural submission status` lists all submissions."
            )
        )


@submission.command()
@click.option(
    "--digest", required=True, help="The draft: at least the first 8 characters of its digest."
)
@click.pass_obj
def discard(site: Site, digest: str) -> None:
    """Delete a draft that has not been approved.

    Drafts that follow it in the chain are deleted as well. None of them has left the site.
    """
    from agent.disclosure.approval import discard

    outbox = open_outbox(site)
    draft = outbox.find(digest)
    for discarded in discard(outbox, draft.digest, audit=partial(record_event, site)):
        click.echo(f"discarded {discarded}")


@submission.command()
@format_option()
@click.pass_obj
def status(site: Site, form: str) -> None:
    """List all submissions with their states."""
    _ = (
        site.settings
    )  # a folder that is not a site is refused, not shown as a site without submissions
    submissions = open_outbox(site).list_submissions()
    registry = _read_registry(site) if submissions else None
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
    rows = [_build_row(submission, registry, form) for submission in submissions]
    show_rows(rows, columns, form, folds=True)
    carried = sum(submission.receipt_is_carried for submission in submissions)
    if carried and form == "table":
        click.echo(
            with_site(
                f"{carried} of the receipts came as files, and have not yet been checked against the log that "
                "the aggregator publishes. `intramural registry update` checks them."
            )
        )


def _read_registry(site: Site) -> "Registry | None":
    """Return the newest stored registry; None if there is none yet."""
    from protocol.registry import RootPins

    trusted = open_federation(site).read_trusted()
    return None if isinstance(trusted, RootPins) else trusted


def _build_row(
    submission: "Submission", registry: "Registry | None", form: str
) -> dict[str, object]:
    """Return a submission's row; a table shows shortened digests and subjects."""
    from protocol.description import format_day

    digest = submission.digest
    subject = _describe_subject(submission, registry)
    if form == "table":
        digest, subject = digest[:SHORT], subject[:_MAX_SUBJECT_LENGTH]
    row = {
        "digest": digest,
        "kind": submission.kind,
        "about": subject,
        "model": _name_model(submission, registry),
        "scorecard": "",
        "epoch": submission.header.epoch,
        "seq": submission.header.seq,
        "day": "",
        "outcome": "",
        "state": submission.state.value,
        "receipt_is_carried": submission.receipt_is_carried,
        "refusal": submission.refusal,
    }
    if submission.is_result:
        result = submission.result
        row |= {
            "scorecard": result.scorecard,
            "day": format_day(result.day),
            "outcome": result.outcome,
        }
    return row


def _describe_subject(submission: "Submission", registry: "Registry | None") -> str:
    """Return the subject of a statement: a model, a benchmark, a key, or another statement."""
    from protocol.predicates import (
        AbandonPredicate,
        DatasetPredicate,
        RotatePredicate,
        WithdrawPredicate,
    )

    match submission.statement:
        case DatasetPredicate(definition=definition):
            return _name_benchmark(definition, registry)
        case AbandonPredicate(plan=plan):
            return f"plan {plan}"
        case WithdrawPredicate(result=result):
            return f"result {result}"
        case RotatePredicate(role=role):
            return f"{role}'s key"
    return _name_model(submission, registry)


def _name_benchmark(definition: str, registry: "Registry | None") -> str:
    """Return the benchmark's id from a scorecard with this definition, else the definition's digest."""
    if registry is not None:
        for registered in registry.scorecards.values():
            for entry in registered.scorecard.benchmarks:
                if entry.definition == definition:
                    return entry.id
    return definition


def _name_model(submission: "Submission", registry: "Registry | None") -> str:
    """Return the registered name of the model of a result or plan, else its digest; "" for other kinds."""
    if submission.is_result:
        digest = submission.result.model
    elif submission.plan is not None:
        digest = submission.plan.model
    else:
        return ""
    model = registry.models.get(digest) if registry else None
    return model.name if model else digest
