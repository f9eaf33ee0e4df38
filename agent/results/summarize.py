"""Summarise stored scores: number, unscored by reason, mean and interval for every run and metric."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from agent.results.comparability import (
    PARSER_KEYS,
    build_unit_prefix,
    encode_jury,
    encode_options,
    encode_parser,
    identify_part,
    list_metric_traits,
    list_question_traits,
)
from agent.results.jury_summary import JudgedAnswer, JurySummary, summarise_jury
from agent.results.leaderboard import Result, WinRateTable, compare_results
from agent.scoring.measures import HELM_TWIN
from agent.statistics.bounds import Bounds, bound_mean
from agent.statistics.intervals import Mean, estimate_mean
from agent.statistics.ranking import ModelStanding
from agent.store import KeptMetric, Run, RunScore, Store
from agent.vocabulary import OWN_MAKING, Reason

FEW_UNITS = 30
MANY_UNSCORED = 0.05
MANY_CUT_OFF = 0.2
MANY_SEATS_EMPTY = 0.1
NOT_ENDED = "has not ended"
LACKING = "more than 5 % without a score for reasons other than the model's own"
_PENDING = frozenset(
    {Reason.NOT_JUDGED, Reason.NOT_MEASURED, Reason.NOT_ASKED, Reason.NOT_IMPORTED}
)


class Note(StrEnum):
    """A caveat shown with a metric value."""

    NOT_MAIN = "no jury has graded the answers yet; another metric of the benchmark is shown"
    SEATS_OPEN = (
        "some judges have yet to reply and no answer has a score yet; another metric is shown"
    )
    FEW_UNITS = "fewer than 30 units"
    MANY_UNSCORED = "more than 5 % unscored"
    MANY_CUT_OFF = "more than 20 % of the answers cut off by their length limit"
    ALL_THE_SAME = "every answer scored the same"
    SEATS_EMPTY = "more than 10 % of the jury's seats without a valid verdict"
    FAMILY = "a judge is of the judged model's family: see the score without it"
    SAMPLE = "a sample of the data"
    INVENTED = "invented data"
    UNKNOWN_DATA = "not a known version of the benchmark's data"
    CONSTRAINED = "the server limited every answer to the options"
    LOGPROB = "the likeliest option counted as the answer"
    OTHER_PARSER = "answers read with another parser than the benchmark's own"
    HELM = "scored by HELM's rules"
    IMPORTED = "imported from HELM"
    NOT_ENDED = "the run has not ended"
    NO_LANGUAGE_MODEL = "not a language model"
    MEAN_OF_RUNS = "the mean of several runs, weighted by instances"


def _count_own_making(unscored: Mapping[str, int]) -> int:
    """Return how many instances lack a score for a reason that is the model's own."""
    return sum(unscored.get(reason, 0) for reason in OWN_MAKING)


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over one run.

    Attributes:
        low, high: the metric's range; for a jury, its own scale.
        unscored: number of instances without a score, by reason, without those counted in `not_applicable`.
        twin: the same metric scored by HELM's rules, if the run has both.
        whole_run: whether the metric is defined only for the whole run.
        not_applicable: number of instances to which the metric does not apply.
        floor_of_run: floor of a whole-run metric; None for other metrics.
        jury: summary of the jury; None for a metric without one.
        uniform: whether FEW_UNITS or more answers all have the same score.
    """

    metric: str
    display_name: str
    low: float
    high: float
    mean: Mean
    unscored: Mapping[str, int]
    twin: "MetricSummary | None" = None
    whole_run: bool = False
    not_applicable: int = 0
    floor_of_run: float | None = None
    jury: JurySummary | None = None
    uniform: bool = False

    def share(self, value: float | None) -> float | None:
        """Rescale a value of the metric to the range from 0 to 1, so that it can be averaged with other metrics."""
        return None if value is None else (value - self.low) / (self.high - self.low)

    @property
    def normalised(self) -> float | None:
        """The mean, rescaled to the range from 0 to 1."""
        return self.share(self.mean.value)

    @property
    def bounds(self) -> Bounds | None:
        """The mean if every unscored instance had the lowest score, and if it had the highest; None if not known.

        The bounds are not known before any instance is scored, nor for a whole-run metric with unscored instances.
        """
        if self.mean.value is None or self.mean.n == 0 or (self.whole_run and self.unscored):
            return None
        return bound_mean(
            self.mean.value, self.mean.n, sum(self.unscored.values()), self.low, self.high
        )

    @property
    def weight(self) -> int:
        """Number of instances that the floor counts."""
        return self.mean.n + _count_own_making(self.unscored)

    @property
    def floor(self) -> float | None:
        """The mean with answers that the model itself left without a score counted as the metric's lowest.

        Failures of servers, references and juries never count. None if there is no answer to count, and while many
        instances are still to be asked, judged or measured, because the model's failures are known first and would
        have too much weight.
        """
        value, n = self.mean.value, self.mean.n
        failed = _count_own_making(self.unscored)
        pending = sum(count for reason, count in self.unscored.items() if reason in _PENDING)
        if not failed:
            return value
        if pending > MANY_UNSCORED * (n + sum(self.unscored.values())):
            return None
        if self.whole_run:
            return self.floor_of_run
        if value is None:
            return float(self.low)
        return (value * n + self.low * failed) / (n + failed)

    @property
    def lacking(self) -> bool:
        """Whether more than MANY_UNSCORED of the instances lack a score for reasons that are not the model's own.

        Instances without a reference are ignored, because no model can have a score for them.
        """
        not_counted = {*OWN_MAKING, Reason.NO_REFERENCE}
        lacking = sum(n for reason, n in self.unscored.items() if reason not in not_counted)
        asked = (
            self.mean.n + sum(self.unscored.values()) - self.unscored.get(Reason.NO_REFERENCE, 0)
        )
        return lacking > MANY_UNSCORED * asked


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run with all its metrics. The first metric is the benchmark's main one.

    Attributes:
        runs: the pooled runs, if several runs of a benchmark (subsets, conditions) are shown as one.
        cut_off: share of the answers that ended at their length limit, from 0 to 1; None if unknown.
        rank: best and worst rank, among the models of its column, that are compatible with the data; see `standings`.
        standing: standing of its model over all columns; see `standings`.
    """

    run: Run
    metrics: tuple[MetricSummary, ...]
    runs: tuple[Run, ...] = ()
    cut_off: float | None = None
    rank: tuple[int, int] | None = None
    standing: ModelStanding | None = None

    @property
    def main(self) -> MetricSummary:
        """The benchmark's main metric, whether it has scores or not."""
        return self.metrics[0]

    @property
    def shown(self) -> MetricSummary:
        """The main metric or, if a jury has yet to grade the answers, the first metric with scores."""
        if Reason.NOT_JUDGED not in self.main.unscored or self.main.mean.n:
            return self.main
        return next((metric for metric in self.metrics if metric.mean.value is not None), self.main)

    @property
    def judged(self) -> MetricSummary | None:
        """The main metric if a jury grades it and either it is shown or a judge has been asked; None otherwise."""
        jury = self.main.jury
        if jury is None:
            return None
        return self.main if self.shown is self.main or jury.begun else None

    def notes(self, metric: MetricSummary) -> list[Note]:
        """Return the caveats that apply to one of the run's metrics."""
        mean, details, data = metric.mean, self.run.details, self.run.details.data
        unscored = sum(metric.unscored.values())
        asked = unscored + mean.n
        jury = metric.jury
        stands_in = metric is self.shown and metric is not self.main
        applies = {
            Note.NOT_MAIN: stands_in and self.judged is None,
            Note.SEATS_OPEN: stands_in and self.judged is not None,
            Note.FEW_UNITS: 0 < mean.units < FEW_UNITS,
            Note.MANY_UNSCORED: unscored > MANY_UNSCORED * asked,
            Note.MANY_CUT_OFF: self._compute_cut_off(metric) > MANY_CUT_OFF,
            Note.ALL_THE_SAME: metric.uniform or mean.value in (metric.low, metric.high),
            Note.SEATS_EMPTY: jury is not None
            and jury.seats - jury.filled > MANY_SEATS_EMPTY * jury.seats,
            Note.FAMILY: jury is not None and bool(jury.family),
            Note.SAMPLE: data.known == "sample",
            Note.INVENTED: data.known == "invented",
            Note.UNKNOWN_DATA: data.known == "unknown" and not details.has_own_data,
            Note.CONSTRAINED: details.answer_mode == "constrained",
            Note.LOGPROB: details.answer_mode.startswith("logprob"),
            Note.OTHER_PARSER: not PARSER_KEYS.isdisjoint(details.overrides),
            Note.HELM: details.scoring == "helm",
            Note.IMPORTED: self.run.imported,
            Note.NOT_ENDED: self.run.state != "ended",
            Note.NO_LANGUAGE_MODEL: not details.language_model,
            Note.MEAN_OF_RUNS: metric.whole_run and len(self.runs) > 1,
        }
        return [note for note, holds in applies.items() if holds]

    def _compute_cut_off(self, metric: MetricSummary) -> float:
        """Return the share of answers that were cut off, from finish reasons or from the reasons for missing scores."""
        asked = sum(metric.unscored.values()) + metric.mean.n
        unscored_share = metric.unscored.get(Reason.LENGTH, 0) / asked if asked else 0.0
        return max(self.cut_off or 0.0, unscored_share)


@dataclass(frozen=True, slots=True)
class _WholeRunScore:
    """A run's score under a whole-run metric, and the number of instances without labels, by reason."""

    score: RunScore | None
    reasons: Mapping[str, int]

    @property
    def floor(self) -> float | None:
        return None if self.score is None else self.score.floor

    @property
    def floor_weight(self) -> int:
        """Number of instances that the floor counts."""
        scored = 0 if self.score is None else self.score.n
        return scored + _count_own_making(self.reasons)


def summarise_run(store: Store, run: Run) -> RunSummary:
    """Compute every metric of a run from its stored scores."""
    metrics = attach_twins(
        [_summarise_stored(store, [run], metric) for metric in run.details.metrics]
    )
    return RunSummary(run, metrics, cut_off=_measure_cut_off(store, [run]))


def summarise_suite(store: Store, suite: str) -> list[RunSummary]:
    """Summarise every run of a suite, ordered by benchmark and model."""
    return [summarise_run(store, run) for run in store.runs.select(suite)]


def summarise_benchmarks(store: Store, suite: str) -> list[RunSummary]:
    """Summarise each benchmark and model of a suite, pooling runs on parts of a benchmark.

    Runs are pooled if they differ only in the benchmark's own arguments and have no instance in common.
    """
    return pool_runs(store, store.runs.select(suite))


def pool_runs(
    store: Store, of: Sequence[Run], known: Iterable[RunSummary] = ()
) -> list[RunSummary]:
    """Summarise these runs in the same way as `summarise_benchmarks`, reusing summaries from `known`."""
    known_summaries = {summary.run.run_id: summary for summary in known}
    groups: dict[object, list[Run]] = {}
    for run in of:
        groups.setdefault(_identify_whole(run), []).append(run)
    summaries: list[RunSummary] = []
    for runs in groups.values():
        if _are_parts_of_one(store, runs):
            summaries.append(_summarise_pooled(store, runs))
        else:
            summaries += [
                known_summaries.get(run.run_id) or summarise_run(store, run) for run in runs
            ]
    return summaries


def _are_parts_of_one(store: Store, runs: Sequence[Run]) -> bool:
    """Return whether these runs are different parts of one whole and have no instance in common."""
    # Shared instances of imported runs cannot be detected, so two runs with the same arguments are never pooled.
    parts = {tuple(sorted(run.details.arguments.items())) for run in runs}
    if len(runs) < 2 or len(parts) < len(runs):
        return False
    return not store.runs.share_a_request([run.run_id for run in runs])


def _identify_whole(run: Run) -> object:
    """Return a key that is equal for runs that are parts of one whole; the run's id if it has no arguments."""
    details, data = run.details, run.details.data
    if not details.arguments:
        return run.run_id
    return (
        run.benchmark,
        run.model,
        run.deployment,
        details.benchmark_digest,
        details.agent_version,
        details.scoring,
        details.max_tokens,
        details.prompt_limit,
        details.temperature,
        details.language_model,
        details.sample_seed,
        details.stop,
        details.answer_mode,
        details.reading_version,
        encode_parser(run),
        data.known,
        data.digest if data.named else "",
        tuple(sorted(details.arguments)),
        tuple(sorted(set(details.overrides) - details.arguments.keys())),
        run.imported,
        tuple(
            (metric.name, encode_options(metric), encode_jury(run, metric))
            for metric in details.metrics
        ),
    )


def _summarise_pooled(store: Store, runs: Sequence[Run]) -> RunSummary:
    first = runs[0]
    pairs = [f"{key}={value}" for key, value in first.pairs if key not in first.details.arguments]
    data = replace(first.details.data, instances=sum(run.details.data.instances for run in runs))
    whole = Run(
        run_id=first.run_id,
        suite=first.suite,
        name=f"{first.benchmark}:{','.join(pairs)}",
        benchmark=first.benchmark,
        model=first.model,
        deployment=first.deployment,
        details=replace(first.details, data=data),
        state="ended" if all(run.state == "ended" for run in runs) else "asking",
        started_at=min(run.started_at for run in runs),
        ended_at=_find_end(runs),
    )
    metrics = attach_twins(
        [_summarise_stored(store, runs, metric) for metric in first.details.metrics]
    )
    return RunSummary(whole, metrics, tuple(runs), _measure_cut_off(store, runs))


def _find_end(runs: Sequence[Run]) -> int | None:
    """Return the time at which the last of the runs ended, or None if any run has not ended."""
    ends = [run.ended_at for run in runs if run.ended_at is not None]
    return max(ends) if len(ends) == len(runs) else None


def _measure_cut_off(store: Store, runs: Sequence[Run]) -> float | None:
    truncated = answers = 0
    for run in runs:
        run_truncated, run_answers = store.answers.count_truncated(run.run_id)
        truncated += run_truncated
        answers += run_answers
    return truncated / answers if answers else None


def _summarise_stored(store: Store, runs: Sequence[Run], metric: KeptMetric) -> MetricSummary:
    """Summarise one metric over the instances of all `runs`. Units without a name count as different in each run."""
    if metric.whole_run:
        stored = [store.scores.read_whole_run(run.run_id, metric.name) for run in runs]
        return _summarise_whole_runs(
            metric, [_WholeRunScore(score, reasons) for score, reasons in stored]
        )
    scores_by_run = [list(read_unit_scores(store, run, metric.name)) for run in runs]
    summary = summarise_scores(metric, chain.from_iterable(scores_by_run))
    if metric.jury is None or metric.name.endswith(HELM_TWIN):
        return summary
    return replace(summary, jury=_summarise_stored_jury(store, runs, metric, scores_by_run))


def _summarise_stored_jury(
    store: Store,
    runs: Sequence[Run],
    metric: KeptMetric,
    scores_by_run: Sequence[Sequence[tuple[bytes, float | str]]],
) -> JurySummary | None:
    answers: list[JudgedAnswer] = []
    for run, scores in zip(runs, scores_by_run, strict=True):
        seats = store.juries.read_seats(run.run_id, metric.name)
        for position, (unit, score) in enumerate(scores):
            answers.append((unit, score, seats.get(position, ())))
    jury = summarise_jury(metric, runs[0].model, answers)
    if jury is not None and runs[0].imported:  # HELM has no quorum
        return replace(jury, quorum=None)
    return jury


def read_unit_scores(store: Store, run: Run, metric: str) -> Iterator[tuple[bytes, float | str]]:
    """Yield (unit, score or the reason for having none) for every instance of a run, in order.

    Args:
        store: the site's store.
        run: the run.
        metric: name of the metric in the store.
    """
    unit_prefix = build_unit_prefix(run)
    for row in store.scores.read_units(run.run_id, metric):
        score = row.reason or "" if row.value is None else row.value
        yield unit_prefix + row.unit_key, score


def summarise_scores(
    metric: KeptMetric, scores: Iterable[tuple[bytes, float | str]]
) -> MetricSummary:
    """Summarise scores in the form yielded by `read_unit_scores`."""
    scored: list[tuple[bytes, float]] = []
    unscored: Counter[str] = Counter()
    for unit, value in scores:
        if isinstance(value, str):
            unscored[value] += 1
        else:
            scored.append((unit, value))
    return summarise_metric(metric, scored, unscored)


def summarise_metric(
    metric: KeptMetric, scored: Sequence[tuple[bytes, float]], unscored: Mapping[str, int]
) -> MetricSummary:
    """Summarise one metric from the scores of instances, given as (unit, score), and the unscored ones by reason."""
    mean = estimate_mean(scored, binary=metric.binary, within=(metric.low, metric.high))
    lacking = {
        reason: count for reason, count in unscored.items() if reason != Reason.NOT_APPLICABLE
    }
    return MetricSummary(
        metric=metric.name,
        display_name=metric.display_name,
        low=metric.low,
        high=metric.high,
        mean=mean,
        unscored=lacking,
        not_applicable=unscored.get(Reason.NOT_APPLICABLE, 0),
        uniform=len(scored) >= FEW_UNITS and len({value for _, value in scored}) == 1,
    )


def _summarise_whole_runs(metric: KeptMetric, stored: Sequence[_WholeRunScore]) -> MetricSummary:
    unscored = sum((Counter(run_score.reasons) for run_score in stored), Counter[str]())
    scores = [run_score.score for run_score in stored if run_score.score is not None]
    summary = summarise_whole_run(metric, scores, unscored)
    return replace(
        summary,
        floor_of_run=_compute_weighted_mean(
            [(run_score.floor, run_score.floor_weight) for run_score in stored]
        ),
    )


def summarise_whole_run(
    metric: KeptMetric, scores: Sequence[RunScore], unscored: Mapping[str, int]
) -> MetricSummary:
    """Summarise a whole-run metric. For several runs, return their mean weighted by instances, without an interval."""
    n = sum(score.n for score in scores)
    units = sum(score.units for score in scores)
    value = _compute_weighted_mean([(score.value, score.n) for score in scores])
    mean = Mean(n, units, value, None, None, "none")
    if len(scores) == 1 and scores[0].low is not None:
        mean = Mean(n, units, value, scores[0].low, scores[0].high, "percentile")
    return MetricSummary(
        metric=metric.name,
        display_name=metric.display_name,
        low=metric.low,
        high=metric.high,
        mean=mean,
        unscored=dict(unscored),
        whole_run=True,
        floor_of_run=_compute_weighted_mean([(score.floor, score.n) for score in scores]),
    )


def _compute_weighted_mean(values: Sequence[tuple[float | None, int]]) -> float | None:
    """Return the weighted mean of (value, weight) pairs; None if no pair has both."""
    weighted = [(value, weight) for value, weight in values if value is not None and weight]
    if not weighted:
        return None
    return sum(value * weight for value, weight in weighted) / sum(weight for _, weight in weighted)


def attach_twins(summaries: Iterable[MetricSummary]) -> tuple[MetricSummary, ...]:
    """Attach each metric's summary by HELM's rules to the one by Intramural's rules, as its twin."""
    by_name = {summary.metric: summary for summary in summaries}
    own_rules = []
    for name, summary in by_name.items():
        if not name.endswith(HELM_TWIN):
            own_rules.append(replace(summary, twin=by_name.get(name + HELM_TWIN)))
    return tuple(own_rules)


def compare_summaries(summaries: Sequence[RunSummary]) -> WinRateTable:
    """Compare the models by the floor of each benchmark's main metric, so that no model wins by leaving questions out.

    A metric shown in place of the main one never counts. Only comparable results are compared (see `_build_result`),
    from runs that have ended and lack few scores for reasons that are not the model's own.
    """
    return compare_results([_build_result(summary) for summary in summaries])


def _build_result(summary: RunSummary) -> Result:
    """Return a summary's value with the traits that comparable results share: metric, data, questions and origin."""
    main, runs = summary.main, summary.runs or (summary.run,)
    metric = summary.run.details.find_metric(main.metric) or KeptMetric(name=main.metric)
    traits: dict[str, Hashable] = {
        "another main metric": main.metric,
        **list_metric_traits(summary.run, metric),
        **list_question_traits(summary.run),
        "another sample": frozenset(_identify_sample(run) for run in runs),
    }
    return Result(
        model=summary.run.model,
        benchmark=summary.run.benchmark,
        traits=traits,
        parts=frozenset(identify_part(run) for run in runs),
        value=main.floor,
        weight=main.weight,
        barred=_explain_barred(summary),
    )


def _explain_barred(summary: RunSummary) -> str | None:
    """Return the reason why a summary is excluded from comparison; None if it is not."""
    if summary.run.state != "ended":
        return NOT_ENDED
    return LACKING if summary.main.lacking else None


def _identify_sample(run: Run) -> Hashable:
    """Return a key for the sample of instances that a run asked; None if it asked all of them."""
    details = run.details
    # HELM's files do not record which instances were left out.
    if details.origin is not None and details.origin.kind == "helm":
        return details.data.instances
    if details.sampled is None or details.sampled >= details.data.instances:
        return None
    return details.sampled, details.sample_seed
