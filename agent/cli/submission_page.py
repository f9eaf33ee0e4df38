"""The page of a submission on a terminal, for a person to read before anything leaves."""

from typing import TYPE_CHECKING

import click

from agent.cli.output import show_rows
from agent.cli.submission_context import open_outbox, read_site_policy
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Submission
    from agent.disclosure.preview import Page
    from protocol.description import RuleRow
    from protocol.registry import Registry

_NAME_WIDTH = 14


def build_page(site: Site, registry: "Registry", submission: "Submission") -> "Page":
    """Return the page of one of the site's submissions. Raises DisclosureError or StoreError."""
    from agent.disclosure.preview import make_page

    outbox = open_outbox(site)
    verdicts = {} if submission.kind == "rotate" else outbox.read_verdicts(submission.digest)
    return make_page(
        submission, registry, read_site_policy(site), verdicts, outbox.list_submissions()
    )


def print_page(page: "Page") -> None:
    """Print a page on the terminal."""
    description = page.description
    click.secho(description.title, bold=True)
    click.secho(f"{description.kind.capitalize()} {description.digest}", bold=True)
    for fault in description.faults:
        click.secho(f"MUST NOT BE SIGNED: {fault}", fg="red")
    for caution in description.cautions:
        click.echo(f"Check this: {caution}")
    _print_named("state", page.state)
    for fact in description.facts:
        _print_named(fact.name, fact.text)
    for signer in page.signed_by:
        _print_named("signed by", signer)
    _print_figures(page)
    if description.notes:
        click.echo("The site's own counts, which do not leave it:")
        for note in description.notes:
            click.echo(f"  {note.text} {note.name}")
    if description.rules:
        click.echo("Rules: the stricter of the site's and the federation's limits applies.")
        show_rows(
            [_rule_fields(rule) for rule in description.rules], _RULE_COLUMNS, "table", folds=True
        )
    for sentence in description.sentences:
        click.echo(sentence)
    if page.capacity is not None:
        click.echo(
            f"Besides the figures, {page.capacity.determined_bits:.0f} bits computed by the gate leave: the "
            "fingerprint of the scores, and the length and head of the ledger. The signatures could carry "
            f"{page.capacity.signature_bits:.0f} bits if someone replaced the programs that sign."
        )
    click.echo(f"Exactly these {len(description.payload)} bytes are signed and leave the site:")
    click.echo(description.payload)


_RULE_COLUMNS = {
    "name": "Rule",
    "applied": "Applied",
    "site": "Site",
    "federation": "Federation",
    "verdict": "Verdict",
}


def _rule_fields(rule: "RuleRow") -> dict[str, object]:
    return {
        "name": rule.name,
        "applied": rule.effective,
        "site": rule.site,
        "federation": rule.federation,
        "verdict": rule.verdict,
    }


def _print_named(name: str, text: str) -> None:
    click.echo(f"  {name:<{_NAME_WIDTH}} {text}")


def _print_figures(page: "Page") -> None:
    if not page.description.figures:
        return
    columns = {
        "subject": "Figure",
        "units": "Units (range)",
        "value": "Value",
        "deviation": "Std. dev.",
    }
    if page.description.previous:
        columns |= {"before": "Before", "units_before": "Its units", "change": "Change"}
    rows = []
    for figure in page.description.figures:
        row = {name: getattr(figure, name) for name in columns}
        rows.append({**row, "meaning": figure.meaning})
    click.echo()
    show_rows(rows, {**columns, "meaning": "How to read it"}, "table", folds=True)
    click.echo("The gate's reasons, which are not part of the statement:")
    for gate_word in page.gate_words:
        click.echo(f"  {gate_word.cell}: {gate_word.word}")
