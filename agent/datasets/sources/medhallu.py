"""MedHallu: every row gives two instances, first with its true answer (0), then with its hallucinated answer (1)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from agent.datasets.readers.files import Files
from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.parquet import format_typed_value, load_parquet
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = ("id", "row", "question", "knowledge", "answer", "hallucinated", "difficulty")
_NEEDED = ("Question", "Knowledge", "Ground Truth", "Hallucinated Answer")


def load_medhallu(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read JSON lines, Parquet (Hugging Face) or an Arrow stream (the authors' repository), by file extension."""
    for name in files.names:
        if name.endswith(".parquet"):
            tables = load_parquet(replace(files, paths={name: files.paths[name]}))
        elif name.endswith(".arrow"):
            tables = _read_arrow(files, name)
        else:
            tables = _read_json_lines(files, name)
        for table, problems in tables:
            missing = [column for column in _NEEDED if column not in table.columns]
            if missing:
                raise problems.stop("columns", f"missing: {', '.join(map(repr, missing))}")
            yield Table(COLUMNS, _pair_rows(table.rows)), problems


def _read_json_lines(files: Files, name: str) -> Iterator[tuple[Table, Problems]]:
    problems = files.problems(name)
    with files.open_text(name) as file:
        yield read_json_lines(file, problems), problems


def _read_arrow(files: Files, name: str) -> Iterator[tuple[Table, Problems]]:
    try:
        from pyarrow import ipc
    except ImportError:
        raise BenchmarkError(
            "Arrow files need pyarrow, which is not installed",
            "Install it with: pip install 'intramural[parquet]'",
        ) from None
    problems = files.problems(name)
    with files.open_binary(name) as file:
        try:
            arrow_table: Any = ipc.open_stream(file).read_all()
        except (ValueError, OSError):  # base classes of pyarrow's errors
            raise problems.stop("the whole file", "is not an Arrow stream") from None
        rows = []
        for number, values in enumerate(arrow_table.to_pylist(), 1):
            cells = {column: format_typed_value(value) for column, value in values.items()}
            rows.append(Row(f"row {number}", cells))
        yield Table(tuple(arrow_table.column_names), rows), problems


def _pair_rows(rows: Iterable[Row]) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        cells = row.cells
        both = {
            "row": str(number),
            "question": cells["Question"],
            "knowledge": cells["Knowledge"],
            "difficulty": cells.get("Difficulty Level", ""),
        }
        for label, column in (("0", "Ground Truth"), ("1", "Hallucinated Answer")):
            yield Row(
                row.where,
                {**both, "id": f"{number}-{label}", "answer": cells[column], "hallucinated": label},
            )
