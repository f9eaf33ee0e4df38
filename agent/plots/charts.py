"""What is drawn of a leaderboard: a panel of points for each benchmark, and a grid of benchmarks by models."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent.results.summarize import MetricSummary, RunSummary


@dataclass(frozen=True, slots=True)
class Point:
    """One model's result in a panel. Numbers are places on the panel's scale, from 0 to 1.

    Attributes:
        label: the model, and what tells it from other rows of its own.
        value: None where there is no score.
        low, high: the 95 % interval, None where there is none.
        least, most: the mean were every unscored instance wrong, or right; None where that changes little.
        said: the figures in words, on the metric's own scale.
        baseline: whether it is no language model.
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
    """One benchmark and metric. `ends` are the lowest and the highest value, in words."""

    title: str
    metric: str
    ends: tuple[str, str]
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Benchmarks by models. A cell is a place on the metric's scale, from 0 to 1; None: no result."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything that is drawn of one leaderboard. `what` is what its dots are, in a word."""

    title: str
    panels: tuple[Panel, ...]
    grid: Grid
    what: str = "mean"


def build_chart(summaries: Sequence[RunSummary], title: str) -> Chart:
    """Say what to draw of a leaderboard, benchmarks in order and the best model of each first."""
    served = Counter(model for model, _ in {(one.run.model, one.run.deployment) for one in summaries})
    groups: dict[tuple[str, str], list[RunSummary]] = {}
    for one in summaries:
        groups.setdefault((one.run.benchmark, one.shown.metric), []).append(one)
    panels, rows, cells = [], [], []
    columns = {_model(one, served): None for one in sorted(summaries, key=lambda one: _model(one, served))}
    for (benchmark, _), group in groups.items():
        alike = Counter(_model(one, served) for one in group)
        points = {}
        for one in group:
            arguments = _arguments(one) if alike[_model(one, served)] > 1 else ""
            points[id(one)] = _point(one, f"{_model(one, served)} {arguments}".strip())
        metric = group[0].shown
        best_first = sorted(points.values(), key=lambda point: (-_known(point.value), point.label))
        ends = (f"{metric.low:g}", f"{metric.high:g}")
        panels.append(Panel(benchmark, metric.display_name, ends, tuple(best_first)))
        parts: dict[str, dict[str, float | None]] = {}
        for one in group:
            own = _arguments(one) if any(count > 1 for count in alike.values()) else ""
            parts.setdefault(own, {})[_model(one, served)] = points[id(one)].value
        for own, row in parts.items():
            rows.append(f"{benchmark} {own}".strip())
            cells.append(tuple(row.get(model) for model in columns))
    return Chart(title, tuple(panels), Grid(tuple(rows), tuple(columns), tuple(cells)))


def _known(value: float | None) -> float:
    return -1.0 if value is None else value


def _model(summary: RunSummary, served: Counter[str]) -> str:
    run = summary.run
    return f"{run.model} ({run.deployment})" if served[run.model] > 1 else run.model


def _arguments(summary: RunSummary) -> str:
    pairs = summary.run.pairs
    return " ".join(f"{key}={value}" for key, value in pairs if key not in ("model", "model_deployment"))


def _point(summary: RunSummary, label: str) -> Point:
    metric = summary.shown
    mean, bounds = metric.mean, metric.bounds
    matters = bounds is not None and bounds.matters
    words = "no score" if mean.value is None else _number(mean.value, metric)
    if mean.low is not None and mean.high is not None:
        words += f" ({_number(mean.low, metric)} to {_number(mean.high, metric)})"
    return Point(
        label,
        *(metric.share(mean.value), metric.share(mean.low), metric.share(mean.high)),
        least=metric.share(bounds.low) if bounds is not None and matters else None,
        most=metric.share(bounds.high) if bounds is not None and matters else None,
        said=f"{words}, n {mean.n}" if mean.n else words,
        baseline=not summary.run.details.language_model,
    )


def _number(value: float, metric: MetricSummary) -> str:
    return f"{value:.3f}" if metric.high - metric.low <= 1 else f"{value:.2f}"
