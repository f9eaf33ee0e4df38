"""Read Parquet and Feather files and Arrow streams in batches, with every cell formatted as text."""

import datetime
import decimal
import json
import math
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from agent.datasets.readers.files import Files
from agent.datasets.readers.lines import MAX_LENGTH
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError
from agent.io.install_hint import describe_install

_ROWS_AT_ONCE = 256
# Maximum bytes of one column that are unpacked before the length of its cells is checked.
_UNPACKED_AT_ONCE = 2**28
_MAX_COLUMN = 2**31  # bytes of one unpacked column in one row group
# Encodings that share values, so that many long cells take few bytes even when unpacked.
_SHARING = {"PLAIN_DICTIONARY", "RLE_DICTIONARY", "DELTA_BYTE_ARRAY"}
_BUFFER = 2**20  # bytes


def load_parquet(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each Parquet file as a table, with numbers, dates and lists formatted as text.

    Raises:
        BenchmarkError: pyarrow is not installed, or a file is not Parquet.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise explain_missing_pyarrow() from None
    for name in files.names:
        problems = files.problems(name)
        with files.open_binary(name) as file:
            # Without a buffer size, pyarrow would load a whole row group, which is often the whole file.
            open_file = partial(parquet.ParquetFile, pre_buffer=False, buffer_size=_BUFFER)
            reader = open_reader(open_file, file, problems, "a Parquet file")
            batches = reader.iter_batches(
                batch_size=_choose_batch_size(reader.metadata, problems), use_threads=False
            )
            columns = list_columns(reader.schema_arrow, problems)
            yield _make_table(columns, batches, problems, "Parquet file"), problems


def load_feather(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each Feather (Arrow) file as a table.

    Raises:
        BenchmarkError: pyarrow is not installed, or a file is not Feather.
    """
    try:
        from pyarrow import ipc
    except ImportError:
        raise explain_missing_pyarrow() from None
    for name in files.names:
        problems = files.problems(name)
        with files.open_binary(name) as file:
            reader = open_reader(ipc.open_file, file, problems, "a Feather file")
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
            columns = list_columns(reader.schema, problems)
            yield _make_table(columns, _check_batches(batches), problems, "Feather file"), problems


def load_arrow_stream(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each file as an Arrow stream, the format in which Hugging Face's `datasets` saves a table.

    Raises:
        BenchmarkError: pyarrow is not installed, or a file is not an Arrow stream.
    """
    try:
        from pyarrow import ipc
    except ImportError:
        raise explain_missing_pyarrow() from None
    for name in files.names:
        problems = files.problems(name)
        with files.open_binary(name) as file:
            reader = open_reader(ipc.open_stream, file, problems, "an Arrow stream")
            columns = list_columns(reader.schema, problems)
            yield _make_table(columns, _check_batches(reader), problems, "Arrow stream"), problems


def format_typed_value(value: object) -> str:
    """Format a value of a typed table as a cell: None as an empty cell, 1.0 as "1.0", and a list as JSON text.

    Raises:
        TypeError: the type has no unambiguous text form.
        UnicodeDecodeError: the value is bytes that are not UTF-8.
    """
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
        case list() | tuple() | dict():
            return json.dumps(value, ensure_ascii=False, default=format_typed_value)
    raise TypeError  # a duration, for example, can be written in many ways


def explain_missing_pyarrow() -> BenchmarkError:
    """Return the error for a missing installation of pyarrow."""
    return BenchmarkError(
        "Parquet, Feather and Arrow files need pyarrow, which is not installed",
        describe_install("parquet"),
    )


def open_reader(open_file: Any, file: BinaryIO, problems: Problems, kind: str) -> Any:
    """Open a file with one of pyarrow's readers; `kind` names the expected format, such as "a Parquet file".

    Raises:
        BenchmarkError: the file has another format.
    """
    try:
        return open_file(file)
    except list_arrow_errors():
        raise problems.stop("the whole file", f"is not {kind}") from None


def list_columns(schema: Any, problems: Problems) -> list[str]:
    """Return the names of all columns.

    Raises:
        BenchmarkError: a name is not UTF-8.
    """
    try:
        return list(schema.names)
    except UnicodeDecodeError:
        raise problems.stop("the schema", "contains a column name that is not UTF-8") from None


def list_arrow_errors() -> tuple[type[Exception], ...]:
    """Return the errors that pyarrow raises for damaged or unsupported data, and for values out of Python's range."""
    from pyarrow import ArrowException

    return (ArrowException, ValueError, OSError, MemoryError, OverflowError, LookupError)


def _make_table(columns: list[str], batches: Iterator[Any], problems: Problems, kind: str) -> Table:
    problems.add_repeated_columns("the schema", columns)
    return Table(tuple(columns), _read_rows(columns, batches, problems, kind))


def _read_rows(
    columns: list[str], batches: Iterator[Any], problems: Problems, kind: str
) -> Iterator[Row]:
    number = 0
    portions = _split_batches(batches)
    while True:
        try:
            portion = next(portions, None)
        except _CellsError as why:
            raise problems.stop(f"after row {number}", str(why)) from None
        except list_arrow_errors():
            raise problems.stop(f"after row {number}", f"the {kind} is damaged") from None
        if portion is None:
            return
        for values in portion:
            number += 1
            where = f"row {number}"
            try:
                cells = [_format_cell(value, column) for column, value in enumerate(values, 1)]
            except _CellsError as why:
                problems.add(where, str(why))
                continue
            yield Row(where, dict(zip(columns, cells, strict=True)), number, number)


def _split_batches(batches: Iterator[Any]) -> Iterator[list[tuple[object, ...]]]:
    # A Feather batch can have tens of thousands of rows, so convert only part of it at a time.
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            columns = batch.slice(start, _ROWS_AT_ONCE).columns
            values = [_list_values(column, number) for number, column in enumerate(columns, 1)]
            yield list(zip(*values, strict=True))


class _CellsError(Exception):
    """A column contains a value that cannot become a cell; the message names the column by number."""


def _check_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the batches of an Arrow file after a check; a Parquet file is checked while it is decoded."""
    for batch in batches:
        for number, column in enumerate(batch.columns, 1):
            _check_structure(column, number)
        yield batch


def _check_structure(column: Any, number: int) -> None:
    """Refuse a column whose texts or lists lie outside its own data, because reading them can crash the process.

    Raises:
        _CellsError: the column is damaged.
    """
    from pyarrow import ArrowException, binary, large_binary, types

    kind = column.type
    # Texts are checked as bytes: those that are not UTF-8 are found later, with a more exact row.
    if types.is_string(column.type):
        column = column.view(binary())
    elif types.is_large_string(column.type):
        column = column.view(large_binary())
    try:
        column.validate(full=True)
    except ArrowException:
        raise _CellsError(
            f"column {number} ({kind}): is damaged, or contains text that is not UTF-8"
        ) from None


def _format_cell(value: object, number: int) -> str:
    try:
        return format_typed_value(value)
    except (TypeError, UnicodeDecodeError, RecursionError):
        raise _CellsError(
            f"column {number}: a cell contains a duration or another value that cannot be converted to text "
            "unambiguously, or bytes that are not UTF-8; convert the column to text"
        ) from None


def _list_values(column: Any, number: int) -> list[object]:
    if _measure_longest(column) > MAX_LENGTH:
        raise _CellsError(f"column {number}: a cell is longer than {MAX_LENGTH} bytes")
    try:
        values: list[object] = _convert_to_microseconds(column).to_pylist()
    except UnicodeDecodeError:
        raise _CellsError(f"column {number}: a cell contains bytes that are not UTF-8") from None
    except list_arrow_errors():
        raise _CellsError(
            f"column {number} ({column.type}): contains a value that cannot be converted to text unambiguously (a date "
            "before the year 1 or after 9999, a time finer than microseconds or an unknown time zone); convert the "
            "column to text"
        ) from None
    return values


def _convert_to_microseconds(column: Any) -> Any:
    """Convert a column of times in nanoseconds to microseconds; other columns are returned unchanged.

    For nanoseconds, pyarrow returns pandas objects if pandas is installed, and otherwise rejects times finer than
    a microsecond.

    Raises:
        ValueError: a time is finer than a microsecond.
    """
    from pyarrow import timestamp, types

    if types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(timestamp("us", tz=column.type.tz))
    return column


def _measure_longest(column: Any) -> int:
    """Return the length in bytes of the longest text in a column, including texts inside lists."""
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        return _measure_longest(column.dictionary)
    if types.is_struct(column.type):
        return max((_measure_longest(inner) for inner in column.flatten()), default=0)
    if types.is_map(column.type):
        return _measure_longest(column.items)
    if types.is_list(column.type) or types.is_large_list(column.type):
        return _measure_longest(column.flatten())
    if (
        types.is_string(column.type)
        or types.is_large_string(column.type)
        or types.is_binary(column.type)
    ):
        return compute.max(compute.binary_length(column)).as_py() or 0
    return 0


def _choose_batch_size(metadata: Any, problems: Problems) -> int:
    """Return the number of rows to unpack at once, before the length of their cells is known.

    Raises:
        BenchmarkError: a column in a row group is too large to unpack.
    """
    largest = 1
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            if column.total_uncompressed_size > _MAX_COLUMN:
                raise problems.stop(
                    f"row group {group + 1}", f"column {number + 1} unpacks to more than 2 GiB"
                )
            if _SHARING & set(column.encodings):
                largest = max(largest, column.total_uncompressed_size)
    return max(1, min(_ROWS_AT_ONCE, _UNPACKED_AT_ONCE // largest))
