"""A local release: suites and imported leaderboards joined under a name, as `helm-summarize --release` joins suites."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.errors import ConfigError
from agent.exchange.helm.names import imported_metric
from agent.exchange.imported_run import build_imported_details
from agent.results.summarize import MetricSummary, RunSummary, pool_runs
from agent.runs.plan import SUITE_NAME
from agent.site.directory import Site
from agent.statistics.intervals import Mean
from agent.store import KeptMetric, Run, RunOrigin, Store
from agent.store.releases import ImportedLeaderboard, LeaderboardCell, LocalRelease


@dataclass(frozen=True, slots=True)
class JoinedRelease:
    """A release with the runs that stand for it.

    Attributes:
        summaries: by benchmark and model, runs of parts of a benchmark pooled; those made elsewhere have `origin` in
            their details.
        replaced: (run name, the suite whose run stands), for every run that an earlier suite holds too.
    """

    release: LocalRelease
    summaries: tuple[RunSummary, ...]
    replaced: tuple[tuple[str, str], ...]

    def notes(self) -> list[str]:
        """Say for people which runs were in several suites."""
        return [
            f"{name} is in several suites; the one of {suite} stands"
            for name, suite in self.replaced
        ]


def make_release(site: Site, suites: Sequence[str], release: str) -> list[str]:
    """Join `suites` (and imported leaderboards, by name) into the local release `release`; return notes for people.

    A release is a list of names: it shows the runs that the suites hold when it is looked at. It replaces a release of
    the same name.

    Raises:
        ConfigError: a name is not that of a suite or leaderboard here, or is given twice, or the name of the release is
            not valid.
    """
    if not SUITE_NAME.fullmatch(release):
        raise ConfigError(
            "a release's name has 1 to 64 letters, digits, dots, dashes or underscores, and begins with a letter or "
            "digit"
        )
    repeated = sorted(suite for suite, times in Counter(suites).items() if times > 1)
    if repeated:
        raise ConfigError(f"the release names a suite twice: {', '.join(repeated)}")
    with site.store() as store:
        _refuse_unknown(store, suites)
        if not suites:
            raise ConfigError("a release needs at least one suite", "Name suites with --suites.")
        store.releases.keep(release, suites)
        return join_release(store, release, _read_catalogue(site)).notes()


def _refuse_unknown(store: Store, suites: Sequence[str]) -> None:
    """Raise ConfigError for names that neither a suite nor an imported leaderboard has."""
    leaderboards = [board.name for board in store.releases.read_leaderboards()]
    stored_names = [*store.runs.list_suites(), *leaderboards]
    unknown = [suite for suite in suites if suite not in stored_names]
    if unknown:
        raise ConfigError(
            f"there is no suite or imported leaderboard {', '.join(unknown)} "
            f"(here: {', '.join(stored_names) or 'none yet'})",
            "Name suites with --suites; see `intramural import helm-leaderboard` for a downloaded one.",
        )


def summarise_release(site: Site, release: str) -> list[RunSummary]:
    """Summarise a release.

    Raises:
        ConfigError: there is no such release; names the existing ones.
    """
    with site.store() as store:
        return list(join_release(store, release, _read_catalogue(site)).summaries)


def _read_catalogue(site: Site) -> Mapping[str, Benchmark]:
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    return catalogue


def join_release(store: Store, name: str, catalogue: Mapping[str, Benchmark]) -> JoinedRelease:
    """Join the present runs of the release's parts. Where two suites hold a run of one name, the later suite's stands.

    `catalogue` describes the benchmarks of imported leaderboards.

    Raises:
        ConfigError: there is no such release; names the existing ones.
    """
    release = store.releases.find(name)
    if release is None:
        names = ", ".join(release.name for release in store.releases.read_all()) or "none yet"
        raise ConfigError(
            f"there is no release {name} (releases here: {names})",
            "Make one with `intramural summarize --suites A B --release R`.",
        )
    boards = {board.name: board for board in store.releases.read_leaderboards()}
    runs: dict[str, Run] = {}
    replaced: dict[str, str] = {}
    summaries: list[RunSummary] = []
    for part in release.parts:
        if part in boards:
            cells = store.releases.read_leaderboard_cells(part)
            summaries += summarise_leaderboard(boards[part], cells, catalogue)
            continue
        for run in store.runs.select(part):
            if run.name in runs:
                replaced[run.name] = part
            runs[run.name] = run
    summaries = [*pool_runs(store, list(runs.values())), *summaries]
    summaries.sort(key=lambda summary: (summary.run.benchmark, summary.run.model, summary.run.name))
    return JoinedRelease(release, tuple(summaries), tuple(sorted(replaced.items())))


def summarise_leaderboard(
    board: ImportedLeaderboard, cells: Sequence[LeaderboardCell], catalogue: Mapping[str, Benchmark]
) -> list[RunSummary]:
    """Return a leaderboard's figures as runs, one for each benchmark and model; they have no instances or interval."""
    # The sort keeps the order of metrics, of which the main one comes first.
    ordered = sorted(cells, key=_identify_row)
    summaries = []
    for (benchmark, model), row in groupby(ordered, _identify_row):
        summaries.append(_summarise_row(board, model, list(row), catalogue.get(benchmark)))
    return summaries


def _identify_row(cell: LeaderboardCell) -> tuple[str, str]:
    return cell.benchmark, cell.model


def _summarise_row(
    board: ImportedLeaderboard,
    model: str,
    cells: Sequence[LeaderboardCell],
    benchmark: Benchmark | None,
) -> RunSummary:
    """Return one model's figures on one benchmark, the main metric's first, as a run."""
    main = cells[0]
    metrics = [
        imported_metric(cell.metric, cell.metric_name, values=[cell.value]) for cell in cells
    ]
    details = build_imported_details(
        benchmark,
        display_name=main.benchmark_name,
        model=model,
        metrics=metrics,
        origin=RunOrigin(kind="helm-leaderboard", digest=board.details.get("digest", "")),
        instances=main.instances or 0,
    )
    run = Run(
        run_id="",
        suite=board.name,
        name=f"{main.benchmark}:model={model}",
        benchmark=main.benchmark,
        model=model,
        deployment=board.name,
        details=details,
        state="ended",
        started_at=board.imported_at,
        ended_at=None,
    )
    figures = [_summarise_cell(cell, metric) for cell, metric in zip(cells, metrics, strict=True)]
    return RunSummary(run, tuple(figures))


def _summarise_cell(cell: LeaderboardCell, metric: KeptMetric) -> MetricSummary:
    mean = Mean(
        n=cell.instances or 0, units=0, value=cell.value, low=None, high=None, method="none"
    )
    return MetricSummary(cell.metric, metric.display_name, metric.low, metric.high, mean, {})
