"""Chart models by what an answer costs and how well they score, over the benchmarks that they share."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agent.io.wording import format_count
from agent.results.efficiency import Efficiency
from agent.results.summarize import RunSummary, compare_summaries
from agent.results.usage import format_amount

_THOUSAND = 1000
_MIN_MODELS = 2
Measure = Callable[[Efficiency], float | None]


@dataclass(frozen=True, slots=True)
class CostPoint:
    """One model.

    Attributes:
        label: the model's name.
        cost: in the chart's unit; not negative.
        score: the mean of its normalised floors, from 0 to 1.
        baseline: whether the model is not a language model.
        best: whether no other model is at least as good for less, or better for the same.
    """

    label: str
    cost: float
    score: float
    baseline: bool
    best: bool


@dataclass(frozen=True, slots=True)
class CostChart:
    """Models by cost and score.

    Attributes:
        title: its title.
        unit: what the costs are in, as text: "EUR per 1,000 answers, by token prices".
        basis: over which benchmarks, and which models are missing, as text.
        points: the models, the best score first.
    """

    title: str
    unit: str
    basis: str
    points: tuple[CostPoint, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A way to measure what an answer takes, with its name."""

    name: str
    measure: Measure


def build_cost_chart(
    summaries: Sequence[RunSummary], efficiencies: Sequence[Efficiency | None], title: str
) -> CostChart | None:
    """Build the chart; None unless two models share a benchmark with comparable results and known costs.

    Score and cost are means over the same benchmarks for every model, each of which has the same weight. Models that
    share the fewest benchmarks are left out first, until some benchmark has results of all others. Costs are in money
    if all prices are known and in one currency, and in tokens otherwise.

    Args:
        summaries: the rows of a leaderboard.
        efficiencies: their efficiencies, in the same order.
        title: the title of the leaderboard.
    """
    unit = _choose_unit([efficiency for efficiency in efficiencies if efficiency is not None])
    columns = [
        _select_measured(members, efficiencies, unit.measure)
        for members in compare_summaries(summaries).members
    ]
    models = _choose_models(columns)
    if len(models) < _MIN_MODELS:
        return None
    shared = [column for column in columns if models <= column.keys()]
    points: dict[str, tuple[float, float]] = {}
    for model in sorted(models):
        costs = [_weigh_costs(column[model], efficiencies, unit.measure) for column in shared]
        scores = [_weigh_scores(column[model], summaries) for column in shared]
        points[model] = math.fsum(costs) / len(shared), math.fsum(scores) / len(shared)
    baselines = {row.run.model for row in summaries if not row.run.details.language_model}
    all_models = {summary.run.model for summary in summaries}
    return CostChart(
        title,
        unit.name,
        _describe_basis(len(shared), sorted(all_models - models)),
        tuple(_build_points(points, baselines)),
    )


def _choose_unit(efficiencies: Sequence[Efficiency]) -> _Unit:
    """Return money by tokens or else by GPU hours, if it is known for every row in one currency; otherwise tokens."""
    costs = [efficiency.cost for efficiency in efficiencies if efficiency.cost is not None]
    currencies = {cost.currency for cost in costs}
    if len(costs) == len(efficiencies) and len(currencies) == 1:
        (currency,) = currencies
        if all(cost.tokens is not None for cost in costs):
            return _Unit(f"{currency} per 1,000 answers, by token prices", _price_by_tokens)
        if all(cost.gpu_hours is not None for cost in costs):
            return _Unit(f"{currency} per 1,000 answers, by GPU hours", _price_by_hours)
    return _Unit("tokens per answer, prompt included", _count_tokens)


def _price_by_tokens(efficiency: Efficiency) -> float | None:
    cost = efficiency.cost_per_answer
    return None if cost is None or cost.tokens is None else cost.tokens * _THOUSAND


def _price_by_hours(efficiency: Efficiency) -> float | None:
    cost = efficiency.cost_per_answer
    return None if cost is None or cost.gpu_hours is None else cost.gpu_hours * _THOUSAND


def _count_tokens(efficiency: Efficiency) -> float | None:
    return efficiency.tokens_per_answer


def _select_measured(
    members: Mapping[str, tuple[int, ...]],
    efficiencies: Sequence[Efficiency | None],
    measure: Measure,
) -> dict[str, tuple[int, ...]]:
    """Return the models of a column whose costs are known, with the positions of their rows."""
    measured: dict[str, tuple[int, ...]] = {}
    for model, places in members.items():
        rows = [efficiencies[place] for place in places]
        if all(row is not None and measure(row) is not None for row in rows):
            measured[model] = places
    return measured


def _choose_models(columns: Sequence[Mapping[str, object]]) -> set[str]:
    """Return the models that all have a result in some column; those in the fewest columns are left out first."""
    counts: dict[str, int] = {}
    for column in columns:
        for model in column:
            counts[model] = counts.get(model, 0) + 1
    models = set(counts)
    while models and not any(models <= column.keys() for column in columns):
        models.remove(min(models, key=lambda model: (counts[model], model)))
    return models


def _weigh_costs(
    places: Sequence[int], efficiencies: Sequence[Efficiency | None], measure: Measure
) -> float:
    """Return the mean cost of a model's answers in one column."""
    total, answers = 0.0, 0
    for place in places:
        efficiency = efficiencies[place]
        assert efficiency is not None
        total += (measure(efficiency) or 0.0) * efficiency.answers
        answers += efficiency.answers
    return total / answers


def _weigh_scores(places: Sequence[int], summaries: Sequence[RunSummary]) -> float:
    """Return a model's normalised floor in one column, weighted by instances as in `compare_summaries`."""
    total, weights = 0.0, 0
    for place in places:
        main = summaries[place].main
        weight = main.weight or 1
        total += (main.share(main.floor) or 0.0) * weight
        weights += weight
    return total / weights


def _describe_basis(benchmarks: int, missing: Sequence[str]) -> str:
    basis = f"Over {format_count(benchmarks, 'benchmark')} with comparable results, each with the same weight."
    if missing:
        basis += (
            f" Not shown, because costs or shared benchmarks are missing: {', '.join(missing)}."
        )
    return basis


def _build_points(
    points: Mapping[str, tuple[float, float]], baselines: set[str]
) -> list[CostPoint]:
    """Return the points, the best score first."""
    built = []
    for model, (cost, score) in points.items():
        is_beaten = any(
            map(partial(_beats, (cost, score)), points.values())  # a point does not beat itself
        )
        built.append(CostPoint(model, cost, score, model in baselines, best=not is_beaten))
    return sorted(built, key=lambda point: (-point.score, point.cost, point.label))


def _beats(point: tuple[float, float], rival: tuple[float, float]) -> bool:
    """Return whether the rival is at least as good for less, or better for the same."""
    cost, score = point
    rival_cost, rival_score = rival
    return rival_cost <= cost and rival_score >= score and rival != point


def describe_point(point: CostPoint) -> str:
    """Return a model's score and cost as text."""
    return f"{point.score:.3f} for {format_amount(point.cost)}"
