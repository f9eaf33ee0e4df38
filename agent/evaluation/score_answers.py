"""Scoring answers that were produced elsewhere, by the code that scores runs. Nothing is stored, nobody is asked."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.run_entries import benchmark_of, parse_run_entry
from agent.datasets.identity import ROW_ID
from agent.datasets.load import Dataset, iter_instances, locate_dataset
from agent.errors import ConfigError
from agent.evaluation.answers_file import AnswersFile
from agent.evaluation.definition import lineage, parser_of
from agent.evaluation.measures import Rules, ScoringChoice
from agent.evaluation.score import score_response
from agent.evaluation.summarise import MetricSummary, RunSummary, metric_summary, paired, whole_run_summary
from agent.evaluation.whole_run import GatheredLabels
from agent.metrics import Labelled, check_available
from agent.store import Run
from agent.vocabulary import Failure, Instance, Reason, Response, RunEntry, Unscored

ELSEWHERE = "(answers from a file)"


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """The summary, and the instances without an answer: ids of public data and row numbers, places of others."""

    summary: RunSummary
    missing: tuple[str, ...]


def score_answers(
    own: Path | None, description: str, data: Path, answers: Path, scoring: ScoringChoice | None = None
) -> ScoredAnswers:
    """Score a file of answers.

    Args:
        own: folder of the hospital's own benchmarks, if there is a site.
        description: a benchmark's id or alias, and its arguments as in a run entry.
        data: file or folder of the dataset.
        answers: see `AnswersFile`.
        scoring: whose rules; None: the benchmark's.

    Raises:
        ConfigError: there is no such benchmark, or an argument is wrong.
        BenchmarkError: the data or a line of the answers is wrong.
    """
    benchmark, dataset = _asked(own, description, data)
    check_available(benchmark.id, benchmark.metrics)
    rules = Rules.of(
        benchmark.metrics, scoring or benchmark.scoring, parser_of(benchmark), lineage(benchmark, dataset.known)
    )
    with AnswersFile.open(answers) as file:
        ids = {instance.id for instance in iter_instances(benchmark, dataset)}
        file.refuse_others(ids, f"{_ids_of(benchmark)} --write-template FILE writes them all.")
        tally = _Tally(rules)
        missing: list[str] = []
        for place, instance in enumerate(iter_instances(benchmark, dataset), 1):
            answer = file.answer(instance.id)
            if answer is None:
                missing.append(_called(benchmark, instance, place))
            tally.add(instance, answer)
        run = _run(benchmark, dataset, rules, len(ids))
        return ScoredAnswers(RunSummary(run, paired(tally.summaries(run))), tuple(missing))


def write_template(own: Path | None, description: str, data: Path, path: Path) -> int:
    """Write a new file, for its owner alone, with an empty answer to every instance; return how many.

    Raises:
        ConfigError: as `score_answers`, or the file is there or cannot be written.
        BenchmarkError: the data is wrong.
    """
    ids = [instance.id for instance in iter_instances(*_asked(own, description, data))]
    try:
        with open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.writelines(json.dumps({"instance_id": one, "answer": ""}, ensure_ascii=False) + "\n" for one in ids)
    except OSError as why:
        raise ConfigError(f"{path.name} cannot be written ({why.strerror})", "Name a new file.") from None
    return len(ids)


def _asked(own: Path | None, description: str, data: Path) -> tuple[Benchmark, Dataset]:
    entry = _entry(description, data)
    benchmark = benchmark_of(entry, *survey_benchmarks(own))
    return benchmark, locate_dataset(benchmark, None, entry.arguments)


def _ids_of(benchmark: Benchmark) -> str:
    """Say what an instance_id of the benchmark is."""
    if benchmark.id_column is None:
        return "An instance_id is the number of the row here, beginning with 1."
    if benchmark.id_column == ROW_ID:
        return "An instance_id is the row's own id here, else its number, beginning with 1."
    return f"An instance_id is what the column {benchmark.id_column!r} holds."


def _entry(description: str, data: Path) -> RunEntry:
    if "," in str(data):
        raise ConfigError("the path of --data holds a comma, which a run entry cannot", "Rename the file or folder.")
    given = parse_run_entry(description)
    if given.model or given.expanders or "data_path" in given.arguments:
        raise ConfigError("a benchmark's own arguments may follow its id, nothing else", "Name the data with --data.")
    return RunEntry(given.benchmark, "", "", {**given.arguments, "data_path": str(data)}, {}, description)


def _called(benchmark: Benchmark, instance: Instance, place: int) -> str:
    """Return what to call an instance: the ids of a hospital's data may be those of its patients."""
    return instance.id if benchmark.access == "public" or benchmark.id_column is None else f"number {place} of the data"


class _Tally:
    """Scores, by measure, as they come."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._scored: dict[str, list[tuple[bytes, float]]] = {one.name: [] for one in rules.measures}
        self._unscored: dict[str, Counter[str]] = {one.name: Counter() for one in rules.measures}
        self._labels = GatheredLabels(rules)

    def add(self, instance: Instance, answer: str | None) -> None:
        result = Failure(Reason.NOT_ASKED) if answer is None else Response(answer, "", "stop", None, None, 0.0)
        for verdict in score_response(self._rules, instance, result):
            name, value = verdict.measure.name, verdict.value
            self._labels.add(instance, verdict)
            if isinstance(value, Unscored):
                self._unscored[name][value.reason.value] += 1
            elif not isinstance(value, Labelled):
                self._scored[name].append((instance.unit.encode(), value))

    def summaries(self, run: Run) -> Iterator[MetricSummary]:
        of_run = {score.metric: score for score in self._labels.scores()}
        for kept in run.details["metrics"]:
            name = kept["name"]
            if name in of_run:
                yield whole_run_summary(kept, [of_run[name]], self._unscored[name])
            else:
                yield metric_summary(kept, self._scored[name], self._unscored[name])


def _run(benchmark: Benchmark, dataset: Dataset, rules: Rules, instances: int) -> Run:
    details: dict[str, Any] = {
        "display_name": benchmark.display_name,
        "data": {
            "known": dataset.known,
            "own": benchmark.dataset_file is not None,
            "digest": dataset.digest,
            "instances": instances,
        },
        "language_model": True,
        **rules.facts(),
    }
    return Run("", "", benchmark.id, benchmark.id, ELSEWHERE, ELSEWHERE, details, "ended", 0, 0)
