"""The ledger of releases in rows for people, without fingerprints, and its comparison with the site's statements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.delivery.outbox import Outbox, Submission
from agent.disclosure.ledger import (
    ClockEntry,
    DatasetEntry,
    Ledger,
    LedgerEntry,
    ReleaseEntry,
    ResetEntry,
    derive_ledger_key,
    read_ledger,
)
from agent.disclosure.record_check import AuditOutcome, RecordCheck, split_head
from agent.site.directory import Site
from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.description import format_day
from protocol.predicates import LedgerHead
from protocol.registry import Registry

_SHORT: Final = 12  # characters of a digest that are shown


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One entry of the ledger; numbers that an entry of its kind does not have are None.

    Attributes:
        number: number of the entry.
        day: its day, as YYYY-MM-DD.
        kind: dataset, release, reset or clock.
        benchmark: the benchmark or benchmarks; of a reset, its epoch and how much may be lost; of
            a clock, which days are wrong.
        model: registered name of a release's model.
        units: number of persons in a dataset.
        figures, published: number of a release's protected figures, and of those that carry a value.
    """

    number: int
    day: str
    kind: str
    benchmark: str
    model: str = ""
    units: int | None = None
    figures: int | None = None
    published: int | None = None


def read_site_ledger(site: Site) -> Ledger:
    """Read the ledger. Raises DisclosureError, which names the entry, if one was changed or is missing."""
    return read_ledger(Outbox(site.submissions).ledger, derive_ledger_key(site.seal_key()))


def list_rows(ledger: Ledger, registry: Registry | None) -> list[LedgerRow]:
    """Return a row for each entry, oldest first; names of models come from the registry."""
    return [_build_row(entry, registry) for entry in ledger.entries]


def _build_row(entry: LedgerEntry, registry: Registry | None) -> LedgerRow:
    day = format_day(entry.day)
    match entry.content:
        case DatasetEntry() as dataset:
            units = len(dataset.list_persons())
            return LedgerRow(entry.number, day, entry.kind, dataset.benchmark, units=units)
        case ReleaseEntry() as release:
            return _build_release_row(entry, release, registry)
        case ClockEntry() as clock:
            wrong = f"days up to {format_day(clock.wrong_until)} are wrong"
            return LedgerRow(entry.number, day, entry.kind, wrong)
        case reset:
            entries_lost = entry.number - reset.lost_from
            lost = f"; up to {entries_lost} entries lost" if entries_lost else ""
            return LedgerRow(entry.number, day, entry.kind, f"epoch {reset.epoch}{lost}")


def _build_release_row(
    entry: LedgerEntry, release: ReleaseEntry, registry: Registry | None
) -> LedgerRow:
    model = registry.models.get(release.model) if registry else None
    cells = release.cells.values()
    published = [cell for cell in cells if cell.value not in {SUPPRESSED, NOT_RUN}]
    return LedgerRow(
        number=entry.number,
        day=format_day(entry.day),
        kind=entry.kind,
        benchmark=", ".join(sorted({cell.benchmark for cell in cells})),
        model=model.name if model else release.model[:_SHORT],
        figures=len(cells),
        published=len(published),
    )


def check_statements(ledger: Ledger, submissions: Sequence[Submission]) -> list[RecordCheck]:
    """Compare the ledger with the head in each statement of the chain, from the epoch of its first entry on."""
    first = ledger.entries[0].content if ledger.entries else None
    first_epoch = first.epoch if isinstance(first, ResetEntry) else 0
    checks: list[RecordCheck] = []
    for submission in submissions:
        if submission.header.epoch >= first_epoch:
            subject = f"{submission.kind} {submission.digest[:_SHORT]}"
            checks.append(check_head(ledger, submission.header.ledger, subject))
    return checks


def check_head(ledger: Ledger, head: LedgerHead, subject: str) -> RecordCheck:
    """Compare the ledger with a head that somebody else kept, or that a statement contains."""
    if ledger.holds(head):
        return RecordCheck(subject, AuditOutcome.MATCH, f"entry {head.length}")
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
    return RecordCheck(subject, AuditOutcome.DIFFERENT, finding)


def parse_head(text: str) -> LedgerHead | None:
    """Return the head in the form NUMBER:LINK, in which `intramural ledger show` prints it; None for other texts."""
    head = split_head(text)
    return None if head is None else LedgerHead(*head)
