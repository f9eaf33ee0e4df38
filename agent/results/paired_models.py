"""Two models' answers to the same instances, side by side: what is compared, what is not, and why."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.errors import ConfigError
from agent.jury.family import same_family
from agent.jury.seats import seat_names
from agent.metrics import Labelled, figure
from agent.results.comparability import asked_of, measured_by, part_of, units_apart
from agent.results.paired_seats import filled, scores_by_both
from agent.scoring.measures import HELM_TWIN, Rules
from agent.scoring.score import score_response
from agent.scoring.whole_run import blank_labels
from agent.statistics.paired import Pair
from agent.store import KeptMetric, Run, Seat, Store, UnitScore
from agent.vocabulary import OWN_MAKING, Reason, Unscored

NO_METRIC = "no metric of that name in both runs"
NO_PAIR = "no instance that both have a score for"
PURGED = "a figure of whole runs, and the answers were purged"
OTHER_METRIC = "another main metric"
OTHERWISE = "measured another way"
_MEASURED = {
    "other scoring rules": "scored by other rules",
    "another encoder or other options of the metric": "measured with another encoder or other options",
    "another jury": "graded by another jury",
}
_NOT_JUDGED = frozenset({Reason.NOT_JUDGED, Reason.NOT_MEASURED})


@dataclass(frozen=True, slots=True)
class JointFigure:
    """A metric that only all answers together have: both models' labels by unit, and what is computed from them.

    `at_floor` has those of more answers: what a model left without any by itself names no label at all.
    """

    items: Sequence[tuple[Hashable, Labelled, Labelled]]
    at_floor: Sequence[tuple[Hashable, Labelled, Labelled]]
    compute: Callable[[Sequence[Labelled]], float | None]


@dataclass(frozen=True, slots=True)
class Paired:
    """One benchmark's instances that both models were asked, under one metric.

    Attributes:
        metric: as the first model's run keeps it.
        pairs: scores on the metric's scale; none for a metric of the whole run. A jury's are by the judges
            that gave both answers a verdict: one who was away for some answers of one model would shift that model's
            mean by being harsh or lenient.
        at_floor: the same, what a model left without a score by itself as the metric's lowest.
        figure: of a metric of the whole run.
        without_family: the same by judges of neither model's family alone, where more than half of those gave both a
            verdict; none where no judge is of a family, or all are.
        seats_empty_a, seats_empty_b: of the pairs, answers that lack a verdict of some judge.
        unscored_a, unscored_b: instances asked of both that lack that model's score, by reason.
        inapplicable_a, inapplicable_b: instances whose answer by that model the metric says nothing of.
        only_a, only_b: instances that one was asked and the other was not.
        stands_in: whether the benchmark's main metric has yet to be judged or measured.
        family_a, family_b: judges of the model's own family, who may favour its answers.
        runs_a, runs_b: names of the runs that were taken; `passed_over` counts earlier ones of the same parts.
    """

    benchmark: str
    metric: KeptMetric
    pairs: tuple[Pair, ...] = ()
    at_floor: tuple[Pair, ...] = ()
    without_family: tuple[Pair, ...] = ()
    figure: JointFigure | None = None
    seats_empty_a: int = 0
    seats_empty_b: int = 0
    unscored_a: Mapping[str, int] = field(default_factory=dict)
    unscored_b: Mapping[str, int] = field(default_factory=dict)
    inapplicable_a: int = 0
    inapplicable_b: int = 0
    only_a: int = 0
    only_b: int = 0
    stands_in: bool = False
    family_a: tuple[str, ...] = ()
    family_b: tuple[str, ...] = ()
    runs_a: tuple[str, ...] = ()
    runs_b: tuple[str, ...] = ()
    passed_over: int = 0

    @property
    def scored(self) -> int:
        """Instances that both have a score for."""
        if self.figure is not None:
            return len(self.figure.items)
        return sum(pair.a is not None and pair.b is not None for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Everything that two models can be compared by. `left_out` says of each other benchmark why it is not there."""

    a: str
    b: str
    benchmarks: tuple[Paired, ...]
    left_out: Mapping[str, str]


def pair_models(store: Store, suites: Sequence[str], a: str, b: str, metric: str | None = None) -> Pairing:
    """Put two models side by side in every benchmark that both ran.

    Paired are runs of one definition, one state of the data, the same arguments, rules and jury; sampled ones meet in
    the instances that both were asked. Of several such runs of a model the last one counts.

    Args:
        store: the site's.
        suites: names of suites that are there.
        a, b: names of models or deployments.
        metric: by this metric; None: by each benchmark's main one. Another stands in for it only where that has yet to
            be judged or measured; where the two runs' was judged or measured in two ways, the benchmark is left out.

    Raises:
        ConfigError: a model is not in the suites, is served by several deployments there, or is both.
    """
    found = [run for suite in suites for run in store.runs(suite)]
    runs_a, runs_b = _runs_of(a, found), _runs_of(b, found)
    if {run.run_id for run in runs_a} & {run.run_id for run in runs_b}:
        raise ConfigError(f"{a} and {b} are one model", "Name two models.")
    benchmarks, left_out = [], {}
    for benchmark in sorted({run.benchmark for run in (*runs_a, *runs_b)}):
        here_a = [run for run in runs_a if run.benchmark == benchmark]
        here_b = [run for run in runs_b if run.benchmark == benchmark]
        paired = _paired(store, here_a, here_b, metric)
        if isinstance(paired, Paired):
            benchmarks.append(paired)
        else:
            left_out[benchmark] = paired
    return Pairing(a, b, tuple(benchmarks), left_out)


def _runs_of(name: str, runs: Sequence[Run]) -> list[Run]:
    mine = [run for run in runs if name in (run.model, run.deployment)]
    if not mine:
        known = ", ".join(sorted({run.model for run in runs})) or "none yet"
        raise ConfigError(f"no run of {name} is there (models here: {known})", "Name a model of the suite.")
    served = sorted({run.deployment for run in mine})
    if len(served) > 1 and name not in served:
        raise ConfigError(f"{name} is served by several deployments: {', '.join(served)}", "Name one of them instead.")
    return [run for run in mine if run.deployment == name] if name in served else mine


def _paired(store: Store, runs_a: Sequence[Run], runs_b: Sequence[Run], metric: str | None) -> Paired | str:
    if not runs_a or not runs_b:
        return "of one model only"
    parts_a, parts_b = _newest(runs_a), _newest(runs_b)
    parts = [part for part in parts_a if part in parts_b]
    if not parts:
        return _difference(runs_a[-1], runs_b[-1])
    matched = [(parts_a[part], parts_b[part]) for part in parts]
    metrics = _metrics(matched, metric)
    if isinstance(metrics, str):
        return metrics
    found = _first_with_scores(store, matched, metrics, standing_in=metric is None)
    if not found.scored:
        return PURGED if found.metric.whole_run and not (found.unscored_a or found.unscored_b) else NO_PAIR
    passed_over = sum(_asked(run) in parts for run in (*runs_a, *runs_b)) - 2 * len(parts)
    return replace(found, passed_over=passed_over)


def _first_with_scores(
    store: Store, matched: Sequence[tuple[Run, Run]], metrics: Sequence[KeptMetric], *, standing_in: bool
) -> Paired:
    """Return the first of these metrics; the next one with scores where it has yet to be judged or measured."""
    main = _by_metric(store, matched, metrics[0])
    if main.scored or not standing_in or not _waits(main):
        return main
    for other in metrics[1:]:
        found = _by_metric(store, matched, other)
        if found.scored:
            return replace(found, stands_in=True)
    return main


def _waits(paired: Paired) -> bool:
    return bool((paired.unscored_a.keys() | paired.unscored_b.keys()) & _NOT_JUDGED)


def _newest(runs: Sequence[Run]) -> dict[Hashable, Run]:
    return {_asked(run): run for run in sorted(runs, key=lambda run: run.started_at)}


def _asked(run: Run) -> Hashable:
    """Return what two runs must have in common to have asked the same: definition, data, arguments, origin."""
    return part_of(run), tuple(asked_of(run).values())


def _difference(one: Run, other: Run) -> str:
    """Say why no run of the one model asked the same as one of the other's."""
    theirs = asked_of(other)
    (_, digest), (_, their_digest) = part_of(one), part_of(other)
    words = [word for word, fact in asked_of(one).items() if fact != theirs[word]]
    return ", ".join([*words, *(["other data"] if digest != their_digest else [])]) or "other arguments or parts"


def _metrics(matched: Sequence[tuple[Run, Run]], name: str | None) -> list[KeptMetric] | str:
    """Return the metrics that all these runs measured alike, in the benchmark's order, the main one first.

    Where that, or the one that is asked for, is not among them: why.
    """
    first, *others = [run for pair in matched for run in pair]
    alike: list[KeptMetric] = []
    for position, metric in enumerate(first.details.metrics):
        if metric.name != name if name else metric.name.endswith(HELM_TWIN):
            continue
        theirs = [run.details.find_metric(metric.name) for run in others]
        measured = [metric, *(their_metric for their_metric in theirs if their_metric is not None)]
        differences = (_unlike(first, metric, run, other) for run, other in zip(others, theirs, strict=True))
        why = next((difference for difference in differences if difference), "")
        if not why:
            low = min(each.low for each in measured)
            high = max(each.high for each in measured)
            alike.append(replace(metric, low=low, high=high))
        elif name and None not in theirs:
            return why
        elif not name and position == 0:
            return why if why == OTHER_METRIC else f"{metric.name} {why}; --metric compares by another"
    return alike or NO_METRIC


def _unlike(run: Run, metric: KeptMetric, other: Run, theirs: KeptMetric | None) -> str | None:
    """Say why a metric of two runs does not mean the same: its rules, options, jury or scale; None where it does.

    Of a metric that was imported the scale may have been guessed from each run's own values.
    """
    if theirs is None:
        return OTHER_METRIC
    by = measured_by(other, theirs)
    for word, fact in measured_by(run, metric).items():
        if fact != by[word]:
            return _MEASURED[word]
    ours, others = metric.to_json(), theirs.to_json()
    for key in ("display_name", *(("low", "high", "jury") if run.imported else ())):
        ours.pop(key, None)
        others.pop(key, None)
    return OTHERWISE if ours != others else None


def _by_metric(store: Store, matched: Sequence[tuple[Run, Run]], metric: KeptMetric) -> Paired:
    whole = Paired(
        benchmark=matched[0][0].benchmark,
        metric=metric,
        family_a=_family(metric, matched[0][0].model),
        family_b=_family(metric, matched[0][1].model),
        runs_a=tuple(run.name for run, _ in matched),
        runs_b=tuple(run.name for _, run in matched),
    )
    if metric.whole_run:
        return _figures(store, matched, whole)
    judges, family = _seats_of(metric, (matched[0][0].model, matched[0][1].model))
    others = judges - family
    pairs: list[Pair] = []
    at_floor: list[Pair] = []
    without_family: list[Pair] = []
    unscored: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    seats_empty, inapplicable, only = [0, 0], [0, 0], [0, 0]
    for run_a, run_b in matched:
        apart = units_apart(run_a)
        rows_a, rows_b = _rows(store, run_a, metric.name, judges), _rows(store, run_b, metric.name, judges)
        asked = [key for key in rows_a if key in rows_b]
        for side, rows in enumerate((rows_a, rows_b)):
            only[side] += len(rows) - len(asked)
        for key in asked:
            (one, seats), (other, their_seats) = sides = rows_a[key], rows_b[key]
            if Reason.NOT_APPLICABLE in (one.reason, other.reason):
                for side, (row, _) in enumerate(sides):
                    inapplicable[side] += row.reason == Reason.NOT_APPLICABLE
                continue
            unit = apart + one.unit_key
            if one.value is not None and other.value is not None:
                for side, (_, of) in enumerate(sides):
                    seats_empty[side] += filled(of) < judges
                if filled(seats) != filled(their_seats) and (by_both := scores_by_both(seats, their_seats, judges)):
                    one, other = replace(one, value=by_both[0]), replace(other, value=by_both[1])
                if family and (by_others := scores_by_both(seats, their_seats, others, len(others) // 2 + 1)):
                    without_family.append(Pair(unit, *by_others))
            pairs.append(Pair(unit, one.value, other.value))
            at_floor.append(Pair(unit, _floor(one, metric.low), _floor(other, metric.low)))
            for row, reasons in zip((one, other), unscored, strict=True):
                if row.value is None:
                    reasons[row.reason or ""] += 1
    return replace(
        whole,
        pairs=tuple(pairs),
        at_floor=tuple(at_floor),
        without_family=tuple(without_family),
        seats_empty_a=seats_empty[0],
        seats_empty_b=seats_empty[1],
        unscored_a=dict(unscored[0]),
        unscored_b=dict(unscored[1]),
        inapplicable_a=inapplicable[0],
        inapplicable_b=inapplicable[1],
        only_a=only[0],
        only_b=only[1],
    )


def _rows(
    store: Store, run: Run, metric: str, judges: Collection[int]
) -> dict[bytes, tuple[UnitScore, Sequence[Seat]]]:
    """Return each instance's score, and what the judges gave, if it is theirs."""
    seats = store.seats(run.run_id, metric) if judges else {}
    return {
        row.instance_key: (row, seats.get(place, ())) for place, row in enumerate(store.unit_scores(run.run_id, metric))
    }


def _seats_of(metric: KeptMetric, models: Sequence[str]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the jury's seats, and those of a model's family; none where scores are by HELM's rules."""
    if metric.scoring == "helm":
        return frozenset(), frozenset()
    own = set()
    for seat, judge in enumerate(metric.judges):
        if any(same_family(judge.model_name, model) for model in models):
            own.add(seat)
    return frozenset(range(len(metric.judges))), frozenset(own)


def _family(metric: KeptMetric, model: str) -> tuple[str, ...]:
    named = zip(seat_names(metric.judges), metric.judges, strict=True)
    return tuple(name for name, judge in named if same_family(judge.model_name, model))


def _floor(row: UnitScore, low: float) -> float | None:
    return float(low) if row.value is None and row.reason in OWN_MAKING else row.value


def _figures(store: Store, matched: Sequence[tuple[Run, Run]], whole: Paired) -> Paired:
    """Take the labels of both models' answers from the store: a metric of the whole run keeps no scores."""
    name = whole.metric.name
    (measure,) = (one for one in Rules.of_run(matched[0][0].details).measures if one.name == name)
    items: list[tuple[Hashable, Labelled, Labelled]] = []
    at_floor: list[tuple[Hashable, Labelled, Labelled]] = []
    unscored: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    inapplicable, only = [0, 0], [0, 0]
    for run_a, run_b in matched:
        apart = units_apart(run_a)
        here_a, here_b = _labels(store, run_a, name), _labels(store, run_b, name)
        asked = [key for key in here_a if key in here_b]
        for side, here in enumerate((here_a, here_b)):
            only[side] += len(here) - len(asked)
        for key in asked:
            (one, floor), (other, their_floor) = here_a[key], here_b[key]
            if Reason.NOT_APPLICABLE in (one, other):
                for side, found in enumerate((one, other)):
                    inapplicable[side] += found == Reason.NOT_APPLICABLE
                continue
            if floor is not None and their_floor is not None:
                unit = apart, floor.unit
                at_floor.append((unit, floor, their_floor))
                if isinstance(one, Labelled) and isinstance(other, Labelled):
                    items.append((unit, one, other))
            for found, reasons in zip((one, other), unscored, strict=True):
                if isinstance(found, str):
                    reasons[found] += 1

    def compute(labelled: Sequence[Labelled]) -> float | None:
        value = figure(measure.use, labelled, measure.rules)
        return None if isinstance(value, Unscored) else value

    return replace(
        whole,
        figure=JointFigure(items, at_floor, compute),
        unscored_a=dict(unscored[0]),
        unscored_b=dict(unscored[1]),
        inapplicable_a=inapplicable[0],
        inapplicable_b=inapplicable[1],
        only_a=only[0],
        only_b=only[1],
    )


def _labels(store: Store, run: Run, name: str) -> dict[bytes, tuple[Labelled | str, Labelled | None]]:
    """Return each instance's labels, or why it has none, and those it has at the floor. Purged ones are left out."""
    rules = Rules.of_run(run.details)
    rules = replace(rules, measures=tuple(measure for measure in rules.measures if measure.name == name))
    found: dict[bytes, tuple[Labelled | str, Labelled | None]] = {}
    for stored in store.each_instance(run.run_id):
        value: object = stored.scores.get(name)
        if not isinstance(value, Unscored) and stored.instance is not None and stored.response is not None:
            (verdict,) = score_response(rules, stored.instance, stored.response)
            value = verdict.value
        if isinstance(value, Labelled):
            found[stored.instance_key] = value, value
        elif isinstance(value, Unscored):
            instance = stored.instance if value.reason in OWN_MAKING else None
            floor = None if instance is None else blank_labels(rules.measures[0], instance)
            found[stored.instance_key] = str(value.reason), floor
    return found
