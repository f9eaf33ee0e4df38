"""A whole site in memory, for the pages: everything `SiteReader` asks, answered from plain values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent.service.queries import (
    CapabilityLine,
    CaseRecord,
    MetricMean,
    RunDetail,
    RunSummary,
    SuiteSummary,
)
from agent.vocabulary import Failure, Instance, Message, Reason, Reference, Response, Unscored

BEGAN = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@dataclass
class MemorySite:
    """Runs by id, their records, and the audit log."""

    name: str = "St. Example Hospital"
    details: dict[str, RunDetail] = field(default_factory=dict)
    records: dict[str, list[CaseRecord]] = field(default_factory=dict)
    audited: list[str] = field(default_factory=list)

    def add(self, detail: RunDetail, records: list[CaseRecord]) -> None:
        self.details[detail.summary.id] = detail
        self.records[detail.summary.id] = records

    def suites(self) -> Sequence[SuiteSummary]:
        runs = [detail.summary for detail in self.details.values()]
        return [
            SuiteSummary(
                suite,
                runs=len(own),
                models=len({run.model for run in own}),
                benchmarks=len({run.benchmark for run in own}),
                last_run=max(run.started for run in own),
            )
            for suite in dict.fromkeys(run.suite for run in runs)
            for own in [[run for run in runs if run.suite == suite]]
        ]

    def runs(self, suite: str) -> Sequence[RunSummary]:
        return [detail.summary for detail in self.details.values() if detail.summary.suite == suite]

    def run(self, run_id: str) -> RunDetail | None:
        return self.details.get(run_id)

    def instances(self, run_id: str, *, offset: int, limit: int) -> Sequence[CaseRecord]:
        return self.records[run_id][offset : offset + limit]

    def audit(self, event: str) -> None:
        self.audited.append(event)


def run_detail(
    run_id: str = "run-1",
    *,
    suite: str = "november",
    benchmark: str = "pubmed_qa",
    benchmark_name: str = "PubMedQA",
    category: str = "Medical Research Assistance",
    model: str = "qwen/qwen2.5-7b-instruct",
    mean: float | None = 0.742,
    interval: tuple[float, float] | None = (0.69, 0.789),
    instances: int = 45,
    unscored: dict[Reason, int] | None = None,
    scale_high: float = 1.0,
) -> RunDetail:
    unscored = unscored or {}
    missing = sum(unscored.values())
    main = MetricMean("exact_match", instances - missing, missing, mean, interval, 0.0, scale_high)
    summary = RunSummary(
        id=run_id,
        suite=suite,
        benchmark=benchmark,
        benchmark_name=benchmark_name,
        category=category,
        access="public",
        model=model,
        model_name=model,
        is_language_model=not model.startswith("baseline/"),
        dataset="official",
        state="incomplete" if missing else "complete",
        instances=instances,
        answered=instances - missing,
        main=main,
        started=BEGAN,
    )
    return RunDetail(
        summary,
        means=(main, MetricMean("macro_f1", instances - missing, missing, 0.71, None)),
        unscored=unscored,
        settings=(("Scoring", "intramural"), ("Temperature", "0"), ("Longest answer", "16 tokens")),
        capabilities=(
            CapabilityLine("temperature", "honoured", "answers repeat at temperature 0"),
            CapabilityLine("logprobs", "ignored", "asked for and not sent; nothing here needs them"),
        ),
    )


def case_record(
    number: int = 0,
    *,
    prompt: str = "Does aspirin lower fever?",
    answer: str = "yes",
    reasoning: str = "",
    references: tuple[Reference, ...] = (Reference("yes", True), Reference("no", False)),
) -> CaseRecord:
    return CaseRecord(
        key=f"{number:016x}",
        instance=Instance(
            id=f"patient-{number}",
            unit=f"unit-{number}",
            messages=(Message("user", prompt),),
            references=references,
            multiple_choice=True,
        ),
        answer=Response(answer, reasoning, "stop", 10, 2, 0.5),
        scores={"exact_match": 1.0},
    )


def failed_record(number: int, reason: Reason = Reason.TIMEOUT) -> CaseRecord:
    record = case_record(number)
    return CaseRecord(record.key, record.instance, Failure(reason), {"exact_match": Unscored(reason)})


def purged_record(number: int) -> CaseRecord:
    return CaseRecord(f"{number:016x}", None, None, {"exact_match": 0.0})
