"""Export a suite's runs and instances as tables. Every text is redacted."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agent.exchange.redacted_only import require_redacted
from agent.exchange.shown_names import ShownNames
from agent.exchange.summary_metrics import iter_metrics
from agent.exchange.tables.columns import INSTANCES, RUNS
from agent.exchange.tables.files import TableForm, open_table
from agent.exchange.tables.judgement_rows import build_judgement_row
from agent.io.progress import Progress
from agent.io.workbook import check_rows
from agent.redaction import Redacted
from agent.redaction.gateway.cases import ClearedCase, Clearer, open_clearer
from agent.redaction.gateway.judgements import read_seat_judgements
from agent.results.summarize import MetricSummary, summarise_run
from agent.site.directory import Site
from agent.store import Run, Store
from agent.vocabulary import Response, Unscored

PAGE = 200  # instances held in memory at a time; each page has one audit entry


def export_tables(
    site: Site,
    suite: str,
    folder: Path,
    form: TableForm,
    *,
    reveal: bool,
    progress: Progress | None = None,
) -> int:
    """Write `runs.<form>` and `instances.<form>` of the suite into `folder`; return the number of instances.

    Texts are redacted under the site's policy and ids are omitted. With `reveal`, both are written unchanged, and each
    page is recorded in an audit entry. A purged text is null. `folder` should come from
    `agent.io.new_folder.new_folder`, so that a failure leaves no files behind.
    """
    progress = progress or Progress()
    with site.store() as store:
        clearer = open_clearer(site, store, reveal=reveal, purpose="export")
        runs = store.runs.select(suite)
        if form == "xlsx":
            check_rows(count_answers(store, runs))
        names = ShownNames(store, reveal=reveal)
        write_runs(store, runs, folder / f"runs.{form}", form, names)
        path = folder / f"instances.{form}"
        return write_instances(store, runs, path, form, names, clearer, progress)


def count_answers(store: Store, runs: Sequence[Run]) -> int:
    """Return the number of instances of several runs together."""
    return sum(store.answers.count_instances(run.run_id) for run in runs)


def write_runs(
    store: Store, runs: Sequence[Run], path: Path, form: TableForm, names: ShownNames
) -> None:
    """Write the table of runs, with a row for each metric of each run, to a new file."""
    with open_table(path, form, RUNS) as add:
        for run in runs:
            for row in iter_run_rows(store, run, names):
                add(row)


def write_instances(
    store: Store,
    runs: Sequence[Run],
    path: Path,
    form: TableForm,
    names: ShownNames,
    clearer: Clearer,
    progress: Progress | None = None,
) -> int:
    """Write the table of instances to a new file, and return their number."""
    progress = progress or Progress()
    count = 0
    progress.begin("instances", count_answers(store, runs))
    with open_table(path, form, INSTANCES) as add:
        for run in runs:
            for row in iter_instance_rows(store, run, clearer, names.show_run(run)):
                add(row)
                count += 1
                progress.advance()
    progress.end()
    return count


def iter_run_rows(store: Store, run: Run, names: ShownNames) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric of the run, the main metric first."""
    summary = names.show_summary(summarise_run(store, run))
    run = summary.run
    kept_metrics = {metric.name: metric for metric in run.details.metrics}
    usage = store.answers.sum_usage(run.run_id)
    for metric in iter_metrics(summary):
        kept_metric = kept_metrics[metric.metric]
        yield {
            **_identify_run(run),
            "benchmark_name": run.details.display_name,
            "category": run.details.category,
            "access": run.details.access,
            "language_model": run.details.language_model,
            "answer_mode": run.details.answer_mode,
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
            **_describe_jury(metric),
            "data": run.details.data.known,
            "imported": run.imported,
            "state": run.state,
            "notes": "; ".join(summary.notes(metric)),
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "requests": usage.attempts,
            "asked_seconds": usage.asked_seconds,
        }


_JURY_COLUMNS = (
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


def _describe_jury(metric: MetricSummary) -> dict[str, Any]:
    """Return the jury's columns, all empty for a metric without a jury."""
    jury = metric.jury
    if jury is None:
        return dict.fromkeys(_JURY_COLUMNS)
    judges = []
    for name, seat in zip(jury.judges, jury.each, strict=True):
        judge = {
            "judge": name,
            "mean": seat.mean,
            "filled": seat.filled,
            "repaired": seat.repaired,
            "faults": dict(seat.faults),
        }
        judges.append(judge)
    return {
        "scale_low": metric.low,
        "scale_high": metric.high,
        "quorum": jury.quorum,
        "judges": judges,
        "seats": jury.seats,
        "seats_filled": jury.filled,
        "seats_repaired": jury.repaired,
        "seat_faults": dict(jury.faults),
        "criteria": {name: mean.value for name, mean in jury.criteria.items()},
        "family_judges": jury.of_family,
        "without_family": None if jury.without_family is None else jury.without_family.value,
    }


def iter_instance_rows(
    store: Store, run: Run, clearer: Clearer, shown: Run, positions: range | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each instance of the run, in benchmark order.

    Args:
        store: the store.
        run: the run.
        clearer: clears the texts.
        shown: the run with its names as exported.
        positions: positions that follow each other; None for all instances.
    """
    wanted = positions
    if wanted is None:
        wanted = range(store.answers.count_instances(run.run_id))
    for offset in range(wanted.start, wanted.stop, PAGE):
        count = min(PAGE, wanted.stop - offset)
        page = store.answers.read_instances(run.run_id, offset, count)
        cases = clearer.clear(run.run_id, page, read_seat_judgements(store, shown, page))
        for stored, case in zip(page, cases, strict=True):
            yield {**_identify_run(shown), **_describe_case(case), **_count_tokens(stored.response)}


def _identify_run(run: Run) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "run": run.name,
        "benchmark": run.benchmark,
        "model": run.model,
        "deployment": run.deployment,
    }


def _describe_case(case: ClearedCase) -> dict[str, Any]:
    """Return the columns of an instance. A purged text is null."""
    return {
        "position": case.position,
        "instance": case.key,
        "id": _require_redacted_or_none(case.id),
        "messages": _list_messages(case),
        "references": _list_references(case),
        "answer": _require_redacted_or_none(case.answer),
        "reasoning": _require_redacted_or_none(case.reasoning),
        "finish_reason": case.finish_reason,
        "likelihoods": dict(case.likelihoods) or None,
        "scores": _describe_scores(case),
        "judgements": [build_judgement_row(judgement) for judgement in case.judgements],
    }


def _require_redacted_or_none(text: object) -> Redacted | None:
    return None if text is None else require_redacted(text)


def _list_messages(case: ClearedCase) -> list[dict[str, Any]] | None:
    if case.prompt is None:
        return None
    return [
        {"role": message.role, "content": require_redacted(message.text)} for message in case.prompt
    ]


def _list_references(case: ClearedCase) -> list[dict[str, Any]] | None:
    if case.references is None:
        return None
    references = []
    for reference in case.references:
        references.append({"text": require_redacted(reference.text), "correct": reference.correct})
    return references


def _describe_scores(case: ClearedCase) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for metric, score in case.scores.items():
        scores[metric] = {"unscored": score.reason.value} if isinstance(score, Unscored) else score
    return scores


def _count_tokens(response: Response | None) -> dict[str, int | None]:
    if response is None:
        return {"prompt_tokens": None, "completion_tokens": None, "shortened": None}
    return {
        "prompt_tokens": response.prompt_tokens,
        "completion_tokens": response.completion_tokens,
        "shortened": response.shortened,
    }
