"""A suite's runs and instances as tables, each text through redaction."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.exchange.each_metric import each_metric
from agent.exchange.redacted_only import redacted_only
from agent.exchange.shown_names import ShownNames
from agent.exchange.tables.columns import INSTANCES, RUNS
from agent.exchange.tables.files import TableForm, table_file
from agent.exchange.tables.judgement_rows import judgement_row
from agent.io.progress import Progress
from agent.redaction.gateway.cases import ClearedCase, Clearer, open_clearer
from agent.redaction.gateway.judgements import read_seat_judgements
from agent.results.summarize import MetricSummary, summarise_run
from agent.site.directory import Site
from agent.store import Run, Store
from agent.vocabulary import Response, Unscored

PAGE = 200  # instances in memory at a time, and to an audit entry


def export_tables(
    site: Site, suite: str, folder: Path, form: TableForm, *, reveal: bool, progress: Progress | None = None
) -> int:
    """Write `runs.<form>` and `instances.<form>` of the suite into `folder`; return how many instances there are.

    Texts are redacted under the site's policy and ids left out; with `reveal` both are as they were, after an audit
    entry a page. A purged text is null. Write into `agent.io.new_folder.new_folder`, so that a failure leaves nothing.
    """
    progress = progress or Progress()
    count = 0
    with site.store() as store:
        clearer = open_clearer(site, store, reveal=reveal, purpose="export")
        runs = store.runs.select(suite)
        names = ShownNames(store, reveal=reveal)
        with table_file(folder / f"runs.{form}", form, RUNS) as add:
            for run in runs:
                for row in run_rows(store, run, names):
                    add(row)
        progress.begin("instances", sum(store.answers.count_instances(run.run_id) for run in runs))
        with table_file(folder / f"instances.{form}", form, INSTANCES) as add:
            for run in runs:
                for row in instance_rows(store, run, clearer, names.run(run)):
                    add(row)
                    count += 1
                    progress.advance()
        progress.end()
    return count


def run_rows(store: Store, run: Run, names: ShownNames) -> Iterator[dict[str, Any]]:
    """Yield a row a metric of the run, the main one first."""
    summary = names.summary(summarise_run(store, run))
    run = summary.run
    kept_metrics = {metric.name: metric for metric in run.details.metrics}
    usage = store.answers.sum_usage(run.run_id)
    for metric in each_metric(summary):
        kept_metric = kept_metrics[metric.metric]
        yield {
            **_of_run(run),
            "benchmark_name": run.details.display_name,
            "category": run.details.category,
            "access": run.details.access,
            "language_model": run.details.language_model,
            "metric": metric.metric,
            "helm_name": kept_metric.helm_name or metric.metric,
            "scoring": kept_metric.scoring or run.details.scoring,
            "main": metric.metric == summary.main.metric,
            "n": metric.mean.n,
            "units": metric.mean.units,
            "unscored": sum(metric.unscored.values()),
            "unscored_reasons": dict(metric.unscored),
            "mean": metric.mean.value,
            "floor": metric.floor,
            "low": metric.mean.low,
            "high": metric.mean.high,
            "interval": metric.mean.method,
            "normalised": metric.normalised,
            "bound_low": None if metric.bounds is None else metric.bounds.low,
            "bound_high": None if metric.bounds is None else metric.bounds.high,
            "cut_off": summary.cut_off,
            **_jury(metric),
            "data": run.details.data.known,
            "imported": run.imported,
            "state": run.state,
            "notes": "; ".join(summary.notes(metric)),
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "requests": usage.attempts,
            "asked_seconds": usage.asked_seconds,
        }


_JURY = (
    "scale_low",
    "scale_high",
    "quorum",
    "judges",
    "seats",
    "seats_filled",
    "seats_repaired",
    "seat_faults",
    "criteria",
    "family_judges",
    "without_family",
)


def _jury(metric: MetricSummary) -> dict[str, Any]:
    jury = metric.jury
    if jury is None:
        return dict.fromkeys(_JURY)
    judges = [
        {"judge": name, "mean": one.mean, "filled": one.filled, "repaired": one.repaired, "faults": dict(one.faults)}
        for name, one in zip(jury.judges, jury.each, strict=True)
    ]
    without = None if jury.without_family is None else jury.without_family.value
    criteria = {name: mean.value for name, mean in jury.criteria.items()}
    terms = (metric.low, metric.high, jury.quorum, judges)
    counts = (jury.seats, jury.filled, jury.repaired, dict(jury.faults))
    return dict(zip(_JURY, (*terms, *counts, criteria, jury.of_family, without), strict=True))


def instance_rows(store: Store, run: Run, clearer: Clearer, shown: Run) -> Iterator[dict[str, Any]]:
    """Yield a row an instance of the run, in benchmark order; `shown` is the run as the export calls it."""
    for offset in range(0, store.answers.count_instances(run.run_id), PAGE):
        page = store.answers.read_instances(run.run_id, offset, PAGE)
        cases = clearer.clear(run.run_id, page, read_seat_judgements(store, shown, page))
        for stored, case in zip(page, cases, strict=True):
            yield {**_of_run(shown), **_case(case), **_tokens(stored.response)}


def _of_run(run: Run) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "run": run.name,
        "benchmark": run.benchmark,
        "model": run.model,
        "deployment": run.deployment,
    }


def _case(case: ClearedCase) -> dict[str, Any]:
    return {
        "position": case.position,
        "instance": case.key,
        "id": None if case.id is None else redacted_only(case.id),
        "messages": None
        if case.prompt is None
        else [{"role": message.role, "content": redacted_only(message.text)} for message in case.prompt],
        "references": None
        if case.references is None
        else [{"text": redacted_only(reference.text), "correct": reference.correct} for reference in case.references],
        "answer": None if case.answer is None else redacted_only(case.answer),
        "reasoning": None if case.reasoning is None else redacted_only(case.reasoning),
        "finish_reason": case.finish_reason,
        "scores": {
            metric: {"unscored": score.reason.value} if isinstance(score, Unscored) else score
            for metric, score in case.scores.items()
        },
        "judgements": list(map(judgement_row, case.judgements)),
    }


def _tokens(response: Response | None) -> dict[str, int | None]:
    return {
        "prompt_tokens": None if response is None else response.prompt_tokens,
        "completion_tokens": None if response is None else response.completion_tokens,
        "shortened": None if response is None else response.shortened,
    }
