"""The rules about earlier releases, in the order in which they are applied to a benchmark's figures. Pure.

If nearly the same scores were released before, their figures are repeated. Figures that could be subtracted from
earlier ones are suppressed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent.disclosure.cell_scores import CellScores
from agent.disclosure.ledger import (
    MONTH_DAYS,
    DatasetEntry,
    Ledger,
    ReleasedCell,
    ReleaseEntry,
    compare_persons,
    share_persons,
)
from agent.disclosure.perturbation import perturb_distance
from agent.disclosure.verdicts import DecidedFigures, GateRule, suppress_all, suppress_subgroups
from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.disclosure import NO_SPREAD
from protocol.policy import DisclosurePolicy
from protocol.scorecard import Cell

_FAR: Final = 50
"""Changed scores above the threshold for repeats; more than this number cannot be offset by noise."""


@dataclass(frozen=True, slots=True)
class Precedents:
    """The releases before a new one, and the rules by which they determine the figures of a benchmark.

    Attributes:
        model: digest of the model.
        release_key: digest of the scorecard, root over the scores, and digest of the policy; equal if the same release
            is prepared again.
        day: days since 1970-01-01 UTC.
        ledger: the ledger of all releases prepared so far.
        beside: protected cells of the benchmarks in the same submission that have been decided already.
        policy: the stricter of the site's and the federation's policies.
        noise_key: the key for noise, see `agent.disclosure.perturbation.derive_perturbation_key`.
    """

    model: str
    release_key: tuple[str, str, str]
    day: int
    ledger: Ledger
    beside: Mapping[str, ReleasedCell]
    policy: DisclosurePolicy
    noise_key: bytes

    def apply_rules(
        self, cells: Sequence[Cell], figures: DecidedFigures, scores: Mapping[str, CellScores]
    ) -> DecidedFigures:
        """Return the benchmark's figures that may be released. The first rule that applies decides.

        Args:
            cells: the benchmark's cells.
            figures: the figures without regard to earlier releases; their footprint must not be empty.
            scores: the scores behind each cell that was run.
        """
        dataset = self._find_dataset(figures)
        if any(scores[key].is_part for key in figures.footprint):
            return suppress_all(cells, figures, GateRule.PART)
        if self._is_near_released_version(dataset):
            return suppress_all(cells, figures, GateRule.NEAR_VERSION)

        leaving = _list_leaving_cells(figures)
        releases_to_repeat: dict[str, ReleaseEntry] = {}
        for cell in leaving:
            release = None if cell.subgroup else self._find_nearest_release(cell)
            if release is not None:
                releases_to_repeat[cell.metric] = release
        if releases_to_repeat:
            return self._repeat_figures(cells, figures, releases_to_repeat)

        if self.ledger.lost_entries_after(dataset):
            return suppress_all(cells, figures, GateRule.LOST_ENTRIES)
        if any(self._has_many_names(cell) for cell in leaving):
            return suppress_all(cells, figures, GateRule.MANY_NAMES)
        if any(self._has_too_many_metrics(cell, figures) for cell in figures.footprint.values()):
            return suppress_all(cells, figures, GateRule.OTHER_METRIC)
        if self._has_too_many_variables(figures):
            return suppress_subgroups(cells, figures, GateRule.OTHER_VARIABLE)

        subgroup_cells = [cell for cell in leaving if cell.subgroup]
        if any(self._find_nearest_release(cell) is not None for cell in subgroup_cells):
            return suppress_subgroups(cells, figures, GateRule.NO_PRECEDENT)
        return figures

    def _find_dataset(self, figures: DecidedFigures) -> DatasetEntry:
        """Return the dataset behind the figures, which is the same for all figures of a benchmark."""
        first_cell = next(iter(figures.footprint.values()))
        dataset = self.ledger.find_dataset(first_cell.commitment)
        assert dataset is not None, "the gate looked it up before"
        return dataset

    def _is_near_released_version(self, dataset: DatasetEntry) -> bool:
        """Return whether figures of this dataset could be subtracted from released figures of a similar one."""
        return any(
            _is_near(dataset, released, self.policy) for released in self._list_released_datasets()
        )

    def _list_released_datasets(self) -> list[DatasetEntry]:
        """Return the datasets that have figures in an earlier release or in this one."""
        beside = {cell.commitment for cell in self.beside.values()}
        released = self.ledger.list_released_datasets()
        return released + [
            dataset for dataset in self.ledger.list_datasets() if dataset.commitment in beside
        ]

    def _find_nearest_release(self, cell: ReleasedCell) -> ReleaseEntry | None:
        """Return the newest release of this figure with equal or nearly equal scores, which is repeated, or None.

        The outcome must not depend on whether the scores are exactly equal: outsiders could see that.
        """
        for release in self._list_earlier_releases():
            if any(self._is_nearly_same(earlier, cell) for earlier in release.cells.values()):
                return release
        return None

    def _list_earlier_releases(self) -> list[ReleaseEntry]:
        """Return the model's releases before the first one with this release key, newest first."""
        earlier: list[ReleaseEntry] = []
        for release in self._iterate_releases():
            if (release.scorecard, release.scores_root, release.policy) == self.release_key:
                break  # the same release under the same rules must get the same figures as then
            earlier.insert(0, release)
        return earlier

    def _iterate_releases(self) -> Iterator[ReleaseEntry]:
        """Yield the model's releases, oldest first."""
        for _, release in self.ledger.iterate_releases():
            if release.model == self.model:
                yield release

    def _has_many_names(self, cell: ReleasedCell) -> bool:
        """Return whether nearly the same scores were released this month under too many other models' names."""
        names: set[str] = set()
        for entry, release in self.ledger.iterate_releases():
            if release.model == self.model or entry.day <= self.day - MONTH_DAYS:
                continue
            if any(self._is_nearly_same(earlier, cell) for earlier in release.cells.values()):
                names.add(release.model)
        return len(names) >= self.policy.monthly_submissions

    def _is_nearly_same(self, earlier: ReleasedCell, cell: ReleasedCell) -> bool:
        """Return whether two cells are the same figure and, after perturbation, too few persons' scores differ."""
        if not _is_same_figure(earlier, cell):
            return False
        distance = earlier.count_rescored(cell.scores)
        if distance > self.policy.changed_units + _FAR:
            return False
        # Everything that identifies the comparison, so that the same two cells always draw the same noise.
        comparison = [
            self.model,
            cell.definition,
            cell.commitment,
            cell.metric,
            cell.subgroup,
            _list_scores(earlier),
            _list_scores(cell),
        ]
        return (
            perturb_distance(distance, self.policy, self.noise_key, comparison)
            < self.policy.changed_units
        )

    def _repeat_figures(
        self,
        cells: Sequence[Cell],
        figures: DecidedFigures,
        releases_to_repeat: Mapping[str, ReleaseEntry],
    ) -> DecidedFigures:
        """Return the benchmark's figures from earlier releases; a figure that no earlier release has is withheld.

        All figures of a metric come from one release, because their margins were suppressed together. The footprint
        records the old figures, with the scores from which they were computed.

        Args:
            cells: the benchmark's cells.
            figures: the new figures that would have been released.
            releases_to_repeat: the release to repeat for each metric whose figure of all units has one.
        """
        repeated = DecidedFigures()
        for cell in cells:
            new = figures.footprint.get(cell.key)
            precedent = None
            rule = GateRule.NO_PRECEDENT
            if new is None:
                rule = GateRule.NOT_RUN
            elif figures.verdicts[cell.key] is GateRule.SURPLUS:
                rule = GateRule.SURPLUS
            else:
                precedent = _find_precedent(releases_to_repeat.get(cell.metric), new)
            if precedent is None:
                repeated.groups.setdefault(cell.group, 0)
                repeated.withhold(cell, rule)
                continue
            repeated.groups[cell.group] = precedent.bucket
            repeated.cells[cell.key] = precedent.value
            repeated.verdicts[cell.key] = GateRule.REPEATED
            repeated.footprint[cell.key] = precedent
            if not cell.binary:
                repeated.spreads[cell.key] = (
                    NO_SPREAD if precedent.spread is None else precedent.spread
                )
        return repeated

    def _has_too_many_metrics(self, cell: ReleasedCell, figures: DecidedFigures) -> bool:
        """Return whether too many metrics of the cell's group would be published, including earlier releases."""
        if not _is_published(cell):
            return False
        group = (cell.definition, cell.subgroup, cell.commitment)
        metrics: set[str] = set()
        for new in figures.footprint.values():
            if new.subgroup == cell.subgroup and _is_published(new):
                metrics.add(new.metric)
        for release in self._iterate_releases():
            for earlier in release.cells.values():
                if (
                    earlier.definition,
                    earlier.subgroup,
                    earlier.commitment,
                ) == group and _is_published(earlier):
                    metrics.add(earlier.metric)
        return len(metrics) > self.policy.metrics_per_group

    def _has_too_many_variables(self, figures: DecidedFigures) -> bool:
        """Return whether too many variables would divide the benchmark's persons, including earlier releases."""
        new_groups = [
            cell for cell in figures.footprint.values() if cell.subgroup and _is_published(cell)
        ]
        if not new_groups:
            return False
        variables = {_variable_of(cell) for cell in new_groups}
        divided = {(cell.definition, cell.commitment) for cell in new_groups}
        for release in self._iterate_releases():
            for earlier in release.cells.values():
                is_of_same_data = (earlier.definition, earlier.commitment) in divided
                if earlier.subgroup and is_of_same_data and _is_published(earlier):
                    variables.add(_variable_of(earlier))
        return len(variables) > self.policy.variables_per_benchmark


def _is_near(dataset: DatasetEntry, released: DatasetEntry, policy: DisclosurePolicy) -> bool:
    """Return whether figures of two datasets could be subtracted: they share persons and differ by only a few."""
    if released.commitment == dataset.commitment or not share_persons(released, dataset):
        return False
    return compare_persons(released, dataset).is_too_small(policy.changed_units)


def _list_leaving_cells(figures: DecidedFigures) -> list[ReleasedCell]:
    """Return the protected figures, except surplus figures, which are never released."""
    leaving: list[ReleasedCell] = []
    for key, cell in figures.footprint.items():
        if figures.verdicts[key] is not GateRule.SURPLUS:
            leaving.append(cell)
    return leaving


def _list_scores(cell: ReleasedCell) -> list[list[str]]:
    """Return pairs of a person and the fingerprint of the person's score, in a fixed order."""
    return [[person, score] for person, score in sorted(cell.scores.items())]


def _find_precedent(release: ReleaseEntry | None, cell: ReleasedCell) -> ReleasedCell | None:
    if release is None:
        return None
    for earlier in release.cells.values():
        if _is_same_figure(earlier, cell):
            return earlier
    return None


def _is_same_figure(earlier: ReleasedCell, cell: ReleasedCell) -> bool:
    return (
        earlier.definition == cell.definition
        and earlier.metric == cell.metric
        and earlier.subgroup == cell.subgroup
        and earlier.commitment == cell.commitment
    )


def _is_published(cell: ReleasedCell) -> bool:
    return cell.value not in {SUPPRESSED, NOT_RUN}


def _variable_of(cell: ReleasedCell) -> str:
    return cell.subgroup.partition(".")[0]
