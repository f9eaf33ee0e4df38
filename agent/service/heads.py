"""Parts of a run that several pages show: its head, its progress, and a metric with its notes."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from agent.results.benchmark_names import name_benchmark
from agent.results.summarize import MetricSummary, Note, RunSummary
from agent.statistics.bounds import Bounds
from agent.store import RETRIED, Run, RunDetails
from agent.vocabulary import Reason

# "incomplete" means stopped, or with instances that have no answer.
RunState = Literal["running", "complete", "incomplete"]


@dataclass(frozen=True, slots=True)
class RunHead:
    """The head of every page of a run.

    `data` is "official", "sample", "unknown", "invented" or "imported". `id` is empty for a row of an imported
    leaderboard, which has results but no run.
    """

    id: str
    suite: str
    benchmark: str
    benchmark_name: str
    category: str
    access: str
    model: str
    deployment: str
    language_model: bool
    imported: bool  # whether it was made elsewhere with HELM
    data: str
    data_words: str  # description of the data
    began: datetime  # timezone-aware
    is_private: bool = False  # whether only its owner sees it on the service


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a suite's list of runs. `answered` is the number of `instances` with a response or a failure."""

    run: RunHead
    state: RunState
    instances: int
    answered: int


@dataclass(frozen=True, slots=True)
class MetricHead:
    """One metric of a run with its notes and bounds; `unscored` is the number of instances without a score."""

    metric: MetricSummary
    unscored: int
    floor: (
        float | None
    )  # the mean if each instance that the model itself left unscored counts as the lowest
    notes: tuple[Note, ...]
    bounds: Bounds | None  # the mean if every unscored instance were wrong, or right


def build_run_head(run: Run) -> RunHead:
    """Return the head for every page of the run."""
    details = run.details
    return RunHead(
        id=run.run_id,
        suite=run.suite,
        benchmark=run.benchmark,
        benchmark_name=name_benchmark([run]),
        category=details.category,
        access=details.access,
        model=run.model,
        deployment=run.deployment,
        language_model=details.language_model,
        imported=run.imported,
        data=details.data.known,
        data_words=describe_data(details),
        began=convert_start(run),
        is_private=run.is_private,
    )


def describe_data(details: RunDetails) -> str:
    """Describe the data that a run read."""
    if details.data.known != "unknown":
        return details.data.known
    return (
        "your own data" if details.has_own_data else "not a known version of the benchmark's data"
    )


def build_run_line(summary: RunSummary) -> RunLine:
    """Return the progress of the run."""
    unscored = summary.main.unscored
    instances = summary.main.mean.n + sum(unscored.values())
    not_asked = unscored.get(Reason.NOT_ASKED.value, 0)
    return RunLine(
        run=build_run_head(summary.run),
        state=_find_state(summary),
        instances=instances,
        answered=instances - not_asked,
    )


def _find_state(summary: RunSummary) -> RunState:
    if summary.run.state == "asking":
        return "running"
    if any(summary.main.unscored.get(reason.value, 0) for reason in RETRIED):
        return "incomplete"
    return "complete"


def build_metric_head(summary: RunSummary, metric: MetricSummary) -> MetricHead:
    """Return one metric of the run with its notes."""
    # The note about baselines is shown next to the model's name instead.
    notes = [note for note in summary.notes(metric) if note is not Note.NO_LANGUAGE_MODEL]
    return MetricHead(
        metric=metric,
        unscored=sum(metric.unscored.values()),
        floor=metric.floor,
        notes=tuple(notes),
        bounds=metric.bounds,
    )


def convert_start(run: Run) -> datetime:
    """Return the time at which the run began, as a timezone-aware datetime."""
    return datetime.fromtimestamp(run.started_at, UTC)
