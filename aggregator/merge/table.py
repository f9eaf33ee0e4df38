"""From accepted results to the board's tables: who counts, pooled cells, mean win rates. Pure, whatever the order."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from aggregator.merge.pool import PooledCell, SiteCell, pool
from protocol.disclosure import surplus_cells
from protocol.figures import mean_win_rates
from protocol.identity import NONE
from protocol.policy import DisclosurePolicy
from protocol.predicates import ResultPredicate, WithdrawPredicate
from protocol.registry import Model, Registry
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard


@dataclass(frozen=True, slots=True)
class Result:
    """An accepted result, where it stands in the log, the key ids that signed it, and its digest."""

    position: int
    keyids: tuple[str, ...]
    predicate: ResultPredicate
    digest: str

    @property
    def place(self) -> tuple[int, int]:
        """Its place in the site's chain; a later result of the same model and scorecard replaces an earlier."""
        return self.predicate.header.epoch, self.predicate.header.seq

    @property
    def is_planned(self) -> bool:
        """Whether the site had put into the log what it would run before it ran it."""
        return self.predicate.plan != NONE


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An accepted withdrawal of a result, where it stands in the log, and the key ids that signed it."""

    position: int
    keyids: tuple[str, ...]
    predicate: WithdrawPredicate


@dataclass(frozen=True, slots=True)
class WithdrawnResult:
    """A result that its site took back: log positions of both statements, and the reason."""

    position: int
    withdrawn_at: int
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """One model's line: its cells by key, and its mean win rate in thousandths (None without anything to compare)."""

    digest: str
    model: Model
    cells: dict[str, PooledCell]
    win_rate: int | None
    sites: int  # whose results stand behind the row
    partial: int  # of them, those whose result leaves questions out
    unplanned: int  # of them, those whose result had no plan


@dataclass(frozen=True, slots=True)
class Table:
    """All models' results for one scorecard, best mean win rate first."""

    scorecard: Scorecard
    rows: tuple[Row, ...]

    def main_cell(self, benchmark: BenchmarkEntry) -> Cell:
        """Return the cell that stands for a benchmark: its first."""
        return next(cell for cell in self.scorecard.cells if cell.benchmark == benchmark.id)

    @property
    def categories(self) -> dict[str, list[BenchmarkEntry]]:
        """The benchmarks by category, both in the scorecard's order."""
        found: dict[str, list[BenchmarkEntry]] = {}
        for benchmark in self.scorecard.benchmarks:
            found.setdefault(benchmark.category, []).append(benchmark)
        return found


@dataclass(frozen=True, slots=True)
class Contribution:
    """A counted result of a site that is shown by name."""

    site: str
    site_name: str
    model: Model
    scorecard: Scorecard
    result: Result
    agent_version: str
    policy_name: str


@dataclass(frozen=True, slots=True)
class Board:
    """Everything the board shows."""

    tables: tuple[Table, ...]
    contributions: tuple[Contribution, ...]  # of named sites
    pooled_sites: int  # sites with counted results that are not shown by name
    revoked: tuple[int, ...]  # log positions of results that no longer count
    withdrawn: tuple[WithdrawnResult, ...]  # by log position


def build_board(results: Iterable[Result], registry: Registry, withdrawals: Iterable[Withdrawal] = ()) -> Board:
    """Merge results under one registry. The order of `results` changes nothing.

    A result that was withdrawn counts as little as one that was never made: an earlier one of the same site, model and
    scorecard stands again.
    """
    standing = []
    revoked = []
    for result in results:
        if _stands(result, registry):
            standing.append(result)
        else:
            revoked.append(result.position)
    taken_back = {
        withdrawal.predicate.result: withdrawal
        for withdrawal in withdrawals
        if _keys_stand(withdrawal.predicate.header.site, withdrawal.keyids, withdrawal.position, registry)
    }
    withdrawn = [_withdrawn(result, taken_back[result.digest]) for result in standing if result.digest in taken_back]
    counted = _newest(result for result in standing if result.digest not in taken_back)
    tables = []
    for digest, registered in registry.scorecards.items():
        mine = [result for result in counted if result.predicate.scorecard == digest]
        if mine:
            tables.append(_table(registered.scorecard, mine, registry))
    named = [result for result in counted if _publication(result, registry) == "named"]
    return Board(
        tables=tuple(sorted(tables, key=lambda table: (table.scorecard.name, -table.scorecard.version))),
        contributions=tuple(sorted((_contribution(result, registry) for result in named), key=_by_name)),
        pooled_sites=len({result.predicate.header.site for result in counted if result not in named}),
        revoked=tuple(sorted(revoked)),
        withdrawn=tuple(sorted(withdrawn, key=lambda result: result.position)),
    )


def _stands(result: Result, registry: Registry) -> bool:
    """Whether the registry still vouches for a result: both keys its site's and valid then, all that it names known."""
    said = result.predicate
    return (
        _keys_stand(said.header.site, result.keyids, result.position, registry)
        and said.model in registry.models
        and said.scorecard in registry.scorecards
    )


def _keys_stand(site: str, keyids: Iterable[str], position: int, registry: Registry) -> bool:
    """Whether all keys are the site's, and none was revoked before it signed the entry at `position`."""
    for keyid in keyids:
        found = registry.site_of(keyid)
        if found is None or found[0] != site or not found[1].valid_at(position):
            return False
    return True


def _withdrawn(result: Result, withdrawal: Withdrawal) -> WithdrawnResult:
    return WithdrawnResult(result.position, withdrawal.position, withdrawal.predicate.reason)


def _newest(results: Iterable[Result]) -> list[Result]:
    """Keep the last result of each site, model and scorecard, in an order of their own."""
    newest: dict[tuple[str, str, str], Result] = {}
    for result in results:
        said = result.predicate
        key = (said.header.site, said.model, said.scorecard)
        if key not in newest or newest[key].place < result.place:
            newest[key] = result
    return [newest[key] for key in sorted(newest)]


def _table(scorecard: Scorecard, results: list[Result], registry: Registry) -> Table:
    floor = registry.policies[registry.policy_floor]
    published: dict[str, dict[str, list[SiteCell]]] = {}  # by model and cell
    surplus_under: dict[DisclosurePolicy, frozenset[str]] = {}
    for result in results:
        policy = _policy(result, registry)
        if policy not in surplus_under:
            surplus_under[policy] = frozenset(cell.key for cell in surplus_cells(scorecard, policy))
        named = _publication(result, registry) == "named"
        of_model = published.setdefault(result.predicate.model, {cell.key: [] for cell in scorecard.cells})
        for cell in scorecard.cells:
            of_model[cell.key].append(_site_cell(result, cell, policy, surplus_under[policy], named=named))
    rows = []
    for digest in sorted(published):
        mine = [result for result in results if result.predicate.model == digest]
        cells = {cell.key: pool(published[digest][cell.key], cell, floor) for cell in scorecard.cells}
        rows.append(
            Row(
                digest=digest,
                model=registry.models[digest],
                cells=cells,
                win_rate=None,
                sites=len(mine),
                partial=sum(result.predicate.outcome == "partial" for result in mine),
                unplanned=sum(not result.is_planned for result in mine),
            )
        )
    unranked = Table(scorecard, tuple(rows))
    main = [unranked.main_cell(benchmark).key for benchmark in scorecard.benchmarks]
    scores = {
        row.digest: {key: float(value) for key in main if (value := row.cells[key].value) is not None} for row in rows
    }
    rates = mean_win_rates(scores)
    ranked = [replace(row, win_rate=_thousandths(rates[row.digest])) for row in rows]
    ranked.sort(key=lambda row: (-(row.win_rate if row.win_rate is not None else -1), row.model.name))
    return Table(scorecard, tuple(ranked))


def _thousandths(rate: float | None) -> int | None:
    return None if rate is None else round(1000 * rate)


def _policy(result: Result, registry: Registry) -> DisclosurePolicy:
    """Return the policy that a result obeyed; the floor where the one it names is no longer registered."""
    said = result.predicate.policy
    return registry.policy_for(said) if said in registry.policies else registry.policies[registry.policy_floor]


def _site_cell(
    result: Result, cell: Cell, policy: DisclosurePolicy, surplus: Container[str], *, named: bool
) -> SiteCell:
    said = result.predicate
    return SiteCell(
        named=named,
        value=said.cells[cell.key],
        bucket=said.groups[cell.group],
        spread=None if cell.binary else said.spreads[cell.key],
        policy=policy,
        is_surplus=cell.key in surplus,
    )


def _publication(result: Result, registry: Registry) -> str:
    return registry.sites[result.predicate.header.site].publication


def _by_name(entry: Contribution) -> tuple[str, str, str, str]:
    return entry.site_name, entry.site, entry.scorecard.digest, entry.model.name


def _contribution(result: Result, registry: Registry) -> Contribution:
    said = result.predicate
    return Contribution(
        site=said.header.site,
        site_name=registry.sites[said.header.site].display_name,
        model=registry.models[said.model],
        scorecard=registry.scorecards[said.scorecard].scorecard,
        result=result,
        agent_version=registry.agents.get(said.agent, "no longer registered"),
        policy_name=registry.policies[said.policy].name if said.policy in registry.policies else "no longer registered",
    )
