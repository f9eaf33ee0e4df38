"""Metrics that only a whole run has (macro and micro F1): computed from every answer's labels once a run ends."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from agent.metrics import METRICS, Labelled, figure, labels
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import MeasuredScore, score_response
from agent.statistics.intervals import Mean, estimate_figure
from agent.store import RunScore, Store
from agent.vocabulary import OWN_MAKING, Instance, Response, Unscored


def compute_stored_run_scores(store: Store, run_id: str, rules: Rules) -> list[RunScore]:
    """Compute the run's metrics of the whole run from its stored answers.

    One whose answers were purged in part is left out: what was computed while they were there stands.
    """
    if not any(measure.of_whole_run for measure in rules.measures):
        return []
    texts = ((one.instance, one.response) for one in store.answers.read_each_instance(run_id))
    answered = ((instance, response) for instance, response in texts if instance and response)
    found = compute_run_scores(rules, answered)
    instances = store.answers.count_instances(run_id)
    return [
        one for one in found if one.n >= instances - sum(store.scores.read_whole_run(run_id, one.metric)[1].values())
    ]


def compute_run_scores(rules: Rules, answered: Iterable[tuple[Instance, Response]]) -> list[RunScore]:
    """Compute every metric of the whole run, with its interval."""
    of_run = replace(rules, measures=tuple(measure for measure in rules.measures if measure.of_whole_run))
    if not of_run.measures:
        return []
    gathered = GatheredLabels(of_run)
    for instance, response in answered:
        for verdict in score_response(of_run, instance, response):
            gathered.add(instance, verdict)
    return gathered.scores()


class GatheredLabels:
    """The labels of a run's answers, by measure."""

    def __init__(self, rules: Rules) -> None:
        self._measures = [measure for measure in rules.measures if measure.of_whole_run]
        self._items: dict[str, list[Labelled]] = {}
        self._blank: dict[str, list[Labelled]] = {}  # right labels of answers that hold nothing to score

    def add(self, instance: Instance, verdict: MeasuredScore) -> None:
        """Take what one answer is worth under one measure, if that is of the whole run."""
        measure, value = verdict.measure, verdict.value
        if not measure.of_whole_run:
            return
        if isinstance(value, Labelled):
            self._items.setdefault(measure.name, []).append(value)
        elif isinstance(value, Unscored) and value.reason in OWN_MAKING:
            blank = build_blank_labels(measure, instance)
            if blank is not None:
                self._blank.setdefault(measure.name, []).append(blank)

    def scores(self) -> list[RunScore]:
        """Compute every metric of the whole run."""
        return [self._score(measure) for measure in self._measures]

    def _score(self, measure: Measure) -> RunScore:
        items, blank = self._items.get(measure.name, []), self._blank.get(measure.name, [])
        mean = _mean(measure, items)
        floor = _figure(measure, [*items, *blank]) if items or blank else None
        return RunScore(measure.name, mean.value, mean.low, mean.high, mean.n, mean.units, floor)


def build_blank_labels(measure: Measure, instance: Instance) -> Labelled | None:
    """Return the labels of an answer that names none; None where the instance has no right ones."""
    right = labels(measure.use, "A", instance, measure.rules)  # any answer: only what is right is taken
    return replace(right, predicted=frozenset()) if isinstance(right, Labelled) else None


def _mean(measure: Measure, items: Sequence[Labelled]) -> Mean:
    spec = METRICS[measure.use.name]
    units = [(item.unit, item) for item in items]
    return estimate_figure(units, partial(_figure, measure), within=(spec.low, spec.high))


def _figure(measure: Measure, items: Sequence[Labelled]) -> float | None:
    value = figure(measure.use, items, measure.rules)
    return None if isinstance(value, Unscored) else value
