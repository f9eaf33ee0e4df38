"""Build the chart of a leaderboard: a panel of points per benchmark, and a grid of benchmarks by models."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent.results.benchmark_names import name_benchmark
from agent.results.summarize import MetricSummary, RunSummary
from agent.store import Run


@dataclass(frozen=True, slots=True)
class Point:
    """One model's result in a panel. Numbers are positions on the panel's scale, from 0 to 1.

    Attributes:
        label: the model, with the arguments that distinguish several rows of the same model.
        value: the mean of the scores; None if there is no score.
        low, high: the 95 % interval; None if there is none.
        least, most: the mean if every unscored instance were wrong, or right; None if that changes little.
        said: the mean and its interval as text, on the metric's own scale.
        baseline: whether the model is not a language model.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    least: float | None
    most: float | None
    said: str
    baseline: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """One benchmark and metric. `ends` are the lowest and highest values of the metric's scale, as text."""

    title: str
    metric: str
    ends: tuple[str, str]
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Benchmarks by models. A cell is a position on the metric's scale, from 0 to 1; None if there is no result."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The drawing of one leaderboard, as data. `what` is the word for the value that a dot shows."""

    title: str
    panels: tuple[Panel, ...]
    grid: Grid
    what: str = "mean"


@dataclass(frozen=True, slots=True)
class _Row:
    """One summary, with the names under which it is shown."""

    summary: RunSummary
    model: str
    arguments: str


def build_chart(summaries: Sequence[RunSummary], title: str) -> Chart:
    """Build the chart of a leaderboard, with benchmarks in order and the best model of each first."""
    rows = _name_rows(summaries)
    models = sorted({row.model for row in rows})
    panels: list[Panel] = []
    grid_rows: list[str] = []
    cells: list[tuple[float | None, ...]] = []
    for group in _group_by_benchmark(rows):
        panels.append(_build_panel(group))
        benchmark = _name_panel(group)
        for arguments, values in _split_by_arguments(group).items():
            grid_rows.append(f"{benchmark} {arguments}".strip())
            cells.append(tuple(values.get(model) for model in models))
    return Chart(title, tuple(panels), Grid(tuple(grid_rows), tuple(models), tuple(cells)))


def _name_rows(summaries: Sequence[RunSummary]) -> list[_Row]:
    """Return a row for each summary, with the deployment in the model's name if the model has several deployments."""
    deployments: dict[str, set[str]] = {}
    for summary in summaries:
        deployments.setdefault(summary.run.model, set()).add(summary.run.deployment)
    rows = []
    for summary in summaries:
        run = summary.run
        model = f"{run.model} ({run.deployment})" if len(deployments[run.model]) > 1 else run.model
        rows.append(_Row(summary, model, _join_arguments(run)))
    return rows


def _join_arguments(run: Run) -> str:
    return " ".join(
        f"{key}={value}" for key, value in run.pairs if key not in ("model", "model_deployment")
    )


def _group_by_benchmark(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Group rows by benchmark and metric, because a panel has a single scale."""
    groups: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        groups.setdefault((row.summary.run.benchmark, row.summary.shown.metric), []).append(row)
    return list(groups.values())


def _name_panel(group: Sequence[_Row]) -> str:
    return name_benchmark([row.summary.run for row in group])


def _build_panel(group: Sequence[_Row]) -> Panel:
    rows_of_model = Counter(row.model for row in group)
    points = []
    for row in group:
        arguments = row.arguments if rows_of_model[row.model] > 1 else ""
        points.append(_build_point(row.summary, f"{row.model} {arguments}".strip()))
    metric = group[0].summary.shown
    return Panel(
        title=_name_panel(group),
        metric=metric.display_name,
        ends=(f"{metric.low:g}", f"{metric.high:g}"),
        points=tuple(sorted(points, key=_rank_best_first)),
    )


def _rank_best_first(point: Point) -> tuple[float, str]:
    value = -1.0 if point.value is None else point.value
    return -value, point.label


def _split_by_arguments(group: Sequence[_Row]) -> dict[str, dict[str, float | None]]:
    """Return the models' values by the arguments of their runs, in a single group if each model has one row."""
    rows_of_model = Counter(row.model for row in group)
    has_repeats = any(count > 1 for count in rows_of_model.values())
    values: dict[str, dict[str, float | None]] = {}
    for row in group:
        arguments = row.arguments if has_repeats else ""
        values.setdefault(arguments, {})[row.model] = row.summary.shown.normalised
    return values


def _build_point(summary: RunSummary, label: str) -> Point:
    metric = summary.shown
    mean, bounds = metric.mean, metric.bounds
    least = most = None
    if bounds is not None and bounds.matters:
        least, most = metric.share(bounds.low), metric.share(bounds.high)
    return Point(
        label=label,
        value=metric.share(mean.value),
        low=metric.share(mean.low),
        high=metric.share(mean.high),
        least=least,
        most=most,
        said=_describe_mean(metric),
        baseline=not summary.run.details.language_model,
    )


def _describe_mean(metric: MetricSummary) -> str:
    mean = metric.mean
    words = "no score" if mean.value is None else _format_value(mean.value, metric)
    if mean.low is not None and mean.high is not None:
        words += f" ({_format_value(mean.low, metric)} to {_format_value(mean.high, metric)})"
    if mean.n:
        words += f", n {mean.n}"
    return words


def _format_value(value: float, metric: MetricSummary) -> str:
    # Two decimals on a jury's scale are as precise as three on a proportion.
    return f"{value:.3f}" if metric.high - metric.low <= 1 else f"{value:.2f}"
