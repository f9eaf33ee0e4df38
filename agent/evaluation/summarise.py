"""From stored scores to a leaderboard: n, unscored by reason, mean and interval of every run and metric."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agent.evaluation.statistics import Mean, mean_with_interval
from agent.store import Run, Store
from protocol.figures import mean_win_rates

FEW_UNITS = 30
MANY_UNSCORED = 0.05


class Note(StrEnum):
    """What a reader of a number should know."""

    FEW_UNITS = "fewer than 30 units"
    MANY_UNSCORED = "more than 5 % unscored"
    ALL_THE_SAME = "every answer scored the same"
    SAMPLE = "a sample of the data"
    INVENTED = "invented data"
    UNKNOWN_DATA = "not a version of the data that the benchmark knows"
    HELM = "scored by HELM's rules"
    NOT_ENDED = "the run has not ended"
    NO_LANGUAGE_MODEL = "not a language model"


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over one run. `low` and `high` bound the metric's range."""

    metric: str
    display_name: str
    low: int
    high: int
    mean: Mean
    unscored: Mapping[str, int]  # reason -> instances


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run with all its metrics; the first is the benchmark's main one."""

    run: Run
    metrics: tuple[MetricSummary, ...]

    @property
    def main(self) -> MetricSummary:
        """The benchmark's main metric."""
        return self.metrics[0]

    def notes(self, metric: MetricSummary) -> list[Note]:
        """Return what a reader of one of the run's numbers should know."""
        mean, details = metric.mean, self.run.details
        unscored = sum(metric.unscored.values())
        found = {
            Note.FEW_UNITS: 0 < mean.units < FEW_UNITS,
            Note.MANY_UNSCORED: unscored > MANY_UNSCORED * (unscored + mean.n),
            Note.ALL_THE_SAME: mean.value in (metric.low, metric.high),
            Note.SAMPLE: details["data"]["known"] == "sample",
            Note.INVENTED: details["data"]["known"] == "invented",
            Note.UNKNOWN_DATA: details["data"]["known"] == "unknown" and not details["data"]["own"],
            Note.HELM: details["scoring"] == "helm",
            Note.NOT_ENDED: self.run.state != "ended",
            Note.NO_LANGUAGE_MODEL: not details["language_model"],
        }
        return [note for note, holds in found.items() if holds]


def summarise_run(store: Store, run: Run) -> RunSummary:
    """Compute every metric of a run from its stored scores."""
    summaries = []
    for metric in run.details["metrics"]:
        rows = store.unit_scores(run.run_id, metric["name"])
        scored = [(row.unit_key, row.value) for row in rows if row.value is not None]
        unscored = Counter(row.reason for row in rows if row.reason is not None)
        mean = mean_with_interval(scored, binary=metric["binary"])
        summaries.append(
            MetricSummary(metric["name"], metric["display_name"], metric["low"], metric["high"], mean, dict(unscored))
        )
    return RunSummary(run, tuple(summaries))


def summarise_suite(store: Store, suite: str) -> list[RunSummary]:
    """Summarise every run of a suite, by benchmark and model."""
    return [summarise_run(store, run) for run in store.runs(suite)]


def win_rates(summaries: Sequence[RunSummary]) -> dict[str, float | None]:
    """Mean win rate of every model over the benchmarks of a suite, as HELM computes it.

    Several runs of one benchmark and model (subsets, conditions) are weighted by their instances, as HELM merges them.
    """
    totals: dict[tuple[str, str], tuple[float, int]] = {}
    for summary in summaries:
        mean = summary.main.mean
        if mean.value is not None:
            total, n = totals.get((summary.run.model, summary.run.benchmark), (0.0, 0))
            totals[summary.run.model, summary.run.benchmark] = (total + mean.value * mean.n, n + mean.n)
    table: dict[str, dict[str, float]] = {summary.run.model: {} for summary in summaries}
    for (model, benchmark), (total, n) in totals.items():
        table[model][benchmark] = total / n
    return mean_win_rates(table)
