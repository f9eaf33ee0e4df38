"""Local releases: suites and imported leaderboards joined under a name, as `helm-summarize --release` joins suites."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """A release and the runs selected for it.

    Attributes:
        summaries: by benchmark and model; runs of parts of a benchmark are pooled. Runs made elsewhere have an
            `origin` in their details.
        replaced: (run name, the suite whose run is used), for each run that an earlier suite contains too.
    """

    release: LocalRelease
    summaries: tuple[RunSummary, ...]
    replaced: tuple[tuple[str, str], ...]

    def notes(self) -> list[str]:
        """Return a note for the user on each run that was in several suites."""
        return [
            f"{name} is in several suites; the run from {suite} is used"
            for name, suite in self.replaced
        ]


def make_release(site: Site, suites: Sequence[str], release: str) -> list[str]:
    """Join `suites` (and imported leaderboards, by name) into the local release `release`; return notes for the user.

    A release is stored as a list of names and shows the current runs of its suites. An existing release of the same
    name is replaced.

    Raises:
        ConfigError: no suite or leaderboard has a given name, a name is given twice, or the release's name is not
            valid.
    """
    if not SUITE_NAME.fullmatch(release):
        raise ConfigError(
            "a release's name has 1 to 64 letters, digits, dots, dashes or underscores, and begins with a letter or "
            "digit"
        )
    repeated = sorted(suite for suite, times in Counter(suites).items() if times > 1)
    if repeated:
        raise ConfigError(
            f"--suites names {', '.join(repeated)} more than once", "Name each suite once."
        )
    with site.store() as store:
        _refuse_unknown(store, suites)
        if not suites:
            raise ConfigError("a release needs at least one suite", "Name suites with --suites.")
        store.releases.keep(release, suites)
        return join_release(store, release, _read_catalogue(site)).notes()


def _refuse_unknown(store: Store, suites: Sequence[str]) -> None:
    """Raise ConfigError if a name belongs to neither a suite nor an imported leaderboard."""
    leaderboards = [board.name for board in store.releases.read_leaderboards()]
    stored_names = [*store.runs.list_suites(), *leaderboards]
    unknown = [suite for suite in suites if suite not in stored_names]
    if unknown:
        raise ConfigError(
            f"there is no suite or imported leaderboard {', '.join(unknown)} "
            f"(existing: {', '.join(stored_names) or 'none yet'})",
            "Name suites with --suites; `intramural import helm-leaderboard` imports a downloaded leaderboard.",
        )


def summarise_release(site: Site, release: str) -> list[RunSummary]:
    """Summarise a release.

    Raises:
        ConfigError: the release does not exist; the message lists the existing ones.
    """
    with site.store() as store:
        return list(join_release(store, release, _read_catalogue(site)).summaries)


def _read_catalogue(site: Site) -> Mapping[str, Benchmark]:
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    return catalogue


def list_releases(store: Store) -> list[LocalRelease]:
    """Return every release by name, including each imported leaderboard that is not hidden by a release of its name.

    Suites with nothing but private runs of others are left out, and so are releases that consist of such suites.
    """
    releases: dict[str, LocalRelease] = {}
    for board in store.releases.read_leaderboards():
        releases[board.name] = LocalRelease(board.name, (board.name,), board.imported_at)
    suites = set(store.runs.list_suites())
    for release in store.releases.read_all():
        hidden = {part for part in release.parts if _is_hidden(store, part, suites)}
        if not hidden.issuperset(release.parts):
            parts = tuple(part for part in release.parts if part not in hidden)
            releases[release.name] = replace(release, parts=parts)
    return sorted(releases.values(), key=lambda release: release.name)


def _is_hidden(store: Store, suite: str, visible: Collection[str]) -> bool:
    return suite not in visible and bool(store.runs.list_hidden_owners(suite))


def join_release(store: Store, name: str, catalogue: Mapping[str, Benchmark]) -> JoinedRelease:
    """Join the current runs of the release's suites. Of two runs with the same name, that of the later suite is used.

    An imported leaderboard is a release of its own. `catalogue` describes the benchmarks of imported leaderboards.

    Raises:
        ConfigError: the release does not exist; the message lists the existing ones.
    """
    releases = {release.name: release for release in list_releases(store)}
    release = releases.get(name)
    if release is None:
        names = ", ".join(releases) or "none yet"
        raise ConfigError(
            f"there is no release {name} (existing: {names})",
            "Create one with `intramural summarize --suites A B --release R`; `intramural import helm-leaderboard DIR` "
            "imports a downloaded one.",
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
    """Return a leaderboard's values as one run per benchmark and model, without instances or intervals."""
    # The sort keeps the order of the metrics, of which the main metric comes first.
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
    """Return one model's values on one benchmark as a run, the main metric first."""
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
