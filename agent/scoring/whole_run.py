"""Compute metrics that are defined only for a whole run (macro and micro F1) from the labels of all its answers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from agent.metrics import METRICS, Labelled, compute_figure, read_labels
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import MeasuredScore, score_response
from agent.statistics.intervals import Mean, estimate_figure
from agent.store import RunScore, Store
from agent.vocabulary import OWN_MAKING, Instance, Response, Unscored


def compute_stored_run_scores(store: Store, run_id: str, rules: Rules) -> list[RunScore]:
    """Compute a run's whole-run metrics from its stored answers.

    If the texts of some answers were purged, a metric that needs them is omitted, so that the stored score, which was
    computed from all answers, is kept.
    """
    if not any(measure.of_whole_run for measure in rules.measures):
        return []
    answered = (
        (stored.instance, stored.response)
        for stored in store.answers.read_each_instance(run_id)
        if stored.instance and stored.response
    )
    instances = store.answers.count_instances(run_id)
    scores = []
    for score in compute_run_scores(rules, answered):
        _, unscored = store.scores.read_whole_run(run_id, score.metric)
        is_complete = score.n + sum(unscored.values()) >= instances
        if is_complete:
            scores.append(score)
    return scores


def compute_run_scores(
    rules: Rules, answered: Iterable[tuple[Instance, Response]]
) -> list[RunScore]:
    """Compute every whole-run metric, with its interval."""
    of_run = replace(
        rules, measures=tuple(measure for measure in rules.measures if measure.of_whole_run)
    )
    if not of_run.measures:
        return []
    gathered = GatheredLabels(of_run)
    for instance, response in answered:
        for score in score_response(of_run, instance, response):
            gathered.add(instance, score)
    return gathered.scores()


class GatheredLabels:
    """The labels of a run's answers, grouped by measure."""

    def __init__(self, rules: Rules) -> None:
        self._measures = [measure for measure in rules.measures if measure.of_whole_run]
        self._items: dict[str, list[Labelled]] = {}
        self._blank: dict[
            str, list[Labelled]
        ] = {}  # correct labels of the instances whose answer could not be scored

    def add(self, instance: Instance, score: MeasuredScore) -> None:
        """Add the labels of one answer under one measure, if it is a whole-run metric."""
        measure, value = score.measure, score.value
        if not measure.of_whole_run:
            return
        if isinstance(value, Labelled):
            self._items.setdefault(measure.name, []).append(value)
        elif isinstance(value, Unscored) and value.reason in OWN_MAKING:
            blank = build_blank_labels(measure, instance)
            if blank is not None:
                self._blank.setdefault(measure.name, []).append(blank)

    def scores(self) -> list[RunScore]:
        """Compute every whole-run metric."""
        return [self._compute_score(measure) for measure in self._measures]

    def _compute_score(self, measure: Measure) -> RunScore:
        items = self._items.get(measure.name, [])
        blank = self._blank.get(measure.name, [])
        mean = _estimate_mean(measure, items)
        floor = _compute_figure(measure, [*items, *blank]) if items or blank else None
        return RunScore(
            metric=measure.name,
            value=mean.value,
            low=mean.low,
            high=mean.high,
            n=mean.n,
            units=mean.units,
            floor=floor,
        )


def build_blank_labels(measure: Measure, instance: Instance) -> Labelled | None:
    """Return the labels of an answer that names no label; None if the instance has no correct labels."""
    # The answer does not matter, because only the correct labels are used.
    right = read_labels(measure.use, "A", instance, measure.rules)
    return replace(right, predicted=frozenset()) if isinstance(right, Labelled) else None


def _estimate_mean(measure: Measure, items: Sequence[Labelled]) -> Mean:
    spec = METRICS[measure.use.name]
    units = [(item.unit, item) for item in items]
    return estimate_figure(units, partial(_compute_figure, measure), within=(spec.low, spec.high))


def _compute_figure(measure: Measure, items: Sequence[Labelled]) -> float | None:
    value = compute_figure(measure.use, items, measure.rules)
    return None if isinstance(value, Unscored) else value
