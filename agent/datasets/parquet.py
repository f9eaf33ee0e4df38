"""Parquet and Feather files, read in portions. Every cell becomes the text it is written as."""

import datetime
import decimal
import json
import math
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from agent.datasets.files import Files
from agent.datasets.table import Problems, Row, Table
from agent.errors import BenchmarkError

_ROWS_AT_ONCE = 256
_BUFFER = 2**20  # bytes


def load_parquet(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each Parquet file as a table; numbers, dates and lists become the text they are written as.

    Raises:
        BenchmarkError: pyarrow is missing, or a file is not Parquet.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise missing_pyarrow() from None
    for name in files.names:
        problems = files.problems(name)
        with files.binary(name) as file:
            # Unbuffered, pyarrow would hold a whole row group, which is often the whole file.
            open_file = partial(parquet.ParquetFile, pre_buffer=False, buffer_size=_BUFFER)
            reader = opened(open_file, file, problems, "Parquet")
            batches = reader.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False)
            yield _table(reader.schema_arrow.names, batches, problems, "Parquet"), problems


def load_feather(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each Feather (Arrow) file as a table.

    Raises:
        BenchmarkError: pyarrow is missing, or a file is not Feather.
    """
    try:
        from pyarrow import ipc
    except ImportError:
        raise missing_pyarrow() from None
    for name in files.names:
        problems = files.problems(name)
        with files.binary(name) as file:
            reader = opened(ipc.open_file, file, problems, "Feather")
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
            yield _table(reader.schema.names, batches, problems, "Feather"), problems


def cell_text(value: object) -> str:
    """Write a value of a typed table as a cell: nothing is empty, 1.0 stays 1.0, a list is its JSON text."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "True" if value else "False"
        case float():
            return "" if math.isnan(value) else repr(value)
        case int() | decimal.Decimal():
            return str(value)
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8")
    return json.dumps(value, ensure_ascii=False, default=cell_text)


def missing_pyarrow() -> BenchmarkError:
    """Return the error of a machine without pyarrow."""
    return BenchmarkError(
        "Parquet and Feather files need pyarrow, which is not installed",
        "Install it with: pip install 'intramural[parquet]'",
    )


def opened(open_file: Any, file: BinaryIO, problems: Problems, kind: str) -> Any:
    """Open a file with one of pyarrow's readers.

    Raises:
        BenchmarkError: it is of another kind.
    """
    try:
        return open_file(file)
    except (ValueError, OSError):  # pyarrow's own errors are of these kinds
        raise problems.stop("the whole file", f"is not a {kind} file") from None


def _table(columns: list[str], batches: Iterator[Any], problems: Problems, kind: str) -> Table:
    problems.add_repeated_columns("the schema", columns)
    return Table(tuple(columns), _rows(columns, batches, problems, kind))


def _rows(columns: list[str], batches: Iterator[Any], problems: Problems, kind: str) -> Iterator[Row]:
    number = 0
    portions = _portions(batches)
    while True:
        try:
            portion = next(portions, None)
        except (ValueError, OSError):
            raise problems.stop(f"after row {number}", f"the {kind} file is damaged") from None
        if portion is None:
            return
        for values in portion:
            number += 1
            where = f"row {number}"
            try:
                cells = {name: cell_text(value) for name, value in zip(columns, values, strict=True)}
            except (UnicodeDecodeError, TypeError):
                problems.add(where, "a cell holds bytes that are no text")
                continue
            yield Row(where, cells)


def _portions(batches: Iterator[Any]) -> Iterator[list[tuple[object, ...]]]:
    # A batch of Feather is tens of thousands of rows: a portion of it at a time becomes text.
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            columns = batch.slice(start, _ROWS_AT_ONCE).columns
            yield list(zip(*(column.to_pylist() for column in columns), strict=True))
