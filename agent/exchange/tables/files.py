"""Write rows one at a time to a file of JSON Lines, CSV or Parquet, or to a workbook."""

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

from agent.errors import ConfigError
from agent.exchange.tables.columns import TableColumn
from agent.io.install_hint import describe_install
from agent.io.plain_text import format_cell
from agent.io.workbook import open_workbook

TableForm = Literal["jsonl", "csv", "parquet", "xlsx"]
TABLE_FORMS: tuple[TableForm, ...] = get_args(TableForm)
Row = Mapping[str, Any]
_ROWS_A_GROUP = 1_000  # of a Parquet file, held in memory at a time


def check_writable(form: str) -> None:
    """Check that files of this form can be written here, before any instance is read.

    Raises:
        ConfigError: Parquet was requested but its library is not installed.
    """
    if form != "parquet":
        return
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise ConfigError(
            "Parquet files need the extra `parquet`, which is not installed",
            f"{describe_install('parquet')} Or use --format csv or jsonl.",
        ) from None


@contextmanager
def open_table(
    path: Path, form: TableForm, columns: Sequence[TableColumn]
) -> Iterator[Callable[[Row], None]]:
    """Open a new file that only its owner can read; yield a function that adds a row to it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    if form == "parquet":
        with os.fdopen(descriptor, "wb") as file, _open_parquet(file, columns) as add:
            yield add
        return
    if form == "xlsx":
        with os.fdopen(descriptor, "wb") as file, _open_sheet(file, path, columns) as add:
            yield add
        return
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as text:
        if form == "jsonl":
            yield _write_json_lines(text, columns)
        else:
            yield _write_csv(text, columns)


def _write_json_lines(file: TextIO, columns: Sequence[TableColumn]) -> Callable[[Row], None]:
    def add(row: Row) -> None:
        ordered_row = {column.name: row[column.name] for column in columns}
        file.write(json.dumps(ordered_row, ensure_ascii=False, allow_nan=False) + "\n")

    return add


def _write_csv(file: TextIO, columns: Sequence[TableColumn]) -> Callable[[Row], None]:
    writer = csv.writer(file)
    writer.writerow([column.name for column in columns])

    def add(row: Row) -> None:
        writer.writerow([format_cell(_flatten(row[column.name], column)) for column in columns])

    return add


@contextmanager
def _open_sheet(
    file: Any, path: Path, columns: Sequence[TableColumn]
) -> Iterator[Callable[[Row], None]]:
    headings = [column.name for column in columns]
    draft = path.with_name(f"{path.name}.sheet")
    with open_workbook(file, draft, path.stem, headings) as add_values:

        def add(row: Row) -> None:
            add_values([_flatten(row[column.name], column) for column in columns])

        yield add


@contextmanager
def _open_parquet(file: Any, columns: Sequence[TableColumn]) -> Iterator[Callable[[Row], None]]:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    types = {
        "text": pyarrow.string(),
        "json": pyarrow.string(),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "yes_no": pyarrow.bool_(),
    }
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns])
    rows: list[dict[str, Any]] = []
    with ParquetWriter(file, schema) as writer:

        def write_group() -> None:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
            rows.clear()

        def add(row: Row) -> None:
            rows.append({column.name: _flatten(row[column.name], column) for column in columns})
            if len(rows) == _ROWS_A_GROUP:
                write_group()

        yield add
        write_group()


def _flatten(value: Any, column: TableColumn) -> Any:
    if value is None or column.kind != "json":
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
