"""Computation of the board from accepted results. Pure, and independent of the order of the input.

The board can be computed in two ways with the same result: from the whole log, or from the public
log and the figures signed by auditors.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy

from aggregator.merge.accepted import RegistryChange, Result, Withdrawal
from aggregator.merge.board_model import (
    AuditedFigures,
    AuditedRow,
    AuditedTable,
    Board,
    MergedCell,
    Ranges,
    Row,
    RowCounts,
    SiteResult,
    State,
    Table,
    WithdrawnResult,
)
from aggregator.merge.cell_codes import decode_codes, drop_policy
from aggregator.merge.coarse import coarsen_ranges
from aggregator.merge.federation import (
    PARTIAL,
    UNPLANNED,
    WEIGHTS_HASHED,
    Federation,
    Merged,
    MergedKey,
    ModelState,
    Taken,
    read_row_code,
)
from aggregator.merge.pool import describe_absence, merge_figures, weigh
from aggregator.merge.ranges import MainFigures, count_sites, draw_ranges
from aggregator.merge.site_cell import Figures, Flags, Integers, make_figures
from aggregator.merge.site_figures import NamedWeights, SiteFigures, suppression_reasons
from aggregator.merge.steps import NOTHING
from protocol.figures import mean_win_rates
from protocol.policy import DisclosurePolicy
from protocol.registry import Model, Registry
from protocol.scorecard import Scorecard

__all__ = [
    "RegistryChange",
    "Result",
    "Withdrawal",
    "build_board",
    "follow_log",
    "make_audited",
    "make_board",
    "start_log",
]

NOT_REGISTERED = "no longer registered"


def follow_log(
    results: Iterable[Result],
    registry: Registry,
    withdrawals: Iterable[Withdrawal] = (),
    changes: Sequence[RegistryChange] = (),
) -> Federation:
    """Return the state at the end of a log.

    Args:
        results, withdrawals: All known results and withdrawals of the log, in any order.
        registry: The newest registry version.
        changes: As returned by `registry_segments.date_changes`. Without them, the newest version
            applies from the first entry, except that keys are revoked at the end.
    """
    statements: list[Result | Withdrawal] = [*results, *withdrawals]
    statements.sort(key=lambda statement: statement.position)
    end = 1 + max((statement.position for statement in statements), default=-1)
    federation = Federation(changes[0].registry) if changes else start_log(registry)
    waiting = list(changes[1:])
    for statement in statements:
        while waiting and waiting[0].log_size <= statement.position:
            federation.take(waiting.pop(0))
        federation.take(statement)
    for change in waiting:
        federation.take(change)
    federation.enter_registry(registry, end)
    return federation


def start_log(registry: Registry) -> Federation:
    """Return the state before the first entry of a log whose newest registry version is `registry`."""
    return Federation(_without_revocations(registry))


def _without_revocations(registry: Registry) -> Registry:
    """Return the registry without revocations of keys, as it was when the keys signed."""
    sites = {}
    for site_id, site in registry.sites.items():
        if all(key.revoked_from is None for key in site.keys):
            sites[site_id] = site
        else:
            sites[site_id] = replace(
                site, keys=tuple(replace(key, revoked_from=None) for key in site.keys)
            )
    return replace(registry, sites=sites)


def build_board(
    results: Iterable[Result],
    registry: Registry,
    withdrawals: Iterable[Withdrawal] = (),
    audited: AuditedFigures | None = None,
    changes: Sequence[RegistryChange] = (),
) -> Board:
    """Merge results under one registry.

    A withdrawn result is ignored, so that an earlier result of the same site, model and scorecard
    counts again.

    Args:
        results, withdrawals: Those of the whole log, or of the public log if `audited` is given.
        registry: The newest registry version.
        audited: The figures that depend on pooled sites' statements; None computes them from
            `results`.
        changes: As for `follow_log`.
    """
    federation = follow_log(results, registry, withdrawals, changes)
    return make_board(federation, make_audited(federation, 0) if audited is None else audited)


def make_audited(federation: Federation, log_size: int) -> AuditedFigures:
    """Return all figures that depend on pooled sites' statements.

    Args:
        federation: The state at the end of the whole log.
        log_size: Number of entries of the log.
    """
    builder = _Builder(federation)
    tables = {}
    pooled: set[str] = set()
    for digest in builder.scorecards():
        models = builder.models_of(digest, {})
        rows = {}
        for model, merger in models.items():
            if merger.has_hidden.any() or merger.replaced_positions():
                rows[model] = merger.audited_row()
                pooled |= merger.sites_behind_row()
        if rows:
            figures = [
                merger.main_figures(builder.registry.models[model])
                for model, merger in models.items()
            ]
            drawn = draw_ranges(figures, digest)
            hidden_values = [
                count for merger in models.values() for count in merger.count_hidden_values()
            ]
            if hidden_values:
                drawn = [coarsen_ranges(ranges, min(hidden_values)) for ranges in drawn]
            tables[digest] = AuditedTable(
                rows, dict(zip(models, drawn, strict=True)), count_sites(figures)
            )
    return AuditedFigures(log_size, len(pooled), tables)


def make_board(federation: Federation, audited: AuditedFigures) -> Board:
    """Return the board for a federation's state.

    Args:
        federation: The state at the end of the whole log, or of the public log.
        audited: The figures that depend on pooled sites' statements.
    """
    builder = _Builder(federation)
    digests = dict.fromkeys([*builder.scorecards(), *audited.tables])
    tables = []
    for digest in digests:
        registered = builder.registry.scorecards.get(digest)
        if registered is not None:
            table = builder.table(
                registered.scorecard, audited.tables.get(digest), retired=registered.retired
            )
            if table.rows:
                tables.append(table)
    return Board(
        tables=tuple(
            sorted(tables, key=lambda table: (table.scorecard.name, -table.scorecard.version))
        ),
        site_results=tuple(builder.site_results(audited)),
        pooled_sites=audited.pooled_sites,
        revoked=tuple(builder.revoked()),
        withdrawn=tuple(builder.withdrawn()),
    )


class _Builder:
    """A reader of a federation's state under its newest registry."""

    def __init__(self, federation: Federation) -> None:
        self.federation = federation
        self.registry = federation.registry
        self.floor = self.registry.policies[self.registry.policy_floor]
        self._site_lists: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.policies = [self._policy(digest) for digest in federation.policies] or [self.floor]

    def _policy(self, digest: str) -> DisclosurePolicy:
        """Return the policy with this digest; the floor if it is no longer registered."""
        return self.registry.policy_for(digest) if digest in self.registry.policies else self.floor

    def share(self, sites: tuple[str, ...]) -> tuple[str, ...]:
        """Return a shared tuple of these sites, since most models and benchmarks have the same sites."""
        return self._site_lists.setdefault(sites, sites)

    def scorecards(self) -> list[str]:
        """Return the digests of the registered scorecards that have results."""
        with_results = {scorecard for scorecard, _ in self.federation.models}
        return [digest for digest in self.registry.scorecards if digest in with_results]

    def models_of(
        self, scorecard: str, audited: Mapping[str, AuditedRow]
    ) -> dict[str, "_ModelMerger"]:
        """Return the mergers of all registered models' results for a scorecard, by model digest.

        Args:
            scorecard: Digest of the scorecard.
            audited: The parts of rows that depend on pooled sites' statements, by model.
        """
        digests = sorted(model for card, model in self.federation.models if card == scorecard)
        mergers = {}
        for model in digests:
            if model in self.registry.models:
                replaced = audited[model].replaced if model in audited else ()
                merger = _ModelMerger(self, self.federation.models[scorecard, model], replaced)
                if merger.has_anything or model in audited:
                    mergers[model] = merger
        return mergers

    def table(self, scorecard: Scorecard, audited: AuditedTable | None, *, retired: bool) -> Table:
        """Return the table of a scorecard."""
        rests_on = audited.rows if audited is not None else {}
        mergers = self.models_of(scorecard.digest, rests_on)
        rows: dict[str, Row] = {}
        for digest in sorted({*mergers, *rests_on}):
            model = self.registry.models.get(digest)
            if model is None:
                continue
            rows[digest] = _row(
                scorecard, digest, model, mergers.get(digest), rests_on.get(digest, AuditedRow())
            )
        sites = 0
        ranges: dict[str, Ranges] = {}
        if audited is not None:
            sites, ranges = audited.sites, dict(audited.ranges)
        else:
            figures = [
                merger.main_figures(rows[digest].model) for digest, merger in mergers.items()
            ]
            sites = count_sites(figures)
            ranges = dict(zip(mergers, draw_ranges(figures, scorecard.digest), strict=True))
        return Table(scorecard, tuple(_rank(scorecard, rows, ranges)), retired, sites)

    def site_results(self, audited: AuditedFigures) -> list[SiteResult]:
        """Return the counted results of named sites, sorted by site name, scorecard and model."""
        results = []
        for (scorecard, model), state in self.federation.models.items():
            registered = self.registry.scorecards.get(scorecard)
            if registered is None or model not in self.registry.models:
                continue
            table = audited.tables.get(scorecard)
            row = table.rows.get(model) if table is not None else None
            counting = self.count_named(state, row.replaced if row is not None else ())
            if not counting:
                continue
            codes = numpy.stack([taken.codes for taken in counting.values()])
            weights = NamedWeights(codes, self.floor.pooled_share_percent)
            for taken, site_codes in zip(counting.values(), drop_policy(codes), strict=True):
                policy = self.policies[self.federation.policies[taken.policy]]
                figures = SiteFigures(
                    state.layout, site_codes.tobytes(), policy, self.floor, weights
                )
                results.append(self._site_result(taken, registered.scorecard, figures))
        results.sort(
            key=lambda found: (
                found.site_name,
                found.site,
                found.scorecard.digest,
                found.model.name,
            )
        )
        return results

    def count_named(self, state: ModelState, replaced: Sequence[int]) -> dict[str, Taken]:
        """Return the named results that count, by site.

        Args:
            state: State of one model.
            replaced: Log positions of results that no longer count, for reasons that the public
                cannot see.
        """
        counting = {}
        for site in sorted(state.named):
            taken = self.federation.results[state.named[site]]
            if site not in state.replaced and taken.position not in replaced:
                counting[site] = taken
        return counting

    def _site_result(self, taken: Taken, scorecard: Scorecard, figures: SiteFigures) -> SiteResult:
        registry = self.registry
        return SiteResult(
            site=taken.site,
            site_name=registry.sites[taken.site].display_name,
            model=registry.models[taken.model],
            model_digest=taken.model,
            scorecard=scorecard,
            digest=taken.digest,
            log_position=taken.position,
            day=taken.day,
            outcome=taken.outcome,
            approval=taken.approval,
            plan=taken.plan,
            assurance=taken.assurance,
            is_stale=self.is_stale(taken),
            agent_version=registry.agents.get(taken.agent, NOT_REGISTERED),
            policy_name=registry.policies[taken.policy].name
            if taken.policy in registry.policies
            else NOT_REGISTERED,
            figures=figures,
        )

    def is_stale(self, taken: Taken) -> bool:
        """Return whether the registry no longer lists the agent version or policy of a result."""
        return taken.agent not in self.registry.agents or taken.policy not in self.registry.policies

    def revoked(self) -> list[int]:
        """Return the log positions of named sites' results that no longer count, except withdrawn ones."""
        positions = list(self.federation.unknown)
        for number, taken in enumerate(self.federation.results):
            is_known = (
                taken.model in self.registry.models and taken.scorecard in self.registry.scorecards
            )
            if not taken.is_hidden and not (is_known and self.federation.stands(number)):
                positions.append(taken.position)
        return sorted(positions)

    def withdrawn(self) -> list[WithdrawnResult]:
        """Return the withdrawn results of named sites, sorted by log position."""
        withdrawn = []
        for number, taken in enumerate(self.federation.results):
            withdrawal = self.federation.withdrawal_of(number)
            if withdrawal is None or taken.is_hidden or self.federation.is_hidden(withdrawal):
                continue
            if self.federation.stands(number):
                withdrawn.append(
                    WithdrawnResult(
                        taken.position, withdrawal.position, withdrawal.predicate.reason
                    )
                )
        return sorted(withdrawn, key=lambda result: result.position)


@dataclass(frozen=True, slots=True)
class _Column:
    """The contributions to a cell that may be merged.

    Attributes:
        sites: Ids of the contributing sites.
        codes: A code for each site, with the policy.
        is_hidden: Whether each site is pooled.
        has_figure: Whether each contribution is a value or a code for one end of the range.
        figures: Figures of the contributions that have one.
        weights: Weights of these figures.
    """

    sites: list[str]
    codes: Integers
    is_hidden: Flags
    has_figure: Flags
    figures: Figures
    weights: Integers

    @property
    def sites_of_figures(self) -> tuple[str, ...]:
        """The sites, in the order of the figures."""
        places = numpy.flatnonzero(self.has_figure)[self.figures.place]
        return tuple(self.sites[place] for place in places)


class _ModelMerger:
    """A merger of a model's results for one scorecard."""

    def __init__(self, builder: _Builder, state: ModelState, replaced: Sequence[int] = ()) -> None:
        self._builder = builder
        self._state = state
        self._layout = state.layout
        self._steps = state.steps
        self._counting = builder.count_named(state, replaced)
        self._named_sites = list(self._counting)
        columns = len(self._layout.keys)
        rows = [taken.codes for taken in self._counting.values()]
        self._named = numpy.stack(rows) if rows else numpy.zeros((0, columns), dtype=numpy.int64)
        steps = self._steps
        self.has_hidden: Flags = ((steps.present != NOTHING) | (steps.shown != NOTHING)).any(axis=0)
        self._is_void = builder.federation.find_void(state)
        self._waiting = steps.count_waiting()
        self._hidden_sites = list(steps.sites)
        self._columns: dict[int, _Column] = {}
        key = MergedKey(state.changes, tuple(replaced), builder.floor, tuple(builder.policies))
        if state.merged is None or state.merged.key != key:
            state.merged = Merged(key)
        self._merged = state.merged

    @property
    def has_anything(self) -> bool:
        """Return whether a result counts, or a withdrawn one is still part of pooled sites' shown figures."""
        return bool(self._named_sites) or bool(self.has_hidden.any()) or bool(self._state.replaced)

    def cell(self, column: int) -> MergedCell:
        """Return a merged cell, including pooled sites' shown contributions."""
        if column not in self._merged.cells:
            self._merged.cells[column] = self._merge_cell(column)
        return self._merged.cells[column]

    def _merge_cell(self, column: int) -> MergedCell:
        cell = self._layout.scorecard.cells[column]
        has_hidden = bool(self.has_hidden[column])
        waiting = int(self._waiting[column])
        behind = self._column(column)
        merged = merge_figures(behind.figures, behind.weights, cell)
        left_out = int((~behind.has_figure).sum())
        since = int(self._steps.since[column]) if behind.is_hidden.any() else 0
        if merged is not None:
            return replace(
                merged, left_out=left_out, waiting=waiting, since=since, rests_on_audit=has_hidden
            )
        found = suppression_reasons(behind.codes, column, self._layout, self._builder.policies)
        absent = describe_absence(
            {figure.state for figure in found},
            {figure.why for figure in found if figure.state is State.SUPPRESSED},
            left_out,
            waiting,
            has_hidden,
        )
        coded = len(behind.figures)  # without a value, all figures are coded
        named = int((~behind.figures.is_hidden).sum())
        return replace(absent, sites=coded, named_sites=named, coded_sites=coded, since=since)

    def counts(self) -> RowCounts:
        """Return the counts of named sites."""
        return self._count_named()

    def audited_row(self) -> AuditedRow:
        """Return the part of the row that depends on pooled sites' statements."""
        cells = {}
        for column, key in enumerate(self._layout.keys):
            if self.has_hidden[column]:
                cells[key] = self.cell(column)
        return AuditedRow(
            cells, self._count_hidden(), int(self._waiting[-1]), self.replaced_positions()
        )

    def replaced_positions(self) -> tuple[int, ...]:
        """Return the log positions of named results that no longer count, for reasons that the public cannot see."""
        results = self._builder.federation.results
        return tuple(
            sorted(results[self._state.named[site]].position for site in self._state.replaced)
        )

    def sites_behind_row(self) -> set[str]:
        """Return the pooled sites included in the row's counts."""
        if self._is_void[-1]:
            return set()
        return {
            site for site, row in self._steps.sites.items() if self._steps.shown[row, -1] != NOTHING
        }

    def main_figures(self, model: Model) -> MainFigures:
        """Return the figures of the main cells, for resampling sites."""
        if (
            self._merged.main is None
            or self._merged.main.is_language_model != model.is_language_model
        ):
            self._merged.main = self._gather_main_figures(model)
        return self._merged.main

    def _gather_main_figures(self, model: Model) -> MainFigures:
        sites: list[tuple[str, ...]] = []
        weights: list[Integers] = []
        doubled: list[Integers] = []
        nothing = numpy.zeros(0, dtype=numpy.int64)
        for column in self._layout.main:
            behind = self._column(column)
            if behind.figures.is_coded.all():
                sites.append(())
                weights.append(nothing)
                doubled.append(nothing)
                continue
            names = behind.sites_of_figures
            by_name = numpy.argsort(numpy.array(names))
            ordered = tuple(names[place] for place in by_name.tolist())
            sites.append(self._builder.share(ordered))
            weights.append(behind.weights[by_name])
            doubled.append((behind.figures.low_end + behind.figures.high_end)[by_name])
        return MainFigures(tuple(sites), tuple(weights), tuple(doubled), model.is_language_model)

    def count_hidden_values(self) -> Iterator[int]:
        """Yield the number of pooled sites with a value for each main figure that must not reveal theirs."""
        for column in self._layout.main:
            if not self.has_hidden[column] or not self._layout.scorecard.cells[column].protected:
                continue
            cell = self.cell(column)
            hidden = cell.sites - cell.named_sites
            if cell.value is not None and hidden:
                yield max(0, hidden - cell.coded_sites)

    def _column(self, column: int) -> _Column:
        """Return the contributions of named sites that ran the cell, and the shown contributions of pooled sites."""
        known = self._columns.get(column)
        if known is not None:
            return known
        ran = numpy.flatnonzero(self._named[:, column])
        shown = numpy.flatnonzero(self._shown[:, column])
        codes = numpy.concatenate([self._named[ran, column], self._shown[shown, column]])
        is_hidden = numpy.arange(len(codes)) >= len(ran)
        fields = decode_codes(codes)
        has_figure = fields.is_value | fields.is_coded
        figures = make_figures(
            fields.value[has_figure],
            fields.bucket[has_figure],
            fields.spread[has_figure],
            fields.policy[has_figure],
            is_hidden[has_figure],
            self._builder.policies,
            protected=self._layout.scorecard.cells[column].protected,
        )
        made = _Column(
            sites=[self._named_sites[row] for row in ran]
            + [self._hidden_sites[row] for row in shown],
            codes=codes,
            is_hidden=is_hidden,
            has_figure=has_figure,
            figures=figures,
            weights=weigh(figures, self._builder.floor),
        )
        if column in self._layout.main:  # main columns are requested twice
            self._columns[column] = made
        return made

    @cached_property
    def _shown(self) -> Integers:
        """The shown codes of pooled sites, with the policy, one row per site; 0 in withheld columns."""
        results = self._builder.federation.results
        columns, rows = len(self._layout.keys), len(self._hidden_sites)
        has_part = (self._steps.shown[:rows, :columns] != NOTHING) & ~self._is_void[:columns]
        numbers = self._steps.shown_result[:rows, :columns]
        distinct = numpy.unique(numbers[has_part])
        if not len(distinct):
            return numpy.zeros((rows, columns), dtype=numpy.int64)
        stacked = numpy.stack([results[number].codes for number in distinct])
        places = numpy.minimum(numpy.searchsorted(distinct, numbers), len(distinct) - 1)
        return numpy.where(has_part, stacked[places, numpy.arange(columns)], 0)

    def _count_named(self) -> RowCounts:
        federation = self._builder.federation
        counting = list(self._counting.values())
        withdrawn = 0
        for numbers in self._state.by_site.values():
            for number in numbers:
                withdrawal = federation.withdrawal_of(number)
                if (
                    withdrawal is None
                    or federation.results[number].is_hidden
                    or federation.is_hidden(withdrawal)
                ):
                    continue
                withdrawn += federation.stands(number)
        return self._count(counting, [taken.flags for taken in counting], withdrawn)

    def _count_hidden(self) -> RowCounts:
        if self._is_void[-1]:
            return RowCounts()
        shown = numpy.flatnonzero(self._steps.shown[:, -1])
        results = self._builder.federation.results
        counting = [results[number] for number in self._steps.shown_result[shown, -1]]
        decoded = [read_row_code(int(code)) for code in self._steps.shown[shown, -1]]
        return self._count(
            counting, [flags for flags, _ in decoded], sum(withdrawn for _, withdrawn in decoded)
        )

    def _count(self, counting: Sequence[Taken], flags: Sequence[int], withdrawn: int) -> RowCounts:
        return RowCounts(
            sites=len(counting),
            partial=sum(bool(flag & PARTIAL) for flag in flags),
            unplanned=sum(bool(flag & UNPLANNED) for flag in flags),
            weights_hashed=sum(bool(flag & WEIGHTS_HASHED) for flag in flags),
            stale=sum(self._builder.is_stale(taken) for taken in counting),
            withdrawn=withdrawn,
        )


def _row(
    scorecard: Scorecard,
    digest: str,
    model: Model,
    merger: _ModelMerger | None,
    audited: AuditedRow,
) -> Row:
    """Return a row without aggregates: audited cells where pooled sites contribute, named sites' cells elsewhere."""
    cells = {}
    for column, cell in enumerate(scorecard.cells):
        if cell.key in audited.cells:
            cells[cell.key] = audited.cells[cell.key]
        elif merger is not None:
            cells[cell.key] = merger.cell(column)
        else:
            cells[cell.key] = MergedCell(State.NOT_RUN)
    return Row(
        digest=digest,
        model=model,
        cells=cells,
        win_rate=None,
        macro_average=None,
        rank=None,
        ranges=Ranges(),
        counts=(merger.counts() if merger is not None else RowCounts()).plus(audited.counts),
        coded=sum(cell.coded_sites > 0 for cell in cells.values()),
        waiting=audited.waiting,
    )


def _rank(scorecard: Scorecard, rows: dict[str, Row], ranges: dict[str, Ranges]) -> list[Row]:
    """Return the rows with win rates, macro-averages, ranks and ranges, by descending win rate."""
    unranked = Table(scorecard, ())
    main = [unranked.main_cell(benchmark).key for benchmark in scorecard.benchmarks]
    scores: dict[str, dict[str, float]] = {}
    for digest, row in rows.items():
        values = {key: row.cells[key].value for key in main}
        scores[digest] = {key: float(value) for key, value in values.items() if value is not None}
    rates = {digest: _thousandths(rate) for digest, rate in mean_win_rates(scores).items()}
    speaking = [rates[digest] for digest, row in rows.items() if row.model.is_language_model]
    ranked = []
    for digest, row in rows.items():
        rate, average = rates[digest], _macro_average(scores[digest])
        rank = None
        if row.model.is_language_model and rate is not None:
            rank = 1 + sum(other > rate for other in speaking if other is not None)
        around = _hold(ranges.get(digest, Ranges()), rate, average, rank)
        ranked.append(replace(row, win_rate=rate, macro_average=average, rank=rank, ranges=around))
    ranked.sort(key=lambda row: (-1 if row.win_rate is None else -row.win_rate - 2, row.model.name))
    return ranked


def _thousandths(rate: float | None) -> int | None:
    return None if rate is None else round(1000 * rate)


def _macro_average(scores: dict[str, float]) -> int | None:
    """Return the mean of figures in thousandths of each metric's range, rounded half up."""
    if not scores:
        return None
    total, count = int(sum(scores.values())), len(scores)
    return (2 * total + count) // (2 * count)


def _hold(ranges: Ranges, rate: int | None, average: int | None, rank: int | None) -> Ranges:
    """Widen ranges so that they include the figures themselves."""
    return Ranges(
        *_widen(ranges.win_rate_low, ranges.win_rate_high, rate),
        *_widen(ranges.macro_average_low, ranges.macro_average_high, average),
        *_widen(ranges.rank_low, ranges.rank_high, rank),
    )


def _widen(low: int | None, high: int | None, figure: int | None) -> tuple[int | None, int | None]:
    if low is None or high is None or figure is None:
        return None, None
    return min(low, figure), max(high, figure)
