"""What a person sees before signing: one page, made from the exact bytes that would leave, and from nothing else.

Figures, names and sizes are read from the payload and the verified registry. Only the verdicts, which say why a
figure is what it is, come from the gate's file beside it; they are shown as the gate's word.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from agent.delivery.outbox import LIVE, Submission
from agent.disclosure.findings import Extent
from agent.disclosure.gate import EXPLAINED, Rule
from agent.errors import DisclosureError
from protocol.capacity import Capacity, measure_capacity
from protocol.disclosure import HIGH_CODED, LOW_CODED, NOT_RUN, SPREAD_STEPS, SUPPRESSED
from protocol.keys import Algorithm
from protocol.policy import DisclosurePolicy, bucket_range
from protocol.registry import Registry
from protocol.scorecard import Cell, Scorecard

CODED = {SUPPRESSED: "suppressed", NOT_RUN: "not run", LOW_CODED: "low-coded", HIGH_CODED: "high-coded"}

CODE_MEANINGS = {
    CODED[SUPPRESSED]: "withheld, because it could tell about a few units, or help to compute what does.",
    CODED[
        LOW_CODED
    ]: "so few units succeeded, or scored at all, that the figure would tell about them; only that it is low leaves.",
    CODED[HIGH_CODED]: "so few units failed, or missed anything, that the figure would tell about them; only that it "
    "is high leaves.",
}
"""What a steward reads about the words in place of figures."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One cell as the page shows it.

    Attributes:
        units: published size of the group, which is a range; "" where none is published.
        value: in the metric's own range, or the word for its code.
        deviation: published standard deviation in the metric's own range, "" where there is none.
        verdict: why it is so, in the gate's words, and how much of the data was asked where it was not all;
            "unknown" where the verdict file does not say.
        before: the same figure in the previous release, "" if there is none.
        change: difference to it, "" where either is not a number.
    """

    cell: str
    units: str
    value: str
    deviation: str
    verdict: str
    before: str
    change: str


@dataclass(frozen=True, slots=True)
class Page:
    """Everything a steward needs to decide; plain values, ready for JSON.

    Attributes:
        bits: how many bits of information the figures can carry at most.
        determined_bits: of what the gate computes: commitment to the scores, and length and head of the ledger.
        signature_bits: that both signatures could carry if the programs that sign were replaced.
        payload: the exact bytes, which are ASCII.
    """

    digest: str
    state: str
    site: str
    deployment: str
    model: str
    organization: str
    scorecard: str
    policy: str
    day: str
    outcome: str
    approval: str
    place: str
    registry: int
    signatures: tuple[str, ...]
    previous: str
    figures: tuple[Figure, ...]
    bits: float
    determined_bits: float
    signature_bits: float
    payload_bytes: int
    payload: str


def make_page(
    submission: Submission,
    registry: Registry,
    policy: DisclosurePolicy,
    verdicts: Mapping[str, Any],
    previous: Submission | None,
) -> Page:
    """Return the page of one submission.

    Args:
        submission: read from its file.
        registry: verified; names of everything come from here.
        policy: the one that is applied: the stricter of site and federation.
        verdicts: the gate's verdict file.
        previous: the release before of the same model, if there was one.

    Raises:
        DisclosureError: its scorecard or model is not in the registry, so it cannot be shown faithfully.
    """
    result = submission.result
    registered, model = registry.scorecards.get(result.scorecard), registry.models.get(result.model)
    if registered is None or model is None:
        raise DisclosureError(f"submission {submission.digest[:12]} names a scorecard or model that is not registered")
    card, site = registered.scorecard, registry.sites.get(result.header.site)
    named = registry.policies.get(result.policy)
    roles = {key.key.keyid: key.role for key in (site.keys if site else ())}
    in_force = [key for key in (site.keys if site else ()) if key.until_index is None and key.revoked_from is None]
    capacity = _capacity(card, policy, tuple(key.key.algorithm for key in in_force))
    return Page(
        digest=submission.digest,
        state=submission.state.value,
        site=_named(site.display_name if site else "not enrolled", result.header.site),
        deployment=result.header.deployment,
        model=_named(model.display_name, model.name),
        organization=model.organization,
        scorecard=f"{card.name} version {card.version}",
        policy=f"{named.name} version {named.version}" if named else "not registered",
        day=(date(1970, 1, 1) + timedelta(days=result.day)).isoformat(),
        outcome=result.outcome,
        approval=result.approval,
        place=f"epoch {result.header.epoch}, link {result.header.seq} of the site's chain",
        registry=result.header.registry,
        signatures=tuple(f"{roles.get(s.keyid, 'unknown key')} {s.keyid}" for s in submission.envelope.signatures),
        previous=previous.digest if previous else "",
        figures=tuple(_figure(cell, submission, previous, _verdict(cell, verdicts)) for cell in card.cells),
        bits=round(capacity.payload_bits, 1),
        determined_bits=round(capacity.determined_bits, 1),
        signature_bits=round(capacity.signature_bits, 1),
        payload_bytes=len(submission.payload),
        payload=submission.payload.decode("ascii"),
    )


def _named(display_name: str, identity: str) -> str:
    """Return both names, or one where they are the same: a pooled site stands in the registry under its id."""
    return identity if display_name == identity else f"{display_name} ({identity})"


def previous_release(submission: Submission, submissions: list[Submission]) -> Submission | None:
    """Return the newest approved submission of the same model before this one, whatever its scorecard."""
    earlier = [
        other
        for other in submissions
        if other.state in LIVE and other.result.model == submission.result.model and other.place < submission.place
    ]
    return earlier[-1] if earlier else None


@lru_cache(maxsize=8)
def _capacity(scorecard: Scorecard, policy: DisclosurePolicy, signers: tuple[Algorithm, ...]) -> Capacity:
    """Return the bits of a signed statement; the same for all pages of a scorecard."""
    return measure_capacity(scorecard, policy, signers)


def _figure(cell: Cell, submission: Submission, previous: Submission | None, verdict: str) -> Figure:
    result = submission.result
    bucket, value = result.groups[cell.group], result.cells[cell.key]
    spread = result.spreads.get(cell.key, -1)
    before = previous.result.cells.get(cell.key) if previous else None
    comparable = before is not None and before >= 0 and value >= 0
    low, high = bucket_range(bucket)
    return Figure(
        cell=cell.key,
        units=f"{low} to {high}" if bucket else "",
        value=_shown(cell, value),
        deviation=f"{spread / (2 * SPREAD_STEPS) * (cell.high - cell.low):.3f}" if spread >= 0 else "",
        verdict=verdict,
        before="" if before is None else _shown(cell, before),
        change=f"{_scaled(cell, value) - _scaled(cell, before or 0):+.3f}" if comparable else "",
    )


def _verdict(cell: Cell, verdicts: Mapping[str, Any]) -> str:
    rule = _entry(verdicts, "cells", cell.key)
    if not isinstance(rule, str) or rule not in set(Rule):
        return "unknown"
    match _entry(verdicts, "data", cell.benchmark):
        # Anything but numbers and known words is left out: the file may come from elsewhere.
        case {"known": str(known), "asked": int(asked), "available": int(available)} if rule != Rule.NOT_RUN:
            return f"{EXPLAINED[Rule(rule)]}; {Extent(known, asked, available)}"
    return EXPLAINED[Rule(rule)]


def _entry(verdicts: Mapping[str, Any], part: str, key: str) -> object:
    entries = verdicts.get(part)
    return entries.get(key) if isinstance(entries, dict) else None


def _shown(cell: Cell, value: int) -> str:
    return CODED[value] if value < 0 else f"{_scaled(cell, value):.3f}"


def _scaled(cell: Cell, value: int) -> float:
    return cell.low + value / 1000 * (cell.high - cell.low)


def print_page(page: Page) -> None:
    """Print the page for a person."""
    import click

    from agent.listing import show_rows

    click.secho(f"Submission {page.digest}", bold=True)
    for name, text in (
        ("state", page.state),
        ("model", page.model + (f", {page.organization}" if page.organization else "")),
        ("site", page.site),
        ("goes to", page.deployment),
        ("scorecard", page.scorecard),
        ("policy", page.policy),
        ("day", page.day),
        ("outcome", page.outcome),
        ("approval", page.approval),
        ("place", page.place),
        ("registry", f"version {page.registry}"),
        ("compared with", page.previous or "nothing: the first release of this model"),
        ("signed by", "; ".join(page.signatures)),
    ):
        click.echo(f"  {name:<14} {text}")
    click.echo()
    rows = [{name: getattr(figure, name) for name in Figure.__slots__} for figure in page.figures]
    columns = {"cell": "Cell", "units": "Units (range)", "value": "Value", "deviation": "Std. dev."}
    columns |= {"before": "Before", "change": "Change"} if page.previous else {}
    show_rows(rows, columns | {"verdict": "Verdict of the gate"}, "table", folds=True)
    click.echo("Of the number of units only the range leaves; the day leaves as it stands above.")
    for value, meaning in CODE_MEANINGS.items():
        if any(value in (figure.value, figure.before) for figure in page.figures):
            click.echo(f"{value.capitalize()}: {meaning}")
    click.echo(
        f"The figures can tell at most {page.bits:.1f} bits, as much as so many yes-or-no answers. "
        f"Besides them leave {page.determined_bits:.0f} bits that the gate computes: `scores_root`, a "
        "fingerprint of all scores, and length and head of the ledger. They tie the site to its scores and releases, "
        "and without the site's keys nothing can be read from them. The signatures could carry "
        f"{page.signature_bits:.0f} bits, if somebody replaced the programs that sign."
    )
    click.echo(f"These {page.payload_bytes} bytes are what is signed and leaves the site, and nothing else:")
    click.echo(page.payload)
