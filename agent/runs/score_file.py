"""Scoring answers that were produced elsewhere, by the code that scores runs. Nothing is stored, nobody is asked."""

import json
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agent.catalog.benchmark import Benchmark, load_benchmark, survey_benchmarks
from agent.catalog.judges import Jury, read_jury
from agent.catalog.run_entries import CONFIGURABLE, benchmark_of, parse_run_entry
from agent.datasets.identity import ROW_ID
from agent.datasets.load import Dataset, iter_instances, locate_dataset
from agent.errors import ConfigError
from agent.judging.jury_selection import choose_quorum
from agent.jury.prompts import build_matter, write_judge_messages
from agent.jury.rubric import read_rubric
from agent.jury.seats import fill_seat
from agent.metrics import JUDGED, Judge, Labelled, Means, MetricUse, check_available, measurable
from agent.results.jury_summary import JudgedAnswer, summarise_jury
from agent.results.summarize import MetricSummary, RunSummary, attach_twins, summarise_metric, summarise_whole_run
from agent.runs.answers_file import AnswersFile
from agent.runs.definition import build_parser, choose_lineage
from agent.runs.judgements_file import JudgementsFile
from agent.scoring.deferred import bind_encoder, compute_later_scores
from agent.scoring.jury_scores import Judged, read_judged_answer, score_by_jury
from agent.scoring.measures import HELM_TWIN, Rules
from agent.scoring.score import MeasuredScore, score_response
from agent.scoring.whole_run import GatheredLabels
from agent.store import Judgement, KeptData, Run, RunDetails, Seat
from agent.vocabulary import Failure, Instance, Reason, Response, ScoringChoice, Unscored

ELSEWHERE = "(answers from a file)"
_NOTHING = Means()


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """The summary, and the instances without an answer: ids of public data and row numbers, places of others."""

    summary: RunSummary
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedElsewhere:
    """Where judges' replies stand, and who the judges are: a file as the site's judges.yaml; None: whoever replied."""

    replies: Path
    judges: Path | None = None


def score_answers(
    own: Path | None,
    description: str,
    data: Path | None,
    answers: Path,
    scoring: ScoringChoice | None = None,
    *,
    judged: JudgedElsewhere | None = None,
    means: Means = _NOTHING,
) -> ScoredAnswers:
    """Score a file of answers.

    Args:
        own: folder of the hospital's own benchmarks, if there is a site.
        description: a benchmark's id or alias, and its arguments as in a run entry; or its YAML file.
        data: file or folder of the dataset; None: the one that the definition names.
        answers: see `AnswersFile`.
        scoring: whose rules; None: the benchmark's.
        judged: what judges replied about the answers.
        means: for metrics that need more than the answer.

    Raises:
        ConfigError: there is no such benchmark, an argument is wrong, or no jury grades its answers.
        BenchmarkError: the data, a line of the answers or one of the judgements is wrong.
    """
    benchmark, dataset = _asked(own, description, data)
    metrics = measurable(benchmark.metrics, means)
    check_available(benchmark.id, metrics, means)
    with AnswersFile.open(answers) as file, _replies(benchmark, judged) as (jury, replies):
        uses = [_with_jury(use, jury) if jury and use.name in JUDGED else use for use in metrics]
        parser, units = build_parser(benchmark), choose_lineage(benchmark, dataset.known)
        rules = bind_encoder(Rules.of(uses, scoring or benchmark.scoring, parser, units), means)
        ids = {instance.id for instance in iter_instances(benchmark, dataset)}
        file.refuse_others(ids, f"{_ids_of(benchmark)} --write-template FILE writes them all.")
        if replies is not None:
            replies.refuse_others(
                {one for one in ids if file.has(one)}, "A judgement is of an answer: give its --answers."
            )
        tally = _Tally(rules)
        missing: list[str] = []
        for place, instance in enumerate(iter_instances(benchmark, dataset), 1):
            answer = file.answer(instance.id)
            if answer is None:
                missing.append(_called(benchmark, instance, place))
            tally.add(instance, answer, _seats(rules, replies, instance, answer))
        answered = (
            (place, instance, _response(answer))
            for place, instance in enumerate(iter_instances(benchmark, dataset))
            if (answer := file.answer(instance.id)) is not None
        )
        for place, name, value in compute_later_scores(rules, answered, means):
            tally.add_later(place, name, value)
        run = _run(benchmark, dataset, rules, len(ids))
        return ScoredAnswers(RunSummary(run, attach_twins(tally.summaries(run))), tuple(missing))


def write_template(own: Path | None, description: str, data: Path | None, path: Path) -> int:
    """Write a new file, for its owner alone, with an empty answer to every instance; return how many.

    Raises:
        ConfigError: as `score_answers`, or the file is there or cannot be written.
        BenchmarkError: the data is wrong.
    """
    ids = [instance.id for instance in iter_instances(*_asked(own, description, data))]
    return _write_lines(path, ({"instance_id": one, "answer": ""} for one in ids))


def write_judge_prompts(own: Path | None, description: str, data: Path | None, answers: Path, path: Path) -> int:
    """Write a new file, for its owner alone, with what a judge is asked about each answer; return how many.

    The marker around the texts is random, a new one for each file. Answers that no jury is shown (blank, or none at
    all) are left out.

    Raises:
        ConfigError: as `score_answers`, or the file is there or cannot be written.
        BenchmarkError: the data or a line of the answers is wrong.
    """
    benchmark, dataset = _asked(own, description, data)
    use = _graded(benchmark)
    rules = Rules.of([use], "intramural", build_parser(benchmark), choose_lineage(benchmark, dataset.known))
    marker = secrets.token_hex(8)
    with AnswersFile.open(answers) as file:
        ids = {instance.id for instance in iter_instances(benchmark, dataset)}
        file.refuse_others(ids, f"{_ids_of(benchmark)} --write-template FILE writes them all.")

        def lines() -> Iterator[dict[str, str]]:
            for instance in iter_instances(benchmark, dataset):
                answer = file.answer(instance.id)
                shown = None if answer is None else read_judged_answer(rules, _response(answer))
                if isinstance(shown, str):
                    asked = write_judge_messages(use, build_matter(instance, shown), marker, marked=False)
                    prompt = "\n\n".join(message.content for message in asked)
                    yield {"instance_id": instance.id, "prompt": prompt}

        return _write_lines(path, lines())


def _write_lines(path: Path, lines: Iterable[Mapping[str, str]]) -> int:
    """Write JSON lines to a new file; nothing is left of it where one of them cannot be made."""
    count = 0
    try:
        with open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            try:
                for line in lines:
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
                    count += 1
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except OSError as why:
        raise ConfigError(f"{path.name} cannot be written ({why.strerror})", "Name a new file.") from None
    return count


def _graded(benchmark: Benchmark) -> MetricUse:
    """Return the metric that a jury gives."""
    found = next((use for use in benchmark.metrics if use.name in JUDGED), None)
    if found is None:
        raise ConfigError(f"no jury grades the answers of {benchmark.id}", "Leave the judges' options out.")
    return found


@contextmanager
def _replies(
    benchmark: Benchmark, judged: JudgedElsewhere | None
) -> Iterator[tuple[Jury | None, JudgementsFile | None]]:
    """Open the judges' replies, and say who the judges are."""
    if judged is None:
        yield None, None
        return
    use = _graded(benchmark)
    jury = None if judged.judges is None else read_jury(judged.judges)
    names = None if jury is None else _names(jury)
    with JudgementsFile.open(judged.replies, names) as replies:
        jury = jury or Jury(tuple(Judge("", name, name) for name in replies.judges), None)
        quorum = choose_quorum(use, jury)
        if quorum is not None and quorum > len(jury.judges):
            raise ConfigError(
                f"the quorum of the jury is {quorum}, and it has {len(jury.judges)} seats",
                "Name all judges, also those that gave no reply, in a file and give it with --judges.",
            )
        yield Jury(jury.judges, quorum), replies


def _names(jury: Jury) -> tuple[str, ...]:
    """Return what the lines of a file call the judges."""
    names = tuple(judge.name or judge.model_name for judge in jury.judges)
    if len(set(names)) < len(names):
        raise ConfigError("two judges of --judges have one name", "Give each a `name` of its own, as the replies say.")
    return names


def _with_jury(use: MetricUse, jury: Jury) -> MetricUse:
    return replace(use, judges=jury.judges, quorum=jury.quorum)


def _seats(rules: Rules, replies: JudgementsFile | None, instance: Instance, answer: str | None) -> list[Judged]:
    """Return what each seat of the jury gave for an answer; a judge who said nothing about it has none."""
    shown = None if replies is None or answer is None else read_judged_answer(rules, _response(answer))
    if replies is None or not isinstance(shown, str):
        return []
    rubric = read_rubric(next(measure.use for measure in rules.measures if measure.of_jury))
    found: list[Judged] = []
    for seat, judge in enumerate(replies.judges):
        said = Judgement(tuple(_response(reply) for reply in replies.replies(instance.id, judge)))
        if said.replies:
            found.append((fill_seat(seat, b"", said, rubric, build_matter(instance, shown).texts), said))
    return found


def _response(text: str) -> Response:
    return Response(text, "", "stop", None, None, 0.0)


def _asked(own: Path | None, description: str, data: Path | None) -> tuple[Benchmark, Dataset]:
    arguments: dict[str, str] = {}
    if description.endswith((".yaml", ".yml")) and not description.startswith(f"{CONFIGURABLE}:"):
        file = Path(description)
        if not file.is_file():
            raise ConfigError(f"there is no file {description}", "Name a benchmark, or the YAML file of one.")
        benchmark = load_benchmark(file, absolute_paths=True)
    else:
        given = parse_run_entry(description)
        if given.model or given.expanders or "data_path" in given.arguments:
            raise ConfigError(
                "a benchmark's own arguments may follow its id, nothing else", "Name the data with --data."
            )
        benchmark = benchmark_of(given, *survey_benchmarks(own))
        if given.benchmark != CONFIGURABLE:
            arguments.update(given.arguments)
    if data is None and benchmark.dataset_file is None:
        raise ConfigError(
            f"which data of {benchmark.id} was asked is not said",
            "Name its file, or the folder of its files, with --data.",
        )
    return benchmark, locate_dataset(benchmark, None, arguments | ({"data_path": str(data)} if data else {}))


def _ids_of(benchmark: Benchmark) -> str:
    """Say what an instance_id of the benchmark is."""
    if benchmark.id_column is None:
        return "An instance_id is the number of the row here, beginning with 1."
    if benchmark.id_column == ROW_ID:
        return "An instance_id is the row's own id here, else its number, beginning with 1."
    return f"An instance_id is what the column {benchmark.id_column!r} holds."


def _called(benchmark: Benchmark, instance: Instance, place: int) -> str:
    """Return what to call an instance: the ids of a hospital's data may be those of its patients."""
    return instance.id if benchmark.access == "public" or benchmark.id_column is None else f"number {place} of the data"


class _Tally:
    """Scores, by measure, as they come."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._units: list[bytes] = []
        self._scored: dict[str, list[tuple[bytes, float]]] = {one.name: [] for one in rules.measures}
        self._unscored: dict[str, Counter[str]] = {one.name: Counter() for one in rules.measures}
        self._judged: dict[str, list[JudgedAnswer]] = {one.name: [] for one in rules.measures if one.of_jury}
        self._labels = GatheredLabels(rules)

    def add(self, instance: Instance, answer: str | None, judged: Sequence[Judged]) -> None:
        """Take the next instance, its answer if there is one, and what the seats of a jury gave for it."""
        unit = instance.unit.encode()
        self._units.append(unit)
        result = Failure(Reason.NOT_ASKED) if answer is None else _response(answer)
        for verdict in score_response(self._rules, instance, result):
            measure = verdict.measure
            if isinstance(result, Failure) or not (measure.of_jury or measure.later):
                self._add(unit, instance, verdict)
        if isinstance(result, Response):
            for verdict in score_by_jury(self._rules, result, judged):
                self._add(unit, instance, verdict, [seat for seat, _ in judged])

    def _add(self, unit: bytes, instance: Instance, verdict: MeasuredScore, seats: Sequence[Seat] = ()) -> None:
        name, value = verdict.measure.name, verdict.value
        self._labels.add(instance, verdict)
        if not isinstance(value, Labelled):
            self._count(unit, name, value)
            if verdict.measure.of_jury:
                self._judged[name].append((unit, value.reason if isinstance(value, Unscored) else value, seats))

    def add_later(self, place: int, name: str, value: float | Unscored) -> None:
        """Take the score of the instance at `place`, from 0, under a metric that is computed later."""
        self._count(self._units[place], name, value)

    def _count(self, unit: bytes, name: str, value: float | Unscored) -> None:
        if isinstance(value, Unscored):
            self._unscored[name][value.reason.value] += 1
        else:
            self._scored[name].append((unit, value))

    def summaries(self, run: Run) -> Iterator[MetricSummary]:
        """Summarise every measure."""
        of_run = {score.metric: score for score in self._labels.scores()}
        for metric in run.details.metrics:
            name = metric.name
            if name in of_run:
                yield summarise_whole_run(metric, [of_run[name]], self._unscored[name])
                continue
            summary = summarise_metric(metric, self._scored[name], self._unscored[name])
            if metric.jury is not None and not name.endswith(HELM_TWIN):
                summary = replace(summary, jury=summarise_jury(metric, "", self._judged[name]))
            yield summary


def _run(benchmark: Benchmark, dataset: Dataset, rules: Rules, instances: int) -> Run:
    data = KeptData(
        known=dataset.known, own=benchmark.dataset_file is not None, digest=dataset.digest, instances=instances
    )
    details = rules.put_into(RunDetails(display_name=benchmark.display_name, data=data))
    return Run("", "", benchmark.id, benchmark.id, ELSEWHERE, ELSEWHERE, details, "ended", 0, 0)
