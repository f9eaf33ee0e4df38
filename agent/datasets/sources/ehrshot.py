"""EHRSHOT in the MEDS layout: the labels of one task, each with the codes of the patient's record up to that time.

`data/data.parquet` contains about forty million events. It is read once, in batches, and only the row groups that can
contain a labelled patient. Only one patient's events are kept in memory at a time. MEDS guarantees that the events of
a patient are contiguous, and a file in which they are not is refused.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agent.datasets.readers.files import Files
from agent.datasets.readers.parquet import (
    explain_missing_pyarrow,
    list_arrow_errors,
    list_columns,
    open_reader,
)
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.sampling import sample
from agent.errors import BenchmarkError

COLUMNS = ("id", "subject_id", "prediction_time", "question", "history", "event_count", "answer")
_DATA, _SPLITS = "data/data.parquet", "metadata/subject_splits.parquet"
_EVERY_SPLIT = "all"
_SAMPLE_SEED = 1  # as in MedHELM, which uses pandas.DataFrame.sample
_BATCH = 65_536  # rows
# The moments that `datetime` can represent, in microseconds since 1970: the years 1 to 9999.
_FIRST_TIME = (datetime.min - datetime(1970, 1, 1)) // timedelta(microseconds=1)
_LAST_TIME = (datetime.max - datetime(1970, 1, 1)) // timedelta(microseconds=1)
_NO_EVENTS = "(no events before the prediction time)"


@dataclass(frozen=True, slots=True)
class _Label:
    number: int  # row in the file of labels, counted from 1
    subject: int
    time: int  # microseconds since 1970
    answer: str


@dataclass(slots=True)
class _Timeline:
    """The events of one patient: their times in microseconds since 1970, and a line for each code."""

    subject: int
    times: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, time: int, code: str) -> None:
        self.times.append(time)
        self.lines.append(f"- {code}")

    def sort(self) -> None:
        """Sort the events by time, and keep events with the same time in file order."""
        order = sorted(range(len(self.times)), key=self.times.__getitem__)
        self.times = [self.times[index] for index in order]
        self.lines = [self.lines[index] for index in order]

    def count_until(self, time: int) -> int:
        """Return the number of events up to and including `time`."""
        return bisect_right(self.times, time)


def load_ehrshot(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the labels for the run entry's `subject` (the task), and then the events of their patients.

    The argument `split` selects the patients of one split, and `all` selects all of them, as MedHELM always does. The
    argument `max_labels` samples labels in the same way as MedHELM; 0 selects all. Patients are in the order of the
    events file, and the rows of each patient are sorted by time.

    Raises:
        BenchmarkError: a file is missing or not Parquet, or pyarrow is not installed.
    """
    task = files.arguments["subject"]
    name = f"labels/{task}/labels.parquet"
    for needed in (_DATA, _SPLITS, name):
        if needed not in files.names:
            raise BenchmarkError(f"{needed}: is missing; expected the MEDS layout of EHRSHOT")
    if task not in files.options:
        raise BenchmarkError(
            f"subject={task}: the definition lacks a question for this subject in data.options"
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
        raise BenchmarkError("max_labels: expected a whole number, or 0 for all labels")
    return int(text or 0) or None


def _read_subjects(files: Files, split: str) -> Collection[int] | None:
    """Return the patients of a split, or None for all patients."""
    if split == _EVERY_SPLIT:
        return None
    problems = files.problems(_SPLITS)
    subjects: set[int] = set()
    for number, subject, name in _read_values(files, _SPLITS, ("subject_id", "split"), problems):
        if not isinstance(subject, int) or not isinstance(name, str):
            problems.add(f"row {number}", "expected an integer subject_id and a string split")
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
        elif not _FIRST_TIME <= time <= _LAST_TIME:
            problems.add(f"row {number}", "expected a prediction_time in the years 1 to 9999")
        elif subjects is None or subject in subjects:
            labels.append(_Label(number, subject, time, "yes" if value else "no"))
    return labels


def _join_rows(files: Files, labels: list[_Label], task: str, problems: Problems) -> Iterator[Row]:
    """Yield a row for each label, in the order of the events file.

    Labels of patients without events are recorded as problems.
    """
    labels_of: dict[int, list[_Label]] = {}
    # MedHELM sorts the timelines in this order but the labels in another, so they no longer correspond. Here each
    # label keeps its own timeline.
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
            f"row {labels_without_events[0].number}",
            f"the label's subject_id has no events in {_DATA}",
        )


def _read_timelines(files: Files, subjects: Collection[int]) -> Iterator[_Timeline]:
    """Yield the timeline of each subject that has events."""
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
                    f"row {number}", "the events of a subject are not contiguous, as MEDS requires"
                )
            timeline = _Timeline(subject)
        if not isinstance(code, str):
            problems.add(f"row {number}", "expected a string code")
        elif isinstance(time, int):
            timeline.add(time, code)
        elif time is not None:  # a row without a time (such as sex) is not an event
            raise problems.stop("columns", "'time' is not a column of timestamps")
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
    """Yield (row number, value, ...) for every row of `subjects`, or for all rows if it is None.

    Timestamps are returned as integers in microseconds since 1970. In all three files, timestamps without a time zone
    are taken as UTC.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise explain_missing_pyarrow() from None
    with files.open_binary(name) as file:
        reader = open_reader(parquet.ParquetFile, file, problems, "a Parquet file")
        present = list_columns(reader.schema_arrow, problems)
        for column in columns:
            if column not in present:
                raise problems.stop("columns", f"{column!r} is missing")
        first_row = 1
        for index in range(reader.num_row_groups):
            where = f"row group {index + 1}"
            row = first_row
            for batch in _read_batches(reader, index, columns, problems, subjects):
                yield from _list_values(batch, row, columns, where, problems, subjects)
                row += batch.num_rows
            first_row += reader.metadata.row_group(index).num_rows


def _read_batches(
    reader: Any,
    index: int,
    columns: tuple[str, ...],
    problems: Problems,
    subjects: Collection[int] | None,
) -> Iterator[Any]:
    """Yield the batches of a row group, or none if it cannot contain any of `subjects`.

    Raises:
        BenchmarkError: the row group is damaged.
    """
    try:
        if subjects is None or _may_hold(reader.metadata.row_group(index), subjects):
            yield from reader.iter_batches(_BATCH, row_groups=[index], columns=list(columns))
    except list_arrow_errors():
        raise problems.stop(f"row group {index + 1}", "the Parquet file is damaged") from None


def _list_values(
    batch: Any,
    first_row: int,
    columns: tuple[str, ...],
    where: str,
    problems: Problems,
    subjects: Collection[int] | None,
) -> Iterator[tuple[Any, ...]]:
    """Yield (row number, value, ...) for the rows in a batch that belong to `subjects`.

    Raises:
        BenchmarkError: a column contains a value that cannot be read; `where` names the row group.
    """
    offsets: Sequence[int] = range(batch.num_rows)
    if subjects is not None:
        batch, offsets = _select_subjects(batch, subjects, where, problems)
    numbers = [first_row + offset for offset in offsets]
    values = [_list_column(batch, column, where, problems) for column in columns]
    return zip(numbers, *values, strict=True)


def _list_column(batch: Any, column: str, where: str, problems: Problems) -> list[Any]:
    try:
        values: list[Any] = _convert_moments(batch.column(column)).to_pylist()
    except list_arrow_errors():
        raise problems.stop(
            where,
            f"{column!r} contains a value that cannot be read, such as text that is not UTF-8, or a time out of range; "
            "expected the column types of MEDS",
        ) from None
    return values


def _select_subjects(
    batch: Any, subjects: Collection[int], where: str, problems: Problems
) -> tuple[Any, Sequence[int]]:
    """Return the rows of `subjects` and their positions in the batch."""
    import pyarrow
    from pyarrow import compute

    ids = batch.column("subject_id")
    if not pyarrow.types.is_integer(ids.type):
        raise problems.stop("columns", "'subject_id' is not a column of integers")
    try:
        selected = pyarrow.array(sorted(subjects), ids.type)
    except list_arrow_errors():
        raise problems.stop(
            where,
            f"'subject_id' is a column of {ids.type}, too small for some subject_id in the labels; expected int64",
        ) from None
    is_selected = compute.is_in(ids, value_set=selected)
    return batch.filter(is_selected), compute.indices_nonzero(is_selected).to_pylist()


def _may_hold(group: Any, subjects: Collection[int]) -> bool:
    """Return whether a row group may contain any of `subjects`; without statistics, this is assumed."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema == "subject_id" and column.statistics is not None:
            low = column.statistics.min
            high = column.statistics.max
            if isinstance(low, int) and isinstance(high, int):
                return any(low <= subject <= high for subject in subjects)
    return True


def _convert_moments(column: Any) -> Any:
    """Convert a column of timestamps to microseconds since 1970; return other columns unchanged.

    Raises:
        ValueError: a time is out of range.
    """
    import pyarrow
    from pyarrow import compute

    if pyarrow.types.is_timestamp(column.type):
        # Nanoseconds are cut off, but a time that is out of range must not wrap around to another.
        options = compute.CastOptions(pyarrow.timestamp("us"), allow_time_truncate=True)
        return column.cast(options=options).cast("int64")
    return column


def _format_time(time: int) -> str:
    moment = datetime(1970, 1, 1) + timedelta(microseconds=time)
    return moment.isoformat(sep=" ")
