"""EHRSHOT in the MEDS layout: labels of one task, each with the codes of its patient's record up to that time.

`data/data.parquet` is some forty million events. It is read once, a batch at a time, and only the row groups that can
hold a labelled patient; what is kept is one patient's events at a time. MEDS promises that a patient's events stand
together, and a file that breaks the promise is refused.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from agent.datasets.readers.files import Files
from agent.datasets.readers.parquet import missing_pyarrow, opened
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.sampling import sample
from agent.errors import BenchmarkError

COLUMNS = ("id", "subject_id", "prediction_time", "question", "history", "event_count", "answer")
_DATA, _SPLITS = "data/data.parquet", "metadata/subject_splits.parquet"
_EVERY_SPLIT = "all"
_SAMPLE_SEED = 1  # MedHELM's, with the rule of pandas.DataFrame.sample
_BATCH = 65_536  # rows
_NO_EVENTS = "(no events before the prediction time)"


class _Label(NamedTuple):
    number: int  # row of the labels' file, from 1
    subject: int
    time: int  # microseconds since 1970
    answer: str


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
        raise BenchmarkError(f"subject={task}: the definition has no question for it under data.options")
    problems = files.problems(name)
    labels = _labels(files, name, _subjects_of(files, files.arguments.get("split", _EVERY_SPLIT)), problems)
    labels = sample(labels, _most(files.arguments.get("max_labels", "")), seed=_SAMPLE_SEED)
    problems.check()
    yield Table(COLUMNS, _rows(files, labels, task, problems)), problems


def _most(text: str) -> int | None:
    if text and not (text.isascii() and text.isdigit()):
        raise BenchmarkError("max_labels: expected a whole number; 0 takes all labels")
    return int(text or 0) or None


def _subjects_of(files: Files, split: str) -> Collection[int] | None:
    """Return the patients of a split; None stands for all of them."""
    if split == _EVERY_SPLIT:
        return None
    problems = files.problems(_SPLITS)
    found: set[int] = set()
    for number, subject, name in _values(files, _SPLITS, ("subject_id", "split"), problems):
        if not isinstance(subject, int) or not isinstance(name, str):
            problems.add(f"row {number}", "expected a number subject_id and a text split")
        elif name == split:
            found.add(subject)
    problems.check()
    if not found:
        raise problems.stop("the whole file", f"has no subject in the split {split!r}")
    return found


def _labels(files: Files, name: str, subjects: Collection[int] | None, problems: Problems) -> list[_Label]:
    found: list[_Label] = []
    columns = ("subject_id", "prediction_time", "boolean_value")
    for number, subject, time, value in _values(files, name, columns, problems):
        if not isinstance(subject, int) or not isinstance(time, int) or not isinstance(value, bool):
            problems.add(f"row {number}", "expected a subject_id, a prediction_time and a boolean_value")
        elif subjects is None or subject in subjects:
            found.append(_Label(number, subject, time, "yes" if value else "no"))
    return found


def _rows(files: Files, labels: list[_Label], task: str, problems: Problems) -> Iterator[Row]:
    by_subject: dict[int, list[_Label]] = {}
    # MedHELM orders the timelines so, and writes them beside labels in another order. Here a label keeps its own.
    for label in sorted(labels, key=lambda label: (label.subject, label.time, label.number)):
        by_subject.setdefault(label.subject, []).append(label)
    for subject, times, lines in _timelines(files, frozenset(by_subject)):
        for label in by_subject.pop(subject):
            count = bisect_right(times, label.time)  # events at the very time belong to what was known
            history = "\n".join(lines[:count]) or _NO_EVENTS
            cells = (
                f"{task}/{label.number}",
                str(subject),
                _written(label.time),
                files.options[task],
                history,
                str(count),
                label.answer,
            )
            yield Row(f"row {label.number}", dict(zip(COLUMNS, cells, strict=True)))
    for missing in by_subject.values():
        problems.add(f"row {missing[0].number}", f"its subject_id has no events in {_DATA}")


def _timelines(files: Files, subjects: Collection[int]) -> Iterator[tuple[int, list[int], list[str]]]:
    """Yield (subject, times, lines) of each of the subjects that has events, by time."""
    problems = files.problems(_DATA)
    current: int | None = None
    events: list[tuple[int, str]] = []
    done: set[int] = set()
    for number, subject, time, code in _values(files, _DATA, ("subject_id", "time", "code"), problems, subjects):
        if subject != current:
            if current is not None:
                yield _timeline(current, events)
                done.add(current)
            if subject in done:
                raise problems.stop(f"row {number}", "a subject's events do not stand together, as MEDS has them")
            current, events = subject, []
        if not isinstance(code, str):
            problems.add(f"row {number}", "expected a text code")
        elif isinstance(time, int):
            events.append((time, f"- {code}"))
        elif time is not None:  # what has no time (sex, for example) is no event
            raise problems.stop("columns", "'time' does not hold moments")
    if current is not None:
        yield _timeline(current, events)
    problems.check()


def _timeline(subject: int, events: list[tuple[int, str]]) -> tuple[int, list[int], list[str]]:
    events.sort(key=lambda event: event[0])  # stable: events of one time stay as the file has them
    return subject, [time for time, _ in events], [line for _, line in events]


def _values(
    files: Files, name: str, columns: tuple[str, ...], problems: Problems, subjects: Collection[int] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield (row number, value, ...) of every row of the subjects (None: of all).

    A moment is a whole number of microseconds since 1970; one without a time zone counts as UTC, in all three files.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise missing_pyarrow() from None
    with files.binary(name) as file:
        reader = opened(parquet.ParquetFile, file, problems, "Parquet")
        for column in columns:
            if column not in reader.schema_arrow.names:
                raise problems.stop("columns", f"{column!r} is missing")
        number = 1
        for index in range(reader.num_row_groups):
            group = reader.metadata.row_group(index)
            if subjects is None or _may_hold(group, subjects):
                row = number
                for batch in reader.iter_batches(_BATCH, row_groups=[index], columns=list(columns)):
                    kept, rows = (batch, range(batch.num_rows)) if subjects is None else _of(batch, subjects, problems)
                    lists = [_plain(kept.column(column)).to_pylist() for column in columns]
                    yield from zip((row + i for i in rows), *lists, strict=True)
                    row += batch.num_rows
            number += group.num_rows


def _of(batch: Any, subjects: Collection[int], problems: Problems) -> tuple[Any, Sequence[int]]:
    """Return the rows of the subjects, and where in the batch they stand."""
    import pyarrow
    from pyarrow import compute

    ids = batch.column("subject_id")
    if not pyarrow.types.is_integer(ids.type):
        raise problems.stop("columns", "'subject_id' does not hold whole numbers")
    is_theirs = compute.is_in(ids, value_set=pyarrow.array(sorted(subjects)).cast(ids.type))
    return batch.filter(is_theirs), compute.indices_nonzero(is_theirs).to_pylist()


def _may_hold(group: Any, subjects: Collection[int]) -> bool:
    for index in range(group.num_columns):
        described = group.column(index)
        if described.path_in_schema == "subject_id" and described.statistics is not None:
            low, high = described.statistics.min, described.statistics.max
            if isinstance(low, int) and isinstance(high, int):
                return any(low <= subject <= high for subject in subjects)
    return True


def _plain(column: Any) -> Any:
    import pyarrow

    if pyarrow.types.is_timestamp(column.type):
        return column.cast(pyarrow.timestamp("us"), safe=False).cast("int64")
    return column


def _written(time: int) -> str:
    return (datetime(1970, 1, 1) + timedelta(microseconds=time)).isoformat(sep=" ")
