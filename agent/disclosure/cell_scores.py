"""The scores behind each cell of a scorecard: checked, averaged by person, and summed with perturbation. Pure.

Findings must match the scorecard, and findings for protected cells must also match a registered dataset. The rules of
the gate see only sums.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from agent.disclosure.findings import UNFINISHED, Finding, mean
from agent.disclosure.ledger import DatasetEntry, Fingerprints, Ledger, ReleasedCell, ReleaseEntry
from agent.disclosure.perturbation import exact_sums, perturb_sums
from agent.errors import DisclosureError
from agent.results.summarize import MANY_UNSCORED
from agent.vocabulary import Reason
from protocol.disclosure import CellSums
from protocol.margins import AuditCell, MarginTable, admit_counts, build_table
from protocol.policy import DisclosurePolicy
from protocol.scorecard import Cell, Scorecard

# A run's access level must not be stricter than the one in the scorecard.
_STRICTNESS: Final = {"public": 0, "gated": 1, "private": 2}


@dataclass(frozen=True, slots=True)
class Secrets:
    """The site's secrets that the gate's decisions depend on.

    Attributes:
        fingerprints: computes keyed fingerprints of units and scores.
        perturbation: the key that noise is drawn from, see `agent.disclosure.perturbation`.
    """

    fingerprints: Fingerprints
    perturbation: bytes


@dataclass(frozen=True, slots=True)
class CellScores:
    """The scores behind one cell, scaled from the metric's range to 0..1.

    Attributes:
        by_person: for a protected cell, the mean score of each person.
        of_instances: for a public cell, the score of each instance.
        is_part: whether the run covers only a part of the registered dataset, see `_is_part`.
    """

    by_person: Mapping[str, float]
    of_instances: Sequence[float] = ()
    is_part: bool = False


def match_findings(scorecard: Scorecard, findings: Sequence[Finding]) -> dict[str, Finding]:
    """Return the finding of each cell that was run, by the cell's key.

    Raises:
        DisclosureError: a finding does not match the scorecard, or there are several for one cell.
    """
    definitions = {entry.id: entry.definition for entry in scorecard.benchmarks}
    by_name: dict[tuple[str, str, str | None], Finding] = {}
    for finding in findings:
        name = (finding.benchmark, finding.metric, finding.subgroup)
        if name in by_name:
            raise DisclosureError(
                f"{finding.benchmark}/{finding.metric} was run more than once for one model in this suite",
                "Keep one run of each benchmark and model in the suite you submit.",
            )
        by_name[name] = finding
    by_cell: dict[str, Finding] = {}
    for cell in scorecard.cells:
        finding_of_cell = by_name.get((cell.benchmark, cell.metric, cell.subgroup))
        if finding_of_cell is not None and finding_of_cell.asked:
            _check_agreement(cell, finding_of_cell, definitions[cell.benchmark])
            by_cell[cell.key] = finding_of_cell
    return by_cell


def _check_agreement(cell: Cell, finding: Finding, definition: str) -> None:
    if finding.definition != definition:
        raise DisclosureError(
            f"{cell.benchmark}: the run used a different definition from the one in the scorecard",
            "Run it again with the scorecard's definition, or ask for a scorecard with yours.",
        )
    if _STRICTNESS[finding.access] > _STRICTNESS[cell.access]:
        raise DisclosureError(
            f"{cell.benchmark}: its access level is {finding.access} here, but {cell.access} in the scorecard",
            "Nothing is submitted. A public benchmark that is run on your own data counts as private.",
        )
    if (finding.binary, finding.low, finding.high) != (cell.binary, cell.low, cell.high):
        raise DisclosureError(
            f"{cell.key}: its range, or whether it is binary, differs from the scorecard"
        )
    if not all(cell.low <= value <= cell.high for value in finding.instance_values()):
        raise DisclosureError(f"{cell.key}: a score is outside the metric's range")


def find_datasets(
    scorecard: Scorecard, by_cell: Mapping[str, Finding], ledger: Ledger
) -> dict[str, DatasetEntry]:
    """Return the registered dataset behind each protected benchmark that was run."""
    datasets: dict[str, DatasetEntry] = {}
    for cell in scorecard.cells:
        finding = by_cell.get(cell.key)
        if finding is None or not cell.protected:
            continue
        dataset = ledger.find_dataset(finding.dataset)
        if dataset is None:
            raise DisclosureError(
                f"{cell.benchmark}: it was run on data that is not registered, so its figures cannot be submitted",
                f"Register the data with `intramural datasets register {cell.benchmark}` and have the steward approve "
                "it, unless you have done so. Then run it again without --unregistered: stored answers are reused.",
            )
        if (dataset.benchmark, dataset.definition) != (finding.benchmark, finding.definition):
            raise DisclosureError(
                f"{cell.benchmark}: its registered dataset was read with another definition of the benchmark",
                f"Register it again with `intramural datasets register {cell.benchmark}`.",
            )
        if dataset.data != finding.frozen_digest:
            raise DisclosureError(
                f"{cell.benchmark}: the run read files other than the registered ones: the frozen copy was changed",
                "Restore the folder data/.frozen from a backup, or register the data again; then repeat the run.",
            )
        if datasets.setdefault(cell.benchmark, dataset) != dataset:
            raise DisclosureError(
                f"{cell.benchmark}: its figures come from several registered datasets",
                "Run the whole benchmark again.",
            )
    return datasets


def read_scores(finding: Finding, dataset: DatasetEntry | None, secrets: Secrets) -> CellScores:
    """Return the scores behind a finding, scaled to 0..1; averaged by person if `dataset` is given."""
    if dataset is None:
        return CellScores({}, [_scale(value, finding) for value in finding.instance_values()])
    shares_by_person: dict[str, list[float]] = {}
    asked: set[str] = set()
    for score in finding.scores:
        unit = dataset.units.get(secrets.fingerprints.of_unit(score.unit_key))
        if unit is None:
            raise DisclosureError(
                f"{finding.benchmark}: it was run on units that its registered dataset does not contain",
                "Run it again without --unregistered.",
            )
        asked.add(unit.person)
        if score.value is not None:
            shares_by_person.setdefault(unit.person, []).append(_scale(score.value, finding))
    by_person = {person: mean(shares) for person, shares in sorted(shares_by_person.items())}
    return CellScores(by_person, is_part=_is_part(finding, asked, dataset))


def _scale(value: float, finding: Finding) -> float:
    """Return a score scaled from the range of its metric to 0..1."""
    return (value - finding.low) / (finding.high - finding.low)


def _is_part(finding: Finding, asked: Set[str], dataset: DatasetEntry) -> bool:
    """Return whether a run covers only a part of its registered dataset.

    Limiting or stopping a run, or its server, selects persons. A plan does not state how many instances are asked.
    """
    unanswered = sum(score.reason in UNFINISHED for score in finding.scores)
    if unanswered > MANY_UNSCORED * len(finding.scores):
        return True
    if any(score.reason == Reason.NOT_ASKED for score in finding.scores):
        return True
    if finding.subgroup is not None:
        return False  # a subgroup contains only some of the persons
    return asked != dataset.list_persons() or finding.extent.asked < finding.extent.available


def divide_persons(scorecard: Scorecard, scores: Mapping[str, CellScores]) -> dict[str, CellScores]:
    """Return the scores of protected subgroups with each person in at most one group of a variable.

    The rules about margins assume this. A person with units in two groups of a variable belongs to neither. A person
    who has units in one group and units without a group belongs to that group, with the mean over all units.
    """
    divided: dict[str, CellScores] = {}
    for cell in scorecard.cells:
        whole = scores.get(f"{cell.benchmark}/{cell.metric}")
        group = scores.get(cell.key)
        if cell.subgroup is None or not cell.protected or whole is None or group is None:
            continue
        members = set(group.by_person)
        for sibling in _list_siblings(cell, scorecard):
            if sibling.key in scores:
                members -= scores[sibling.key].by_person.keys()
        by_person = {
            person: share for person, share in whole.by_person.items() if person in members
        }
        divided[cell.key] = CellScores(
            by_person, group.of_instances, is_part=whole.is_part or group.is_part
        )
    return divided


def _list_siblings(cell: Cell, scorecard: Scorecard) -> list[Cell]:
    """Return the cells of the same metric for the other groups of a subgroup's variable."""
    siblings = []
    for sibling in scorecard.cells:
        has_same_metric = (sibling.benchmark, sibling.metric) == (cell.benchmark, cell.metric)
        if (
            has_same_metric
            and sibling.key != cell.key
            and _variable_of(sibling) == _variable_of(cell)
        ):
            siblings.append(sibling)
    return siblings


def _variable_of(cell: Cell) -> str | None:
    return cell.subgroup.partition(".")[0] if cell.subgroup is not None else None


def sum_scores(
    cell: Cell,
    scores: CellScores | None,
    dataset: DatasetEntry | None,
    model: str,
    policy: DisclosurePolicy,
    secrets: Secrets,
) -> CellSums | None:
    """Return the sums of a cell that the rules may see: over persons and perturbed if it is protected, else exact."""
    if scores is None:
        return None
    if dataset is None:
        return exact_sums(scores.of_instances)
    if scores.is_part:
        return CellSums(0, 0.0, 0.0)  # treated like a run without any scores, which is suppressed
    figure = (model, dataset.definition, dataset.commitment, cell.metric, cell.subgroup or "")
    return perturb_sums(scores.by_person, policy, secrets.perturbation, figure)


def count_units(cells: Sequence[Cell], sums: Mapping[str, CellSums | None]) -> int:
    """Return the number of units behind a group of cells, for `disclosure.release_groups`."""
    counts: list[int] = []
    for cell in cells:
        cell_sums = sums[cell.key]
        if cell_sums is not None:
            counts.append(cell_sums.n)
    if cells[0].protected:
        return counts[0] if counts else 0
    return min((count for count in counts if count), default=0)


def find_earlier_tables(
    cell: Cell,
    scores: CellScores,
    dataset: DatasetEntry,
    model: str,
    ledger: Ledger,
    policy: DisclosurePolicy,
    secrets: Secrets,
) -> list[MarginTable]:
    """Return the tables that earlier releases published about exactly these scores; all are audited together.

    Args:
        cell: the protected cell of all units.
        scores: the scores behind the cell.
        dataset: the registered dataset behind the cell.
        model: digest of the model.
        ledger: the ledger of all releases prepared so far.
        policy: the stricter of the site's and the federation's policies.
        secrets: the site's secrets.
    """
    fingerprints = fingerprint_scores(scores.by_person, secrets)
    tables: list[MarginTable] = []
    for _, release in ledger.iterate_releases():
        if release.model != model:
            continue
        whole: ReleasedCell | None = None
        parts: list[ReleasedCell] = []
        for earlier in _select_cells(release, dataset, cell.metric):
            if earlier.subgroup:
                parts.append(earlier)
            elif whole is None and earlier.scores == fingerprints:
                whole = earlier
        if whole is not None:
            tables.append(_build_earlier_table(whole, parts, cell.benchmark, policy))
    return tables


def _select_cells(release: ReleaseEntry, dataset: DatasetEntry, metric: str) -> list[ReleasedCell]:
    """Return a release's cells for a dataset version and a metric."""
    cells: list[ReleasedCell] = []
    for cell in release.cells.values():
        is_of_dataset = (
            cell.commitment == dataset.commitment and cell.definition == dataset.definition
        )
        if is_of_dataset and cell.metric == metric:
            cells.append(cell)
    return cells


def _build_earlier_table(
    whole: ReleasedCell, parts: Sequence[ReleasedCell], benchmark: str, policy: DisclosurePolicy
) -> MarginTable:
    """Return the table of a published figure and the published figures of its subgroups."""
    margins: dict[str, dict[str, AuditCell]] = {}
    for part in parts:
        variable = part.subgroup.partition(".")[0]
        groups = margins.setdefault(variable, {})
        groups[f"{benchmark}/{part.subgroup}"] = admit_counts(part.value, len(part.scores), policy)
    return build_table(admit_counts(whole.value, len(whole.scores), policy), margins)


def fingerprint_scores(by_person: Mapping[str, float], secrets: Secrets) -> dict[str, str]:
    """Return the fingerprint of each person's score, as stored in the ledger."""
    return {
        person: secrets.fingerprints.of_score(person, share) for person, share in by_person.items()
    }
