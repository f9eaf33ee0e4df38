"""The pages over several runs: all suites, one suite, one release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.exchange.releases import JoinedRelease
from agent.results.summarize import RunSummary
from agent.service.boards import LeaderboardView, build_leaderboard
from agent.service.heads import RunLine, build_run_line, convert_start
from agent.store import Run
from agent.store.releases import LocalRelease


@dataclass(frozen=True, slots=True)
class SuiteLine:
    """One suite in the list of them."""

    name: str
    runs: int
    models: int
    benchmarks: int
    newest_run: datetime  # aware; when it began


@dataclass(frozen=True, slots=True)
class ReleaseLine:
    """One local release in the list of them. Its parts are suites and imported leaderboards."""

    name: str
    parts: tuple[str, ...]
    made: datetime  # aware


@dataclass(frozen=True, slots=True)
class SitePage:
    """The first page: every suite, newest run first, and every release, newest first."""

    suites: tuple[SuiteLine, ...]
    releases: tuple[ReleaseLine, ...]


@dataclass(frozen=True, slots=True)
class SuitePage:
    """A suite's local leaderboard, and the list of its runs, newest first."""

    suite: str
    leaderboard: LeaderboardView
    runs: tuple[RunLine, ...]


@dataclass(frozen=True, slots=True)
class ReleasePage:
    """A local release: its suites and imported leaderboards together.

    Attributes:
        suites: parts that are suites of this site, with pages of their own.
        leaderboards: parts that were imported: the name here, and their maker's name.
        replaced: runs that several suites hold, with the suite whose run stands.
    """

    release: ReleaseLine
    suites: tuple[str, ...]
    leaderboards: tuple[tuple[str, str], ...]
    replaced: tuple[tuple[str, str], ...]
    leaderboard: LeaderboardView


def build_site_page(runs: Sequence[Run], releases: Sequence[LocalRelease] = ()) -> SitePage:
    """Show the suites of all `runs`, and the releases."""
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


def build_suite_page(
    suite: str, pooled: Sequence[RunSummary], runs: Sequence[RunSummary]
) -> SuitePage:
    """Show a suite.

    Args:
        suite: its name.
        pooled: one summary for each benchmark and model.
        runs: one summary for each run.
    """
    lines = sorted(map(build_run_line, runs), key=lambda line: line.run.began, reverse=True)
    return SuitePage(suite, build_leaderboard(pooled), tuple(lines))


def build_release_page(joined: JoinedRelease, leaderboards: Mapping[str, str]) -> ReleasePage:
    """Show a release. `leaderboards` are the imported ones: the name here, and their maker's name."""
    suites: list[str] = []
    imported: list[tuple[str, str]] = []
    for part in joined.release.parts:
        if part in leaderboards:
            imported.append((part, leaderboards[part]))
        else:
            suites.append(part)
    return ReleasePage(
        _build_release_line(joined.release),
        suites=tuple(suites),
        leaderboards=tuple(imported),
        replaced=joined.replaced,
        leaderboard=build_leaderboard(joined.summaries),
    )


def _build_release_line(release: LocalRelease) -> ReleaseLine:
    return ReleaseLine(release.name, release.parts, datetime.fromtimestamp(release.made_at, UTC))
