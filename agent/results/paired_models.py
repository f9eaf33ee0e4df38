"""Pair the runs of two models: which benchmarks can be compared, which cannot, and why."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from agent.errors import ConfigError
from agent.results.comparability import identify_part, list_metric_traits, list_pairing_traits
from agent.results.paired_instances import MatchedRuns, PairedBenchmark, pair_instances
from agent.scoring.measures import HELM_TWIN
from agent.store import KeptMetric, Run, Store
from agent.vocabulary import AnswerMode, Reason

NO_METRIC = "no metric of that name in both runs"
NO_PAIR = "no instance for which both have a score"
PURGED = "a whole-run metric whose answers were purged"
OTHER_METRIC = "another main metric"
OTHERWISE = "measured in another way"
_MEASURED = {
    "other scoring rules": "scored by other rules",
    "another parser of answers": "read with another parser of answers",
    "other code of the site's own metric": "measured with other code of the site's own metric",
    "another encoder or other options of the metric": "measured with another encoder or other options",
    "another jury": "graded by another jury",
}
_NOT_JUDGED = frozenset({Reason.NOT_JUDGED, Reason.NOT_MEASURED})


@dataclass(frozen=True, slots=True)
class Pairing:
    """The benchmarks on which models `a` and `b` can be compared, and in `left_out` the others with their reasons."""

    a: str
    b: str
    benchmarks: tuple[PairedBenchmark, ...]
    left_out: Mapping[str, str]

    def describe_left_out(self) -> str:
        """Return the benchmarks that cannot be compared, each with its reason; "" if all can."""
        return "; ".join(f"{benchmark}: {reason}" for benchmark, reason in self.left_out.items())


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """The reason why a benchmark cannot be compared."""

    reason: str


def pair_models(
    store: Store, suites: Sequence[str], a: str, b: str, metric: str | None = None
) -> Pairing:
    """Pair the runs of two models in every benchmark that both ran.

    Runs are paired if they have the same definition, data, arguments, way of asking, rules and jury. If both models
    were asked in several ways, only the first of them in `AnswerMode` is compared. Sampled runs are paired on the
    instances that both share. If a model has several such runs, the latest is used.

    Args:
        store: the site's store.
        suites: names of existing suites.
        a, b: names of models or deployments.
        metric: the metric to compare; None for each benchmark's main metric. Another metric replaces the main one
            only if the main one has yet to be judged or measured. If the main metric was judged or measured
            differently in the two runs, the benchmark is left out.

    Raises:
        ConfigError: a model is not in the suites or is served by several deployments there, or both are the same.
    """
    runs: list[Run] = []
    for suite in suites:
        runs += store.runs.select(suite)
    runs_a, runs_b = _select_model(a, runs), _select_model(b, runs)
    if {run.run_id for run in runs_a} & {run.run_id for run in runs_b}:
        raise ConfigError(f"{a} and {b} are the same model", "Name two different models.")
    benchmarks: list[PairedBenchmark] = []
    left_out: dict[str, str] = {}
    for benchmark in sorted({run.benchmark for run in (*runs_a, *runs_b)}):
        benchmark_runs_a = [run for run in runs_a if run.benchmark == benchmark]
        benchmark_runs_b = [run for run in runs_b if run.benchmark == benchmark]
        paired = _pair_benchmark(store, benchmark_runs_a, benchmark_runs_b, metric)
        if isinstance(paired, _LeftOut):
            left_out[benchmark] = paired.reason
        else:
            benchmarks.append(paired)
    return Pairing(a, b, tuple(benchmarks), left_out)


def pair_comparable_models(
    store: Store, suites: Sequence[str], a: str, b: str, metric: str | None = None
) -> Pairing:
    """Pair two models as `pair_models` does.

    Raises:
        ConfigError: see `pair_models`; or no benchmark can be compared, for the reasons stated.
    """
    pairing = pair_models(store, suites, a, b, metric)
    if not pairing.benchmarks:
        raise ConfigError(
            f"{a} and {b} have nothing to compare ({pairing.describe_left_out()})",
            "Run both models on the same data and score both with the same rules.",
        )
    return pairing


def _select_model(name: str, runs: Sequence[Run]) -> list[Run]:
    """Return the runs of a model or deployment."""
    model_runs = [run for run in runs if name in (run.model, run.deployment)]
    if not model_runs:
        models = ", ".join(sorted({run.model for run in runs})) or "none yet"
        raise ConfigError(
            f"there is no run of {name} (models here: {models})", "Name a model of the suite."
        )
    deployments = sorted({run.deployment for run in model_runs})
    if name in deployments:
        return [run for run in model_runs if run.deployment == name]
    if len(deployments) > 1:
        raise ConfigError(
            f"{name} is served by several deployments: {', '.join(deployments)}",
            "Name one of them instead.",
        )
    return model_runs


def _pair_benchmark(
    store: Store, runs_a: Sequence[Run], runs_b: Sequence[Run], metric: str | None
) -> PairedBenchmark | _LeftOut:
    if not runs_a or not runs_b:
        return _LeftOut("only one of the models ran it")
    newest_a, newest_b = _select_newest(runs_a), _select_newest(runs_b)
    shared = [question for question in newest_a if question in newest_b]
    if not shared:
        return _LeftOut(_explain_no_match(runs_a[-1], runs_b[-1]))
    way, *other_ways = _list_ways_of_asking([newest_a[question] for question in shared])
    # The answers of another way of asking would count the same questions twice.
    shared = [question for question in shared if newest_a[question].details.answer_mode == way]
    matched = [MatchedRuns(newest_a[question], newest_b[question]) for question in shared]
    metrics = _select_metrics(matched, metric)
    if isinstance(metrics, _LeftOut):
        return metrics
    paired = _pair_first_with_scores(store, matched, metrics, standing_in=metric is None)
    if not paired.scored:
        nothing_unscored = not paired.side_a.unscored and not paired.side_b.unscored
        return _LeftOut(PURGED if paired.metric.whole_run and nothing_unscored else NO_PAIR)
    same_questions = [run for run in (*runs_a, *runs_b) if _identify_questions(run) in shared]
    passed_over = len(same_questions) - 2 * len(shared)
    return replace(paired, passed_over=passed_over, other_ways=tuple(other_ways))


def _list_ways_of_asking(runs: Sequence[Run]) -> list[AnswerMode]:
    """Return the ways in which the runs were asked, the usual one first."""
    ways = {run.details.answer_mode for run in runs}
    return [way for way in get_args(AnswerMode) if way in ways]


def _pair_first_with_scores(
    store: Store,
    matched: Sequence[MatchedRuns],
    metrics: Sequence[KeptMetric],
    *,
    standing_in: bool,
) -> PairedBenchmark:
    """Pair with the first metric or, if that is not judged or measured yet, with the next one that has scores."""
    main = pair_instances(store, matched, metrics[0])
    if main.scored or not standing_in or not _awaits_judging(main):
        return main
    for metric in metrics[1:]:
        stand_in = pair_instances(store, matched, metric)
        if stand_in.scored:
            return replace(stand_in, stands_in=True)
    return main


def _awaits_judging(paired: PairedBenchmark) -> bool:
    reasons = paired.side_a.unscored.keys() | paired.side_b.unscored.keys()
    return bool(reasons & _NOT_JUDGED)


def _select_newest(runs: Sequence[Run]) -> dict[Hashable, Run]:
    """Return the latest run for each set of questions."""
    return {_identify_questions(run): run for run in sorted(runs, key=lambda run: run.started_at)}


def _identify_questions(run: Run) -> Hashable:
    """Return the traits that runs with the same questions share: definition, data, arguments, origin."""
    return identify_part(run), tuple(list_pairing_traits(run).values())


def _explain_no_match(run_a: Run, run_b: Run) -> str:
    """Describe why no run of the first model has the same questions as a run of the second."""
    traits_a, traits_b = list_pairing_traits(run_a), list_pairing_traits(run_b)
    differences = [words for words in traits_a if traits_a[words] != traits_b[words]]
    if identify_part(run_a).data_digest != identify_part(run_b).data_digest:
        differences.append("other data")
    return ", ".join(differences) or "other arguments or parts"


def _select_metrics(
    matched: Sequence[MatchedRuns], name: str | None
) -> list[KeptMetric] | _LeftOut:
    """Return the metrics that all these runs measured in the same way, in the benchmark's order, main metric first.

    If the metric with this name, or by default the main metric, is not among them, return the reason instead.
    """
    runs: list[Run] = []
    for match in matched:
        runs += (match.a, match.b)
    first, *others = runs
    alike: list[KeptMetric] = []
    for position, metric in enumerate(first.details.metrics):
        if not _is_candidate(metric, name):
            continue
        difference = _find_difference(first, metric, others)
        if difference is None:
            alike.append(_widen_scale(metric, others))
        elif name:
            # A metric that some run lacks is reported as missing, not as measured differently.
            if all(run.details.find_metric(name) for run in others):
                return _LeftOut(difference)
        elif position == 0:
            if difference == OTHER_METRIC:
                return _LeftOut(OTHER_METRIC)
            return _LeftOut(f"{metric.name} {difference}; choose another metric with --metric")
    return alike or _LeftOut(NO_METRIC)


def _is_candidate(metric: KeptMetric, name: str | None) -> bool:
    if name:
        return metric.name == name
    return not metric.name.endswith(HELM_TWIN)


def _find_difference(first: Run, metric: KeptMetric, others: Sequence[Run]) -> str | None:
    """Describe why a metric is not comparable across these runs; return None if it is."""
    for run in others:
        difference = _explain_unlike(first, metric, run)
        if difference is not None:
            return difference
    return None


def _explain_unlike(run_a: Run, metric_a: KeptMetric, run_b: Run) -> str | None:
    """Describe why a metric is not comparable between two runs: rules, options, jury or scale; None if it is."""
    metric_b = run_b.details.find_metric(metric_a.name)
    if metric_b is None:
        return OTHER_METRIC
    traits_a, traits_b = list_metric_traits(run_a, metric_a), list_metric_traits(run_b, metric_b)
    for words in traits_a:
        if traits_a[words] != traits_b[words]:
            return _MEASURED[words]
    ignored = {"display_name"}
    if run_a.imported:  # the scale may have been guessed from each run's own values
        ignored |= {"low", "high", "jury"}
    fields_a = {key: value for key, value in metric_a.to_json().items() if key not in ignored}
    fields_b = {key: value for key, value in metric_b.to_json().items() if key not in ignored}
    return OTHERWISE if fields_a != fields_b else None


def _widen_scale(metric: KeptMetric, runs: Sequence[Run]) -> KeptMetric:
    """Return the metric with a scale that includes the scales of all these runs."""
    low, high = metric.low, metric.high
    for run in runs:
        measured = run.details.find_metric(metric.name)
        if measured is not None:
            low = min(low, measured.low)
            high = max(high, measured.high)
    return replace(metric, low=low, high=high)
