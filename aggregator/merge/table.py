"""From accepted results to the board's tables: who counts, pooled cells, mean win rates. Pure, whatever the order."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from aggregator.merge.pool import PooledCell, SiteCell, pool
from protocol.figures import mean_win_rates
from protocol.registry import Model, Registry
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.statements import ResultPredicate


@dataclass(frozen=True, slots=True)
class Result:
    """An accepted result, where it stands in the log, and the key ids that signed it."""

    position: int
    keyids: tuple[str, ...]
    predicate: ResultPredicate

    @property
    def place(self) -> tuple[int, int]:
        """Its place in the site's chain; a later result of the same model and scorecard replaces an earlier."""
        return self.predicate.header.epoch, self.predicate.header.seq


@dataclass(frozen=True, slots=True)
class Row:
    """One model's line: its cells by key, and its mean win rate in thousandths (None without anything to compare)."""

    digest: str
    model: Model
    cells: dict[str, PooledCell]
    win_rate: int | None
    sites: int  # whose results stand behind the row
    partial: int  # of them, those whose result leaves questions out


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


def build_board(results: Iterable[Result], registry: Registry) -> Board:
    """Merge results under one registry. The order of `results` changes nothing."""
    results = list(results)
    revoked = tuple(sorted(result.position for result in results if not _stands(result, registry)))
    counted = _newest(result for result in results if _stands(result, registry))
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
        revoked=revoked,
    )


def _stands(result: Result, registry: Registry) -> bool:
    """Whether the registry still vouches for a result: both keys its site's and valid then, all that it names known."""
    said = result.predicate
    keys = [registry.site_of(keyid) for keyid in result.keyids]
    return (
        all(found is not None and found[0] == said.header.site and found[1].valid_at(result.position) for found in keys)
        and said.model in registry.models
        and said.scorecard in registry.scorecards
    )


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
    rows = []
    for digest in sorted({result.predicate.model for result in results}):
        mine = [result for result in results if result.predicate.model == digest]
        cells = {
            cell.key: pool([_site_cell(result, cell, registry) for result in mine], cell, floor)
            for cell in scorecard.cells
        }
        partial = sum(result.predicate.outcome == "partial" for result in mine)
        rows.append(Row(digest, registry.models[digest], cells, None, len(mine), partial))
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


def _site_cell(result: Result, cell: Cell, registry: Registry) -> SiteCell:
    said = result.predicate
    return SiteCell(
        named=_publication(result, registry) == "named",
        value=said.cells[cell.key],
        bucket=said.groups[cell.group],
        spread=None if cell.binary else said.spreads[cell.key],
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
