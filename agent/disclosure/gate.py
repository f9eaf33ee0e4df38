"""The gate: from exact scores to the figures of a submission, with a verdict for each. Pure.

Scores are perturbed first (`agent.disclosure.perturbation`); the numbers of every rule are then decided by
`protocol.disclosure`, which the aggregator applies again. What only the site can know is decided here: which persons
are behind a figure, whether the data is a registered version and all of it, whether benchmark and metric are what the
scorecard says, and what was prepared before (`agent.disclosure.ledger`).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from agent.disclosure.findings import UNFINISHED, Finding, mean
from agent.disclosure.ledger import (
    MONTH_DAYS,
    DatasetEntry,
    Fingerprints,
    Ledger,
    ReleasedCell,
    ReleaseEntry,
    difference_between,
    share_persons,
)
from agent.disclosure.perturbation import exact_sums, perturb_distance, perturb_sums
from agent.errors import DisclosureError
from agent.evaluation.summarise import MANY_UNSCORED
from agent.vocabulary import Reason
from protocol import disclosure
from protocol.codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.disclosure import NO_SPREAD, CellSums
from protocol.identity import NONE
from protocol.margins import AuditCell, MarginTable, admit_counts, build_table
from protocol.policy import DisclosurePolicy
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard

_FAR: Final = 50  # scores more than the threshold: no noise that could be drawn makes up for them
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
    UNSAFE = "unsafe"
    SURPLUS = "surplus"
    PART = "part"
    REPEATED = "repeated"
    NEAR_VERSION = "near_version"
    OTHER_METRIC = "other_metric"
    OTHER_VARIABLE = "other_variable"
    MANY_NAMES = "many_names"
    LOST_ENTRIES = "lost_entries"
    NO_PRECEDENT = "no_precedent"


EXPLAINED: Final[Mapping[Rule, str]] = {
    Rule.PUBLIC: "published as it is: the benchmark is public",
    Rule.ROUNDED: "published: perturbed, and rounded to the grid that the number of units allows",
    Rule.NOT_RUN: "not run",
    Rule.FEW_UNITS: "suppressed: too few units",
    Rule.MARGIN: "suppressed: it would let a smaller group be computed",
    Rule.FEW_SUCCESSES: "low-coded: too few successes to print a rate, as far as the perturbed count tells",
    Rule.FEW_FAILURES: "high-coded: too few failures to print a rate, as far as the perturbed count tells",
    Rule.UNSAFE: "suppressed: no rounding of it would hide a few units",
    Rule.SURPLUS: "suppressed: another figure of the same units leaves, and several together would tell more",
    Rule.PART: "suppressed: not every unit of the registered dataset was asked",
    Rule.REPEATED: "the earlier figure again: too few units changed since",
    Rule.NEAR_VERSION: "suppressed: figures of a dataset that differs by too few units were prepared before",
    Rule.OTHER_METRIC: "suppressed: another metric of the same units was prepared before",
    Rule.OTHER_VARIABLE: "suppressed: groups of too many other variables of the same units were prepared before",
    Rule.MANY_NAMES: "suppressed: nearly the same scores were prepared under too many other models' names this month",
    Rule.LOST_ENTRIES: "suppressed: entries of the ledger about this dataset were lost; register a newer version",
    Rule.NO_PRECEDENT: "suppressed: too few units changed since an earlier release, which has no figure to repeat",
}


@dataclass(frozen=True, slots=True)
class Secrets:
    """The site's secrets that decisions depend on.

    Attributes:
        fingerprints: of persons' scores.
        perturbation: key of the noise, see `agent.disclosure.perturbation`.
    """

    fingerprints: Fingerprints
    perturbation: bytes


@dataclass(frozen=True, slots=True)
class Release:
    """What the gate lets out of one model's findings.

    Attributes:
        groups, cells, spreads: as in a result statement.
        data: for every benchmark the commitment of the registered dataset behind its figures, or `none`.
        complete: every metric was run (subgroups apart) and is whole, see `Finding.whole`.
        verdicts: for every cell, the rule that decided it.
        footprint: the protected cells as the ledger will keep them.
    """

    groups: Mapping[str, int]
    cells: Mapping[str, int]
    spreads: Mapping[str, int]
    data: Mapping[str, str]
    complete: bool
    verdicts: Mapping[str, Rule]
    footprint: Mapping[str, ReleasedCell]


@dataclass(frozen=True, slots=True)
class _Figures:
    """What was decided for some benchmarks; the fields are those of Release."""

    groups: dict[str, int] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    spreads: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, Rule] = field(default_factory=dict)
    footprint: dict[str, ReleasedCell] = field(default_factory=dict)

    def add(self, other: "_Figures") -> None:
        self.groups.update(other.groups)
        self.cells.update(other.cells)
        self.spreads.update(other.spreads)
        self.verdicts.update(other.verdicts)
        self.footprint.update(other.footprint)


@dataclass(frozen=True, slots=True)
class _Shares:
    """The scores behind one cell, scaled to 0..1 of the metric's range.

    Attributes:
        by_person: of a protected cell: each person's mean.
        of_instances: of a public cell: each instance's score.
        is_part: whether not everybody in the registered dataset was asked everything.
        is_planned: whether a plan chose what was asked, and all of that was.
    """

    by_person: Mapping[str, float]
    of_instances: Sequence[float] = ()
    is_part: bool = False


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
) -> Release:
    """Decide every figure of one model's submission.

    Args:
        scorecard: what is reported.
        policy: already the stricter of site and federation.
        findings: at most one a cell; those that no cell asks for are left out.
        model: digest of the model.
        scores_root: of these findings, as in the statement.
        day: days since 1970-01-01 UTC.
        ledger: every registered dataset and every release prepared before.
        secrets: what noise and fingerprints are made with.

    Raises:
        DisclosureError: benchmark or metric are not what the scorecard says, a score lies outside its metric's range,
            protected data is not registered, or this month's submissions are spent.
    """
    by_cell = _by_cell(scorecard, findings)
    datasets = _datasets(scorecard, by_cell, ledger)
    _check_budget(datasets.values(), policy, ledger, model=model, scores_root=scores_root, day=day)
    shares = {key: _shares(finding, datasets.get(finding.benchmark), secrets) for key, finding in by_cell.items()}
    shares |= _divide_persons(scorecard, shares)
    sums = {
        cell.key: _sums(cell, shares.get(cell.key), datasets.get(cell.benchmark), model, policy, secrets)
        for cell in scorecard.cells
    }
    surplus = {cell.key for cell in disclosure.surplus_cells(scorecard, policy)}
    units = {group: _units(scorecard.cells_of(group), sums) for group in scorecard.group_keys}
    earlier = {
        cell.key: _earlier_tables(cell, shares[cell.key], datasets[cell.benchmark], model, ledger, policy, secrets)
        for cell in scorecard.cells
        if cell.protected and cell.subgroup is None and cell.key in shares
    }
    fresh = disclosure.release(scorecard, units, sums, policy, earlier)
    decided = _Figures()
    for entry in scorecard.benchmarks:
        cells = [cell for cell in scorecard.cells if cell.benchmark == entry.id]
        figures = _fresh(cells, entry, fresh, datasets.get(entry.id), shares, secrets)
        for cell in cells:
            figures.verdicts[cell.key] = _rule(cell, fresh, sums[cell.key], cell.key in surplus, policy)
        if figures.footprint:
            history = _History(
                model,
                (scorecard.digest, scores_root, policy.digest),
                day,
                ledger,
                decided.footprint,
                policy,
                secrets.perturbation,
            )
            figures = history.apply(cells, figures, shares)
        decided.add(figures)
    return Release(
        groups=decided.groups,
        cells=decided.cells,
        spreads=decided.spreads,
        data={entry.id: _named_dataset(entry, scorecard, datasets, decided.cells) for entry in scorecard.benchmarks},
        complete=all(
            cell.key in by_cell and _is_complete(cell, by_cell[cell.key], shares[cell.key])
            for cell in scorecard.cells
            if cell.subgroup is None
        ),
        verdicts=decided.verdicts,
        footprint=decided.footprint,
    )


def _is_complete(cell: Cell, finding: Finding, shares: _Shares) -> bool:
    """Whether a figure of all units stands for its benchmark's data.

    Of a protected benchmark the number of answers that could not be scored does not count: it is known exactly, and
    would betray whether one more could be. Answers that a server failed to give tell nothing of that.
    """
    if not cell.protected:
        return finding.whole
    has_failures = any(score.reason in UNFINISHED for score in finding.scores)
    return not shares.is_part and not has_failures and finding.extent.enough(finding.access)


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


def _datasets(scorecard: Scorecard, by_cell: Mapping[str, Finding], ledger: Ledger) -> dict[str, DatasetEntry]:
    """Return the registered dataset behind each protected benchmark that was run."""
    found: dict[str, DatasetEntry] = {}
    for cell in scorecard.cells:
        finding = by_cell.get(cell.key)
        if finding is None or not cell.protected:
            continue
        dataset = ledger.dataset(finding.dataset)
        if dataset is None:
            raise DisclosureError(
                f"{cell.benchmark}: it was run on data that is not registered, so no figure of it can leave",
                f"Register it with `intramural datasets register {cell.benchmark}`, which the steward approves, unless "
                "that is done; then run it again, without --unregistered: answers to the same questions are kept.",
            )
        if (dataset.benchmark, dataset.definition) != (finding.benchmark, finding.definition):
            raise DisclosureError(
                f"{cell.benchmark}: its registered dataset was read by another definition of the benchmark",
                f"Register it again with `intramural datasets register {cell.benchmark}`.",
            )
        if dataset.data != finding.frozen_digest:
            raise DisclosureError(
                f"{cell.benchmark}: the run read other files than those registered: the frozen copy was changed",
                "Restore the folder data/.frozen from a back-up, or register the data anew; then run it again.",
            )
        if found.setdefault(cell.benchmark, dataset) != dataset:
            raise DisclosureError(
                f"{cell.benchmark}: its figures are of several registered datasets", "Run it again as a whole."
            )
    return found


def _check_budget(
    datasets: Iterable[DatasetEntry],
    policy: DisclosurePolicy,
    ledger: Ledger,
    *,
    model: str,
    scores_root: str,
    day: int,
) -> None:
    for dataset in datasets:
        alike = [other.commitment for other in ledger.datasets() if share_persons(other, dataset)]
        spent = ledger.other_releases_this_month(model, alike, day, scores_root)
        if spent >= policy.monthly_submissions:
            raise DisclosureError(
                f"{dataset.benchmark}: this model's {policy.monthly_submissions} submissions of the last 30 days about "
                "these patients are spent, whether they were sent or not",
                "Wait until the oldest is 30 days old. The ledger cannot be reset.",
            )


def _shares(finding: Finding, dataset: DatasetEntry | None, secrets: Secrets) -> _Shares:
    """Return the scores behind a finding, scaled to 0..1; by person where its data is registered."""
    width = finding.high - finding.low
    if dataset is None:
        return _Shares({}, [(value - finding.low) / width for value in finding.instance_values()])
    by_person: dict[str, list[float]] = {}
    asked: set[str] = set()
    for score in finding.scores:
        unit = dataset.units.get(secrets.fingerprints.of_unit(score.unit_key))
        if unit is None:
            raise DisclosureError(
                f"{finding.benchmark}: it was run on units that its registered dataset does not have",
                "Run it again without --unregistered.",
            )
        asked.add(unit.person)
        if score.value is not None:
            by_person.setdefault(unit.person, []).append((score.value - finding.low) / width)
    return _Shares(
        {person: mean(values) for person, values in sorted(by_person.items())},
        is_part=_is_part(finding, asked, dataset),
    )


def _is_part(finding: Finding, asked: Set[str], dataset: DatasetEntry) -> bool:
    """Whether not everybody in a registered dataset was asked everything.

    Whoever limits or stops a run, or the server under it, chooses whom it asked; a plan does not say how many.
    """
    unanswered = sum(score.reason in UNFINISHED for score in finding.scores)
    if unanswered > MANY_UNSCORED * len(finding.scores):
        return True
    if any(score.reason == Reason.NOT_ASKED for score in finding.scores):
        return True
    if finding.subgroup is not None:
        return False
    return asked != dataset.persons() or finding.extent.asked < finding.extent.available


def _divide_persons(scorecard: Scorecard, shares: Mapping[str, _Shares]) -> dict[str, _Shares]:
    """Return the shares of protected subgroups so that the groups of a variable divide persons, as margins assume.

    A person of several units may have units in two groups of a variable, and is then in none of them; or units in no
    group, whose scores count all the same, as they do in the figure of all units.
    """
    divided: dict[str, _Shares] = {}
    for cell in scorecard.cells:
        whole = shares.get(f"{cell.benchmark}/{cell.metric}")
        if cell.subgroup is None or not cell.protected or whole is None or cell.key not in shares:
            continue
        variable = cell.subgroup.partition(".")[0]
        elsewhere: set[str] = set()
        for other in scorecard.cells:
            is_beside = (other.benchmark, other.metric) == (cell.benchmark, cell.metric) and other.key != cell.key
            if is_beside and other.subgroup is not None and other.subgroup.partition(".")[0] == variable:
                elsewhere |= shares[other.key].by_person.keys() if other.key in shares else set()
        own = shares[cell.key].by_person.keys() - elsewhere
        by_person = {person: share for person, share in whole.by_person.items() if person in own}
        is_part = whole.is_part or shares[cell.key].is_part
        divided[cell.key] = replace(shares[cell.key], by_person=by_person, is_part=is_part)
    return divided


def _sums(
    cell: Cell,
    shares: _Shares | None,
    dataset: DatasetEntry | None,
    model: str,
    policy: DisclosurePolicy,
    secrets: Secrets,
) -> CellSums | None:
    """Return what the protocol's rules may see of a cell: units where it is protected, else instances."""
    if shares is None:
        return None
    if dataset is None:
        return exact_sums(shares.of_instances)
    if shares.is_part:
        return CellSums(0, 0.0, 0.0)  # as if nobody had a score: run, and suppressed
    figure = (model, dataset.definition, dataset.commitment, cell.metric, cell.subgroup or "")
    return perturb_sums(shares.by_person, policy, secrets.perturbation, figure)


def _units(cells: Sequence[Cell], sums: Mapping[str, CellSums | None]) -> int:
    """Return the number of units behind a group, as `disclosure.release_groups` wants it."""
    counts = [found.n for cell in cells if (found := sums[cell.key]) is not None]
    if cells[0].protected:
        return counts[0] if counts else 0
    return min((count for count in counts if count), default=0)


def _earlier_tables(
    cell: Cell,
    shares: _Shares,
    dataset: DatasetEntry,
    model: str,
    ledger: Ledger,
    policy: DisclosurePolicy,
    secrets: Secrets,
) -> list[MarginTable]:
    """Return what earlier releases said of exactly these scores, one table each: they are audited together."""
    scores = _fingerprint_scores(shares.by_person, secrets)
    tables = []
    for _, release in ledger.releases():
        if release.model != model:
            continue
        same = [
            old
            for old in release.cells.values()
            if (old.commitment, old.definition, old.metric) == (dataset.commitment, dataset.definition, cell.metric)
        ]
        wholes = [old for old in same if not old.subgroup and old.scores == scores]
        if wholes:
            tables.append(_table_of(wholes[0], [old for old in same if old.subgroup], cell.benchmark, policy))
    return tables


def _table_of(
    whole: ReleasedCell, parts: Sequence[ReleasedCell], benchmark: str, policy: DisclosurePolicy
) -> MarginTable:
    margins: dict[str, dict[str, AuditCell]] = {}
    for part in parts:
        groups = margins.setdefault(part.subgroup.partition(".")[0], {})
        groups[f"{benchmark}/{part.subgroup}"] = admit_counts(part.value, len(part.scores), policy)
    return build_table(admit_counts(whole.value, len(whole.scores), policy), margins)


def _fingerprint_scores(by_person: Mapping[str, float], secrets: Secrets) -> dict[str, str]:
    return {person: secrets.fingerprints.of_score(person, share) for person, share in by_person.items()}


def _fresh(
    cells: Sequence[Cell],
    entry: BenchmarkEntry,
    fresh: disclosure.Release,
    dataset: DatasetEntry | None,
    shares: Mapping[str, _Shares],
    secrets: Secrets,
) -> _Figures:
    """Return the figures of one benchmark as if nothing had been let out before."""
    figures = _Figures()
    for cell in cells:
        bucket, value, spread = fresh.groups[cell.group], fresh.cells[cell.key], fresh.spreads.get(cell.key)
        figures.groups[cell.group] = bucket
        figures.cells[cell.key] = value
        if spread is not None:
            figures.spreads[cell.key] = spread
        if cell.protected and dataset is not None and cell.key in shares:
            figures.footprint[cell.key] = ReleasedCell(
                benchmark=cell.benchmark,
                metric=cell.metric,
                subgroup=cell.subgroup or "",
                definition=entry.definition,
                commitment=dataset.commitment,
                value=value,
                spread=spread,
                bucket=bucket,
                scores=_fingerprint_scores(shares[cell.key].by_person, secrets),
            )
    return figures


def _rule(
    cell: Cell, fresh: disclosure.Release, sums: CellSums | None, is_surplus: bool, policy: DisclosurePolicy
) -> Rule:
    """Say which rule decided a figure that nothing earlier stands in the way of."""
    value, bucket = fresh.cells[cell.key], fresh.groups[cell.group]
    if value == NOT_RUN or sums is None:
        return Rule.NOT_RUN
    if value == LOW_CODED:
        return Rule.FEW_SUCCESSES
    if value == HIGH_CODED:
        return Rule.FEW_FAILURES
    if value != SUPPRESSED:
        return Rule.ROUNDED if cell.protected else Rule.PUBLIC
    if is_surplus:
        return Rule.SURPLUS
    if sums.n < policy.min_units:
        return Rule.FEW_UNITS
    if bucket and disclosure.release_cell(cell, sums, bucket, policy) == SUPPRESSED:
        return Rule.UNSAFE
    return Rule.MARGIN


@dataclass(frozen=True, slots=True)
class _History:
    """What was prepared before, and what that means for the figures of one benchmark.

    Attributes:
        model: digest of the model.
        of: digest of the scorecard, root over the scores, and digest of the policy.
        day: days since 1970-01-01 UTC.
        ledger: with everything prepared before.
        beside: protected cells of other benchmarks in the same submission.
        policy: already the stricter of site and federation.
        key: of the noise.
    """

    model: str
    of: tuple[str, str, str]
    day: int
    ledger: Ledger
    beside: Mapping[str, ReleasedCell]
    policy: DisclosurePolicy
    key: bytes

    def apply(self, cells: Sequence[Cell], figures: _Figures, shares: Mapping[str, _Shares]) -> _Figures:
        """Return the benchmark's figures as they may leave after everything before them."""
        dataset = self._dataset(figures)
        if any(shares[key].is_part for key in figures.footprint):
            return _suppress(cells, figures, Rule.PART)
        if any(self._is_near(dataset, other) for other in self._released_datasets()):
            return _suppress(cells, figures, Rule.NEAR_VERSION)
        leaving = {key: cell for key, cell in figures.footprint.items() if figures.verdicts[key] is not Rule.SURPLUS}
        wholes = {cell.metric: self._nearest(cell) for cell in leaving.values() if not cell.subgroup}
        if any(old is not None for old in wholes.values()):
            return self._repeat(cells, figures, wholes)
        if self.ledger.lost_after(dataset):
            return _suppress(cells, figures, Rule.LOST_ENTRIES)
        if any(self._has_many_names(cell) for cell in leaving.values()):
            return _suppress(cells, figures, Rule.MANY_NAMES)
        if any(self._too_many_metrics(cell, figures) for cell in figures.footprint.values()):
            return _suppress(cells, figures, Rule.OTHER_METRIC)
        if self._too_many_variables(figures):
            return _suppress_subgroups(cells, figures, Rule.OTHER_VARIABLE)
        if any(self._nearest(cell) is not None for cell in leaving.values() if cell.subgroup):
            return _suppress_subgroups(cells, figures, Rule.NO_PRECEDENT)
        return figures

    def _dataset(self, figures: _Figures) -> DatasetEntry:
        commitment = next(iter(figures.footprint.values())).commitment
        dataset = self.ledger.dataset(commitment)
        assert dataset is not None, "looked up before"
        return dataset

    def _released_datasets(self) -> list[DatasetEntry]:
        beside = {cell.commitment for cell in self.beside.values()}
        released = self.ledger.released_datasets()
        return released + [dataset for dataset in self.ledger.datasets() if dataset.commitment in beside]

    def _is_near(self, dataset: DatasetEntry, other: DatasetEntry) -> bool:
        """Whether figures of two datasets could be subtracted: they share persons, and differ by a few."""
        if other.commitment == dataset.commitment or not share_persons(other, dataset):
            return False
        return difference_between(other, dataset).is_too_small(self.policy.changed_units)

    def _nearest(self, cell: ReleasedCell) -> ReleaseEntry | None:
        """Return the newest release with this figure, of the same scores or of nearly the same: it is to be repeated.

        Nothing here may depend on whether the scores are exactly the same: then it could be seen from outside.
        """
        for release in self._earlier_releases():
            if any(_same_figure(old, cell) and self._is_nearly(old, cell) for old in release.cells.values()):
                return release
        return None

    def _earlier_releases(self) -> list[ReleaseEntry]:
        """Return the model's releases before the first that was prepared of exactly these findings, newest first."""
        earlier: list[ReleaseEntry] = []
        for _, release in self.ledger.releases():
            if release.model != self.model:
                continue
            if (release.scorecard, release.scores_root, release.policy) == self.of:
                break  # the same release again, by the same rules: it is decided as it was then
            earlier.insert(0, release)
        return earlier

    def _has_many_names(self, cell: ReleasedCell) -> bool:
        """Whether nearly the same scores were prepared under so many other models' names that averaging would pay."""
        names = {
            release.model
            for entry, release in self.ledger.releases()
            if release.model != self.model and self.day - MONTH_DAYS < entry.day
            for old in release.cells.values()
            if _same_figure(old, cell) and self._is_nearly(old, cell)
        }
        return len(names) >= self.policy.monthly_submissions

    def _is_nearly(self, old: ReleasedCell, cell: ReleasedCell) -> bool:
        """Whether two figures differ by the scores of too few persons, as far as the perturbed number tells."""
        distance = old.rescored(cell.scores)
        if distance > self.policy.changed_units + _FAR:
            return False
        scores = [[list(item) for item in sorted(figure.scores.items())] for figure in (old, cell)]
        figures = [self.model, cell.definition, cell.commitment, cell.metric, cell.subgroup, *scores]
        return perturb_distance(distance, self.policy, self.key, figures) < self.policy.changed_units

    def _repeat(self, cells: Sequence[Cell], figures: _Figures, wholes: Mapping[str, ReleaseEntry | None]) -> _Figures:
        """Return the benchmark's figures as they were; a figure that has no precedent is withheld.

        Those of a metric are all taken from one release, since its margins were closed together. The footprint stays
        that of the old figures: the scores behind them are those they were computed from.

        Args:
            cells: of the benchmark.
            figures: what would be new.
            wholes: metric -> the release to repeat.
        """
        repeated = _Figures()
        for cell in cells:
            new = figures.footprint.get(cell.key)
            is_surplus = figures.verdicts[cell.key] is Rule.SURPLUS
            release = wholes.get(cell.metric)
            old = None
            if new is not None and release is not None and not is_surplus:
                old = next((one for one in release.cells.values() if _same_figure(one, new)), None)
            if old is not None:
                repeated.groups[cell.group] = old.bucket
                repeated.cells[cell.key], repeated.verdicts[cell.key] = old.value, Rule.REPEATED
                repeated.footprint[cell.key] = old
            else:
                repeated.groups.setdefault(cell.group, 0)
                was_run = new is not None
                withheld = Rule.SURPLUS if is_surplus else Rule.NO_PRECEDENT
                repeated.cells[cell.key] = SUPPRESSED if was_run else NOT_RUN
                repeated.verdicts[cell.key] = withheld if was_run else Rule.NOT_RUN
            if not cell.binary:
                repeated.spreads[cell.key] = NO_SPREAD if old is None or old.spread is None else old.spread
        return repeated

    def _too_many_metrics(self, cell: ReleasedCell, figures: _Figures) -> bool:
        """Whether other metrics of the same persons and answers were let out before, by another scorecard."""
        if cell.value in {SUPPRESSED, NOT_RUN}:
            return False
        group = (cell.definition, cell.subgroup, cell.commitment)
        metrics = {
            old.metric
            for _, release in self.ledger.releases()
            if release.model == self.model
            for old in release.cells.values()
            if (old.definition, old.subgroup, old.commitment) == group and old.value not in {SUPPRESSED, NOT_RUN}
        }
        metrics |= {
            new.metric
            for new in figures.footprint.values()
            if new.subgroup == cell.subgroup and new.value not in {SUPPRESSED, NOT_RUN}
        }
        return len(metrics) > self.policy.metrics_per_group

    def _too_many_variables(self, figures: _Figures) -> bool:
        """Whether groups of other variables of the same persons were let out before, by another scorecard."""
        new = [cell for cell in figures.footprint.values() if cell.subgroup and cell.value not in {SUPPRESSED, NOT_RUN}]
        if not new:
            return False
        named = {(cell.definition, cell.commitment) for cell in new}
        earlier = [
            old
            for _, release in self.ledger.releases()
            if release.model == self.model
            for old in release.cells.values()
            if old.subgroup and (old.definition, old.commitment) in named and old.value not in {SUPPRESSED, NOT_RUN}
        ]
        variables = {cell.subgroup.partition(".")[0] for cell in (*earlier, *new)}
        return len(variables) > self.policy.variables_per_benchmark


def _same_figure(old: ReleasedCell, new: ReleasedCell) -> bool:
    return (old.definition, old.metric, old.subgroup, old.commitment) == (
        new.definition,
        new.metric,
        new.subgroup,
        new.commitment,
    )


def _suppress_subgroups(cells: Sequence[Cell], figures: _Figures, rule: Rule) -> _Figures:
    """Return a benchmark's figures with those of subgroups suppressed."""
    parts = [cell for cell in cells if cell.subgroup is not None]
    remaining = _Figures()
    remaining.add(figures)
    remaining.add(_suppress(parts, figures, rule))
    for group in {cell.group for cell in cells if cell.subgroup is None}:
        remaining.groups[group] = figures.groups[group]
    for cell in parts:
        remaining.footprint.pop(cell.key, None)
    return remaining


def _suppress(cells: Sequence[Cell], figures: _Figures, rule: Rule) -> _Figures:
    """Return a benchmark's figures with everything that was run suppressed, sizes of groups too."""
    suppressed = _Figures(groups=dict.fromkeys(figures.groups, 0))
    for cell in cells:
        was_run = figures.cells[cell.key] != NOT_RUN
        suppressed.cells[cell.key] = SUPPRESSED if was_run else NOT_RUN
        suppressed.verdicts[cell.key] = rule if was_run else Rule.NOT_RUN
        if not cell.binary:
            suppressed.spreads[cell.key] = NO_SPREAD
    return suppressed


def _named_dataset(
    entry: BenchmarkEntry, scorecard: Scorecard, datasets: Mapping[str, DatasetEntry], cells: Mapping[str, int]
) -> str:
    """Return the commitment of the dataset that the statement must name for a benchmark, or `none`."""
    was_run = any(cells[cell.key] != NOT_RUN for cell in scorecard.cells if cell.benchmark == entry.id)
    return datasets[entry.id].commitment if was_run and entry.id in datasets else NONE
