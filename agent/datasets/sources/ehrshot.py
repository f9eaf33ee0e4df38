"""EHRSHOT in the MEDS layout: labels of one task, each with the codes of its patient's record up to that time.

`data/data.parquet` is some forty million events. It is read once, a batch at a time, and only the row groups that can
hold a labelled patient; what is kept is one patient's events at a time. MEDS promises that a patient's events stand
together, and a file that breaks the promise is refused.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agent.datasets.readers.files import Files
from agent.datasets.readers.parquet import explain_missing_pyarrow, open_reader
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.sampling import sample
from agent.errors import BenchmarkError

COLUMNS = ("id", "subject_id", "prediction_time", "question", "history", "event_count", "answer")
_DATA, _SPLITS = "data/data.parquet", "metadata/subject_splits.parquet"
_EVERY_SPLIT = "all"
_SAMPLE_SEED = 1  # MedHELM's, with the rule of pandas.DataFrame.sample
_BATCH = 65_536  # rows
_NO_EVENTS = "(no events before the prediction time)"


@dataclass(frozen=True, slots=True)
class _Label:
    number: int  # row of the labels' file, from 1
    subject: int
    time: int  # microseconds since 1970
    answer: str


@dataclass(slots=True)
class _Timeline:
    """The events of one patient: times in microseconds since 1970, and a line for each code."""

    subject: int
    times: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, time: int, code: str) -> None:
        self.times.append(time)
        self.lines.append(f"- {code}")

    def sort(self) -> None:
        """Order the events by time; events of one time stay as the file has them."""
        order = sorted(range(len(self.times)), key=self.times.__getitem__)
        self.times = [self.times[index] for index in order]
        self.lines = [self.lines[index] for index in order]

    def count_until(self, time: int) -> int:
        """Return how many events had happened, counting those at the very time."""
        return bisect_right(self.times, time)


def load_ehrshot(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the labels of the run entry's `subject` (the task), then the events of their patients.

    Arguments: `split` takes the patients of one split (`all` takes all, as MedHELM does whatever the file says);
    `max_labels` takes a sample of the labels by MedHELM's rule (0: all of them). The rows come in the order of the
    events' file, each patient's by time.

    Raises:
        BenchmarkError: a file is missing or not Parquet, or pyarrow is missing.
    """
    task = files.arguments["subject"]
    name = f"labels/{task}/labels.parquet"
    for needed in (_DATA, _SPLITS, name):
        if needed not in files.names:
            raise BenchmarkError(f"{needed}: is missing; expected the MEDS layout of EHRSHOT")
    if task not in files.options:
        raise BenchmarkError(
            f"subject={task}: the definition has no question for it under data.options"
        )
    problems = files.problems(name)
    subjects = _read_subjects(files, files.arguments.get("split", _EVERY_SPLIT))
    labels = _read_labels(files, name, subjects, problems)
    labels = sample(
        labels, _parse_max_labels(files.arguments.get("max_labels", "")), seed=_SAMPLE_SEED
    )
    problems.check()
    yield Table(COLUMNS, _join_rows(files, labels, task, problems)), problems


def _parse_max_labels(text: str) -> int | None:
    if text and not (text.isascii() and text.isdigit()):
        raise BenchmarkError("max_labels: expected a whole number; 0 takes all labels")
    return int(text or 0) or None


def _read_subjects(files: Files, split: str) -> Collection[int] | None:
    """Return the patients of a split; None stands for all of them."""
    if split == _EVERY_SPLIT:
        return None
    problems = files.problems(_SPLITS)
    subjects: set[int] = set()
    for number, subject, name in _read_values(files, _SPLITS, ("subject_id", "split"), problems):
        if not isinstance(subject, int) or not isinstance(name, str):
            problems.add(f"row {number}", "expected a number subject_id and a text split")
        elif name == split:
            subjects.add(subject)
    problems.check()
    if not subjects:
        raise problems.stop("the whole file", f"has no subject in the split {split!r}")
    return subjects


def _read_labels(
    files: Files, name: str, subjects: Collection[int] | None, problems: Problems
) -> list[_Label]:
    labels: list[_Label] = []
    columns = ("subject_id", "prediction_time", "boolean_value")
    for number, subject, time, value in _read_values(files, name, columns, problems):
        if not isinstance(subject, int) or not isinstance(time, int) or not isinstance(value, bool):
            problems.add(
                f"row {number}", "expected a subject_id, a prediction_time and a boolean_value"
            )
        elif subjects is None or subject in subjects:
            labels.append(_Label(number, subject, time, "yes" if value else "no"))
    return labels


def _join_rows(files: Files, labels: list[_Label], task: str, problems: Problems) -> Iterator[Row]:
    """Yield a row for each label, in the order of the events' file; note the labels whose patient has no events."""
    labels_of: dict[int, list[_Label]] = {}
    # MedHELM orders the timelines so, and writes them beside labels in another order. Here a label keeps its own.
    for label in sorted(labels, key=lambda label: (label.subject, label.time, label.number)):
        labels_of.setdefault(label.subject, []).append(label)
    for timeline in _read_timelines(files, frozenset(labels_of)):
        for label in labels_of.pop(timeline.subject):
            event_count = timeline.count_until(label.time)
            cells = {
                "id": f"{task}/{label.number}",
                "subject_id": str(timeline.subject),
                "prediction_time": _format_time(label.time),
                "question": files.options[task],
                "history": "\n".join(timeline.lines[:event_count]) or _NO_EVENTS,
                "event_count": str(event_count),
                "answer": label.answer,
            }
            yield Row(f"row {label.number}", cells)
    for labels_without_events in labels_of.values():
        problems.add(
            f"row {labels_without_events[0].number}", f"its subject_id has no events in {_DATA}"
        )


def _read_timelines(files: Files, subjects: Collection[int]) -> Iterator[_Timeline]:
    """Yield the timeline of each of the subjects that has events."""
    problems = files.problems(_DATA)
    timeline: _Timeline | None = None
    finished: set[int] = set()
    columns = ("subject_id", "time", "code")
    for number, subject, time, code in _read_values(files, _DATA, columns, problems, subjects):
        if timeline is None or subject != timeline.subject:
            if timeline is not None:
                timeline.sort()
                yield timeline
                finished.add(timeline.subject)
            if subject in finished:
                raise problems.stop(
                    f"row {number}", "a subject's events do not stand together, as MEDS has them"
                )
            timeline = _Timeline(subject)
        if not isinstance(code, str):
            problems.add(f"row {number}", "expected a text code")
        elif isinstance(time, int):
            timeline.add(time, code)
        elif time is not None:  # a row without a time (sex, for example) is no event
            raise problems.stop("columns", "'time' does not hold moments")
    if timeline is not None:
        timeline.sort()
        yield timeline
    problems.check()


def _read_values(
    files: Files,
    name: str,
    columns: tuple[str, ...],
    problems: Problems,
    subjects: Collection[int] | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield (row number, value, ...) of every row of the subjects (None: of all).

    A moment is a whole number of microseconds since 1970; one without a time zone counts as UTC, in all three files.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise explain_missing_pyarrow() from None
    with files.open_binary(name) as file:
        reader = open_reader(parquet.ParquetFile, file, problems, "Parquet")
        for column in columns:
            if column not in reader.schema_arrow.names:
                raise problems.stop("columns", f"{column!r} is missing")
        first_row = 1
        for index in range(reader.num_row_groups):
            group = reader.metadata.row_group(index)
            if subjects is None or _may_hold(group, subjects):
                row = first_row
                for batch in reader.iter_batches(_BATCH, row_groups=[index], columns=list(columns)):
                    yield from _list_values(batch, row, columns, problems, subjects)
                    row += batch.num_rows
            first_row += group.num_rows


def _list_values(
    batch: Any,
    first_row: int,
    columns: tuple[str, ...],
    problems: Problems,
    subjects: Collection[int] | None,
) -> Iterator[tuple[Any, ...]]:
    """Yield (row number, value, ...) of the rows of a batch that belong to the subjects."""
    offsets: Sequence[int] = range(batch.num_rows)
    if subjects is not None:
        batch, offsets = _select_subjects(batch, subjects, problems)
    numbers = [first_row + offset for offset in offsets]
    values = [_convert_moments(batch.column(column)).to_pylist() for column in columns]
    return zip(numbers, *values, strict=True)


def _select_subjects(
    batch: Any, subjects: Collection[int], problems: Problems
) -> tuple[Any, Sequence[int]]:
    """Return the rows of the subjects, and where in the batch they stand."""
    import pyarrow
    from pyarrow import compute

    ids = batch.column("subject_id")
    if not pyarrow.types.is_integer(ids.type):
        raise problems.stop("columns", "'subject_id' does not hold whole numbers")
    is_selected = compute.is_in(ids, value_set=pyarrow.array(sorted(subjects)).cast(ids.type))
    return batch.filter(is_selected), compute.indices_nonzero(is_selected).to_pylist()


def _may_hold(group: Any, subjects: Collection[int]) -> bool:
    """Tell whether a row group may hold any of the subjects; without statistics it may."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema == "subject_id" and column.statistics is not None:
            low = column.statistics.min
            high = column.statistics.max
            if isinstance(low, int) and isinstance(high, int):
                return any(low <= subject <= high for subject in subjects)
    return True


def _convert_moments(column: Any) -> Any:
    """Return a column of times as microseconds since 1970, any other as it is."""
    import pyarrow

    if pyarrow.types.is_timestamp(column.type):
        return column.cast(pyarrow.timestamp("us"), safe=False).cast("int64")
    return column


def _format_time(time: int) -> str:
    moment = datetime(1970, 1, 1) + timedelta(microseconds=time)
    return moment.isoformat(sep=" ")
