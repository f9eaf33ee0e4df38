"""What each page shows, as plain values: pages and their JSON twins are both drawn from these.

Built from a `SiteReader` and, for texts of cases, a `Clearer`. No text of a case is in a view but as `Redacted`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from agent.redaction import Redacted
from agent.service.clearing import Clearer
from agent.service.queries import CaseRecord, MetricMean, RunDetail, RunSummary, SiteReader, SuiteSummary
from agent.vocabulary import Failure, Unscored

INSTANCES_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class SitePage:
    """The first page: every suite."""

    suites: tuple[SuiteSummary, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """One benchmark's part of a local leaderboard, best mean first; runs without a mean come last."""

    benchmark: str
    name: str
    category: str
    access: str
    metric: str
    rows: tuple[RunSummary, ...]


@dataclass(frozen=True, slots=True)
class SuitePage:
    """A suite's local leaderboard, by category and benchmark, and the list of its runs, newest first."""

    suite: str
    boards: tuple[Board, ...]
    runs: tuple[RunSummary, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run without its instances."""

    run: RunDetail


@dataclass(frozen=True, slots=True)
class TextView:
    """One text of a case and what it is: "user", "system", "reference", ..."""

    label: str
    text: Redacted
    correct: bool | None = None  # of a reference: whether it is gold


@dataclass(frozen=True, slots=True)
class ScoreView:
    """A score, or the reason why there is none."""

    metric: str
    value: float | None
    unscored: str | None


@dataclass(frozen=True, slots=True)
class CaseView:
    """One instance as a person may see it.

    `status` says in plain words why there is no answer to read; empty when there is one.
    """

    position: int  # from 1, in benchmark order
    key: str
    prompt: tuple[TextView, ...]
    references: tuple[TextView, ...]
    answer: Redacted | None
    reasoning: Redacted | None
    finish_reason: str | None
    status: str
    scores: tuple[ScoreView, ...]


@dataclass(frozen=True, slots=True)
class InstancesPage:
    """One page of a run's instances. Pages count from 1."""

    run: RunSummary
    page: int
    pages: int
    cases: tuple[CaseView, ...]
    withheld: int  # fields of this page that could not be cleared and are not shown


def site_page(reader: SiteReader) -> SitePage:
    """Show every suite."""
    return SitePage(tuple(reader.suites()))


def suite_page(reader: SiteReader, suite: str) -> SuitePage:
    """Show a suite; no boards and no runs when it has none."""
    runs = sorted(reader.runs(suite), key=lambda run: (run.category, run.benchmark, run.main.metric))
    boards = tuple(
        Board(benchmark, rows[0].benchmark_name, category, rows[0].access, metric, tuple(sorted(rows, key=_best_first)))
        for (category, benchmark, metric), group in groupby(runs, lambda r: (r.category, r.benchmark, r.main.metric))
        for rows in [list(group)]
    )
    return SuitePage(suite, boards, tuple(sorted(runs, key=lambda run: run.started, reverse=True)))


def instances_page(reader: SiteReader, run: RunSummary, page: int, clearer: Clearer) -> InstancesPage:
    """Show one page of instances, every text of them cleared."""
    offset = (page - 1) * INSTANCES_A_PAGE
    records = reader.instances(run.id, offset=offset, limit=INSTANCES_A_PAGE)
    cleared = clearer.clear(
        [list(_texts(record)) for record in records],
        f"view run={run.id} instances={offset}-{offset + len(records) - 1}",
    )
    cases = tuple(
        _case_view(offset + place, record, iter(texts))
        for place, (record, texts) in enumerate(zip(records, cleared.records, strict=True), start=1)
    )
    return InstancesPage(run, page, page_count(run), cases, cleared.withheld)


def page_count(run: RunSummary) -> int:
    """How many pages a run's instances take; at least one."""
    return max(1, -(-run.instances // INSTANCES_A_PAGE))


def _best_first(run: RunSummary) -> tuple[bool, float, str]:
    mean: MetricMean = run.main
    return mean.mean is None, -(mean.mean or 0.0), run.model


def _texts(record: CaseRecord) -> Iterator[str]:
    """Every text of a case, in the order in which `_case_view` takes them back."""
    if record.instance is not None:
        yield from (message.content for message in record.instance.messages)
        yield from (reference.text for reference in record.instance.references)
    if record.answer is not None and not isinstance(record.answer, Failure):
        yield record.answer.text
        yield record.answer.reasoning


def _case_view(position: int, record: CaseRecord, texts: Iterator[Redacted]) -> CaseView:
    instance, answer = record.instance, record.answer
    prompt = () if instance is None else tuple(TextView(m.role, next(texts)) for m in instance.messages)
    references = (
        ()
        if instance is None
        else tuple(
            TextView(chr(ord("A") + place) if instance.multiple_choice else "reference", next(texts), reference.correct)
            for place, reference in enumerate(instance.references)
        )
    )
    response = None if answer is None or isinstance(answer, Failure) else answer
    return CaseView(
        position=position,
        key=record.key,
        prompt=prompt,
        references=references,
        answer=None if response is None else next(texts),
        reasoning=None if response is None else next(texts) or None,
        finish_reason=None if response is None else response.finish_reason,
        status=_status(record),
        scores=tuple(_score_views(record.scores)),
    )


def _status(record: CaseRecord) -> str:
    if isinstance(record.answer, Failure):
        status = "" if record.answer.status is None else f", HTTP status {record.answer.status}"
        return f"No answer: {record.answer.reason.replace('_', ' ')}{status}."
    if record.instance is None:
        return "The texts were purged; scores are kept."
    if record.answer is None:
        return "No answer is stored: not asked yet, or purged."
    return ""


def _score_views(scores: Mapping[str, float | Unscored]) -> Iterator[ScoreView]:
    for metric, score in scores.items():
        if isinstance(score, Unscored):
            yield ScoreView(metric, None, score.reason.replace("_", " "))
        else:
            yield ScoreView(metric, float(score), None)
