"""The gate: from exact scores to the figures of a submission, with a verdict for each. Pure.

The numbers of every rule are decided by `protocol.disclosure`, which the aggregator applies again. What only the site
can know is decided here: who was counted, whether benchmark and metric are what the scorecard says, and what was let
out before.
"""

from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from agent.disclosure.findings import Finding
from agent.disclosure.ledger import Entry, Fingerprints, Ledger, ReleasedCell
from agent.errors import DisclosureError
from protocol import disclosure
from protocol.disclosure import HIGH_CODED, LOW_CODED, NO_SPREAD, NOT_RUN, SUPPRESSED
from protocol.policy import DisclosurePolicy
from protocol.scorecard import Cell, Scorecard

_STRICTNESS: Final = {"public": 0, "gated": 1, "private": 2}


class Rule(StrEnum):
    """What decided a figure. The values are kept in the verdict file; `EXPLAINED` has the sentences."""

    PUBLIC = "public"
    ROUNDED = "rounded"
    NOT_RUN = "not_run"
    FEW_UNITS = "few_units"
    MARGIN = "margin"
    FEW_SUCCESSES = "few_successes"
    FEW_FAILURES = "few_failures"
    FEW_CARRY = "few_carry"
    FEW_LACK = "few_lack"
    UNSAFE = "unsafe"
    REPEATED = "repeated"
    NO_PRECEDENT = "no_precedent"


EXPLAINED: Final[Mapping[Rule, str]] = {
    Rule.PUBLIC: "published as it is: the benchmark is public",
    Rule.ROUNDED: "published, rounded to the grid that the number of units allows",
    Rule.NOT_RUN: "not run",
    Rule.FEW_UNITS: "suppressed: too few units",
    Rule.MARGIN: "suppressed: it would let a smaller group be computed",
    Rule.FEW_SUCCESSES: "low-coded: too few successes to print a rate",
    Rule.FEW_FAILURES: "high-coded: too few failures to print a rate",
    Rule.FEW_CARRY: "low-coded: a few units make up what it scores",
    Rule.FEW_LACK: "high-coded: a few units make up what it misses",
    Rule.UNSAFE: "suppressed: no rounding of it would hide a few units",
    Rule.REPEATED: "the earlier figure again: too few units changed since",
    Rule.NO_PRECEDENT: "suppressed: too few units differ from another release, and no earlier figure to repeat",
}


@dataclass(frozen=True, slots=True)
class Release:
    """What the gate lets out of one model's findings.

    Attributes:
        groups, cells, spreads: as in a result statement.
        complete: every metric was run (subgroups apart) and is whole, see `Finding.whole`.
        verdicts: for every cell, the rule that decided it.
        footprint: the protected cells as the ledger will keep them.
    """

    groups: Mapping[str, int]
    cells: Mapping[str, int]
    spreads: Mapping[str, int]
    complete: bool
    verdicts: Mapping[str, Rule]
    footprint: Mapping[str, ReleasedCell]


@dataclass(frozen=True, slots=True)
class _Figures:
    """What was decided for some benchmarks; the fields are those of Release."""

    groups: dict[str, int]
    cells: dict[str, int]
    spreads: dict[str, int]
    verdicts: dict[str, Rule]
    footprint: dict[str, ReleasedCell]

    def beside(self, other: "_Figures") -> "_Figures":
        return _Figures(
            self.groups | other.groups,
            self.cells | other.cells,
            self.spreads | other.spreads,
            self.verdicts | other.verdicts,
            self.footprint | other.footprint,
        )


def decide(
    scorecard: Scorecard,
    policy: DisclosurePolicy,
    findings: Sequence[Finding],
    *,
    model: str,
    scores_root: str,
    day: int,
    ledger: Ledger,
    fingerprints: Fingerprints,
) -> Release:
    """Decide every figure of one model's submission.

    Args:
        scorecard: what is reported.
        policy: already the stricter of site and federation.
        findings: at most one a cell; those that no cell asks for are left out.
        model: digest of the model.
        scores_root: of these findings, as in the statement.
        day: days since 1970-01-01 UTC.
        ledger: every earlier release, and those prepared before this one.
        fingerprints: of units, keyed.

    Raises:
        DisclosureError: benchmark or metric are not what the scorecard says, a score lies outside its metric's range,
            or this month's submissions are spent.
    """
    by_cell = _by_cell(scorecard, findings)
    lineages = {by_cell[cell.key].lineage for cell in scorecard.cells if cell.protected and cell.key in by_cell}
    _check_budget(lineages, policy, ledger, model=model, scores_root=scores_root, day=day)
    means = {key: finding.unit_means() for key, finding in by_cell.items()}
    fresh = disclosure.release(
        scorecard,
        {group: _units(scorecard.cells_of(group), means) for group in scorecard.group_keys},
        {cell.key: _scores(cell, by_cell.get(cell.key), means) for cell in scorecard.cells},
        policy,
    )
    decided = _Figures({}, {}, {}, {}, {})
    for entry in scorecard.benchmarks:
        cells = [cell for cell in scorecard.cells if cell.benchmark == entry.id]
        figures = _fresh(cells, fresh, by_cell, means, policy, fingerprints)
        if _too_near(figures, policy, model, ledger, decided.footprint):
            figures = _repeated(cells, by_cell, model, ledger)
        decided = decided.beside(figures)
    return Release(
        groups=decided.groups,
        cells=decided.cells,
        spreads=decided.spreads,
        complete=all(
            cell.key in by_cell and by_cell[cell.key].whole for cell in scorecard.cells if cell.subgroup is None
        ),
        verdicts=decided.verdicts,
        footprint=decided.footprint,
    )


def _by_cell(scorecard: Scorecard, findings: Sequence[Finding]) -> dict[str, Finding]:
    """Return the finding of each cell that was run, after checking that both sides mean the same by it."""
    definitions = {entry.id: entry.definition for entry in scorecard.benchmarks}
    given: dict[tuple[str, str, str | None], Finding] = {}
    for finding in findings:
        name = (finding.benchmark, finding.metric, finding.subgroup)
        if name in given:
            raise DisclosureError(
                f"{finding.benchmark}/{finding.metric} was run more than once for one model in this suite",
                "Keep one run of each benchmark and model in the suite you submit.",
            )
        given[name] = finding
    found: dict[str, Finding] = {}
    for cell in scorecard.cells:
        finding_of_cell = given.get((cell.benchmark, cell.metric, cell.subgroup))
        if finding_of_cell is not None and finding_of_cell.asked:
            _check_agreement(cell, finding_of_cell, definitions[cell.benchmark])
            found[cell.key] = finding_of_cell
    return found


def _check_agreement(cell: Cell, finding: Finding, definition: str) -> None:
    if finding.definition != definition:
        raise DisclosureError(
            f"{cell.benchmark}: what was run is not the definition that the scorecard names",
            "Run it again with the definition of the scorecard, or ask for a scorecard with yours.",
        )
    if _STRICTNESS[finding.access] > _STRICTNESS[cell.access]:
        raise DisclosureError(
            f"{cell.benchmark}: its access level is {finding.access} here, but {cell.access} in the scorecard",
            "Nothing leaves. A public benchmark run on data of your own counts as private.",
        )
    if (finding.binary, finding.low, finding.high) != (cell.binary, cell.low, cell.high):
        raise DisclosureError(f"{cell.key}: the metric's range or kind is not the one of the scorecard")
    if not all(cell.low <= value <= cell.high for value in finding.instance_values()):
        raise DisclosureError(f"{cell.key}: a score lies outside the metric's range")


def _check_budget(
    lineages: Set[str], policy: DisclosurePolicy, ledger: Ledger, *, model: str, scores_root: str, day: int
) -> None:
    for lineage in sorted(lineages):
        if ledger.other_releases_this_month(model, lineage, day, scores_root) >= policy.monthly_submissions:
            raise DisclosureError(
                f"{lineage}: this model's {policy.monthly_submissions} submissions of the last 30 days are spent",
                "Wait until the oldest is 30 days old. The ledger cannot be reset.",
            )


def _units(cells: Sequence[Cell], means: Mapping[str, Mapping[bytes, float]]) -> int:
    """Return the number of units behind a group: of the metric with the fewest that has any; 0 if none has."""
    return min((len(means[cell.key]) for cell in cells if means.get(cell.key)), default=0)


def _scores(cell: Cell, finding: Finding | None, means: Mapping[str, Mapping[bytes, float]]) -> Sequence[float] | None:
    """Return what a figure is the mean of: units, but instances where the data is published and everyone counts so."""
    if finding is None:
        return None
    return list(means[cell.key].values()) if cell.protected else finding.instance_values()


def _fresh(
    cells: Sequence[Cell],
    fresh: disclosure.Release,
    by_cell: Mapping[str, Finding],
    means: Mapping[str, Mapping[bytes, float]],
    policy: DisclosurePolicy,
    fingerprints: Fingerprints,
) -> _Figures:
    """Return the figures of one benchmark as if nothing had been let out before."""
    figures = _Figures({cell.group: fresh.groups[cell.group] for cell in cells}, {}, {}, {}, {})
    for cell in cells:
        finding, units = by_cell.get(cell.key), means.get(cell.key, {})
        value, bucket, spread = fresh.cells[cell.key], fresh.groups[cell.group], fresh.spreads.get(cell.key)
        figures.cells[cell.key] = value
        if spread is not None:
            figures.spreads[cell.key] = spread
        figures.verdicts[cell.key] = _rule(cell, value, bucket, units, policy)
        if cell.protected and finding is not None:
            figures.footprint[cell.key] = ReleasedCell(
                benchmark=cell.benchmark,
                metric=cell.metric,
                subgroup=cell.subgroup or "",
                lineage=finding.lineage,
                value=value,
                spread=spread,
                bucket=bucket,
                units=fingerprints.of(finding.lineage, units),
            )
    return figures


def _rule(cell: Cell, value: int, bucket: int, units: Mapping[bytes, float], policy: DisclosurePolicy) -> Rule:
    if value == NOT_RUN:
        return Rule.NOT_RUN
    if value == LOW_CODED:
        return Rule.FEW_SUCCESSES if cell.binary else Rule.FEW_CARRY
    if value == HIGH_CODED:
        return Rule.FEW_FAILURES if cell.binary else Rule.FEW_LACK
    if value != SUPPRESSED:
        return Rule.ROUNDED if cell.protected else Rule.PUBLIC
    if len(units) < policy.min_units:
        return Rule.FEW_UNITS
    if bucket and disclosure.release_cell(cell, list(units.values()), bucket, policy) == SUPPRESSED:
        return Rule.UNSAFE
    return Rule.MARGIN


def _too_near(
    figures: _Figures,
    policy: DisclosurePolicy,
    model: str,
    ledger: Ledger,
    beside: Mapping[str, ReleasedCell],
) -> bool:
    """Whether a figure could be subtracted from an earlier one, or from one of another benchmark beside it."""
    for cell in figures.footprint.values():
        name = (cell.lineage, cell.metric, cell.subgroup)
        others = ledger.releases(model, *name)
        others += [other for other in beside.values() if (other.lineage, other.metric, other.subgroup) == name]
        if any(0 < other.changed_units(cell.units) < policy.changed_units for other in others):
            return True
    return False


def _repeated(cells: Sequence[Cell], run: Container[str], model: str, ledger: Ledger) -> _Figures:
    """Return the benchmark's figures as they were let out last; a figure that was not is withheld.

    The footprint stays that of the old figures: the units behind them are those they were computed from.
    """
    last = next(
        (entry.cells for entry in reversed(ledger.entries) if entry.model == model and _reports(entry, cells)), {}
    )
    figures = _Figures({cell.group: 0 for cell in cells}, {}, {}, {}, {})
    for cell in cells:
        was = last.get(cell.key)
        if was is not None:
            figures.groups[cell.group] = was.bucket
            figures.cells[cell.key], figures.verdicts[cell.key] = was.value, Rule.REPEATED
            figures.footprint[cell.key] = was
        elif cell.key in run:
            figures.cells[cell.key], figures.verdicts[cell.key] = SUPPRESSED, Rule.NO_PRECEDENT
        else:
            figures.cells[cell.key], figures.verdicts[cell.key] = NOT_RUN, Rule.NOT_RUN
        if not cell.binary:
            figures.spreads[cell.key] = NO_SPREAD if was is None or was.spread is None else was.spread
    return figures


def _reports(entry: Entry, cells: Sequence[Cell]) -> bool:
    return any(cell.key in entry.cells for cell in cells)
