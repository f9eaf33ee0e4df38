"""What each page shows, as plain values: pages and their JSON twins are both drawn from these.

Runs and their figures come from the store by way of `agent.evaluation.summarise`, texts of cases by way of a `Clearer`:
no text of a case is in a view but as `Redacted`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from string import ascii_lowercase
from typing import Literal

from agent.catalog.deployments import Prices
from agent.evaluation.summarise import MetricSummary, Note, RunSummary, win_rates
from agent.evaluation.usage import usage_lines
from agent.exchange.imported import is_imported
from agent.exchange.releases import JoinedRelease
from agent.redaction.clearing import ClearedCase, Clearer
from agent.store import RETRIED, Run, Store, Usage
from agent.store.releases import Release
from agent.vocabulary import Reason, Unscored

INSTANCES_A_PAGE = 20

RunState = Literal["running", "complete", "incomplete"]  # incomplete: stopped, or some instances have no answer


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
class RunHead:
    """What every page of a run says at its head.

    `data` is "official", "sample", "unknown", "invented" or "imported". `id` is empty where there is no run to show:
    an imported leaderboard has figures only.
    """

    id: str
    suite: str
    benchmark: str
    benchmark_name: str
    category: str
    access: str
    model: str
    deployment: str
    language_model: bool
    imported: bool  # made elsewhere with HELM
    data: str
    began: datetime  # aware


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in the list of a suite's runs. `answered` of its `instances` have a response or a failure."""

    run: RunHead
    state: RunState
    instances: int
    answered: int


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of a run with what its reader should know; `unscored` is the sum of the metric's reasons."""

    metric: MetricSummary
    unscored: int
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class PartLine:
    """One of several pooled runs: its id, and what tells it from the others."""

    id: str
    apart: str


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A run on a leaderboard.

    `apart` tells it from other runs of its model here: its deployment, its arguments. `parts` are the runs that were
    pooled, where there are several. `main` is the benchmark's main metric, or where that has no score the first that
    has.
    """

    run: RunHead
    apart: tuple[str, ...]
    parts: tuple[PartLine, ...]
    main: Figure


@dataclass(frozen=True, slots=True)
class Board:
    """One benchmark's part of a local leaderboard, best mean first; runs without a mean come last."""

    benchmark: str
    name: str
    category: str
    access: str
    metric: str  # for people
    twins: bool  # whether some row has its figure by HELM's rules too
    rows: tuple[BoardRow, ...]


@dataclass(frozen=True, slots=True)
class WinRate:
    """A model's mean win rate over the suite's benchmarks, from 0 to 1; None where it has nobody to win against."""

    model: str
    language_model: bool
    rate: float | None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Boards by category and benchmark, with what their reader should know."""

    boards: tuple[Board, ...]
    win_rates: tuple[WinRate, ...]  # best first; empty for a single model
    legend: Mapping[Note, str]  # each note that some row has, and the letter that stands for it
    imported: bool  # whether some row was made elsewhere


@dataclass(frozen=True, slots=True)
class SuitePage:
    """A suite's local leaderboard, and the list of its runs, newest first."""

    suite: str
    leaderboard: Leaderboard
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
    leaderboard: Leaderboard


@dataclass(frozen=True, slots=True)
class CapabilityLine:
    """One thing the probe found out about the server, in plain words."""

    feature: str
    state: str
    finding: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run without its instances. Settings are label and value, in order; the first metric is the main one.

    `cost_lines` say in words what `usage` came to, with what it cost where the deployment names prices.
    """

    line: RunLine
    metrics: tuple[Figure, ...]
    twins: bool  # whether metrics have figures by HELM's rules too
    settings: tuple[tuple[str, str], ...]
    usage: Usage | None  # None for a run that was not made here
    cost_lines: tuple[str, ...]
    capabilities: tuple[CapabilityLine, ...]


@dataclass(frozen=True, slots=True)
class CaseView:
    """One instance. `status` says why there is no answer to read; empty when there is one."""

    case: ClearedCase
    status: str


@dataclass(frozen=True, slots=True)
class InstancesPage:
    """One page of a run's instances. Pages count from 1."""

    run: RunHead
    page: int
    pages: int
    cases: tuple[CaseView, ...]
    withheld: int  # texts of this page that could not be cleared and are not shown


def site_page(runs: Sequence[Run], releases: Sequence[Release] = ()) -> SitePage:
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
            newest_run=max(_moment(run) for run in own),
        )
        for suite, own in by_suite.items()
    )
    return SitePage(
        tuple(sorted(lines, key=lambda line: (line.newest_run, line.name), reverse=True)),
        tuple(sorted(map(_release_line, releases), key=lambda line: (line.made, line.name), reverse=True)),
    )


def suite_page(suite: str, pooled: Sequence[RunSummary], runs: Sequence[RunSummary]) -> SuitePage:
    """Show a suite, given a summary a benchmark and model, and one a run."""
    lines = sorted(map(_line, runs), key=lambda line: line.run.began, reverse=True)
    return SuitePage(suite, _leaderboard(pooled), tuple(lines))


def release_page(joined: JoinedRelease, leaderboards: Mapping[str, str]) -> ReleasePage:
    """Show a release. `leaderboards` are the imported ones: name here, and what their maker called them."""
    parts = joined.release.parts
    return ReleasePage(
        _release_line(joined.release),
        suites=tuple(part for part in parts if part not in leaderboards),
        leaderboards=tuple((part, leaderboards[part]) for part in parts if part in leaderboards),
        replaced=joined.replaced,
        leaderboard=_leaderboard(joined.summaries),
    )


def _leaderboard(summaries: Sequence[RunSummary]) -> Leaderboard:
    ordered = sorted(summaries, key=_board_of)
    apart = _told_apart(ordered)
    boards = []
    for (category, benchmark, _), group in groupby(ordered, _board_of):
        own = sorted(group, key=_best_first)
        details, main = own[0].run.details, own[0].main
        rows = tuple(BoardRow(_head(s.run), apart[id(s)], _parts(s), _figure(s, s.shown)) for s in own)
        twins = any(row.main.metric.twin is not None for row in rows)
        boards.append(
            Board(benchmark, details["display_name"], category, details["access"], main.display_name, twins, rows)
        )
    noted = {note for board in boards for row in board.rows for note in row.main.notes}
    return Leaderboard(
        tuple(boards),
        tuple(_win_rates(summaries)),
        dict(zip((note for note in Note if note in noted), ascii_lowercase, strict=False)),
        any(row.run.imported for board in boards for row in board.rows),
    )


def run_page(summary: RunSummary, usage: Usage, prices: Prices | None) -> RunPage:
    """Show one run without its instances. `prices` are its deployment's, as they are now."""
    imported = is_imported(summary.run.details)
    found = summary.run.details["capabilities"]["features"]
    return RunPage(
        _line(summary),
        tuple(_figure(summary, metric) for metric in summary.metrics),
        any(metric.twin is not None for metric in summary.metrics),
        tuple(_settings(summary.run)),
        None if imported else usage,
        () if imported else tuple(usage_lines(usage, prices, all_asked_now=False)),
        tuple(CapabilityLine(name.replace("_", " "), seen["state"], seen["finding"]) for name, seen in found.items()),
    )


def instances_page(store: Store, run: Run, page: int, clearer: Clearer) -> InstancesPage | None:
    """Show one page of instances, every text of them cleared, or nothing where the run has no such page."""
    pages = page_count(store, run)
    if not 1 <= page <= pages:
        return None
    before = clearer.withheld
    cases = clearer.clear(run.run_id, store.instances(run.run_id, (page - 1) * INSTANCES_A_PAGE, INSTANCES_A_PAGE))
    views = tuple(CaseView(case, _status(case)) for case in cases)
    return InstancesPage(_head(run), page, pages, views, clearer.withheld - before)


def page_count(store: Store, run: Run) -> int:
    """How many pages a run's instances take; at least one."""
    return max(1, -(-store.count_instances(run.run_id) // INSTANCES_A_PAGE))


def _head(run: Run) -> RunHead:
    details = run.details
    return RunHead(
        id=run.run_id,
        suite=run.suite,
        benchmark=run.benchmark,
        benchmark_name=details["display_name"],
        category=details["category"],
        access=details["access"],
        model=run.model,
        deployment=run.deployment,
        language_model=details["language_model"],
        imported=is_imported(details),
        data=details["data"]["known"],
        began=_moment(run),
    )


def _line(summary: RunSummary) -> RunLine:
    unscored = summary.main.unscored
    missing = sum(unscored.get(reason.value, 0) for reason in RETRIED)
    instances = summary.main.mean.n + sum(unscored.values())
    return RunLine(
        _head(summary.run),
        "running" if summary.run.state == "asking" else "incomplete" if missing else "complete",
        instances,
        instances - unscored.get(Reason.NOT_ASKED.value, 0),
    )


def _figure(summary: RunSummary, metric: MetricSummary) -> Figure:
    # That a model is no language model stands beside its name.
    notes = (note for note in summary.notes(metric) if note is not Note.NO_LANGUAGE_MODEL)
    return Figure(metric, sum(metric.unscored.values()), tuple(notes))


def _board_of(summary: RunSummary) -> tuple[str, str, str]:
    return summary.run.details["category"], summary.run.benchmark, summary.main.metric


def _best_first(summary: RunSummary) -> tuple[bool, bool, float, str]:
    value = summary.shown.mean.value
    return value is None, summary.shown is not summary.main, -(value or 0.0), summary.run.model


def _told_apart(summaries: Sequence[RunSummary]) -> dict[int, tuple[str, ...]]:
    """Return, by summary, what tells it from the other rows of its model.

    That is where it was made, its deployment, what its run entry says more, and the metric if it is not the main one.
    """
    deployments = Counter(model for model, _ in {(s.run.model, s.run.deployment) for s in summaries})
    alike = Counter((_board_of(s), s.run.model, s.run.deployment) for s in summaries)
    apart = {}
    for summary in summaries:
        run = summary.run
        if not run.run_id:
            parts = [f"leaderboard {run.suite}"]
        else:
            parts = [f"deployment {run.deployment}"] if deployments[run.model] > 1 else []
        if alike[_board_of(summary), run.model, run.deployment] > 1:
            parts += _pairs(run) or ["plain"]
        if summary.shown is not summary.main:
            parts.append(summary.shown.display_name)
        apart[id(summary)] = tuple(parts)
    return apart


def _pairs(run: Run) -> list[str]:
    """Return what the run's entry says besides model and deployment."""
    pairs = run.name.partition(":")[2].split(",")
    return [pair for pair in pairs if pair and not pair.startswith(("model=", "model_deployment="))]


def _parts(summary: RunSummary) -> tuple[PartLine, ...]:
    if len(summary.runs) < 2:
        return ()
    return tuple(PartLine(run.run_id, ", ".join(_pairs(run)) or "plain") for run in summary.runs)


def _release_line(release: Release) -> ReleaseLine:
    return ReleaseLine(release.name, release.parts, datetime.fromtimestamp(release.made_at, UTC))


def _win_rates(summaries: Sequence[RunSummary]) -> list[WinRate]:
    mute = {summary.run.model for summary in summaries if not summary.run.details["language_model"]}
    rates = [WinRate(model, model not in mute, rate) for model, rate in win_rates(summaries).items()]
    rates.sort(key=lambda line: (line.rate is None, -(line.rate or 0.0), line.model))
    return rates if len(rates) > 1 else []


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    details, data = run.details, run.details["data"]
    yield "Run", run.name
    yield "Deployment", run.deployment
    yield "Scoring", details["scoring"]
    if is_imported(details):
        yield "Imported", f"from a HELM run folder, SHA-256 {details['origin']['digest'][:16]}"
        yield "Instances", str(data["instances"])
        if details["max_tokens"] is not None:
            yield "Longest answer", f"{details['max_tokens']} tokens"
        if details["temperature"] is not None:
            yield "Temperature", f"{details['temperature']:g}"
        return
    yield "Changed by the run entry", ", ".join(details["overrides"]) or "nothing"
    sampled, available = details["sampled"], data["instances"]
    if sampled is None or sampled >= available:
        yield "Instances", f"all {available} of the data"
    else:
        yield "Instances", f"{sampled} of {available} of the data, chosen with seed {details['sample_seed']}"
    yield "Unit", details["unit"] + (", as the data names it" if details["unit_named"] else "")
    yield "Longest answer", f"{details['max_tokens']} tokens"
    yield "Temperature", f"{details['temperature']:g}"
    if details["stop"]:
        yield "Stop sequences", str(len(details["stop"]))
    yield "Data", f"{data['known']}, SHA-256 {data['digest'][:16]}"
    yield "Benchmark definition", f"SHA-256 {details['benchmark_digest'][:16]}"
    yield "Agent", details["agent_version"]
    for workaround in details["workarounds"]:
        yield "Worked around", workaround


def _status(case: ClearedCase) -> str:
    if case.answer is not None:
        return ""
    reasons = (score.reason for score in case.scores.values() if isinstance(score, Unscored))
    failure = next((reason for reason in reasons if reason in RETRIED), None)
    if failure is not None:
        return f"No answer: {failure.replace('_', ' ')}."
    if case.prompt is None:
        return "The texts were purged; scores are kept."
    return "No answer is stored: not asked yet, or purged."


def _moment(run: Run) -> datetime:
    return datetime.fromtimestamp(run.started_at, UTC)
