"""Metrics that only a whole run has (macro and micro F1): computed from every answer's labels once a run ends."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from agent.evaluation.measures import Measure, Rules
from agent.evaluation.score import score_response
from agent.evaluation.statistics import Mean, figure_with_interval
from agent.metrics import Labelled, figure
from agent.store import RunScore, Store
from agent.vocabulary import Instance, Response, Unscored


def stored_run_scores(store: Store, run_id: str, rules: Rules) -> list[RunScore]:
    """Compute the run's metrics of the whole run from its stored answers.

    One whose answers were purged in part is left out: what was computed while they were there stands.
    """
    if not any(measure.of_whole_run for measure in rules.measures):
        return []
    texts = ((one.instance, one.response) for one in store.each_instance(run_id))
    answered = ((instance, response) for instance, response in texts if instance and response)
    found = run_scores(rules, answered)
    instances = store.count_instances(run_id)
    return [one for one in found if one.n >= instances - sum(store.run_score(run_id, one.metric)[1].values())]


def run_scores(rules: Rules, answered: Iterable[tuple[Instance, Response]]) -> list[RunScore]:
    """Compute every metric of the whole run, with its interval."""
    of_run = replace(rules, measures=tuple(measure for measure in rules.measures if measure.of_whole_run))
    if not of_run.measures:
        return []
    items: dict[str, list[Labelled]] = {}
    for instance, response in answered:
        for verdict in score_response(of_run, instance, response):
            if isinstance(verdict.value, Labelled):
                items.setdefault(verdict.measure.name, []).append(verdict.value)
    return scores_of_labels(of_run, items)


def scores_of_labels(rules: Rules, items: Mapping[str, Sequence[Labelled]]) -> list[RunScore]:
    """Compute every metric of the whole run from the labels of its answers, which are in `items` by measure."""
    found = ((one, _mean(one, items.get(one.name, ()))) for one in rules.measures if one.of_whole_run)
    return [RunScore(one.name, mean.value, mean.low, mean.high, mean.n, mean.units) for one, mean in found]


def _mean(measure: Measure, items: Sequence[Labelled]) -> Mean:
    return figure_with_interval([(item.unit, item) for item in items], partial(_figure, measure))


def _figure(measure: Measure, items: Sequence[Labelled]) -> float | None:
    value = figure(measure.use, items, measure.rules)
    return None if isinstance(value, Unscored) else value
