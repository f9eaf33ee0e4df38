"""What became of the runs of a command."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.errors import InferenceError
from agent.inference.live_forecast import WorkTaken
from agent.inference.outage import LostServer
from agent.io.wording import format_count
from agent.judging.judge_run import NOTHING_JUDGED, JudgingOutcome
from agent.results.summarize import RunSummary
from agent.vocabulary import Reason


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The summary of one run, with counts of the work done by this command.

    Attributes:
        asked: number of questions sent; instances with equal prompts share one.
        asked_for: number of instances that these questions cover.
        kept: number of instances whose answers or scores were already stored.
        failed: number of instances that still have no answer and are asked again if the command is repeated.
        judged: counts of the judging.
        lost: the servers that the command had given up by the end of this run.
        taken: what asking was forecast to take, and took; None if nothing was asked.
        lane: number of the lane, in which runs were carried out one after the other. Lanes were carried out at once.
    """

    summary: RunSummary
    asked: int
    kept: int
    failed: int
    asked_for: int = 0
    judged: JudgingOutcome = NOTHING_JUDGED
    taken: WorkTaken | None = None
    lost: tuple[LostServer, ...] = ()
    lane: int = 0

    @property
    def too_long(self) -> int:
        """Number of instances whose prompts do not fit the model, so that asking again would not help."""
        metrics = self.summary.metrics
        return max((metric.unscored.get(Reason.CONTEXT_LENGTH, 0) for metric in metrics), default=0)


@dataclass(frozen=True, slots=True)
class NotStarted:
    """Runs that were not started, because their server cannot be used.

    Attributes:
        runs: their names.
        error: why not; names the deployment.
    """

    runs: tuple[str, ...]
    error: InferenceError

    def describe(self) -> str:
        """Return a clause that says how many runs were not started, and why."""
        return f"{format_count(len(self.runs), 'run')} not started: {self.error}"


@dataclass(frozen=True, slots=True)
class RunsDone:
    """What became of a command's entries.

    Attributes:
        by_entry: the outcome of each run, by the position of its entry.
        not_started: the runs without an outcome whose servers cannot be used.
        is_stopped: whether no further run was started after one in which an instance failed, see `exit_on_error`.
    """

    by_entry: Mapping[int, RunOutcome]
    not_started: tuple[NotStarted, ...] = ()
    is_stopped: bool = False

    @property
    def outcomes(self) -> list[RunOutcome]:
        """The outcomes in the order of their entries."""
        return [self.by_entry[number] for number in sorted(self.by_entry)]
