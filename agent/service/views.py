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

from agent.evaluation.summarise import MetricSummary, Note, RunSummary, win_rates
from agent.redaction.clearing import ClearedCase, Clearer
from agent.store import RETRIED, Run, Store
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
class SitePage:
    """The first page: every suite, newest run first."""

    suites: tuple[SuiteLine, ...]


@dataclass(frozen=True, slots=True)
class RunHead:
    """What every page of a run says at its head. `data` is "official", "sample", "unknown" or "invented"."""

    id: str
    suite: str
    benchmark: str
    benchmark_name: str
    category: str
    access: str
    model: str
    deployment: str
    language_model: bool
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
class BoardRow:
    """A run on a leaderboard. `apart` tells it from other runs of its model here: its deployment, its arguments."""

    run: RunHead
    apart: tuple[str, ...]
    main: Figure


@dataclass(frozen=True, slots=True)
class Board:
    """One benchmark's part of a local leaderboard, best mean first; runs without a mean come last."""

    benchmark: str
    name: str
    category: str
    access: str
    metric: str  # for people
    rows: tuple[BoardRow, ...]


@dataclass(frozen=True, slots=True)
class WinRate:
    """A model's mean win rate over the suite's benchmarks, from 0 to 1; None where it has nobody to win against."""

    model: str
    language_model: bool
    rate: float | None


@dataclass(frozen=True, slots=True)
class SuitePage:
    """A suite's local leaderboard, by category and benchmark, and the list of its runs, newest first."""

    suite: str
    boards: tuple[Board, ...]
    win_rates: tuple[WinRate, ...]  # best first; empty for a single model
    runs: tuple[RunLine, ...]
    legend: Mapping[Note, str]  # each note that some row has, and the letter that stands for it


@dataclass(frozen=True, slots=True)
class CapabilityLine:
    """One thing the probe found out about the server, in plain words."""

    feature: str
    state: str
    finding: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run without its instances. Settings are label and value, in order; the first metric is the main one."""

    line: RunLine
    metrics: tuple[Figure, ...]
    settings: tuple[tuple[str, str], ...]
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


def site_page(runs: Sequence[Run]) -> SitePage:
    """Show the suites of all `runs`."""
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
    return SitePage(tuple(sorted(lines, key=lambda line: (line.newest_run, line.name), reverse=True)))


def suite_page(suite: str, summaries: Sequence[RunSummary]) -> SuitePage:
    """Show a suite, given its runs."""
    ordered = sorted(summaries, key=_board_of)
    apart = _told_apart(ordered)
    boards = []
    for (category, benchmark, _), group in groupby(ordered, _board_of):
        own = sorted(group, key=_best_first)
        details, main = own[0].run.details, own[0].main
        rows = tuple(BoardRow(_head(s.run), apart[s.run.run_id], _figure(s, s.main)) for s in own)
        boards.append(Board(benchmark, details["display_name"], category, details["access"], main.display_name, rows))
    noted = {note for board in boards for row in board.rows for note in row.main.notes}
    return SuitePage(
        suite,
        tuple(boards),
        tuple(_win_rates(summaries)),
        tuple(sorted(map(_line, summaries), key=lambda line: line.run.began, reverse=True)),
        dict(zip((note for note in Note if note in noted), ascii_lowercase, strict=False)),
    )


def run_page(summary: RunSummary) -> RunPage:
    """Show one run without its instances."""
    found = summary.run.details["capabilities"]["features"]
    return RunPage(
        _line(summary),
        tuple(_figure(summary, metric) for metric in summary.metrics),
        tuple(_settings(summary.run)),
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


def _best_first(summary: RunSummary) -> tuple[bool, float, str]:
    value = summary.main.mean.value
    return value is None, -(value or 0.0), summary.run.model


def _told_apart(summaries: Sequence[RunSummary]) -> dict[str, tuple[str, ...]]:
    """Return, by run, what tells it from the other runs of its model: its deployment, what its run entry says more."""
    deployments = Counter(model for model, _ in {(s.run.model, s.run.deployment) for s in summaries})
    alike = Counter((_board_of(s), s.run.model, s.run.deployment) for s in summaries)
    apart = {}
    for summary in summaries:
        run = summary.run
        parts = [f"deployment {run.deployment}"] if deployments[run.model] > 1 else []
        if alike[_board_of(summary), run.model, run.deployment] > 1:
            pairs = run.name.partition(":")[2].split(",")
            parts += [pair for pair in pairs if not pair.startswith(("model=", "model_deployment="))] or ["plain"]
        apart[run.run_id] = tuple(parts)
    return apart


def _win_rates(summaries: Sequence[RunSummary]) -> list[WinRate]:
    speaking = {summary.run.model: summary.run.details["language_model"] for summary in summaries}
    rates = [WinRate(model, speaking[model], rate) for model, rate in win_rates(summaries).items()]
    rates.sort(key=lambda line: (line.rate is None, -(line.rate or 0.0), line.model))
    return rates if len(rates) > 1 else []


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    details, data = run.details, run.details["data"]
    yield "Run", run.name
    yield "Deployment", run.deployment
    yield "Scoring", details["scoring"]
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
