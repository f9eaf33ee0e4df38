"""The pages' view of the encrypted store: answers what `SiteReader` asks."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from agent.evaluation.summarise import MetricSummary, summarise_run
from agent.evaluation.summarise import RunSummary as Summary
from agent.service.queries import CapabilityLine, CaseRecord, MetricMean, RunDetail, RunSummary, SuiteSummary
from agent.store import RETRIED, Run, Store
from agent.vocabulary import Failure, Reason, Unscored


class StoreReader:
    """Reads one open store; implements `SiteReader`."""

    def __init__(self, name: str, store: Store) -> None:
        self._name = name
        self._store = store

    @property
    def name(self) -> str:
        """The site's name."""
        return self._name

    def suites(self) -> Sequence[SuiteSummary]:
        """Every suite, newest run first."""
        by_suite: dict[str, list[Run]] = {}
        for run in self._store.runs():
            by_suite.setdefault(run.suite, []).append(run)
        summaries = [
            SuiteSummary(
                name=suite,
                runs=len(runs),
                models=len({run.model for run in runs}),
                benchmarks=len({run.benchmark for run in runs}),
                last_run=_moment(max(run.started_at for run in runs)),
            )
            for suite, runs in by_suite.items()
        ]
        return sorted(summaries, key=lambda summary: (summary.last_run, summary.name), reverse=True)

    def runs(self, suite: str) -> Sequence[RunSummary]:
        """The runs of a suite, by benchmark and then model."""
        return [self._summary(summarise_run(self._store, run)) for run in self._store.runs(suite)]

    def run(self, run_id: str) -> RunDetail | None:
        """One run, or None."""
        run = self._store.run(run_id)
        if run is None:
            return None
        summary = summarise_run(self._store, run)
        details = run.details
        found = details["capabilities"]["features"]
        return RunDetail(
            summary=self._summary(summary),
            means=tuple(_mean(metric) for metric in summary.metrics),
            unscored={Reason(reason): count for reason, count in summary.main.unscored.items()},
            settings=(
                ("Run", run.name),
                ("Deployment", run.deployment),
                ("Scoring", details["scoring"]),
                ("Longest answer", f"{details['max_tokens']} tokens"),
                ("Temperature", f"{details['temperature']:g}"),
                *((("Stop sequences", str(len(details["stop"]))),) if details["stop"] else ()),
                ("Data", f"{details['data']['known']}, SHA-256 {details['data']['digest'][:16]}"),
                ("Benchmark definition", f"SHA-256 {details['benchmark_digest'][:16]}"),
                ("Agent", details["agent_version"]),
                *(("Worked around", note) for note in details["workarounds"]),
            ),
            capabilities=tuple(
                CapabilityLine(feature.replace("_", " "), seen["state"], seen["finding"])
                for feature, seen in found.items()
            ),
        )

    def instances(self, run_id: str, *, offset: int, limit: int) -> Sequence[CaseRecord]:
        """One page of a run's instances."""
        return [
            CaseRecord(
                key=stored.instance_key.hex()[:16],
                instance=stored.instance,
                answer=stored.response or _failure(stored.scores.values()),
                scores=stored.scores,
            )
            for stored in self._store.instances(run_id, offset, limit)
        ]

    def audit(self, event: str) -> None:
        """Append to the site's audit log."""
        self._store.audit("reveal", event)

    def _summary(self, summary: Summary) -> RunSummary:
        run, details = summary.run, summary.run.details
        unscored = summary.main.unscored
        missing = sum(unscored.get(reason.value, 0) for reason in RETRIED)
        total = summary.main.mean.n + sum(unscored.values())
        return RunSummary(
            id=run.run_id,
            suite=run.suite,
            benchmark=run.benchmark,
            benchmark_name=details["display_name"],
            category=details["category"],
            access=details["access"],
            model=run.model,
            model_name=run.model,
            is_language_model=details["language_model"],
            dataset=details["data"]["known"],
            state="running" if run.state == "asking" else "incomplete" if missing else "complete",
            instances=total,
            answered=total - unscored.get(Reason.NOT_ASKED.value, 0),
            main=_mean(summary.main),
            started=_moment(run.started_at),
        )


def _mean(metric: MetricSummary) -> MetricMean:
    mean = metric.mean
    interval = None if mean.low is None or mean.high is None else (mean.low, mean.high)
    return MetricMean(
        metric.metric,
        mean.n,
        sum(metric.unscored.values()),
        mean.value,
        interval,
        float(metric.low),
        float(metric.high),
    )


def _failure(scores: Iterable[float | Unscored]) -> Failure | None:
    return next((Failure(s.reason) for s in scores if isinstance(s, Unscored) and s.reason in RETRIED), None)


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
