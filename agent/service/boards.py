"""A local leaderboard: boards by category and benchmark, best mean first, with mean win rates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import ascii_lowercase

from agent.exchange.imported import ELSEWHERE
from agent.plots.charts import Chart, build_chart
from agent.results.summarize import MetricSummary, Note, RunSummary, compare_summaries
from agent.service.heads import MetricHead, RunHead, run_figure, run_head
from agent.statistics.ranking import ModelStanding
from agent.store import Run

OWN = "Own benchmarks"


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
    has. `rank` is the best and the worst that the data allow, by the main metric. `judged` is the main
    metric where a jury gives it, unless no judge was asked so far.
    """

    run: RunHead
    apart: tuple[str, ...]
    parts: tuple[PartLine, ...]
    main: MetricHead
    judged: MetricSummary | None
    rank: tuple[int, int] | None


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
    """A model's mean win rate over the suite's benchmarks, from 0 to 1; None where it has nobody to win against.

    `standing` says how sure it is, with the macro-average; None where that was not computed.
    """

    model: str
    language_model: bool
    rate: float | None
    standing: ModelStanding | None


@dataclass(frozen=True, slots=True)
class LeaderboardView:
    """Boards by category and benchmark, with what their reader should know."""

    boards: tuple[Board, ...]
    win_rates: tuple[WinRate, ...]  # best first; empty for a single model
    left_out: Mapping[str, int]  # why results are in no rank or win rate, and how many for each reason
    legend: Mapping[Note, str]  # each note that some row has, and the letter that stands for it
    imported: bool  # whether some row was made elsewhere
    chart: Chart  # what is drawn


def leaderboard_of(summaries: Sequence[RunSummary]) -> LeaderboardView:
    """Show summaries, one a benchmark and model, as a leaderboard."""
    ordered = sorted(summaries, key=_board_of)
    apart = _told_apart(ordered)
    boards = []
    for (_, category, benchmark, _), group in groupby(ordered, _board_of):
        own = sorted(group, key=_best_first)
        details, main = own[0].run.details, own[0].main
        rows = tuple(
            BoardRow(run_head(s.run), apart[id(s)], _parts(s), run_figure(s, s.shown), s.judged, s.rank) for s in own
        )
        twins = any(row.main.metric.twin is not None for row in rows)
        boards.append(Board(benchmark, details.display_name, category, details.access, main.display_name, twins, rows))
    compared = compare_summaries(summaries)
    noted = {note for board in boards for row in board.rows for note in row.main.notes}
    return LeaderboardView(
        tuple(boards),
        tuple(_win_rates(summaries, compared.rates)),
        compared.left_out,
        dict(zip((note for note in Note if note in noted), ascii_lowercase, strict=False)),
        any(row.run.imported for board in boards for row in board.rows),
        build_chart(ordered, "Local leaderboard"),
    )


def _board_of(summary: RunSummary) -> tuple[int, str, str, str]:
    """Return which board the summary is on, in their order: MedHELM's categories, own benchmarks, then others."""
    category = summary.run.details.category or OWN
    return (OWN, ELSEWHERE).index(category) + 1 if category in (OWN, ELSEWHERE) else 0, *(
        category, summary.run.benchmark, summary.main.metric,
    )  # fmt: skip


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
    return [f"{key}={value}" for key, value in run.pairs if key not in ("model", "model_deployment")]


def _parts(summary: RunSummary) -> tuple[PartLine, ...]:
    if len(summary.runs) < 2:
        return ()
    return tuple(PartLine(run.run_id, ", ".join(_pairs(run)) or "plain") for run in summary.runs)


def _win_rates(summaries: Sequence[RunSummary], of: Mapping[str, float | None]) -> list[WinRate]:
    mute = {summary.run.model for summary in summaries if not summary.run.details.language_model}
    standings = {summary.run.model: summary.standing for summary in summaries}
    rates = [WinRate(model, model not in mute, rate, standings[model]) for model, rate in of.items()]
    rates.sort(key=lambda line: (line.rate is None, -(line.rate or 0.0), line.model))
    return rates if len(rates) > 1 else []
