"""Build the pages about several runs: all suites, one suite, one release."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.exchange.releases import JoinedRelease
from agent.results.summarize import RunSummary
from agent.service.board_views import Collection, list_judged
from agent.service.boards import LeaderboardView
from agent.service.heads import RunLine, build_run_line, convert_start
from agent.service.matrix import Matrix, build_matrix
from agent.store import Run
from agent.store.releases import LocalRelease


@dataclass(frozen=True, slots=True)
class SuiteLine:
    """One suite in the list of suites."""

    name: str
    runs: int
    models: int
    benchmarks: int
    newest_run: datetime  # start of the newest run; timezone-aware


@dataclass(frozen=True, slots=True)
class ReleaseLine:
    """One local release in the list of releases. Its parts are suites and imported leaderboards."""

    name: str
    parts: tuple[str, ...]
    made: datetime  # timezone-aware


@dataclass(frozen=True, slots=True)
class SitePage:
    """The first page: every suite, newest run first, and every release, newest first."""

    suites: tuple[SuiteLine, ...]
    releases: tuple[ReleaseLine, ...]


@dataclass(frozen=True, slots=True)
class SuitePage:
    """A suite's local leaderboard as one table, and the list of its runs, newest first.

    `leaderboard` has the details behind the table, which have pages of their own; `juried` says if a jury graded any.
    """

    suite: str
    matrix: Matrix
    juried: bool
    leaderboard: LeaderboardView
    runs: tuple[RunLine, ...]


@dataclass(frozen=True, slots=True)
class ReleasePage:
    """A local release, which combines suites and imported leaderboards.

    Attributes:
        release: name, parts and time of the release.
        suites: parts that are suites of this site, which have separate pages.
        leaderboards: imported parts, as (name at this site, original name).
        replaced: runs that several suites contain, as (name of the run, suite whose run is used).
        matrix: the combined leaderboard as one table.
        juried: whether a jury graded any answer.
        leaderboard: the details behind the table, which have pages of their own.
    """

    release: ReleaseLine
    suites: tuple[str, ...]
    leaderboards: tuple[tuple[str, str], ...]
    replaced: tuple[tuple[str, str], ...]
    matrix: Matrix
    juried: bool
    leaderboard: LeaderboardView


def build_site_page(runs: Sequence[Run], releases: Sequence[LocalRelease] = ()) -> SitePage:
    """Build the first page, with the suites of all `runs` and the releases."""
    by_suite: dict[str, list[Run]] = {}
    for run in runs:
        by_suite.setdefault(run.suite, []).append(run)
    suite_lines = [_build_suite_line(suite, suite_runs) for suite, suite_runs in by_suite.items()]
    suite_lines.sort(key=lambda line: (line.newest_run, line.name), reverse=True)
    release_lines = [_build_release_line(release) for release in releases]
    release_lines.sort(key=lambda line: (line.made, line.name), reverse=True)
    return SitePage(tuple(suite_lines), tuple(release_lines))


def _build_suite_line(suite: str, runs: Sequence[Run]) -> SuiteLine:
    return SuiteLine(
        suite,
        runs=len(runs),
        models=len({run.model for run in runs}),
        benchmarks=len({run.benchmark for run in runs}),
        newest_run=max(convert_start(run) for run in runs),
    )


def build_suite_page(collection: Collection, runs: Iterable[RunSummary]) -> SuitePage:
    """Build the page of a suite. `runs` has one summary per run."""
    lines = sorted(map(build_run_line, runs), key=lambda line: line.run.began, reverse=True)
    leaderboard = collection.build_leaderboard()
    return SuitePage(
        collection.name,
        matrix=build_matrix(leaderboard),
        juried=bool(list_judged(leaderboard.boards)),
        leaderboard=leaderboard,
        runs=tuple(lines),
    )


def build_release_page(
    joined: JoinedRelease, leaderboards: Mapping[str, str], collection: Collection
) -> ReleasePage:
    """Build the page of a release.

    Args:
        joined: the release with its results.
        leaderboards: names of imported leaderboards, with their original names.
        collection: its results.
    """
    suites: list[str] = []
    imported: list[tuple[str, str]] = []
    for part in joined.release.parts:
        if part in leaderboards:
            imported.append((part, leaderboards[part]))
        else:
            suites.append(part)
    leaderboard = collection.build_leaderboard()
    return ReleasePage(
        _build_release_line(joined.release),
        suites=tuple(suites),
        leaderboards=tuple(imported),
        replaced=joined.replaced,
        matrix=build_matrix(leaderboard),
        juried=bool(list_judged(leaderboard.boards)),
        leaderboard=leaderboard,
    )


def _build_release_line(release: LocalRelease) -> ReleaseLine:
    return ReleaseLine(release.name, release.parts, datetime.fromtimestamp(release.made_at, UTC))
