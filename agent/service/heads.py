"""What several pages say of one run: its head, how far it is, and a figure with its notes."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from agent.results.summarize import MetricSummary, Note, RunSummary
from agent.statistics.bounds import Bounds
from agent.store import RETRIED, KeptData, Run
from agent.vocabulary import Reason

RunState = Literal["running", "complete", "incomplete"]  # incomplete: stopped, or some instances have no answer


@dataclass(frozen=True, slots=True)
class RunHead:
    """What every page of a run says at its head.

    `data` is "official", "sample", "unknown", "invented" or "imported". `id` is empty where there is no run to show:
    an imported leaderboard has figures only.
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
    imported: bool  # made elsewhere with HELM
    data: str
    data_words: str  # for people
    began: datetime  # aware


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in the list of a suite's runs. `answered` of its `instances` have a response or a failure."""

    run: RunHead
    state: RunState
    instances: int
    answered: int


@dataclass(frozen=True, slots=True)
class MetricHead:
    """One metric of a run with what its reader should know; `unscored` is the sum of the metric's reasons."""

    metric: MetricSummary
    unscored: int
    floor: float | None  # the mean with what the model left without a score as the metric's lowest
    notes: tuple[Note, ...]
    bounds: Bounds | None  # the mean, were every unscored instance wrong, or right


def run_head(run: Run) -> RunHead:
    """Return what every page says of the run at its head."""
    details = run.details
    return RunHead(
        id=run.run_id,
        suite=run.suite,
        benchmark=run.benchmark,
        benchmark_name=details.display_name,
        category=details.category,
        access=details.access,
        model=run.model,
        deployment=run.deployment,
        language_model=details.language_model,
        imported=run.imported,
        data=details.data.known,
        data_words=data_words(details.data),
        began=moment_of(run),
    )


def data_words(data: KeptData) -> str:
    """Say for people which data a run read."""
    if data.known != "unknown":
        return data.known
    return "your own data" if data.own else "not a version that the benchmark knows"


def run_line(summary: RunSummary) -> RunLine:
    """Return how far the run is."""
    unscored = summary.main.unscored
    missing = sum(unscored.get(reason.value, 0) for reason in RETRIED)
    instances = summary.main.mean.n + sum(unscored.values())
    return RunLine(
        run_head(summary.run),
        "running" if summary.run.state == "asking" else "incomplete" if missing else "complete",
        instances,
        instances - unscored.get(Reason.NOT_ASKED.value, 0),
    )


def run_figure(summary: RunSummary, metric: MetricSummary) -> MetricHead:
    """Return one metric of the run with its notes."""
    # That a model is no language model stands beside its name.
    notes = (note for note in summary.notes(metric) if note is not Note.NO_LANGUAGE_MODEL)
    return MetricHead(metric, sum(metric.unscored.values()), metric.floor, tuple(notes), metric.bounds)


def moment_of(run: Run) -> datetime:
    """Return when the run began; aware."""
    return datetime.fromtimestamp(run.started_at, UTC)
