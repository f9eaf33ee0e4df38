"""A local release: suites and imported leaderboards joined under a name, as `helm-summarize --release` joins suites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.errors import ConfigError
from agent.exchange.helm.names import imported_metric
from agent.exchange.imported import imported_details
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
        return [f"{name} is in several suites; the one of {suite} stands" for name, suite in self.replaced]


def make_release(site: Site, suites: Sequence[str], release: str) -> list[str]:
    """Join `suites` (and imported leaderboards, by name) into the local release `release`; return notes for people.

    A release is a list of names: it shows what the suites hold when it is looked at. One of the same name is replaced.

    Raises:
        ConfigError: a name is none of a suite or leaderboard here, is given twice, or is no name for a release.
    """
    if not SUITE_NAME.fullmatch(release):
        raise ConfigError(
            "a release's name has 1 to 64 letters, digits, dots, dashes or underscores, and begins with a letter or "
            "digit"
        )
    if twice := sorted({suite for suite in suites if list(suites).count(suite) > 1}):
        raise ConfigError(f"the release names a suite twice: {', '.join(twice)}")
    with site.store() as store:
        known = [*store.runs.list_suites(), *(board.name for board in store.releases.read_leaderboards())]
        if missing := [suite for suite in suites if suite not in known]:
            raise ConfigError(
                f"there is no suite or imported leaderboard {', '.join(missing)} "
                f"(here: {', '.join(known) or 'none yet'})",
                "Name suites with --suites; see `intramural import helm-leaderboard` for a downloaded one.",
            )
        if not suites:
            raise ConfigError("a release needs at least one suite", "Name suites with --suites.")
        store.releases.keep(release, suites)
        return joined_release(store, release, _catalogue(site)).notes()


def release_summaries(site: Site, release: str) -> list[RunSummary]:
    """Summarise a release.

    Raises:
        ConfigError: there is no such release; names those that are there.
    """
    with site.store() as store:
        return list(joined_release(store, release, _catalogue(site)).summaries)


def _catalogue(site: Site) -> Mapping[str, Benchmark]:
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    return catalogue


def joined_release(store: Store, name: str, catalogue: Mapping[str, Benchmark]) -> JoinedRelease:
    """Join what the release's parts hold now. Where two suites hold a run of one name, the later suite's stands.

    `catalogue` says what is known here of an imported leaderboard's benchmarks.

    Raises:
        ConfigError: there is no such release; names those that are there.
    """
    release = store.releases.find(name)
    if release is None:
        known = ", ".join(one.name for one in store.releases.read_all()) or "none yet"
        raise ConfigError(
            f"there is no release {name} (releases here: {known})",
            "Make one with `intramural summarize --suites A B --release R`.",
        )
    boards = {board.name: board for board in store.releases.read_leaderboards()}
    standing: dict[str, Run] = {}
    replaced: dict[str, str] = {}
    cells: list[RunSummary] = []
    for part in release.parts:
        if part in boards:
            cells += leaderboard_summaries(boards[part], store.releases.read_leaderboard_cells(part), catalogue)
            continue
        for run in store.runs.select(part):
            if run.name in standing:
                replaced[run.name] = part
            standing[run.name] = run
    summaries = sorted(
        [*pool_runs(store, list(standing.values())), *cells], key=lambda s: (s.run.benchmark, s.run.model, s.run.name)
    )
    return JoinedRelease(release, tuple(summaries), tuple(sorted(replaced.items())))


def leaderboard_summaries(
    board: ImportedLeaderboard, cells: Sequence[LeaderboardCell], catalogue: Mapping[str, Benchmark]
) -> list[RunSummary]:
    """Return a leaderboard's figures as runs, one a benchmark and model: a mean each, without instances or interval."""
    summaries = []
    ordered = sorted(cells, key=lambda cell: (cell.benchmark, cell.model))  # stable: the main metric stays first
    for (benchmark, model), group in groupby(ordered, lambda cell: (cell.benchmark, cell.model)):
        own = list(group)
        metrics = [imported_metric(cell.metric, cell.metric_name, values=[cell.value]) for cell in own]
        details = imported_details(
            catalogue.get(benchmark),
            display_name=own[0].benchmark_name,
            model=model,
            metrics=metrics,
            origin=RunOrigin(kind="helm-leaderboard", digest=board.details.get("digest", "")),
            instances=own[0].instances or 0,
        )
        name = f"{benchmark}:model={model}"
        run = Run("", board.name, name, benchmark, model, board.name, details, "ended", board.imported_at, None)
        summaries.append(
            RunSummary(run, tuple(_summary(cell, metric) for cell, metric in zip(own, metrics, strict=True)))
        )
    return summaries


def _summary(cell: LeaderboardCell, metric: KeptMetric) -> MetricSummary:
    mean = Mean(cell.instances or 0, 0, cell.value, None, None, "none")
    return MetricSummary(cell.metric, metric.display_name, metric.low, metric.high, mean, {})
