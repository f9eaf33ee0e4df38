"""Notes with a question or a label, one a row: the shape of the hospitals' own sets, and of MIMIC-IV-BHC.

Options of a definition (`data.options`), besides those of `Identity`: `skip_without`, columns without which a row is
left out (lacking others is an error); `only: COLUMN=VALUE`, the rows that are taken.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from agent.datasets.identity import ADDED, Identity, names
from agent.datasets.readers.csv_table import read_csv
from agent.datasets.readers.files import Files
from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.table import Problems, Row, Table


def load_notes(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each file (JSON lines by its ending, else CSV) and add `unit` and `row_id`."""
    for name in files.names:
        problems = files.problems(name)
        read = read_json_lines if name.removesuffix(".gz").endswith((".json", ".jsonl")) else read_csv
        with files.text(name) as file:
            yield _selected(read(file, problems), files.options, problems), problems


def _selected(table: Table, options: Mapping[str, str], problems: Problems) -> Table:
    without = names(options.get("skip_without", ""))
    only, _, value = (part.strip() for part in options.get("only", "").partition("="))
    table.needs((*without, *((only,) if only else ())), problems)
    taken = (
        (number, row)
        for number, row in enumerate(table.rows, 1)
        if all(row.cells.get(column, "").strip() for column in without)
        and (not only or row.cells.get(only, "").strip().casefold() == value.casefold())
    )
    rows = _identified(taken, Identity.of(table.columns, options), problems)
    return replace(table, columns=tuple(dict.fromkeys((*table.columns, *ADDED))), rows=rows)


def _identified(taken: Iterable[tuple[int, Row]], identity: Identity, problems: Problems) -> Iterator[Row]:
    for number, row in taken:
        identified = identity.add(row, number, problems)
        if identified is not None:
            yield identified
