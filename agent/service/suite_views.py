"""The pages over several runs: all suites, one suite, one release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.exchange.releases import JoinedRelease
from agent.results.summarize import RunSummary
from agent.service.boards import LeaderboardView, leaderboard_of
from agent.service.heads import RunLine, moment_of, run_line
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
    """A local release: what its suites and imported leaderboards come to together.

    Attributes:
        suites: parts that are suites of this site, with pages of their own.
        leaderboards: parts that were imported: name, and what its maker called it.
        replaced: runs that several suites hold, with the suite whose run stands.
    """

    release: ReleaseLine
    suites: tuple[str, ...]
    leaderboards: tuple[tuple[str, str], ...]
    replaced: tuple[tuple[str, str], ...]
    leaderboard: LeaderboardView


def site_page(runs: Sequence[Run], releases: Sequence[LocalRelease] = ()) -> SitePage:
    """Show the suites of all `runs`, and the releases."""
    by_suite: dict[str, list[Run]] = {}
    for run in runs:
        by_suite.setdefault(run.suite, []).append(run)
    lines = (
        SuiteLine(
            suite,
            runs=len(own),
            models=len({run.model for run in own}),
            benchmarks=len({run.benchmark for run in own}),
            newest_run=max(moment_of(run) for run in own),
        )
        for suite, own in by_suite.items()
    )
    return SitePage(
        tuple(sorted(lines, key=lambda line: (line.newest_run, line.name), reverse=True)),
        tuple(sorted(map(_release_line, releases), key=lambda line: (line.made, line.name), reverse=True)),
    )


def suite_page(suite: str, pooled: Sequence[RunSummary], runs: Sequence[RunSummary]) -> SuitePage:
    """Show a suite, given a summary a benchmark and model, and one a run."""
    lines = sorted(map(run_line, runs), key=lambda line: line.run.began, reverse=True)
    return SuitePage(suite, leaderboard_of(pooled), tuple(lines))


def release_page(joined: JoinedRelease, leaderboards: Mapping[str, str]) -> ReleasePage:
    """Show a release. `leaderboards` are the imported ones: name here, and what their maker called them."""
    parts = joined.release.parts
    return ReleasePage(
        _release_line(joined.release),
        suites=tuple(part for part in parts if part not in leaderboards),
        leaderboards=tuple((part, leaderboards[part]) for part in parts if part in leaderboards),
        replaced=joined.replaced,
        leaderboard=leaderboard_of(joined.summaries),
    )


def _release_line(release: LocalRelease) -> ReleaseLine:
    return ReleaseLine(release.name, release.parts, datetime.fromtimestamp(release.made_at, UTC))
