"""MedHallu: every row gives two instances, first with its true answer (0), then with its hallucinated answer (1)."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from agent.catalog.template import describe_found_columns
from agent.datasets.readers.files import Files, Loader, make_text_loader
from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.parquet import load_arrow_stream, load_parquet
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("id", "row", "question", "knowledge", "answer", "hallucinated", "difficulty")
_NEEDED = ("Question", "Knowledge", "Ground Truth", "Hallucinated Answer")


def load_medhallu(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read JSON lines, Parquet (Hugging Face) or an Arrow stream (the authors' repository), by file extension."""
    for name in files.names:
        load = _choose_loader(name)
        for table, problems in load(replace(files, paths={name: files.paths[name]})):
            missing = _list_missing(table.columns)
            if missing:
                found = describe_found_columns(table.columns, _NEEDED)
                raise problems.stop("columns", f"missing: {missing}; {found}")
            yield Table(COLUMNS, _pair_rows(table.rows, problems)), problems


def _choose_loader(name: str) -> Loader:
    if name.endswith(".parquet"):
        return load_parquet
    if name.endswith(".arrow"):
        return load_arrow_stream
    return make_text_loader(read_json_lines)


def _list_missing(columns: Collection[str]) -> str:
    """Return the needed columns that are not among `columns`, for a message."""
    return ", ".join(repr(column) for column in _NEEDED if column not in columns)


def _pair_rows(rows: Iterable[Row], problems: Problems) -> Iterator[Row]:
    for row in rows:
        cells = row.cells
        missing = _list_missing(cells)  # an object in JSON lines can lack a key that others have
        if missing:
            problems.add(row.where, f"missing: {missing}")
            continue
        both = {
            "row": str(row.number),
            "question": cells["Question"],
            "knowledge": cells["Knowledge"],
            "difficulty": cells.get("Difficulty Level", ""),
        }
        for label, column in (("0", "Ground Truth"), ("1", "Hallucinated Answer")):
            added = {"id": f"{row.number}-{label}", "answer": cells[column], "hallucinated": label}
            yield Row(row.where, {**both, **added})
