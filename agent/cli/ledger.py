"""The commands `ledger show|verify`, for the sealed record of registered data and figures prepared from it."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agent.cli.options import format_option
from agent.cli.output import show_rows
from agent.cli.submission_context import open_outbox
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.disclosure.ledger import Ledger
    from protocol.predicates import LedgerHead


@click.group()
def ledger() -> None:
    """Show and check the ledger of releases."""


@ledger.command()
@format_option()
@click.pass_obj
def show(site: Site, form: str) -> None:
    """List the ledger's entries after checking their integrity.

    The last line is the ledger's head. If someone else keeps a copy of it, `ledger verify --head` can later detect
    that the ledger was restored from a backup.
    """
    from agent.disclosure.ledger_report import list_rows
    from agent.disclosure.site_gate import read_newest_registry

    ledger = _read_ledger(site)
    rows: list[dict[str, object]] = []
    for row in list_rows(ledger, read_newest_registry(site)):
        fields = asdict(row)
        rows.append({name: value for name, value in fields.items() if value not in ("", None)})
    columns = {
        "number": "No.",
        "day": "Day",
        "kind": "Kind",
        "benchmark": "Benchmark",
        "model": "Model",
        "units": "Units",
        "figures": "Figures",
        "published": "Of these published",
    }
    show_rows(rows, columns, form)
    if form == "table":
        click.echo(f"Head: {ledger.head.length}:{ledger.head.head}")


def _parse_heads(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> "tuple[LedgerHead, ...]":
    """Parse heads given as NUMBER:LINK, the form in which `intramural ledger show` prints a head."""
    from agent.disclosure.ledger_report import parse_head

    heads: list[LedgerHead] = []
    for value in values:
        head = parse_head(value)
        if head is None:
            raise click.BadParameter(
                "expected the number of an entry, a colon and 64 hex digits", context, parameter
            )
        heads.append(head)
    return tuple(heads)


@ledger.command()
@click.option(
    "--head",
    "heads",
    multiple=True,
    metavar="NUMBER:LINK",
    callback=_parse_heads,
    help="A head of the ledger that was kept outside the site; may be repeated.",
)
@format_option()
@click.pass_obj
def verify(site: Site, heads: "tuple[LedgerHead, ...]", form: str) -> None:
    """Check the ledger's chain, seals and heads.

    The ledger must match every statement of this site, and every head given with --head. The exit code is 1 unless
    everything matches. `intramural reset show` compares the ledger with the aggregator's log.
    """
    from agent.disclosure.ledger_report import check_head, check_statements

    ledger = _read_ledger(site)
    finding = f"{len(ledger.entries)} entries, each sealed and linked to the previous one"
    rows = [{"what": "ledger", "outcome": "match", "finding": finding}]
    checks = check_statements(ledger, open_outbox(site).list_submissions())
    checks += [check_head(ledger, head, f"head {head.length}") for head in heads]
    for check in checks:
        rows.append({"what": check.subject, "outcome": check.outcome, "finding": check.finding})
    show_rows(rows, {"what": "What", "outcome": "Outcome", "finding": "Finding"}, form, folds=True)
    if any(row["outcome"] != "match" for row in rows):
        raise click.exceptions.Exit(1)


def _read_ledger(site: Site) -> "Ledger":
    """Read the ledger. Raises DisclosureError, which names the entry, if one was changed or is missing."""
    from agent.disclosure.ledger_report import read_site_ledger

    _ = site.settings  # reads the file, so that a folder that is not a site is refused
    return read_site_ledger(site)
