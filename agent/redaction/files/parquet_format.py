"""Parquet files that are redacted in pieces. Columns that are kept stay as they are; only texts become lines of JSON.

A piece is read from the row group that holds it, without the rows after it. The groups of the output depend on the rows
alone, so its bytes are the same however the rows were divided.
"""

import datetime
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from agent.errors import RedactionError
from agent.io.atomic_files import open_plain
from agent.io.install_hint import describe_install
from agent.redaction.files.division import PIECE, PieceLimits, RowPiece, explain_changed_file
from agent.redaction.files.rows import RowTask

_BATCH: Final = 64  # rows that are unpacked at once
_BUFFER: Final = 2**20  # bytes; without it, pyarrow would read a whole row group
_PIECES_OF_GROUP: Final = 64
"""At most: each piece unpacks the rows of its group that lie before it."""

_GROUP: Final = PieceLimits(64 * 1024, 32 * 2**20)
"""Of the output: rows, and bytes of redacted texts."""

_UNDECODABLE: Final = b"\xff"


class ParquetFormat:
    """Parquet: the columns named by --field contain texts."""

    ending = ".parquet"

    def __init__(self, task: RowTask, limits: PieceLimits = PIECE) -> None:
        self._task = task
        self._limits = limits

    def divide(self, path: Path, shard: int) -> Iterator[RowPiece]:
        """Yield the pieces of a file. Their start and end are rows, and each lies in one row group.

        Raises:
            RedactionError: the file is not Parquet, or lacks a column of texts that the task names.
        """
        with _open_parquet(path) as file:
            choose_columns(path, file.schema_arrow, self._task)
            metadata = file.metadata
            start = 0
            for number in range(metadata.num_row_groups):
                group = metadata.row_group(number)
                rows = self._choose_rows(group.num_rows, group.total_byte_size)
                end = start + group.num_rows
                for first in range(start, end, rows):
                    last = min(first + rows, end)
                    yield RowPiece(shard, first + 1, last - first, first, last)
                start = end

    def _choose_rows(self, rows: int, size: int) -> int:
        """Return the number of rows of a piece, given the rows and unpacked bytes of their group."""
        fitting = min(self._limits.rows, self._limits.size * rows // max(size, 1))
        return max(1, fitting, -(-rows // _PIECES_OF_GROUP))

    def halve(self, path: Path, piece: RowPiece) -> list[RowPiece]:  # noqa: ARG002
        """Return the two halves of a piece of several rows."""
        middle = piece.start + -(-piece.rows // 2)
        return [
            RowPiece(piece.shard, start + 1, end - start, start, end)
            for start, end in ((piece.start, middle), (middle, piece.end))
        ]

    def open_piece(self, path: Path, piece: RowPiece) -> "ParquetPiece":
        """Return a piece whose rows can be read, and written after redaction."""
        return ParquetPiece(path, piece, self._task)

    def join(self, source: Path, parts: Sequence[Path], file: IO[bytes]) -> None:
        """Write the rows of all parts in their order."""
        from pyarrow import parquet

        with _open_parquet(source) as read:
            schema = build_schema(read.schema_arrow, self._task)
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for group in _group_tables(parts, schema, self._task):
                writer.write_table(group, row_group_size=group.num_rows)


class ParquetPiece:
    """Some rows of a file."""

    def __init__(self, path: Path, piece: RowPiece, task: RowTask) -> None:
        self._path = path
        self._piece = piece
        self._task = task
        self._kept: list[Any] = []  # batches of the columns that are kept
        self._redacted: list[dict[str, Any]] = []

    def read_rows(self) -> Iterator[bytes]:
        """Yield the texts of each row, and what is known of its people, as a line of JSON.

        Raises:
            RedactionError: the file is damaged, or has other rows than when it was divided.
        """
        self._kept = []
        with _open_parquet(self._path) as file:
            columns = choose_columns(self._path, file.schema_arrow, self._task)
            kept = list_kept(file.schema_arrow, self._task)
            for batch in _read_batches(self._path, file, self._piece):
                self._kept.append(batch.select(kept))
                values = [_list_values(batch.column(name)) for name in columns]
                for row in zip(*values, strict=True):
                    yield _encode_row(dict(zip(columns, row, strict=True)), self._task)

    def write_row(self, line: bytes) -> None:
        """Take the next redacted row."""
        self._redacted.append(json.loads(line))

    def save(self, part: IO[bytes]) -> None:
        """Write the redacted columns with those that are kept."""
        import pyarrow
        from pyarrow import parquet

        if not self._kept:
            for _ in self.read_rows():
                pass  # a row that no engine survived was not read
        with _open_parquet(self._path) as file:
            source = file.schema_arrow
        schema = build_schema(source, self._task)
        kept = pyarrow.Table.from_batches(self._kept)
        arrays = []
        for field in schema:
            if field.name in self._task.fields or field.name not in kept.column_names:
                values = [row.get(field.name) for row in self._redacted]
                arrays.append(pyarrow.array(_shape_spans(values, field), type=field.type))
            else:
                arrays.append(kept.column(field.name))
        parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), part)


def choose_columns(path: Path, schema: Any, task: RowTask) -> list[str]:
    """Return the columns that are read as texts or as values known of a row's people.

    Raises:
        RedactionError: one is missing, occurs twice or has another type, or the task cannot be done on Parquet.
    """
    from pyarrow import types

    if task.others == "redact":
        raise RedactionError(
            "--others redact is for JSON Lines: columns of Parquet have other types than text",
            "Name each column of texts with --field, and keep or drop the others.",
        )
    if len(set(schema.names)) < len(schema.names):
        raise RedactionError(f"{path.name} has two columns of one name", "Rename one of them.")
    for name in task.fields:
        if name not in schema.names:
            raise RedactionError(
                f"{path.name} has no column {name}", "Name columns of the file with --field."
            )
        kind = schema.field(name).type
        if types.is_dictionary(kind):
            kind = kind.value_type
        if not (types.is_string(kind) or types.is_large_string(kind)):
            raise RedactionError(
                f"{path.name}: the column {name} does not contain texts",
                "Only columns of texts can be redacted; keep the column (see --others), or convert it to text.",
            )
    named = list(task.fields)
    for known in (task.identifiers, task.unit):
        if known is not None and known in schema.names and known not in named:
            named.append(known)
    return named


def list_kept(schema: Any, task: RowTask) -> list[str]:
    """Return the columns that are written as they are."""
    if task.others == "drop":
        return []
    replaced = {*task.fields, task.identifiers, "spans" if task.spans else None}
    return [name for name in schema.names if name not in replaced]


def build_schema(source: Any, task: RowTask) -> Any:
    """Return the schema of the output. What a file says about itself beyond its columns is left out."""
    import pyarrow

    kept = set(list_kept(source, task))
    fields = []
    for field in source:
        if field.name in kept:
            fields.append(field.remove_metadata())
        elif field.name in task.fields:
            long = pyarrow.types.is_large_string(field.type)
            kind = pyarrow.large_string() if long else pyarrow.string()
            fields.append(pyarrow.field(field.name, kind))
    if task.spans:
        span = pyarrow.struct(
            [("start", pyarrow.int64()), ("end", pyarrow.int64()), ("entity", pyarrow.string())]
        )
        kind = pyarrow.list_(span)
        if len(task.fields) > 1:
            kind = pyarrow.struct([(name, kind) for name in task.fields])
        fields.append(pyarrow.field("spans", kind))
    return pyarrow.schema(fields)


@contextmanager
def _open_parquet(path: Path) -> Iterator[Any]:
    """Open a file for the `with` block.

    Raises:
        RedactionError: pyarrow is not installed, or the file is not Parquet or damaged.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise RedactionError(
            "Parquet files need pyarrow, which is not installed", describe_install("parquet")
        ) from None
    try:
        with (
            open_plain(path) as opened,
            parquet.ParquetFile(opened, pre_buffer=False, buffer_size=_BUFFER) as file,
        ):
            yield file
    except (ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system, not of the contents
        raise RedactionError(
            f"{path.name} is not a Parquet file, or is damaged", "Write the file anew."
        ) from None


def _read_batches(path: Path, file: Any, piece: RowPiece) -> Iterator[Any]:
    """Yield the rows of a piece.

    Raises:
        RedactionError: the file has other rows than when it was divided.
    """
    start, group = 0, 0
    while group < file.metadata.num_row_groups:
        rows = file.metadata.row_group(group).num_rows
        if start + rows > piece.start:
            break
        start, group = start + rows, group + 1
    position = start
    found = 0
    if group < file.metadata.num_row_groups:
        for batch in file.iter_batches(_BATCH, row_groups=[group], use_threads=False):
            first = max(piece.start - position, 0)
            position += batch.num_rows
            if first >= batch.num_rows:
                continue
            taken = batch.slice(first, min(batch.num_rows - first, piece.rows - found))
            found += taken.num_rows
            yield taken
            if found == piece.rows:
                return
    raise explain_changed_file(path)


def _list_values(column: Any) -> list[Any]:
    """Return the values of a column; a text that is not UTF-8 as the bytes it consists of."""
    from pyarrow import large_binary, types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        if not (types.is_string(column.type) or types.is_large_string(column.type)):
            return [_UNDECODABLE] * len(column)
        values = []
        for value in column.cast(large_binary()).to_pylist():
            try:
                values.append(value.decode() if value is not None else None)
            except UnicodeDecodeError:
                values.append(value)
    return values


def _encode_row(row: dict[str, Any], task: RowTask) -> bytes:
    """Return a row as a line of JSON, or one that cannot be decoded if a text of the row cannot."""
    if task.identifiers in row:
        row[task.identifiers] = _read_people(row[task.identifiers])
    try:
        return json.dumps(row, ensure_ascii=False, default=_format_date).encode()
    except (TypeError, ValueError):
        return _UNDECODABLE


def _format_date(value: object) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError


def _read_people(people: Any) -> Any:
    """Return the known values of a row as JSON has them: they may be a text of JSON, a map or a struct."""
    if isinstance(people, str):
        try:
            return json.loads(people)
        except ValueError:
            return people  # an error names the row
    if isinstance(people, list):
        return dict(people)
    if isinstance(people, dict):  # a struct has every key in every row
        return {entity: values for entity, values in people.items() if values is not None}
    return people


def _shape_spans(values: list[Any], field: Any) -> list[Any]:
    """Return the values of a column; spans become maps, as their type has names."""
    if field.name != "spans" or field.type.num_fields == 0:
        return values
    shaped: list[Any] = []
    for value in values:
        if isinstance(value, dict):
            shaped.append({name: _name_spans(spans) for name, spans in value.items()})
        else:
            shaped.append(_name_spans(value))
    return shaped


def _name_spans(spans: list[tuple[int, int, str]]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "entity": entity} for start, end, entity in spans]


def _group_tables(parts: Sequence[Path], schema: Any, task: RowTask) -> Iterator[Any]:
    """Yield the row groups of the output. Where they end depends on the rows alone."""
    import pyarrow
    from pyarrow import compute

    pending: list[Any] = []
    rows = size = 0
    for part in parts:
        with _open_parquet(part) as file:
            for batch in file.iter_batches(_BATCH, use_threads=False):
                sizes = [0] * batch.num_rows
                for name in task.fields:
                    lengths = compute.binary_length(batch.column(name)).to_pylist()
                    sizes = [
                        known + (more or 0) for known, more in zip(sizes, lengths, strict=True)
                    ]
                start = 0
                for number, bytes_of_row in enumerate(sizes, 1):
                    rows += 1
                    size += bytes_of_row
                    if rows == _GROUP.rows or size >= _GROUP.size:
                        pending.append(batch.slice(start, number - start))
                        yield pyarrow.Table.from_batches(pending, schema).combine_chunks()
                        pending, rows, size, start = [], 0, 0, number
                pending.append(batch.slice(start))
    if rows:
        yield pyarrow.Table.from_batches(pending, schema).combine_chunks()
