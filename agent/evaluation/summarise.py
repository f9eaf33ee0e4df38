"""From stored scores to a leaderboard: n, unscored by reason, mean and interval of every run and metric."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agent.evaluation.measures import HELM_TWIN
from agent.evaluation.statistics import Mean, mean_with_interval
from agent.store import Run, RunScore, Store
from agent.vocabulary import Reason
from protocol.figures import mean_win_rates

FEW_UNITS = 30
MANY_UNSCORED = 0.05


class Note(StrEnum):
    """What a reader of a number should know."""

    NOT_MAIN = "no jury has graded the answers yet; another metric of the benchmark stands here"
    FEW_UNITS = "fewer than 30 units"
    MANY_UNSCORED = "more than 5 % unscored"
    ALL_THE_SAME = "every answer scored the same"
    SAMPLE = "a sample of the data"
    INVENTED = "invented data"
    UNKNOWN_DATA = "not a version of the data that the benchmark knows"
    HELM = "scored by HELM's rules"
    IMPORTED = "imported from HELM"
    NOT_ENDED = "the run has not ended"
    NO_LANGUAGE_MODEL = "not a language model"
    MEAN_OF_RUNS = "the mean of several runs' values, by their instances"


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over one run. `low` and `high` bound the metric's range.

    `twin` is the same metric by HELM's rules, where a run keeps both.
    """

    metric: str
    display_name: str
    low: int
    high: int
    mean: Mean
    unscored: Mapping[str, int]  # reason -> instances
    twin: "MetricSummary | None" = None
    whole_run: bool = False


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run with all its metrics; the first is the benchmark's main one.

    `runs` are those that were pooled, where a benchmark's runs (subsets, conditions) are shown as one.
    """

    run: Run
    metrics: tuple[MetricSummary, ...]
    runs: tuple[Run, ...] = ()

    @property
    def main(self) -> MetricSummary:
        """The benchmark's main metric, whether it has scores or not."""
        return self.metrics[0]

    @property
    def shown(self) -> MetricSummary:
        """The main metric; where a jury has yet to grade the answers, the first metric that has scores."""
        if Reason.NOT_JUDGED not in self.main.unscored or self.main.mean.n:
            return self.main
        return next((metric for metric in self.metrics if metric.mean.value is not None), self.main)

    def notes(self, metric: MetricSummary) -> list[Note]:
        """Return what a reader of one of the run's numbers should know."""
        mean, details = metric.mean, self.run.details
        unscored = sum(metric.unscored.values())
        found = {
            Note.NOT_MAIN: metric is self.shown and metric is not self.main,
            Note.FEW_UNITS: 0 < mean.units < FEW_UNITS,
            Note.MANY_UNSCORED: unscored > MANY_UNSCORED * (unscored + mean.n),
            Note.ALL_THE_SAME: mean.value in (metric.low, metric.high),
            Note.SAMPLE: details["data"]["known"] == "sample",
            Note.INVENTED: details["data"]["known"] == "invented",
            Note.UNKNOWN_DATA: details["data"]["known"] == "unknown" and not details["data"]["own"],
            Note.HELM: details["scoring"] == "helm",
            Note.IMPORTED: "origin" in details,
            Note.NOT_ENDED: self.run.state != "ended",
            Note.NO_LANGUAGE_MODEL: not details["language_model"],
            Note.MEAN_OF_RUNS: metric.whole_run and len(self.runs) > 1,
        }
        return [note for note, holds in found.items() if holds]


def summarise_run(store: Store, run: Run) -> RunSummary:
    """Compute every metric of a run from its stored scores."""
    return RunSummary(run, paired([_metric(store, [run], kept) for kept in run.details["metrics"]]))


def summarise_suite(store: Store, suite: str) -> list[RunSummary]:
    """Summarise every run of a suite, by benchmark and model."""
    return [summarise_run(store, run) for run in store.runs(suite)]


def summarise_benchmarks(store: Store, suite: str) -> list[RunSummary]:
    """Summarise a suite with one row a benchmark and model: runs of parts of a benchmark's data are pooled.

    Pooled are runs that differ in the benchmark's own arguments alone, and only where no instance is in two of them.
    """
    return pool_runs(store, store.runs(suite))


def pool_runs(store: Store, of: Sequence[Run]) -> list[RunSummary]:
    """Summarise these runs as `summarise_benchmarks` does those of a suite."""
    groups: dict[object, list[Run]] = {}
    for run in of:
        groups.setdefault(_pool_of(run), []).append(run)
    summaries: list[RunSummary] = []
    for runs in groups.values():
        # Of runs made elsewhere no question is known to be the same: two of one part are never taken together.
        parts = {tuple(sorted(run.details["arguments"].items())) for run in runs}
        if len(parts) == len(runs) > 1 and not store.shared_instances([run.run_id for run in runs]):
            summaries.append(_pooled(store, runs))
        else:
            summaries += [summarise_run(store, run) for run in runs]
    return summaries


def _pool_of(run: Run) -> object:
    """Return what runs must have in common to be parts of one whole; an own one where that cannot be known."""
    details: Any = run.details
    if not details.get("arguments"):
        return run.run_id
    made_elsewhere = "origin" in details
    given = details["arguments"].keys()
    data = details["data"]
    return (
        *(run.benchmark, run.model, run.deployment, details["benchmark_digest"], details["agent_version"]),
        *(details["scoring"], details["max_tokens"], details["prompt_limit"], details["temperature"]),
        *(details["language_model"], details["sample_seed"], tuple(details["stop"]), data["known"]),
        data["digest"] if data["named"] else "",
        tuple(sorted(given)),
        tuple(sorted(set(details["overrides"]) - given)),
        made_elsewhere,
    )


def _pooled(store: Store, runs: Sequence[Run]) -> RunSummary:
    first = runs[0]
    pairs = [pair for pair in first.name.partition(":")[2].split(",") if pair.partition("=")[0] not in _own(first)]
    data = {**first.details["data"], "instances": sum(run.details["data"]["instances"] for run in runs)}
    whole = Run(
        run_id=first.run_id,
        suite=first.suite,
        name=f"{first.benchmark}:{','.join(pairs)}",
        benchmark=first.benchmark,
        model=first.model,
        deployment=first.deployment,
        details={**first.details, "data": data},
        state="ended" if all(run.state == "ended" for run in runs) else "asking",
        started_at=min(run.started_at for run in runs),
        ended_at=None if any(run.ended_at is None for run in runs) else max(run.ended_at or 0 for run in runs),
    )
    return RunSummary(whole, paired([_metric(store, runs, kept) for kept in first.details["metrics"]]), tuple(runs))


def _own(run: Run) -> Mapping[str, str]:
    found: Mapping[str, str] = run.details["arguments"]
    return found


def _metric(store: Store, runs: Sequence[Run], kept: Mapping[str, Any]) -> MetricSummary:
    """Summarise one metric over the instances of all `runs`. Units without a name are rows: each run has its own."""
    if kept.get("whole_run"):
        return _whole_run(kept, [store.run_score(run.run_id, kept["name"]) for run in runs])
    scored: list[tuple[bytes, float]] = []
    unscored: Counter[str] = Counter()
    for run in runs:
        apart = run.run_id.encode() if len(runs) > 1 and not run.details["unit_named"] else b""
        for row in store.unit_scores(run.run_id, kept["name"]):
            if row.value is not None:
                scored.append((apart + row.unit_key, row.value))
            elif row.reason is not None:
                unscored[row.reason] += 1
    return metric_summary(kept, scored, unscored)


def metric_summary(
    kept: Mapping[str, Any], scored: Sequence[tuple[bytes, float]], unscored: Mapping[str, int]
) -> MetricSummary:
    """Summarise the scores of instances. `kept` is what is kept of the metric with a run."""
    mean = mean_with_interval(scored, binary=kept["binary"])
    return MetricSummary(kept["name"], kept["display_name"], kept["low"], kept["high"], mean, dict(unscored))


def _whole_run(kept: Mapping[str, Any], found: Sequence[tuple[RunScore | None, Mapping[str, int]]]) -> MetricSummary:
    unscored = sum((Counter(reasons) for _, reasons in found), Counter[str]())
    return whole_run_summary(kept, [score for score, _ in found if score is not None], unscored)


def whole_run_summary(
    kept: Mapping[str, Any], scores: Sequence[RunScore], unscored: Mapping[str, int]
) -> MetricSummary:
    """Summarise a metric of the whole run. Of several runs it is their mean by instances, without an interval."""
    valued = [(score.value, score.n) for score in scores if score.value is not None]
    n, units = sum(score.n for score in scores), sum(score.units for score in scores)
    value = sum(value * n for value, n in valued) / sum(n for _, n in valued) if valued else None
    mean = Mean(n, units, value, None, None, "none")
    if len(scores) == 1 and scores[0].low is not None:
        mean = Mean(n, units, value, scores[0].low, scores[0].high, "bootstrap")
    return MetricSummary(
        kept["name"], kept["display_name"], kept["low"], kept["high"], mean, dict(unscored), whole_run=True
    )


def paired(summaries: Iterable[MetricSummary]) -> tuple[MetricSummary, ...]:
    """Put each metric by HELM's rules beside the one by ours."""
    by_name = {summary.metric: summary for summary in summaries}
    return tuple(
        MetricSummary(
            *(one.metric, one.display_name, one.low, one.high, one.mean, one.unscored),
            twin=by_name.get(name + HELM_TWIN),
            whole_run=one.whole_run,
        )
        for name, one in by_name.items()
        if not name.endswith(HELM_TWIN)
    )


def win_rates(summaries: Sequence[RunSummary]) -> dict[str, float | None]:
    """Mean win rate of every model over the benchmarks of a suite, as HELM computes it.

    Several runs of one benchmark and model (subsets, conditions) are weighted by their instances, as HELM merges them.
    Only scores of the main metric count: nobody wins by a metric that stands in for it.
    """
    totals: dict[tuple[str, str], tuple[float, int]] = {}
    for summary in summaries:
        mean = summary.main.mean
        if mean.value is not None:
            # Runs made elsewhere may have another main metric: its numbers are not compared with ours.
            column = f"{summary.run.benchmark} {summary.main.metric}"
            total, n = totals.get((summary.run.model, column), (0.0, 0))
            weight = mean.n or 1  # a leaderboard made elsewhere may not say how many
            totals[summary.run.model, column] = (total + mean.value * weight, n + weight)
    table: dict[str, dict[str, float]] = {summary.run.model: {} for summary in summaries}
    for (model, column), (total, n) in totals.items():
        table[model][column] = total / n
    return mean_win_rates(table)
