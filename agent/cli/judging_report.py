"""Descriptions of the work of juries, for the reports of `run` and `judge`."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.catalog.deployments import Prices
    from agent.judging.judge_run import JudgingOutcome
    from agent.results.summarize import RunSummary
    from agent.store import Run, Store, Usage
    from agent.vocabulary import Judge


def describe_judged(judged: "JudgingOutcome") -> str:
    """Return the number of judged answers and requests, to end a run's line; "" if the jury did nothing."""
    if not judged.answers:
        return ""
    return f"; {format_count(judged.answers, 'answer')} judged with {format_count(judged.asked, 'request')} to judges"


def describe_seats(summary: "RunSummary") -> list[str]:
    """Return a line with the seats that each judge filled and the reasons for empty ones; [] if no judge was asked."""
    jury = summary.main.jury
    if jury is None or not jury.begun:
        return []
    judges: list[str] = []
    for name, seats in zip(jury.judges, jury.each, strict=False):
        counts = {"repaired": seats.repaired, **seats.faults}
        reasons = ", ".join(f"{count} {reason}" for reason, count in counts.items() if count)
        asked = seats.filled + sum(seats.faults.values())
        judges.append(f"{name} {seats.filled} of {asked}{f' ({reasons})' if reasons else ''}")
    return [f"seats filled: {'; '.join(judges)}"] if judges else []


def describe_unseated(answers: int, summaries: "Sequence[RunSummary]") -> str:
    """Return a line with the number of answers that lack a judge's reply, and the seats and reasons over all runs.

    The seats of juries that gave no verdict at all are left to `describe_silent_juries`.
    """
    from agent.store import RETRIED

    empty_seats = _EmptySeats()
    for summary in summaries:
        if not is_jury_silent(summary):
            empty_seats.add(summary, RETRIED)
    seats = empty_seats.describe()
    named = f" ({seats})" if seats else ""
    return f"answers that lack a judge's reply: {answers:,}{named}; run the same command again to ask only those."


def is_jury_silent(summary: "RunSummary") -> bool:
    """Return whether every seat of a run's jury was asked about every answer, and none gave a verdict on any."""
    from agent.vocabulary import Reason

    jury = summary.main.jury
    if jury is None or not jury.begun or jury.filled:
        return False
    return Reason.NOT_JUDGED not in jury.faults


def describe_silent_juries(summaries: "Sequence[RunSummary]", suite: str) -> list[str]:
    """Return a line for each jury of which no seat gave a verdict on any answer of a run; [] if all juries did."""
    seats_by_jury: dict[tuple[str, ...], _EmptySeats] = {}
    benchmarks_by_jury: dict[tuple[str, ...], dict[str, None]] = {}
    for summary in summaries:
        jury = summary.main.jury
        if jury is None or not is_jury_silent(summary):
            continue
        seats_by_jury.setdefault(jury.judges, _EmptySeats()).add(summary)
        benchmarks_by_jury.setdefault(jury.judges, {})[summary.run.benchmark] = None
    lines: list[str] = []
    for judges, empty_seats in seats_by_jury.items():
        benchmarks = ", ".join(benchmarks_by_jury[judges])
        line = f"no seat of the jury gave a verdict on any answer of {benchmarks} ({empty_seats.describe()})"
        if not empty_seats.may_fill:
            line += f"; to name other judges: `intramural judge --suite {suite} --judges FILE --replace`"
        lines.append(f"{line}.")
    return lines


class _EmptySeats:
    """Why seats are empty, by the name of the seat, over several runs."""

    def __init__(self) -> None:
        self._faults: dict[str, Counter[str]] = {}

    def add(self, summary: "RunSummary", reasons: "Collection[str] | None" = None) -> None:
        """Add the empty seats of a run, or those that are empty for one of the `reasons`."""
        jury = summary.main.jury
        if jury is None:
            return
        for name, judge in zip(jury.judges, jury.each, strict=False):
            faults = self._faults.setdefault(name, Counter())
            for reason, count in judge.faults.items():
                if reasons is None or reason in reasons:
                    faults[reason] += count

    @property
    def may_fill(self) -> bool:
        """Whether every seat is empty for a temporary reason, so that the same judges are asked again."""
        from agent.store import RETRIED

        return all(reason in RETRIED for faults in self._faults.values() for reason in faults)

    def describe(self) -> str:
        """Return the seats with the number of times they are empty, by reason; empty if none is."""
        seats: list[str] = []
        for name, faults in self._faults.items():
            reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(faults.items()))
            if reasons:
                seats.append(f"{name}: {reasons}")
        return "; ".join(seats)


def describe_unjudged(
    summaries: "Sequence[RunSummary]", suite: str, *, no_judging: bool
) -> list[str]:
    """Return lines with the benchmarks whose answers wait for a jury, and the command that asks one."""
    from agent.vocabulary import Reason

    without_jury: dict[str, None] = {}
    with_jury: dict[str, None] = {}
    for summary in summaries:
        if any(metric.unscored.get(Reason.NOT_JUDGED) for metric in summary.metrics):
            benchmarks = with_jury if find_judges(summary.run) else without_jury
            benchmarks[summary.run.benchmark] = None
    command = f"`intramural judge --suite {suite}`"
    lines: list[str] = []
    if without_jury:
        lines.append(
            f"no jury: answers of {', '.join(without_jury)} are stored but not judged; write judges.yaml in the site "
            f"directory and run {command}, or name a file with --judges"
        )
    if with_jury and no_judging:
        lines.append(
            f"answers of {', '.join(with_jury)} wait for their jury: run {command} to ask it"
        )
    return lines


def find_judges(run: "Run") -> "tuple[Judge, ...]":
    """Return the judges of a run's jury by seat; empty without a jury."""
    for metric in run.details.metrics:
        if metric.jury is not None:
            return metric.judges
    return ()


def is_judged_by_itself(run: "Run") -> bool:
    """Return whether the run's deployment is a judge of its own answers."""
    return any(judge.model_deployment == run.deployment for judge in find_judges(run))


@dataclass(frozen=True, slots=True)
class _UsageOfRun:
    """The usage of one judge in one run.

    Attributes:
        seconds: wall time of judging in this command; 0 if the judge was not asked.
    """

    usage: "Usage"
    seconds: float


class JudgingUsage:
    """The usage of judges, collected run by run and described by run and in total."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._prices: Mapping[str, Prices] | None = None
        self._runs_by_judge: dict[str, list[_UsageOfRun]] = {}
        self._judged_runs = 0

    def add_run(
        self,
        store: "Store",
        run: "Run",
        judged: "JudgingOutcome",
        asked: Collection[str] | None = None,
    ) -> list[str]:
        """Add one run, and return lines with the usage and cost of its judgements.

        Args:
            store: the store that contains the judgements.
            run: the run whose answers were judged.
            judged: the work done by this command.
            asked: deployments of the judges that this command asked; None for the whole jury.
        """
        from agent.results.usage import describe_judge_usage

        seats_by_judge: dict[str, list[int]] = {}
        for number, judge in enumerate(find_judges(run)):
            seats_by_judge.setdefault(judge.model_deployment or judge.model_name, []).append(number)
        lines: list[str] = []
        for name, seats in seats_by_judge.items():
            usage = store.juries.sum_usage(run.run_id, seats)
            if not usage.answers:
                continue
            asked_now = judged.asked > 0 and (asked is None or name in asked)
            seconds = judged.seconds if asked_now else 0.0
            self._runs_by_judge.setdefault(name, []).append(_UsageOfRun(usage, seconds))
            lines += describe_judge_usage(name, usage, self._find_prices(name), seconds)
        if lines:
            self._judged_runs += 1
        return lines

    def describe_total(self) -> list[str]:
        """Return lines with each judge's usage and cost over all runs; [] for fewer than two runs."""
        from agent.results.usage import describe_judge_usage, total_usage

        if self._judged_runs < 2:
            return []
        lines: list[str] = []
        for name, runs in self._runs_by_judge.items():
            usage = total_usage([run.usage for run in runs])
            seconds = sum(run.seconds for run in runs)
            lines += describe_judge_usage(name, usage, self._find_prices(name), seconds)
        return lines

    def _find_prices(self, name: str) -> "Prices | None":
        from agent.catalog.deployments import read_deployments

        if self._prices is None:
            self._prices = {}
            for deployment in read_deployments(self._site.deployments).values():
                if deployment.prices:
                    self._prices[deployment.name] = deployment.prices
        return self._prices.get(name)
