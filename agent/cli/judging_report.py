"""What juries did and took, in words: for `run` and `judge`."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from agent.io.wording import counted
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.catalog.deployments import Prices
    from agent.judging.judge_run import JudgingOutcome
    from agent.results.summarize import RunSummary
    from agent.store import Run, Store, Usage
    from agent.vocabulary import Judge


def judged_words(judged: "JudgingOutcome") -> str:
    """Say what the jury did, to be put behind a line; empty where it did nothing."""
    if not judged.answers:
        return ""
    return f"; {counted(judged.answers, 'answer')} judged with {counted(judged.asked, 'request')} to judges"


def seats_words(summary: "RunSummary") -> list[str]:
    """Say, in a line, how many seats each judge filled and why not all; nothing where no judge was asked."""
    jury = summary.main.jury
    if jury is None or not jury.begun:
        return []
    told = []
    for name, judge in zip(jury.judges, jury.each, strict=False):
        more = {"repaired": judge.repaired, **judge.faults}
        why = ", ".join(f"{count} {word}" for word, count in more.items() if count)
        told.append(f"{name} {judge.filled} of {judge.filled + sum(judge.faults.values())}{f' ({why})' if why else ''}")
    return [f"seats filled: {'; '.join(told)}"] if told else []


def unseated_words(answers: int) -> str:
    """Say that seats are empty which another time may fill."""
    return f"answers without a reply of some judge: {answers:,}; run the same command again to ask only those."


def unjudged_words(summaries: "Sequence[RunSummary]", suite: str, *, no_judging: bool) -> list[str]:
    """Say which benchmarks' answers wait for a jury, and how they get one; nothing where all have been asked about."""
    from agent.vocabulary import Reason

    waiting: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for summary in summaries:
        if any(metric.unscored.get(Reason.NOT_JUDGED) for metric in summary.metrics):
            waiting[bool(_judges(summary.run))][summary.run.benchmark] = None
    later = f"`intramural judge --suite {suite}`"
    lines = []
    if waiting[False]:
        lines.append(
            f"no jury: answers of {', '.join(waiting[False])} are kept and not judged; write judges.yaml into the site "
            f"directory and give {later}, or name a file with --judges"
        )
    if waiting[True] and no_judging:
        lines.append(f"answers of {', '.join(waiting[True])} wait for their jury: {later} asks it")
    return lines


def _judges(run: "Run") -> "tuple[Judge, ...]":
    return next((metric.judges for metric in run.details.metrics if metric.jury is not None), ())


def self_judged(run: "Run") -> bool:
    """Whether the run's deployment sits on the jury of its own answers."""
    return any(judge.model_deployment == run.deployment for judge in _judges(run))


class JudgingTook:
    """Gathers what the judgements of runs took, and says it by run and by judge."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._prices: Mapping[str, Prices] | None = None
        self._together: dict[str, list[tuple[Usage, float]]] = {}
        self._runs = 0

    def of_run(
        self, store: "Store", run: "Run", judged: "JudgingOutcome", asked: Collection[str] | None = None
    ) -> list[str]:
        """Return what the judgements of one run took and cost, a line a thing.

        Args:
            store: has them.
            run: whose.
            judged: what was done now.
            asked: deployments of the judges that were asked now; None: all of the jury.
        """
        from agent.runs.forecast.usage import describe_judge_usage

        seats: dict[str, list[int]] = {}
        for number, judge in enumerate(_judges(run)):
            seats.setdefault(judge.model_deployment or judge.model_name, []).append(number)
        lines: list[str] = []
        for name, numbers in seats.items():
            usage = store.juries.sum_usage(run.run_id, numbers)
            seconds = judged.seconds if judged.asked and (asked is None or name in asked) else 0.0
            if usage.answers:
                self._together.setdefault(name, []).append((usage, seconds))
                lines += describe_judge_usage(name, usage, self._price(name), seconds)
        self._runs += bool(lines)
        return lines

    def together(self) -> list[str]:
        """Return the same by judge, over all runs; nothing where there were fewer than two."""
        from agent.runs.forecast.usage import describe_judge_usage, total_usage

        if self._runs < 2:
            return []
        return [
            line
            for name, each in self._together.items()
            for line in describe_judge_usage(
                name, total_usage([usage for usage, _ in each]), self._price(name), sum(seconds for _, seconds in each)
            )
        ]

    def _price(self, name: str) -> "Prices | None":
        from agent.catalog.deployments import read_deployments

        if self._prices is None:
            self._prices = {
                one.name: one.prices for one in read_deployments(self._site.deployments).values() if one.prices
            }
        return self._prices.get(name)
