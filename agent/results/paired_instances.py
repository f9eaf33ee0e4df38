"""Pair two models' answers to the same instances under one metric: their scores, or labels for a whole-run metric."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from agent.jury.family import is_same_family
from agent.jury.seats import name_seats
from agent.metrics import Labelled, compute_figure
from agent.results.comparability import build_unit_prefix
from agent.results.paired_seats import list_filled_seats, score_by_shared_judges
from agent.scoring.measures import Rules
from agent.scoring.score import score_response
from agent.scoring.whole_run import build_blank_labels
from agent.statistics.paired import ItemPair, Pair
from agent.store import KeptMetric, Run, Seat, Store, StoredInstance, UnitScore
from agent.vocabulary import OWN_MAKING, AnswerMode, Reason, Unscored


@dataclass(frozen=True, slots=True)
class MatchedRuns:
    """Two runs, one by each model, on the same part of a benchmark."""

    a: Run
    b: Run


@dataclass(frozen=True, slots=True)
class JointFigure:
    """Both models' labels under a whole-run metric, and the formula of the metric.

    Attributes:
        items: labels of the answers for which both models have labels.
        at_floor: `items` and the answers that a model itself left without labels, which have an empty set.
        compute: computes the metric from one model's labels.
    """

    items: Sequence[ItemPair[Labelled]]
    at_floor: Sequence[ItemPair[Labelled]]
    compute: Callable[[Sequence[Labelled]], float | None]


@dataclass(frozen=True, slots=True)
class ModelSide:
    """One model's side of a paired benchmark.

    Attributes:
        runs: names of the runs used.
        family: judges of the model's own family, who may prefer its answers.
        unscored: number of instances asked of both models for which this model has no score, by reason.
        inapplicable: number of instances for which the metric does not apply to this model's answer.
        only: number of instances that only this model was asked.
        seats_empty: number of this model's paired answers that lack a verdict by at least one judge.
    """

    runs: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    unscored: Mapping[str, int] = field(default_factory=dict)
    inapplicable: int = 0
    only: int = 0
    seats_empty: int = 0


@dataclass(frozen=True, slots=True)
class PairedBenchmark:
    """One benchmark's instances that both models were asked, under one metric.

    Attributes:
        benchmark: id of the benchmark.
        metric: the metric as recorded in the first model's run.
        pairs: scores on the metric's scale; empty for a whole-run metric. A jury's scores include only the judges that
            gave a verdict on both answers. Otherwise a harsh or lenient judge who missed some answers of one model
            would shift that model's mean.
        at_floor: the same pairs, with the metric's lowest score for answers that a model itself left without a score.
        without_family: the same pairs scored by the judges of neither model's family, if more than half of those gave
            a verdict on both answers; empty if no judge belongs to either family, or all do.
        figure: labels for a whole-run metric.
        side_a, side_b: the runs of each model, and counts of its instances that are not in the pairs.
        stands_in: whether the metric replaces a main metric that has yet to be judged or measured.
        passed_over: number of earlier runs on the same parts that were ignored.
        other_ways: further ways of asking in which both models have runs; these are ignored.
    """

    benchmark: str
    metric: KeptMetric
    pairs: tuple[Pair, ...] = ()
    at_floor: tuple[Pair, ...] = ()
    without_family: tuple[Pair, ...] = ()
    figure: JointFigure | None = None
    side_a: ModelSide = ModelSide()
    side_b: ModelSide = ModelSide()
    stands_in: bool = False
    passed_over: int = 0
    other_ways: tuple[AnswerMode, ...] = ()

    @property
    def scored(self) -> int:
        """Number of instances for which both models have a score."""
        if self.figure is not None:
            return len(self.figure.items)
        return sum(pair.a is not None and pair.b is not None for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class _Answer:
    """One model's answer to one instance. `reason` is why it has no score, or None if it has one."""

    reason: str | None


@dataclass(frozen=True, slots=True)
class _ScoredAnswer(_Answer):
    """An answer's score, and the seats of the jury behind it."""

    score: UnitScore
    seats: Sequence[Seat]


@dataclass(frozen=True, slots=True)
class _LabelledAnswer(_Answer):
    """An answer's labels, and the labels that count for the floor; each is None if the answer has none."""

    labels: Labelled | None
    at_floor: Labelled | None


@dataclass(slots=True)
class _SideTally:
    """Counts one model's instances while they are paired with the other model's."""

    unscored: Counter[str] = field(default_factory=Counter)
    inapplicable: int = 0
    only: int = 0
    seats_empty: int = 0

    def count_if_not_applicable(self, answer: _Answer) -> None:
        if answer.reason == Reason.NOT_APPLICABLE:
            self.inapplicable += 1

    def count_if_unscored(self, answer: _Answer) -> None:
        if answer.reason is not None:
            self.unscored[answer.reason] += 1

    def build_side(self, runs: Sequence[Run], metric: KeptMetric) -> ModelSide:
        return ModelSide(
            runs=tuple(run.name for run in runs),
            family=_name_family_judges(metric, runs[0].model),
            unscored=dict(self.unscored),
            inapplicable=self.inapplicable,
            only=self.only,
            seats_empty=self.seats_empty,
        )


@dataclass(frozen=True, slots=True)
class _JurySeats:
    """The seats of a metric's jury, by number. `family` are the seats of either model's family."""

    judges: frozenset[int]
    family: frozenset[int]

    @property
    def strangers(self) -> frozenset[int]:
        return self.judges - self.family


AnswerKind = TypeVar("AnswerKind", bound=_Answer)


def pair_instances(
    store: Store, matched: Sequence[MatchedRuns], metric: KeptMetric
) -> PairedBenchmark:
    """Pair the instances that both runs of each match share, under one metric."""
    tally_a, tally_b = _SideTally(), _SideTally()
    paired = PairedBenchmark(benchmark=matched[0].a.benchmark, metric=metric)
    if metric.whole_run:
        paired = _pair_labels(store, matched, paired, tally_a, tally_b)
    else:
        paired = _pair_scores(store, matched, paired, tally_a, tally_b)
    return replace(
        paired,
        side_a=tally_a.build_side([runs.a for runs in matched], metric),
        side_b=tally_b.build_side([runs.b for runs in matched], metric),
    )


def _match_answers(
    answers_a: Mapping[bytes, AnswerKind],
    answers_b: Mapping[bytes, AnswerKind],
    tally_a: _SideTally,
    tally_b: _SideTally,
) -> Iterator[tuple[AnswerKind, AnswerKind]]:
    """Yield both answers to each shared instance to which the metric applies."""
    shared_keys = [key for key in answers_a if key in answers_b]
    tally_a.only += len(answers_a) - len(shared_keys)
    tally_b.only += len(answers_b) - len(shared_keys)
    for key in shared_keys:
        answer_a, answer_b = answers_a[key], answers_b[key]
        if Reason.NOT_APPLICABLE in (answer_a.reason, answer_b.reason):
            tally_a.count_if_not_applicable(answer_a)
            tally_b.count_if_not_applicable(answer_b)
            continue
        tally_a.count_if_unscored(answer_a)
        tally_b.count_if_unscored(answer_b)
        yield answer_a, answer_b


def _pair_scores(
    store: Store,
    matched: Sequence[MatchedRuns],
    paired: PairedBenchmark,
    tally_a: _SideTally,
    tally_b: _SideTally,
) -> PairedBenchmark:
    metric = paired.metric
    seats = _find_jury_seats(metric, matched[0])
    pairs: list[Pair] = []
    at_floor: list[Pair] = []
    without_family: list[Pair] = []
    for runs in matched:
        unit_prefix = build_unit_prefix(runs.a)
        answers_a = _read_scored_answers(store, runs.a, metric.name, seats)
        answers_b = _read_scored_answers(store, runs.b, metric.name, seats)
        for answer_a, answer_b in _match_answers(answers_a, answers_b, tally_a, tally_b):
            unit = unit_prefix + answer_a.score.unit_key
            if answer_a.score.value is None or answer_b.score.value is None:
                pairs.append(Pair(unit, answer_a.score.value, answer_b.score.value))
                at_floor.append(
                    Pair(
                        unit,
                        _score_at_floor(answer_a.score, metric),
                        _score_at_floor(answer_b.score, metric),
                    )
                )
                continue
            tally_a.seats_empty += list_filled_seats(answer_a.seats) < seats.judges
            tally_b.seats_empty += list_filled_seats(answer_b.seats) < seats.judges
            pair = _pair_by_shared_judges(unit, answer_a, answer_b, seats)
            pairs.append(pair)
            at_floor.append(pair)
            stranger_pair = _pair_by_strangers(unit, answer_a, answer_b, seats)
            if stranger_pair is not None:
                without_family.append(stranger_pair)
    return replace(
        paired,
        pairs=tuple(pairs),
        at_floor=tuple(at_floor),
        without_family=tuple(without_family),
    )


def _read_scored_answers(
    store: Store, run: Run, metric: str, jury: _JurySeats
) -> dict[bytes, _ScoredAnswer]:
    """Return the score of each instance of a run, with the seats behind it if the metric has a jury."""
    seats = store.juries.read_seats(run.run_id, metric) if jury.judges else {}
    answers = {}
    for position, score in enumerate(store.scores.read_units(run.run_id, metric)):
        reason = None if score.value is not None else score.reason or ""
        answers[score.instance_key] = _ScoredAnswer(reason, score, seats.get(position, ()))
    return answers


def _pair_by_shared_judges(
    unit: bytes, answer_a: _ScoredAnswer, answer_b: _ScoredAnswer, jury: _JurySeats
) -> Pair:
    """Pair two scores. If different judges gave them, use only the judges who graded both answers."""
    pair = Pair(unit, answer_a.score.value, answer_b.score.value)
    if list_filled_seats(answer_a.seats) == list_filled_seats(answer_b.seats):
        return pair
    shared = score_by_shared_judges(answer_a.seats, answer_b.seats, jury.judges)
    return pair if shared is None else Pair(unit, shared.a, shared.b)


def _pair_by_strangers(
    unit: bytes, answer_a: _ScoredAnswer, answer_b: _ScoredAnswer, jury: _JurySeats
) -> Pair | None:
    """Pair the scores given by judges of neither family, if more than half of them graded both answers."""
    if not jury.family:
        return None
    quorum = len(jury.strangers) // 2 + 1
    shared = score_by_shared_judges(answer_a.seats, answer_b.seats, jury.strangers, quorum)
    return None if shared is None else Pair(unit, shared.a, shared.b)


def _find_jury_seats(metric: KeptMetric, runs: MatchedRuns) -> _JurySeats:
    # HELM's rules average over the judges in their own way, so such scores are never recomputed from single seats.
    if metric.scoring == "helm":
        return _JurySeats(frozenset(), frozenset())
    family = set()
    for seat, judge in enumerate(metric.judges):
        if is_same_family(judge.model_name, runs.a.model) or is_same_family(
            judge.model_name, runs.b.model
        ):
            family.add(seat)
    return _JurySeats(frozenset(range(len(metric.judges))), frozenset(family))


def _name_family_judges(metric: KeptMetric, model: str) -> tuple[str, ...]:
    named = zip(name_seats(metric.judges), metric.judges, strict=True)
    return tuple(name for name, judge in named if is_same_family(judge.model_name, model))


def _score_at_floor(score: UnitScore, metric: KeptMetric) -> float | None:
    if score.value is None and score.reason in OWN_MAKING:
        return float(metric.low)
    return score.value


def _pair_labels(
    store: Store,
    matched: Sequence[MatchedRuns],
    paired: PairedBenchmark,
    tally_a: _SideTally,
    tally_b: _SideTally,
) -> PairedBenchmark:
    """Pair the labels of both models' answers, because the store has no per-instance scores of a whole-run metric."""
    name = paired.metric.name
    (measure,) = _select_rules(matched[0].a, name).measures
    items: list[ItemPair[Labelled]] = []
    at_floor: list[ItemPair[Labelled]] = []
    for runs in matched:
        unit_prefix = build_unit_prefix(runs.a)
        answers_a = _read_labelled_answers(store, runs.a, name)
        answers_b = _read_labelled_answers(store, runs.b, name)
        for answer_a, answer_b in _match_answers(answers_a, answers_b, tally_a, tally_b):
            if answer_a.at_floor is None or answer_b.at_floor is None:
                continue
            unit = unit_prefix, answer_a.at_floor.unit
            at_floor.append(ItemPair(unit, answer_a.at_floor, answer_b.at_floor))
            if answer_a.labels is not None and answer_b.labels is not None:
                items.append(ItemPair(unit, answer_a.labels, answer_b.labels))

    def compute(labelled: Sequence[Labelled]) -> float | None:
        value = compute_figure(measure.use, labelled, measure.rules)
        return None if isinstance(value, Unscored) else value

    return replace(paired, figure=JointFigure(items, at_floor, compute))


def _select_rules(run: Run, metric: str) -> Rules:
    """Return a run's rules, reduced to the measure of this metric."""
    rules = Rules.of_run(run.details)
    return replace(
        rules, measures=tuple(measure for measure in rules.measures if measure.name == metric)
    )


def _read_labelled_answers(store: Store, run: Run, metric: str) -> dict[bytes, _LabelledAnswer]:
    """Return the labels of each instance of a run, parsed again from the answer. Purged instances are omitted."""
    rules = _select_rules(run, metric)
    answers = {}
    for stored in store.answers.read_each_instance(run.run_id):
        value = _score_labels(rules, stored, metric)
        if isinstance(value, Labelled):
            answers[stored.instance_key] = _LabelledAnswer(None, value, value)
        elif isinstance(value, Unscored):
            at_floor = _blank_at_floor(rules, stored, value)
            answers[stored.instance_key] = _LabelledAnswer(str(value.reason), None, at_floor)
    return answers


def _score_labels(rules: Rules, stored: StoredInstance, metric: str) -> object:
    value: object = stored.scores.get(metric)
    if isinstance(value, Unscored) or stored.instance is None or stored.response is None:
        return value
    (score,) = score_response(rules, stored.instance, stored.response)
    return score.value


def _blank_at_floor(rules: Rules, stored: StoredInstance, unscored: Unscored) -> Labelled | None:
    """Return an empty set of labels if the model itself failed to answer; None otherwise."""
    if unscored.reason not in OWN_MAKING or stored.instance is None:
        return None
    return build_blank_labels(rules.measures[0], stored.instance)
