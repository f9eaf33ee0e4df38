"""Where models stand, with how sure that is: ranks in each benchmark, win rates and macro-averages over all."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from agent.results.summarize import RunSummary, compare_summaries, read_unit_scores
from agent.statistics.ranking import BenchmarkScores, rank_models
from agent.store import Store
from agent.vocabulary import OWN_MAKING


def add_standings(store: Store, summaries: Sequence[RunSummary]) -> list[RunSummary]:
    """Return the summaries with the ranks and standings of their models.

    Everything is over floors, in columns of like results, as `compare_summaries` compares them: a single model has no
    standing.
    """
    compared = compare_summaries(summaries).members
    columns = [
        _column(store, {model: [summaries[place] for place in places] for model, places in members.items()})
        for members in compared
    ]
    over_all, by_column = rank_models(columns)
    ranks: dict[int, tuple[int, int]] = {}
    for found, members in zip(by_column, compared, strict=True):
        for model, rank in found.items():
            ranks.update(dict.fromkeys(members[model], rank))
    return [
        replace(summary, rank=ranks.get(place), standing=over_all.get(summary.run.model))
        for place, summary in enumerate(summaries)
    ]


def _column(store: Store, models: Mapping[str, Sequence[RunSummary]]) -> BenchmarkScores:
    scores: dict[str, dict[Hashable, tuple[float, int]]] = {}
    fixed: dict[str, float] = {}
    for model, summaries in models.items():
        if any(one.main.whole_run or not (one.runs or (one.run,))[0].run_id for one in summaries):
            fixed[model] = _fixed(summaries)
        else:
            scores[model] = _units(store, summaries)
    return BenchmarkScores(scores, fixed)


def _fixed(summaries: Sequence[RunSummary]) -> float:
    """Return what the summaries come to, by their instances: as `compare_summaries` weighs them."""
    found = [(one.main.share(one.main.floor) or 0.0, one.main.weight or 1) for one in summaries]
    return sum(value * weight for value, weight in found) / sum(weight for _, weight in found)


def _units(store: Store, summaries: Sequence[RunSummary]) -> dict[Hashable, tuple[float, int]]:
    """Return sum and number of a model's scores by unit, what it left without a score by itself as the lowest."""
    units: dict[Hashable, tuple[float, int]] = {}
    for summary in summaries:
        metric = summary.main
        for run in summary.runs or (summary.run,):
            for unit, score in read_unit_scores(store, run, metric.metric):
                if isinstance(score, str) and score not in OWN_MAKING:
                    continue
                total, n = units.get(unit, (0.0, 0))
                share = 0.0 if isinstance(score, str) else metric.share(score) or 0.0
                units[unit] = total + share, n + 1
    return units
