"""The commands `ledger show|verify`: which figures were prepared from which data, and whether nobody changed that."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agent.cli.enroll import federation_of
from agent.cli.options import format_option
from agent.cli.output import show_rows
from agent.cli.submission_context import SHORT, outbox_of
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.disclosure.ledger import Ledger, LedgerEntry
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
    """List the ledger's entries, after checking that they are whole.

    The last line is the ledger's head: kept by somebody else, it shows later whether the ledger was put back.
    """
    registry, known = _newest_registry(site), _read(site)
    rows = [_describe_entry(entry, registry) for entry in known.entries]
    columns = {
        "number": "No.",
        "day": "Day",
        "kind": "Kind",
        "benchmark": "Benchmark",
        "model": "Model",
        "units": "Units",
        "figures": "Figures",
        "published": "Of them published",
    }
    show_rows(rows, columns, form)
    if form == "table":
        click.echo(f"Head: {known.head.length}:{known.head.head}")


def _parse_heads(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> "tuple[LedgerHead, ...]":
    """Return the heads that were given as NUMBER:LINK, the form in which `intramural ledger show` prints its own."""
    from protocol.predicates import LedgerHead

    heads = []
    for value in values:
        number, _, link = value.partition(":")
        is_link = len(link) == _LINK_DIGITS and not set(link) - set("0123456789abcdef")
        if not (number.isascii() and number.isdecimal()) or not is_link:
            raise click.BadParameter("expected the number of an entry, a colon and 64 hex digits", context, parameter)
        heads.append(LedgerHead(int(number), link))
    return tuple(heads)


@ledger.command()
@click.option(
    "--head",
    "heads",
    multiple=True,
    metavar="NUMBER:LINK",
    callback=_parse_heads,
    help="A head of the ledger that was kept elsewhere; may be repeated.",
)
@format_option()
@click.pass_obj
def verify(site: Site, heads: "tuple[LedgerHead, ...]", form: str) -> None:
    """Check the ledger: its chain, its seals, its heads.

    It must agree with every statement, and with every head that was kept elsewhere.

    The exit code is 1 unless everything matches. `intramural reset show` compares it with the aggregator's log.
    """
    known = _read(site)
    finding = f"{len(known.entries)} entries, each sealed and following from the one before"
    rows = [{"what": "ledger", "outcome": "match", "finding": finding}]
    rows += _check_statements(site, known)
    rows += [_check_head(known, head, f"head {head.length}") for head in heads]
    show_rows(rows, {"what": "What", "outcome": "Outcome", "finding": "Finding"}, form, folds=True)
    if any(row["outcome"] != "match" for row in rows):
        raise click.exceptions.Exit(1)


def _read(site: Site) -> "Ledger":
    """Read the ledger. Raises DisclosureError: an entry was changed or is missing; it is named."""
    from agent.disclosure.ledger import derive_ledger_key, read_ledger

    _ = site.settings
    return read_ledger(outbox_of(site).ledger, derive_ledger_key(site.seal_key()))


def _newest_registry(site: Site) -> "Registry | None":
    from protocol.registry import RootPins

    if not (site.submissions / "membership.json").exists():
        return None
    trusted = federation_of(site).trusted()
    return None if isinstance(trusted, RootPins) else trusted


def _describe_entry(entry: "LedgerEntry", registry: "Registry | None") -> dict[str, object]:
    """Return an entry's row: no fingerprint is shown."""
    from agent.disclosure.ledger import DatasetEntry, ReleaseEntry
    from protocol.codes import NOT_RUN, SUPPRESSED
    from protocol.description import format_day

    row: dict[str, object] = {"number": entry.number, "day": format_day(entry.day), "kind": entry.kind}
    content = entry.content
    if isinstance(content, DatasetEntry):
        return row | {"benchmark": content.benchmark, "units": len(content.persons())}
    if isinstance(content, ReleaseEntry):
        model = registry.models.get(content.model) if registry else None
        published = [cell for cell in content.cells.values() if cell.value not in {SUPPRESSED, NOT_RUN}]
        return row | {
            "benchmark": ", ".join(sorted({cell.benchmark for cell in content.cells.values()})),
            "model": model.name if model else content.model[:SHORT],
            "figures": len(content.cells),
            "published": len(published),
        }
    lost = entry.number - content.lost_from
    words = f"epoch {content.epoch}" + (f"; up to {lost} entries lost" if lost else "")
    return row | {"benchmark": words}


def _check_statements(site: Site, known: "Ledger") -> Iterator[dict[str, str]]:
    """Compare the ledger with what each statement of the chain says of it."""
    from agent.disclosure.ledger import ResetEntry

    first = known.entries[0].content if known.entries else None
    begun_in = first.epoch if isinstance(first, ResetEntry) else 0
    for submission in outbox_of(site).all():
        if submission.header.epoch >= begun_in:
            yield _check_head(known, submission.header.ledger, f"{submission.kind} {submission.digest[:SHORT]}")


def _check_head(known: "Ledger", head: "LedgerHead", what: str) -> dict[str, str]:
    if known.holds(head):
        return {"what": what, "outcome": "match", "finding": f"entry {head.length}"}
    if head.length > known.head.length:
        finding = f"entries {known.head.length + 1} to {head.length} are missing: the ledger was cut or put back"
    else:
        finding = f"entry {head.length} is not the one of that time: the ledger was put back and went on since"
    return {"what": what, "outcome": "different", "finding": finding}
