"""Build a local leaderboard: boards by category and benchmark, best mean first, with mean win rates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.exchange.imported_run import ELSEWHERE
from agent.plots.charts import Chart, build_chart
from agent.plots.costs import CostChart, build_cost_chart
from agent.results.benchmark_names import name_benchmark, name_part
from agent.results.efficiency import Efficiency, sum_by_model
from agent.results.summarize import MetricSummary, Note, RunSummary, compare_summaries
from agent.results.usage import Cost
from agent.service.heads import MetricHead, RunHead, build_metric_head, build_run_head
from agent.service.short_notes import explain_notes
from agent.statistics.ranking import ModelStanding
from agent.store import Run

OWN = "Own benchmarks"


@dataclass(frozen=True, slots=True)
class PartLine:
    """One of several pooled runs: its id, and the arguments that distinguish it from the others."""

    id: str
    apart: str


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One row of a board: a run, or several pooled ones.

    Attributes:
        run: head of the run.
        apart: labels, such as deployment or arguments, that distinguish the row from others of the same model.
        parts: the pooled runs; empty for a single run.
        main: the benchmark's main metric or, if a jury has yet to grade it, the first metric with scores.
        judged: the main metric if a jury grades it, unless no judge has been asked yet.
        rank: best and worst rank that the data allow, by the main metric.
    """

    run: RunHead
    apart: tuple[str, ...]
    parts: tuple[PartLine, ...]
    main: MetricHead
    judged: MetricSummary | None
    rank: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Board:
    """One benchmark's part of a local leaderboard, best mean first. Runs without a mean come last."""

    benchmark: str
    name: str  # display name, with the subset if all rows are on the same one
    category: str
    access: str
    metric: str  # display name of the main metric
    twins: bool  # whether any row also has its value by HELM's rules
    rows: tuple[BoardRow, ...]


@dataclass(frozen=True, slots=True)
class WinRate:
    """A model's mean win rate over the suite's benchmarks, from 0 to 1; None if there is no model to compare with.

    `standing` contains its interval, the ranks and the macro-average; None if it was not computed.
    """

    model: str
    language_model: bool
    rate: float | None
    standing: ModelStanding | None


@dataclass(frozen=True, slots=True)
class UsageLine:
    """The tokens, time and cost of one model's answers; `benchmark` is empty in a line about all benchmarks."""

    benchmark: str
    model: str
    apart: tuple[str, ...]  # labels that distinguish the line from others of the same model
    answers: int
    prompt_tokens: int | None
    completion_tokens: int | None
    tokens_per_answer: float | None
    seconds_per_answer: float | None
    cost: Cost | None
    cost_per_answer: Cost | None


@dataclass(frozen=True, slots=True)
class LeaderboardView:
    """Boards by category and benchmark, with win rates, notes, charts, and what the answers took."""

    boards: tuple[Board, ...]
    win_rates: tuple[WinRate, ...]  # best first; empty for a single model
    left_out: Mapping[str, int]  # number of results without a rank or win rate, by reason
    legend: Mapping[Note, str]  # short words of each note that any row has
    imported: bool  # whether any row was imported
    chart: Chart
    usage: tuple[UsageLine, ...]  # of each benchmark and model with stored answers
    usage_of_models: tuple[UsageLine, ...]  # of each model and deployment, over all benchmarks
    cost_chart: CostChart | None


def build_leaderboard(
    summaries: Sequence[RunSummary], efficiencies: Sequence[Efficiency | None] = ()
) -> LeaderboardView:
    """Arrange summaries, one for each benchmark and model, as a leaderboard.

    Args:
        summaries: the results.
        efficiencies: what the answers of each summary took, in the same order; empty if that is not shown.
    """
    boards = _build_boards(summaries)
    efficiencies = efficiencies or [None] * len(summaries)
    comparison = compare_summaries(summaries)
    return LeaderboardView(
        boards=boards,
        win_rates=tuple(_list_win_rates(summaries, comparison.rates)),
        left_out=comparison.left_out,
        legend=list_notes(boards),
        imported=any(row.run.imported for board in boards for row in board.rows),
        chart=build_chart(sorted(summaries, key=_choose_board), "Local leaderboard"),
        usage=tuple(_list_usage(summaries, efficiencies)),
        usage_of_models=tuple(_list_usage_of_models(summaries, efficiencies)),
        cost_chart=build_cost_chart(summaries, efficiencies, "Local leaderboard"),
    )


def _list_usage(
    summaries: Sequence[RunSummary], efficiencies: Sequence[Efficiency | None]
) -> list[UsageLine]:
    """Return a line for each summary with answers, in the order of the boards."""
    labels = _label_summaries(summaries)
    measured = []
    for summary, efficiency in zip(summaries, efficiencies, strict=True):
        if efficiency is not None:
            measured.append((summary, efficiency))
    measured.sort(key=lambda pair: (_choose_board(pair[0]), pair[0].run.model))
    lines = []
    for summary, efficiency in measured:
        name = name_benchmark(_list_runs(summary))
        lines.append(_build_usage(name, summary.run.model, labels[id(summary)], efficiency))
    return lines


def _list_usage_of_models(
    summaries: Sequence[RunSummary], efficiencies: Sequence[Efficiency | None]
) -> list[UsageLine]:
    totals = sum_by_model(summaries, efficiencies)
    deployments = Counter(model for model, _ in totals)
    lines = []
    for (model, deployment), efficiency in sorted(totals.items(), key=lambda item: item[0]):
        apart = (f"deployment {deployment}",) if deployments[model] > 1 else ()
        lines.append(_build_usage("", model, apart, efficiency))
    return lines


def _build_usage(
    benchmark: str, model: str, apart: tuple[str, ...], efficiency: Efficiency
) -> UsageLine:
    return UsageLine(
        benchmark,
        model,
        apart,
        answers=efficiency.answers,
        prompt_tokens=efficiency.prompt_tokens,
        completion_tokens=efficiency.completion_tokens,
        tokens_per_answer=efficiency.tokens_per_answer,
        seconds_per_answer=efficiency.seconds_per_answer,
        cost=efficiency.cost,
        cost_per_answer=efficiency.cost_per_answer,
    )


def _build_boards(summaries: Sequence[RunSummary]) -> tuple[Board, ...]:
    """Return the boards in the order given by `_choose_board`."""
    labels = _label_summaries(summaries)
    groups: dict[tuple[int, str, str, str], list[RunSummary]] = {}
    for summary in summaries:
        groups.setdefault(_choose_board(summary), []).append(summary)
    boards: list[Board] = []
    for key, group in sorted(groups.items(), key=lambda item: item[0]):
        _, category, benchmark, _ = key
        ranked = sorted(group, key=_order_best_first)
        rows = tuple(_build_row(summary, labels[id(summary)]) for summary in ranked)
        boards.append(
            Board(
                benchmark=benchmark,
                name=_name_group(ranked),
                category=category,
                access=ranked[0].run.details.access,
                metric=ranked[0].main.display_name,
                twins=any(row.main.metric.twin is not None for row in rows),
                rows=rows,
            )
        )
    return tuple(boards)


def _name_group(summaries: Sequence[RunSummary]) -> str:
    """Return the name of the benchmark of these rows, with its subset if all of them are on the same one."""
    return name_benchmark([run for summary in summaries for run in _list_runs(summary)])


def _list_runs(summary: RunSummary) -> Sequence[Run]:
    return summary.runs or (summary.run,)


def _build_row(summary: RunSummary, labels: tuple[str, ...]) -> BoardRow:
    return BoardRow(
        run=build_run_head(summary.run),
        apart=labels,
        parts=_list_parts(summary),
        main=build_metric_head(summary, summary.shown),
        judged=summary.judged,
        rank=summary.rank,
    )


def list_notes(boards: Sequence[Board]) -> dict[Note, str]:
    """Return the short words of each note that any row has."""
    return explain_notes(note for board in boards for row in board.rows for note in row.main.notes)


def _choose_board(summary: RunSummary) -> tuple[int, str, str, str]:
    """Return the board of a summary as a sort key: MedHELM's categories first, then own benchmarks, then others."""
    category = summary.run.details.category or OWN
    order = {OWN: 1, ELSEWHERE: 2}.get(category, 0)
    return order, category, summary.run.benchmark, summary.main.metric


def _order_best_first(summary: RunSummary) -> tuple[bool, bool, float, str]:
    """Return a sort key: best mean of the main metric first, then means of other metrics, then rows without a mean."""
    value = summary.shown.mean.value
    return value is None, summary.shown is not summary.main, -(value or 0.0), summary.run.model


def _label_summaries(summaries: Sequence[RunSummary]) -> dict[int, tuple[str, ...]]:
    """Return, by the summary's `id()`, the labels that distinguish it from the other rows of its model.

    They are its origin, its deployment, the other arguments of its run entry, its part of the benchmark if other models
    cover another, and the metric if it is not the main one.
    """
    deployments: dict[str, set[str]] = {}
    row_counts: Counter[tuple[object, str, str]] = Counter()
    covered: dict[object, set[str]] = {}  # parts of the benchmark by board
    for summary in summaries:
        run = summary.run
        covered.setdefault(_choose_board(summary), set()).add(name_part(run))
        deployments.setdefault(run.model, set()).add(run.deployment)
        row_counts[_choose_board(summary), run.model, run.deployment] += 1
    labels: dict[int, tuple[str, ...]] = {}
    for summary in summaries:
        run = summary.run
        parts: list[str] = []
        if not run.run_id:  # a row of an imported leaderboard
            parts.append(f"leaderboard {run.suite}")
        elif len(deployments[run.model]) > 1:
            parts.append(f"deployment {run.deployment}")
        if row_counts[_choose_board(summary), run.model, run.deployment] > 1:
            parts += _list_arguments(run) or ["plain"]
        elif name_part(run) and len(covered[_choose_board(summary)]) > 1:
            parts.append(f"{name_part(run)} only")
        if summary.shown is not summary.main:
            parts.append(summary.shown.display_name)
        labels[id(summary)] = tuple(parts)
    return labels


def _list_arguments(run: Run) -> list[str]:
    """Return the arguments of the run's entry other than model and deployment."""
    return [
        f"{key}={value}" for key, value in run.pairs if key not in ("model", "model_deployment")
    ]


def _list_parts(summary: RunSummary) -> tuple[PartLine, ...]:
    if len(summary.runs) < 2:
        return ()
    return tuple(
        PartLine(run.run_id, ", ".join(_list_arguments(run)) or "plain") for run in summary.runs
    )


def _list_win_rates(
    summaries: Sequence[RunSummary], rates: Mapping[str, float | None]
) -> list[WinRate]:
    """Return the win rates, best first; none for a single model."""
    if len(rates) < 2:
        return []
    baselines = {
        summary.run.model for summary in summaries if not summary.run.details.language_model
    }
    standings = {summary.run.model: summary.standing for summary in summaries}
    lines: list[WinRate] = []
    for model, rate in rates.items():
        lines.append(
            WinRate(
                model, language_model=model not in baselines, rate=rate, standing=standings[model]
            )
        )
    lines.sort(key=lambda line: (line.rate is None, -(line.rate or 0.0), line.model))
    return lines
