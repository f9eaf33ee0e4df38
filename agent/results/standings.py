"""Add the standings of models to summaries: ranks in each benchmark, overall win rates and macro-averages."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from agent.results.summarize import RunSummary, compare_summaries, read_unit_scores
from agent.statistics.ranking import BenchmarkScores, rank_models
from agent.store import Store
from agent.vocabulary import OWN_MAKING


def add_standings(store: Store, summaries: Sequence[RunSummary]) -> list[RunSummary]:
    """Return the summaries with the ranks and standings of their models.

    All of them are computed from floors, in the same columns of comparable results as in `compare_summaries`. A single
    model has no standing.
    """
    members_by_column = compare_summaries(summaries).members
    columns = []
    for members in members_by_column:
        by_model = {
            model: [summaries[place] for place in places] for model, places in members.items()
        }
        columns.append(_build_column(store, by_model))
    standings, ranks_by_column = rank_models(columns)
    ranks: dict[int, tuple[int, int]] = {}
    for column_ranks, members in zip(ranks_by_column, members_by_column, strict=True):
        for model, rank in column_ranks.items():
            ranks.update(dict.fromkeys(members[model], rank))
    ranked = []
    for place, summary in enumerate(summaries):
        standing = standings.get(summary.run.model)
        ranked.append(replace(summary, rank=ranks.get(place), standing=standing))
    return ranked


def _build_column(store: Store, models: Mapping[str, Sequence[RunSummary]]) -> BenchmarkScores:
    scores: dict[str, dict[Hashable, tuple[float, int]]] = {}
    fixed: dict[str, float] = {}
    for model, summaries in models.items():
        if all(_has_instances(summary) for summary in summaries):
            scores[model] = _sum_units(store, summaries)
        else:
            fixed[model] = _average_floors(summaries)
    return BenchmarkScores(scores, fixed)


def _has_instances(summary: RunSummary) -> bool:
    """Return whether the store has instance scores for a summary. Whole-run metrics and imported boards have none."""
    first = (summary.runs or (summary.run,))[0]
    return bool(first.run_id) and not summary.main.whole_run


def _average_floors(summaries: Sequence[RunSummary]) -> float:
    """Return the mean floor of the summaries, weighted by instances as in `compare_summaries`."""
    weighted = [
        (summary.main.share(summary.main.floor) or 0.0, summary.main.weight or 1)
        for summary in summaries
    ]
    return sum(value * weight for value, weight in weighted) / sum(weight for _, weight in weighted)


def _sum_units(store: Store, summaries: Sequence[RunSummary]) -> dict[Hashable, tuple[float, int]]:
    """Return (sum, number) of a model's scores by unit; answers that it left without a score count as the lowest."""
    units: dict[Hashable, tuple[float, int]] = {}
    for summary in summaries:
        metric = summary.main
        for run in summary.runs or (summary.run,):
            for unit, score in read_unit_scores(store, run, metric.metric):
                if isinstance(score, str) and score not in OWN_MAKING:
                    continue
                share = 0.0 if isinstance(score, str) else metric.share(score) or 0.0
                total, n = units.get(unit, (0.0, 0))
                units[unit] = total + share, n + 1
    return units
