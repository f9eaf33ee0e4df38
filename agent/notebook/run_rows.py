"""Rows about suites, runs and their instances. Every text of an instance is cleared before it enters a row."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.errors import ConfigError
from agent.exchange.redacted_only import require_redacted
from agent.exchange.shown_names import ShownNames
from agent.exchange.tables.export import iter_instance_rows
from agent.redaction.gateway.cases import Clearer
from agent.results.benchmark_names import name_benchmark
from agent.results.summarize import summarise_run
from agent.store import Run, Store
from agent.vocabulary import Unscored


def list_suite_rows(store: Store) -> list[dict[str, Any]]:
    """Return a row for each suite, the oldest first."""
    rows = []
    for suite in store.runs.list_suites():
        runs = store.runs.select(suite)
        ends = [run.ended_at for run in runs if run.ended_at is not None]
        rows.append(
            {
                "suite": suite,
                "runs": len(runs),
                "benchmarks": len({run.benchmark for run in runs}),
                "models": len({run.model for run in runs}),
                "instances": sum(store.answers.count_instances(run.run_id) for run in runs),
                "started_at": min(run.started_at for run in runs),
                "ended_at": max(ends, default=None),
            }
        )
    return rows


def build_run_row(store: Store, run: Run, names: ShownNames) -> dict[str, Any]:
    """Return the row of a run, with its main metric."""
    summary = names.show_summary(summarise_run(store, run))
    shown, main = summary.run, summary.shown
    usage = store.answers.sum_usage(run.run_id)
    return {
        "run_id": run.run_id,
        "suite": run.suite,
        "run": shown.name,
        "benchmark": shown.benchmark,
        "benchmark_name": name_benchmark([shown]),
        "category": shown.details.category,
        "access": run.details.access,
        "model": shown.model,
        "deployment": shown.deployment,
        "language_model": run.details.language_model,
        "answer_mode": run.details.answer_mode,
        "scoring": run.details.scoring,
        "data": run.details.data.known,
        "imported": run.imported,
        "state": run.state,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "instances": store.answers.count_instances(run.run_id),
        "metric": main.metric,
        "mean": main.mean.value,
        "low": main.mean.low,
        "high": main.mean.high,
        "n": main.mean.n,
        "units": main.mean.units,
        "unscored": sum(main.unscored.values()),
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "requests": usage.attempts,
        "asked_seconds": usage.asked_seconds,
    }


def find_run(store: Store, name: str, names: ShownNames) -> Run:
    """Return the run with this id or name.

    Raises:
        ConfigError: there is no such run, or several suites contain one.
    """
    run = store.runs.find(name)
    if run is not None:
        return run
    runs = [run for run in store.runs.select() if name in (run.name, names.show_run(run).name)]
    if not runs:
        raise ConfigError(f"there is no run {name}", "Choose a run_id from `site.runs()`.")
    if len(runs) > 1:
        suites = ", ".join(run.suite for run in runs)
        raise ConfigError(
            f"several suites contain {name}: {suites}",
            "Choose its run_id from `site.runs(suite)`.",
        )
    return runs[0]


def iter_cleared_instances(
    store: Store, run: Run, clearer: Clearer, names: ShownNames, positions: range
) -> Iterator[dict[str, Any]]:
    """Yield the row of each instance, with the score of the metric that the leaderboard shows."""
    metric = summarise_run(store, run).shown.metric
    for row in iter_instance_rows(store, run, clearer, names.show_run(run), positions):
        yield {**row, **_join_texts(row), **_read_score(row["scores"], metric)}


def _join_texts(row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the prompt and the options as one text each."""
    messages, references = row["messages"], row["references"]
    return {
        "prompt": None if messages is None else _join_messages(messages),
        "reference": _join_references(references, correct=True),
        "wrong_options": _join_references(references, correct=False),
    }


def _join_messages(messages: Sequence[Mapping[str, Any]]) -> str:
    if len(messages) == 1:
        return str(require_redacted(messages[0]["content"]))
    parts = [f"{message['role']}: {require_redacted(message['content'])}" for message in messages]
    return "\n\n".join(parts)


def _join_references(
    references: Sequence[Mapping[str, Any]] | None, *, correct: bool
) -> str | None:
    """Return the right or the wrong references, one a line; None without any."""
    texts = []
    for reference in references or ():
        if reference["correct"] == correct:
            texts.append(str(require_redacted(reference["text"])))
    return "\n".join(texts) if texts else None


def _read_score(scores: Mapping[str, Any], metric: str) -> dict[str, Any]:
    score = scores.get(metric)
    if isinstance(score, Mapping):
        return {"metric": metric, "score": None, "unscored": score["unscored"]}
    return {"metric": metric, "score": score, "unscored": None}


def iter_scores(store: Store, run: Run) -> Iterator[dict[str, Any]]:
    """Yield a row for each instance and metric. It contains no text of the instance."""
    for stored in store.answers.read_each_instance(run.run_id):
        for metric, score in stored.scores.items():
            is_unscored = isinstance(score, Unscored)
            yield {
                "position": stored.position,
                "instance": stored.instance_key.hex()[:16],
                "metric": metric,
                "score": None if is_unscored else score,
                "unscored": score.reason if isinstance(score, Unscored) else None,
            }


def iter_judgements(
    store: Store, run: Run, clearer: Clearer, names: ShownNames
) -> Iterator[dict[str, Any]]:
    """Yield a row for each verdict of a seat on a criterion, and one for each seat without a verdict."""
    positions = range(store.answers.count_instances(run.run_id))
    for row in iter_instance_rows(store, run, clearer, names.show_run(run), positions):
        for judgement in row["judgements"]:
            seat = {"position": row["position"], "instance": row["instance"], **judgement}
            if judgement["grades"] is None:
                yield seat
                continue
            for criterion, grade in judgement["grades"].items():
                words = judgement["words"].get(criterion, {})
                explanation = "\n".join(str(require_redacted(text)) for text in words.values())
                yield {
                    **seat,
                    "criterion": criterion,
                    "grade": grade,
                    "explanation": explanation or None,
                }
