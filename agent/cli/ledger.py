"""The commands `ledger show|verify`, for the sealed record of registered data and figures prepared from it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agent.cli.federation import open_federation
from agent.cli.options import format_option
from agent.cli.output import show_rows
from agent.cli.submission_context import SHORT, open_outbox
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.disclosure.ledger import Ledger, LedgerEntry, ReleaseEntry
    from protocol.predicates import LedgerHead
    from protocol.registry import Registry

_LINK_DIGITS = 64


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
    registry = _read_newest_registry(site)
    ledger = _read_ledger(site)
    rows = [_build_row(entry, registry) for entry in ledger.entries]
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
    from protocol.predicates import LedgerHead

    heads = []
    for value in values:
        number, _, link = value.partition(":")
        is_link = len(link) == _LINK_DIGITS and not set(link) - set("0123456789abcdef")
        if not (number.isascii() and number.isdecimal()) or not is_link:
            raise click.BadParameter(
                "expected the number of an entry, a colon and 64 hex digits", context, parameter
            )
        heads.append(LedgerHead(int(number), link))
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
    ledger = _read_ledger(site)
    finding = f"{len(ledger.entries)} entries, each sealed and linked to the previous one"
    rows = [{"what": "ledger", "outcome": "match", "finding": finding}]
    rows += _check_statements(site, ledger)
    rows += [_check_head(ledger, head, f"head {head.length}") for head in heads]
    show_rows(rows, {"what": "What", "outcome": "Outcome", "finding": "Finding"}, form, folds=True)
    if any(row["outcome"] != "match" for row in rows):
        raise click.exceptions.Exit(1)


def _read_ledger(site: Site) -> "Ledger":
    """Read the ledger. Raises DisclosureError, which names the entry, if one was changed or is missing."""
    from agent.disclosure.ledger import derive_ledger_key, read_ledger

    _ = site.settings  # reads the file, so that a folder that is not a site is refused
    return read_ledger(open_outbox(site).ledger, derive_ledger_key(site.seal_key()))


def _read_newest_registry(site: Site) -> "Registry | None":
    from protocol.registry import RootPins

    if not (site.submissions / "membership.json").exists():
        return None
    trusted = open_federation(site).read_trusted()
    return None if isinstance(trusted, RootPins) else trusted


def _build_row(entry: "LedgerEntry", registry: "Registry | None") -> dict[str, object]:
    """Return an entry's row, without fingerprints."""
    from agent.disclosure.ledger import DatasetEntry, ReleaseEntry
    from protocol.description import format_day

    row: dict[str, object] = {
        "number": entry.number,
        "day": format_day(entry.day),
        "kind": entry.kind,
    }
    match entry.content:
        case DatasetEntry() as dataset:
            row |= {"benchmark": dataset.benchmark, "units": len(dataset.list_persons())}
        case ReleaseEntry() as release:
            row |= _describe_release(release, registry)
        case reset:
            entries_lost = entry.number - reset.lost_from
            lost = f"; up to {entries_lost} entries lost" if entries_lost else ""
            row["benchmark"] = f"epoch {reset.epoch}{lost}"
    return row


def _describe_release(release: "ReleaseEntry", registry: "Registry | None") -> dict[str, object]:
    from protocol.cell_codes import NOT_RUN, SUPPRESSED

    model = registry.models.get(release.model) if registry else None
    cells = release.cells.values()
    published = [cell for cell in cells if cell.value not in {SUPPRESSED, NOT_RUN}]
    return {
        "benchmark": ", ".join(sorted({cell.benchmark for cell in cells})),
        "model": model.name if model else release.model[:SHORT],
        "figures": len(cells),
        "published": len(published),
    }


def _check_statements(site: Site, ledger: "Ledger") -> Iterator[dict[str, str]]:
    """Compare the ledger with the head in each statement of the chain."""
    from agent.disclosure.ledger import ResetEntry

    first = ledger.entries[0].content if ledger.entries else None
    first_epoch = first.epoch if isinstance(first, ResetEntry) else 0
    for submission in open_outbox(site).list_submissions():
        if submission.header.epoch >= first_epoch:
            subject = f"{submission.kind} {submission.digest[:SHORT]}"
            yield _check_head(ledger, submission.header.ledger, subject)


def _check_head(ledger: "Ledger", head: "LedgerHead", subject: str) -> dict[str, str]:
    if ledger.holds(head):
        return {"what": subject, "outcome": "match", "finding": f"entry {head.length}"}
    if head.length > ledger.head.length:
        finding = (
            f"entries {ledger.head.length + 1} to {head.length} are missing: "
            "the ledger was truncated or restored from a backup"
        )
    else:
        finding = (
            f"entry {head.length} differs from the original: "
            "the ledger was restored from a backup and then continued"
        )
    return {"what": subject, "outcome": "different", "finding": finding}
