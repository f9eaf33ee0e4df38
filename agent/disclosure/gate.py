"""The disclosure gate: derives the figures of a submission from exact scores, with a verdict for each. Pure.

1. `cell_scores` checks findings against the scorecard and registered datasets, and computes perturbed sums.
2. `protocol.disclosure` applies the thresholds of the policy; the aggregator applies them again.
3. `precedents` applies the rules about earlier releases, which only the site has on record.

The module `verdicts` lists the rules that can decide a figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.disclosure.cell_scores import (
    CellScores,
    Secrets,
    count_units,
    divide_persons,
    find_datasets,
    find_earlier_tables,
    fingerprint_scores,
    match_findings,
    read_scores,
    sum_scores,
)
from agent.disclosure.findings import UNFINISHED, Finding
from agent.disclosure.ledger import DatasetEntry, Ledger, ReleasedCell, share_persons
from agent.disclosure.precedents import Precedents
from agent.disclosure.verdicts import DecidedFigures, GateRule
from agent.errors import DisclosureError
from protocol import disclosure
from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.disclosure import CellSums
from protocol.identity import NONE
from protocol.margins import MarginTable
from protocol.policy import DisclosurePolicy
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard


@dataclass(frozen=True, slots=True)
class GatedRelease:
    """The figures of one model's findings that may leave the site.

    Attributes:
        groups, cells, spreads: the values of the fields with these names in a result statement.
        data: commitment of the registered dataset behind each benchmark's figures, or `none`.
        complete: whether every cell without a subgroup was run and is whole, see `Finding.whole`.
        verdicts: the rule that decided each cell.
        footprint: the protected cells as the ledger will record them.
    """

    groups: Mapping[str, int]
    cells: Mapping[str, int]
    spreads: Mapping[str, int]
    data: Mapping[str, str]
    complete: bool
    verdicts: Mapping[str, GateRule]
    footprint: Mapping[str, ReleasedCell]


def decide(
    scorecard: Scorecard,
    policy: DisclosurePolicy,
    findings: Sequence[Finding],
    *,
    model: str,
    scores_root: str,
    day: int,
    ledger: Ledger,
    secrets: Secrets,
) -> GatedRelease:
    """Decide every figure of one model's submission.

    Args:
        scorecard: the scorecard to report.
        policy: the stricter of the site's and the federation's policies.
        findings: at most one for each cell; findings without a cell are ignored.
        model: digest of the model.
        scores_root: root over the scores of these findings, as in the statement.
        day: days since 1970-01-01 UTC.
        ledger: the ledger of all registered datasets and of all releases prepared so far.
        secrets: the site's secrets for noise and fingerprints.

    Raises:
        DisclosureError: a benchmark or metric does not match the scorecard, a score is outside its metric's range,
            protected data is not registered, or this month's submissions are used up.
    """
    findings_by_cell = match_findings(scorecard, findings)
    datasets = find_datasets(scorecard, findings_by_cell, ledger)
    for dataset in datasets.values():
        _check_budget(dataset, policy, ledger, model=model, scores_root=scores_root, day=day)
    scores = _read_scores_by_cell(scorecard, findings_by_cell, datasets, secrets)

    # From here on, decisions depend only on sums, and those of protected cells are perturbed.
    sums: dict[str, CellSums | None] = {}
    for cell in scorecard.cells:
        dataset_of_cell = datasets.get(cell.benchmark)
        sums[cell.key] = sum_scores(
            cell, scores.get(cell.key), dataset_of_cell, model, policy, secrets
        )
    units = {group: count_units(scorecard.cells_of(group), sums) for group in scorecard.group_keys}
    earlier_tables: dict[str, list[MarginTable]] = {}
    for cell in scorecard.cells:
        if cell.protected and cell.subgroup is None and cell.key in scores:
            earlier_tables[cell.key] = find_earlier_tables(
                cell, scores[cell.key], datasets[cell.benchmark], model, ledger, policy, secrets
            )
    fresh = disclosure.release(scorecard, units, sums, policy, earlier_tables)
    rules = _name_rules(scorecard, fresh, sums, policy)

    # Benchmarks are decided one after the other: each counts as an earlier release for the next ones.
    decided = DecidedFigures()
    data: dict[str, str] = {}
    for entry in scorecard.benchmarks:
        cells = [cell for cell in scorecard.cells if cell.benchmark == entry.id]
        dataset_of_entry = datasets.get(entry.id)
        figures = _build_figures(cells, entry, fresh, dataset_of_entry, scores, secrets)
        for cell in cells:
            figures.verdicts[cell.key] = rules[cell.key]
        if figures.footprint:
            precedents = Precedents(
                model=model,
                release_key=(scorecard.digest, scores_root, policy.digest),
                day=day,
                ledger=ledger,
                beside=decided.footprint,
                policy=policy,
                noise_key=secrets.perturbation,
            )
            figures = precedents.apply_rules(cells, figures, scores)
        decided.add(figures)
        data[entry.id] = _name_dataset(cells, dataset_of_entry, figures)
    return GatedRelease(
        groups=decided.groups,
        cells=decided.cells,
        spreads=decided.spreads,
        data=data,
        complete=_is_complete(scorecard, findings_by_cell, scores),
        verdicts=decided.verdicts,
        footprint=decided.footprint,
    )


def _check_budget(
    dataset: DatasetEntry,
    policy: DisclosurePolicy,
    ledger: Ledger,
    *,
    model: str,
    scores_root: str,
    day: int,
) -> None:
    commitments = [
        entry.commitment for entry in ledger.list_datasets() if share_persons(entry, dataset)
    ]
    spent = ledger.count_other_releases_this_month(model, commitments, day, scores_root)
    if spent >= policy.monthly_submissions:
        raise DisclosureError(
            f"{dataset.benchmark}: this model's {policy.monthly_submissions} submissions within 30 days about these "
            "patients are used up, whether they were sent or not",
            "Wait until the oldest is 30 days old. The ledger cannot be reset.",
        )


def _read_scores_by_cell(
    scorecard: Scorecard,
    findings_by_cell: Mapping[str, Finding],
    datasets: Mapping[str, DatasetEntry],
    secrets: Secrets,
) -> dict[str, CellScores]:
    """Return the scores behind each cell that was run, with each person in at most one group of a variable."""
    scores: dict[str, CellScores] = {}
    for key, finding in findings_by_cell.items():
        scores[key] = read_scores(finding, datasets.get(finding.benchmark), secrets)
    scores.update(divide_persons(scorecard, scores))
    return scores


def _build_figures(
    cells: Sequence[Cell],
    entry: BenchmarkEntry,
    fresh: disclosure.Release,
    dataset: DatasetEntry | None,
    scores: Mapping[str, CellScores],
    secrets: Secrets,
) -> DecidedFigures:
    """Return the figures of one benchmark, before earlier releases are considered."""
    figures = DecidedFigures()
    for cell in cells:
        bucket = fresh.groups[cell.group]
        value = fresh.cells[cell.key]
        spread = fresh.spreads.get(cell.key)
        figures.groups[cell.group] = bucket
        figures.cells[cell.key] = value
        if spread is not None:
            figures.spreads[cell.key] = spread
        if cell.protected and dataset is not None and cell.key in scores:
            figures.footprint[cell.key] = ReleasedCell(
                benchmark=cell.benchmark,
                metric=cell.metric,
                subgroup=cell.subgroup or "",
                definition=entry.definition,
                commitment=dataset.commitment,
                value=value,
                spread=spread,
                bucket=bucket,
                scores=fingerprint_scores(scores[cell.key].by_person, secrets),
            )
    return figures


def _name_rules(
    scorecard: Scorecard,
    fresh: disclosure.Release,
    sums: Mapping[str, CellSums | None],
    policy: DisclosurePolicy,
) -> dict[str, GateRule]:
    """Return the rule that decided each figure, before earlier releases are considered."""
    surplus = {cell.key for cell in disclosure.surplus_cells(scorecard, policy)}
    rules: dict[str, GateRule] = {}
    for cell in scorecard.cells:
        rules[cell.key] = _name_rule(cell, fresh, sums[cell.key], cell.key in surplus, policy)
    return rules


def _name_rule(
    cell: Cell,
    fresh: disclosure.Release,
    sums: CellSums | None,
    is_surplus: bool,
    policy: DisclosurePolicy,
) -> GateRule:
    """Return the rule that decided one figure, before earlier releases are considered."""
    value = fresh.cells[cell.key]
    bucket = fresh.groups[cell.group]
    if value == NOT_RUN or sums is None:
        return GateRule.NOT_RUN
    if value == LOW_CODED:
        return GateRule.FEW_SUCCESSES
    if value == HIGH_CODED:
        return GateRule.FEW_FAILURES
    if value != SUPPRESSED:
        return GateRule.ROUNDED if cell.protected else GateRule.PUBLIC
    if is_surplus:
        return GateRule.SURPLUS
    if sums.n < policy.min_units:
        return GateRule.FEW_UNITS
    if bucket and disclosure.release_cell(cell, sums, bucket, policy) == SUPPRESSED:
        return GateRule.UNSAFE
    return GateRule.MARGIN


def _is_complete(
    scorecard: Scorecard, findings_by_cell: Mapping[str, Finding], scores: Mapping[str, CellScores]
) -> bool:
    """Return whether every cell without a subgroup was run and represents its benchmark's data."""
    for cell in scorecard.cells:
        if cell.subgroup is not None:
            continue
        finding = findings_by_cell.get(cell.key)
        if finding is None or not _is_whole(cell, finding, scores[cell.key]):
            return False
    return True


def _is_whole(cell: Cell, finding: Finding, scores: CellScores) -> bool:
    """Return whether a figure of all units represents its benchmark's data.

    For a protected benchmark, the number of answers that could not be scored is ignored: it is exact, so the result
    would reveal whether one more answer could be scored. Server failures do not reveal that.
    """
    if not cell.protected:
        return finding.whole
    has_failures = any(score.reason in UNFINISHED for score in finding.scores)
    return not scores.is_part and not has_failures and finding.extent.enough(finding.access)


def _name_dataset(
    cells: Sequence[Cell], dataset: DatasetEntry | None, figures: DecidedFigures
) -> str:
    """Return the commitment of the dataset that the statement has to name for a benchmark, or `none`."""
    was_run = any(figures.cells[cell.key] != NOT_RUN for cell in cells)
    if dataset is None or not was_run:
        return NONE
    return dataset.commitment
