"""Score answers produced elsewhere, with the same code as for runs but without a store or a model server."""

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agent.catalog.benchmark import Benchmark, load_benchmark, survey_benchmarks
from agent.catalog.judges import Jury, read_jury
from agent.catalog.parser_choice import NO_CHOICE, ParserChoice, choose_parser
from agent.catalog.run_entries import CONFIGURABLE, parse_run_entry, resolve_benchmark
from agent.datasets.identity import ROW_ID
from agent.datasets.load import Dataset, iter_instances, locate_dataset
from agent.datasets.references import LETTERS
from agent.datasets.row_numbers import EarlierIds, RowNumbers
from agent.errors import BenchmarkError, ConfigError
from agent.io.new_file import open_new
from agent.judging.jury_selection import choose_quorum
from agent.jury.prompts import build_matter, write_judge_messages
from agent.jury.rubric import read_rubric
from agent.jury.seats import fill_seat
from agent.metrics import (
    JUDGED,
    Judge,
    Labelled,
    Means,
    MetricUse,
    check_available,
    select_measurable,
)
from agent.reading.thoughts import build_reply
from agent.results.jury_summary import JudgedAnswer, summarise_jury
from agent.results.summarize import (
    MetricSummary,
    RunSummary,
    attach_twins,
    summarise_metric,
    summarise_whole_run,
)
from agent.runs.answers_file import AnswersFile
from agent.runs.definition import choose_lineage
from agent.runs.helm_ids import map_helm_ids
from agent.runs.judgements_file import JudgementsFile
from agent.runs.readings_file import (
    ReadInstance,
    check_readings_path,
    read_instance,
    write_readings,
)
from agent.scoring.deferred import AnsweredInstance, bind_metrics, compute_later_scores
from agent.scoring.jury_scores import Judged, read_judged_answer, score_by_jury
from agent.scoring.measures import HELM_TWIN, Rules
from agent.scoring.score import MeasuredScore, score_response
from agent.scoring.unread_answers import UnreadAnswers
from agent.scoring.whole_run import GatheredLabels
from agent.store import Judgement, KeptData, Run, RunDetails, Seat
from agent.vocabulary import Failure, Instance, Reason, Response, ScoringChoice, Unscored

ELSEWHERE = "(answers from a file)"
_NOTHING = Means()
_ROW_NUMBER = (
    "the row's number in the file (the first row of data is 1; empty rows and rows left out count)"
)
_OTHER_NUMBERS = (
    "the data has rows that are empty or left out; check that the answers' ids count these rows. Earlier versions did "
    "not count them, and the ids in the file fit both"
)


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """The summary of a file of answers.

    Attributes:
        summary: the summary.
        missing: names of the instances without an answer; see `_name_instance`.
        unread: the answers that were not read under the main metric.
        warning: a reason to check the ids of the answers; empty if there is none.
    """

    summary: RunSummary
    missing: tuple[str, ...]
    unread: UnreadAnswers
    warning: str = ""


@dataclass(frozen=True, slots=True)
class JudgedElsewhere:
    """Replies of judges that were asked elsewhere.

    Attributes:
        replies: file of the replies.
        judges: file of the jury, in the format of judges.yaml; if None, every judge that replied has a seat.
    """

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
    parser: ParserChoice = NO_CHOICE,
    helm_ids: bool = False,
    means: Means = _NOTHING,
    out: Path | None = None,
) -> ScoredAnswers:
    """Score a file of answers.

    Args:
        own: folder of the hospital's own benchmarks, if there is a site.
        description: a benchmark's id or alias with arguments as in a run entry, its YAML file, or the file's folder.
        data: file or folder of the dataset; None for the one named in the definition.
        answers: file of the answers; see `AnswersFile`.
        scoring: rules to score by; None for the benchmark's.
        judged: replies of judges about the answers.
        parser: the parser to use in place of the benchmark's.
        helm_ids: whether the files' ids are those of a HELM run, see `agent.runs.helm_ids`.
        means: resources for metrics that need more than the answer.
        out: new file for what was read from each answer (`agent.runs.readings_file`).

    Raises:
        ConfigError: there is no such benchmark, an argument is wrong, no jury grades its answers, HELM's ids of the
            benchmark are not known, or `out` cannot be written.
        BenchmarkError: the data, a line of the answers file or a judgement is invalid.
    """
    if out is not None:
        check_readings_path(out)
    benchmark, dataset = _locate(own, description, data)
    metrics = select_measurable(benchmark.metrics, means)
    check_available(benchmark.id, metrics, means)
    with AnswersFile.open(answers) as file, _open_replies(benchmark, judged) as (jury, replies):
        rules = _build_rules(benchmark, dataset, metrics, jury, scoring, parser)
        rules = bind_metrics(rules, means)
        questions = _Questions(benchmark, dataset, helm_ids)
        ids, warning = _read_ids(questions, file)
        if replies is not None:
            answered_ids = {identity for identity in ids if file.has(identity)}
            replies.refuse_others(
                answered_ids, "Every judgement needs an answer: add it to the file of --answers."
            )
        tally = _Tally(rules, keeps_each=out is not None)
        missing: list[str] = []
        for number, instance in enumerate(questions, 1):
            response = file.response(instance.id)
            if response is None:
                missing.append(_name_instance(benchmark, instance, number))
            tally.add(instance, response, _fill_seats(rules, replies, instance, response))
        answered = _read_answered(questions, file)
        for position, metric, score in compute_later_scores(rules, answered, means):
            tally.add_later(position, metric, score)
        if out is not None:
            write_readings(out, rules, _read_readings(questions, file, rules, tally))
        run = _describe_run(benchmark, dataset, rules, len(ids))
        summary = RunSummary(run, attach_twins(tally.summaries(run)))
        return ScoredAnswers(summary, tuple(missing), tally.unread, warning)


def _read_readings(
    questions: "_Questions", file: AnswersFile, rules: Rules, tally: "_Tally"
) -> Iterator[ReadInstance]:
    for position, instance in enumerate(questions):
        answer, response = file.answer(instance.id), file.response(instance.id)
        yield read_instance(rules, instance, answer, response, tally.each[position])


def _build_rules(
    benchmark: Benchmark,
    dataset: Dataset,
    metrics: Sequence[MetricUse],
    jury: Jury | None,
    scoring: ScoringChoice | None,
    parser: ParserChoice,
) -> Rules:
    uses = []
    for use in metrics:
        if jury is not None and use.name in JUDGED:
            uses.append(_add_jury(use, jury))
        else:
            uses.append(use)
    lineage = choose_lineage(benchmark, dataset.known)
    return Rules.of(uses, scoring or benchmark.scoring, choose_parser(benchmark, parser), lineage)


class _Questions:
    """The instances of a file of answers, under the ids that the file uses. Can be iterated any number of times.

    Attributes:
        uses_helm_ids: whether these are HELM's ids.
    """

    def __init__(self, benchmark: Benchmark, dataset: Dataset, helm_ids: bool) -> None:
        self._benchmark = benchmark
        self._dataset = dataset
        self._helm_ids = map_helm_ids(benchmark, dataset) if helm_ids else {}
        self.uses_helm_ids = helm_ids

    def __iter__(self) -> Iterator[Instance]:
        return self.read()

    def read(self, row_numbers: RowNumbers | None = None) -> Iterator[Instance]:
        """Yield the instances in order; `row_numbers` notes how their row numbers differ from earlier versions'."""
        for instance in iter_instances(self._benchmark, self._dataset, row_numbers=row_numbers):
            helm_id = self._helm_ids.get(instance.id)
            yield instance if helm_id is None else replace(instance, id=helm_id)

    def describe_ids(self) -> str:
        """Explain the instance_id of the file of answers."""
        if self.uses_helm_ids:
            return f"With --ids helm, an instance_id is HELM's, such as {next(iter(self)).id!r}."
        return f"{_describe_ids(self._benchmark)} To list them all, use --write-template FILE."


def _read_ids(questions: _Questions, file: AnswersFile) -> tuple[set[str], str]:
    """Return the ids of the instances, and a warning if the ids of the answers may mean other instances.

    Raises:
        BenchmarkError: an answer does not belong to an instance, or all ids are row numbers of earlier versions.
    """
    numbers = EarlierIds()
    ids = {instance.id for instance in questions.read(numbers)}
    has_other_numbers = numbers.changed and not questions.uses_helm_ids
    fits_earlier_ids = has_other_numbers and numbers.ids.issuperset(file.ids)
    if fits_earlier_ids and not ids.issuperset(file.ids):
        raise BenchmarkError(
            f"the ids in {file.name} are row numbers that do not count the rows that are empty or left out, as in "
            "earlier versions; a row's number is now its number in the file",
            "Write a new file with `intramural benchmarks template` and copy the answers into it.",
        )
    if not ids.issuperset(file.ids):
        if not questions.uses_helm_ids and not any(map(_HELM_ID.fullmatch, ids)):
            _refuse_helm_ids(file)
        file.refuse_others(ids, questions.describe_ids())
    return ids, _OTHER_NUMBERS if fits_earlier_ids else ""


_HELM_ID = re.compile(r"id\d{1,9}")


def _refuse_helm_ids(file: AnswersFile) -> None:
    """Check that the ids are not those of a HELM run.

    Raises:
        BenchmarkError: they all are.
    """
    if all(map(_HELM_ID.fullmatch, file.ids)):
        raise BenchmarkError(
            f"the instance_ids in {file.name} are not in the data; they look like those of a HELM run, such as id14",
            "Give --ids helm, with which they are accepted for benchmarks whose order in HELM is known.",
        )


def _read_answered(questions: _Questions, file: AnswersFile) -> Iterator[AnsweredInstance]:
    for position, instance in enumerate(questions):
        response = file.response(instance.id)
        if response is not None:
            yield position, instance, response


def write_template(
    own: Path | None,
    description: str,
    data: Path | None,
    path: Path,
    *,
    with_questions: bool = False,
) -> int:
    """Write a new file with an empty answer for every instance; return their number.

    The file is readable by its owner only. With questions, each line also has the prompt and, for a multiple-choice
    question, the options by letter.

    Raises:
        ConfigError: as for `score_answers`, or the file exists or cannot be written.
        BenchmarkError: the data is wrong.
    """
    benchmark, dataset = _locate(own, description, data)
    # Read all data first, so that an error in it is reported before the file is created.
    for _ in iter_instances(benchmark, dataset):
        pass
    instances = iter_instances(benchmark, dataset)
    write_line = _write_question_line if with_questions else _write_id_line
    return _write_lines(path, (write_line(instance) for instance in instances))


def _write_id_line(instance: Instance) -> dict[str, object]:
    return {"instance_id": instance.id, "answer": ""}


def _write_question_line(instance: Instance) -> dict[str, object]:
    line: dict[str, object] = {
        "instance_id": instance.id,
        "question": build_matter(instance, answer="").question,
    }
    if instance.multiple_choice:
        options = zip(LETTERS, instance.references, strict=False)
        line["options"] = {letter: option.text for letter, option in options}
    return {**line, "answer": ""}


@dataclass(frozen=True, slots=True)
class WrittenPrompts:
    """The number of prompts in a new file, and a reason to check the ids of the answers; empty if there is none."""

    count: int
    warning: str


def write_judge_prompts(
    own: Path | None,
    description: str,
    data: Path | None,
    answers: Path,
    path: Path,
    parser: ParserChoice = NO_CHOICE,
    *,
    helm_ids: bool = False,
) -> WrittenPrompts:
    """Write a new file with the judge's prompt about each answer; the parameters are those of `score_answers`.

    The file is readable by its owner only. The marker around the texts is random and new for each file. Missing and
    blank answers, which no jury is shown, are omitted.

    Raises:
        ConfigError: as for `score_answers`, or the file exists or cannot be written.
        BenchmarkError: the data or a line of the answers is wrong.
    """
    benchmark, dataset = _locate(own, description, data)
    use = _find_jury_metric(benchmark)
    rules = Rules.of(
        [use],
        "intramural",
        choose_parser(benchmark, parser),
        choose_lineage(benchmark, dataset.known),
    )
    marker = secrets.token_hex(8)
    with AnswersFile.open(answers) as file:
        questions = _Questions(benchmark, dataset, helm_ids)
        _, warning = _read_ids(questions, file)
        prompts = _write_judge_prompts(questions, file, rules, use, marker)
        return WrittenPrompts(_write_lines(path, prompts), warning)


def _write_judge_prompts(
    questions: _Questions,
    file: AnswersFile,
    rules: Rules,
    use: MetricUse,
    marker: str,
) -> Iterator[dict[str, str]]:
    for _, instance, response in _read_answered(questions, file):
        answer = read_judged_answer(rules, response)
        if isinstance(answer, str):
            messages = write_judge_messages(
                use, build_matter(instance, answer), marker, marked=False
            )
            prompt = "\n\n".join(message.content for message in messages)
            yield {"instance_id": instance.id, "prompt": prompt}


def _write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> int:
    """Write JSON Lines to a new file, and delete it again if an error occurs; return the number of lines."""
    count = 0
    with open_new(path) as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return count


def _find_jury_metric(benchmark: Benchmark) -> MetricUse:
    """Return the metric that is graded by a jury."""
    for use in benchmark.metrics:
        if use.name in JUDGED:
            return use
    raise ConfigError(
        f"no jury grades the answers of {benchmark.id}", "Remove the options for judges."
    )


@contextmanager
def _open_replies(
    benchmark: Benchmark, judged: JudgedElsewhere | None
) -> Iterator[tuple[Jury | None, JudgementsFile | None]]:
    """Open the judges' replies; yield the jury and the open file."""
    if judged is None:
        yield None, None
        return
    use = _find_jury_metric(benchmark)
    jury: Jury | None = None
    names: Sequence[str] | None = None
    if judged.judges is not None:
        jury = read_jury(judged.judges)
        names = _list_judge_names(jury)
    with JudgementsFile.open(judged.replies, names) as replies:
        jury = jury or Jury(tuple(Judge("", name, name) for name in replies.judges), None)
        quorum = choose_quorum(use, jury)
        if quorum is not None and quorum > len(jury.judges):
            raise ConfigError(
                f"the jury has a quorum of {quorum} but only {len(jury.judges)} seats",
                "List all judges, including those that gave no reply, in a file and pass it with --judges.",
            )
        yield Jury(jury.judges, quorum), replies


def _list_judge_names(jury: Jury) -> tuple[str, ...]:
    """Return the names that identify the judges in a file of replies."""
    names = tuple(judge.name or judge.model_name for judge in jury.judges)
    if len(set(names)) < len(names):
        raise ConfigError(
            "two judges in --judges have the same name",
            "Give each judge a unique `name`, as used in the replies.",
        )
    return names


def _add_jury(use: MetricUse, jury: Jury) -> MetricUse:
    return replace(use, judges=jury.judges, quorum=jury.quorum)


def _fill_seats(
    rules: Rules, replies: JudgementsFile | None, instance: Instance, response: Response | None
) -> list[Judged]:
    """Return the seats of the judges that replied about an answer, with their replies."""
    if replies is None or response is None:
        return []
    judged_answer = read_judged_answer(rules, response)
    if isinstance(judged_answer, Unscored):
        return []
    use = next(measure.use for measure in rules.measures if measure.of_jury)
    rubric = read_rubric(use)
    seats: list[Judged] = []
    for number, judge in enumerate(replies.judges):
        texts = replies.replies(instance.id, judge)
        if not texts:
            continue
        judgement = Judgement(tuple(build_reply(text) for text in texts))
        seat = fill_seat(
            number, b"", judgement, rubric, build_matter(instance, judged_answer).texts
        )
        seats.append((seat, judgement))
    return seats


def _locate(own: Path | None, description: str, data: Path | None) -> tuple[Benchmark, Dataset]:
    arguments: dict[str, str] = {}
    if (Path(description) / "benchmark.yaml").is_file():
        benchmark = load_benchmark(Path(description), absolute_paths=True)
    elif description.endswith((".yaml", ".yml")) and not description.startswith(f"{CONFIGURABLE}:"):
        file = Path(description)
        if not file.is_file():
            raise ConfigError(
                f"there is no file {description}",
                "Give a benchmark's id, its YAML file or its folder.",
            )
        benchmark = load_benchmark(file, absolute_paths=True)
    else:
        entry = parse_run_entry(description)
        if entry.model or entry.expanders or "data_path" in entry.arguments:
            raise ConfigError(
                "only the benchmark's own arguments may follow its id",
                "Specify the data with --data.",
            )
        benchmark = resolve_benchmark(entry, *survey_benchmarks(own))
        if entry.benchmark != CONFIGURABLE:
            arguments.update(entry.arguments)
    if data is None and benchmark.dataset_file is None:
        raise ConfigError(
            f"{benchmark.id} needs the data that its answers refer to",
            f"Specify its file, or the folder of its files, with --data.{_describe_sample(benchmark)}",
        )
    if data is not None:
        arguments["data_path"] = str(data)
    return benchmark, locate_dataset(benchmark, None, arguments)


def _describe_sample(benchmark: Benchmark) -> str:
    """Return a sentence that says where the benchmark's sample is; empty if it has none."""
    if benchmark.sample is None:
        return ""
    path = benchmark.folder / benchmark.sample.name
    folder = path if benchmark.sample_is_folder else path.parent
    return f" The sample that comes with this program is in {folder}."


def _describe_ids(benchmark: Benchmark) -> str:
    """Explain the instance_id of the benchmark."""
    if benchmark.id_column is None:
        return f"For this benchmark, an instance_id is {_ROW_NUMBER}."
    if benchmark.id_column == ROW_ID:
        return f"For this benchmark, an instance_id is the row's id or, if the data has no ids, {_ROW_NUMBER}."
    return f"For this benchmark, an instance_id is a value of the column {benchmark.id_column!r}."


def _name_instance(benchmark: Benchmark, instance: Instance, number: int) -> str:
    """Return a name for messages: the id, or the number if the id may be a patient's and must not be shown."""
    if benchmark.access == "public" or benchmark.id_column is None:
        return instance.id
    return f"number {number} of the data"


class _Tally:
    """The scores so far, by measure.

    Attributes:
        unread: the answers that were not read under the main metric.
        each: the scores of each instance; empty unless `keeps_each` is set.
    """

    def __init__(self, rules: Rules, *, keeps_each: bool) -> None:
        self._rules = rules
        self._keeps_each = keeps_each
        self.unread = UnreadAnswers(rules)
        self.each: list[dict[str, float | Unscored]] = []
        self._units: list[bytes] = []
        self._scored: dict[str, list[tuple[bytes, float]]] = {
            measure.name: [] for measure in rules.measures
        }
        self._unscored: dict[str, Counter[str]] = {
            measure.name: Counter() for measure in rules.measures
        }
        self._judged: dict[str, list[JudgedAnswer]] = {
            measure.name: [] for measure in rules.measures if measure.of_jury
        }
        self._labels = GatheredLabels(rules)

    def add(self, instance: Instance, response: Response | None, judged: Sequence[Judged]) -> None:
        """Add the next instance with its answer, if there is one, and the seats of its jury."""
        unit = instance.unit.encode()
        self._units.append(unit)
        if self._keeps_each:
            self.each.append({})
        result = Failure(Reason.NOT_ASKED) if response is None else response
        for score in score_response(self._rules, instance, result):
            is_scored_elsewhere = score.measure.of_jury or score.measure.later
            if isinstance(result, Failure) or not is_scored_elsewhere:
                self._add(unit, instance, score)
            is_main = score.measure is self._rules.measures[0]
            if is_main and isinstance(result, Response):
                position = len(self._units) - 1
                self.unread.add(score.measure, position, instance, result, score.value)
        if isinstance(result, Response):
            seats = [seat for seat, _ in judged]
            for score in score_by_jury(self._rules, result, judged):
                self._add(unit, instance, score, seats)

    def _add(
        self, unit: bytes, instance: Instance, score: MeasuredScore, seats: Sequence[Seat] = ()
    ) -> None:
        metric, value = score.measure.name, score.value
        self._labels.add(instance, score)
        if isinstance(value, Labelled):
            return
        self._count(len(self._units) - 1, metric, value)
        if score.measure.of_jury:
            score_or_reason = value.reason if isinstance(value, Unscored) else value
            self._judged[metric].append((unit, score_or_reason, seats))

    def add_later(self, position: int, name: str, value: float | Unscored) -> None:
        """Add the score of the instance at `position`, counted from 0, under a metric that is computed later."""
        self._count(position, name, value)

    def _count(self, position: int, name: str, value: float | Unscored) -> None:
        if self._keeps_each:
            self.each[position][name] = value
        unit = self._units[position]
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


def _describe_run(benchmark: Benchmark, dataset: Dataset, rules: Rules, instances: int) -> Run:
    data = KeptData(
        known=dataset.known,
        own=benchmark.dataset_file is not None,
        digest=dataset.digest,
        instances=instances,
    )
    overrides = () if rules.parser == choose_parser(benchmark) else ("parser",)
    details = rules.put_into(
        RunDetails(display_name=benchmark.display_name, data=data, overrides=overrides)
    )
    return Run("", "", benchmark.id, benchmark.id, ELSEWHERE, ELSEWHERE, details, "ended", 0, 0)
