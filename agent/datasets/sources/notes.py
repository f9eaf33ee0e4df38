"""Notes with a question or a label in each row, as in the hospitals' own datasets and MIMIC-IV-BHC.

`data.options` in a definition can contain the options of `Identity` and two more. Rows in which a column listed in
`skip_without` is empty are skipped (in other columns, an empty cell is an error). `only: COLUMN=VALUE` selects rows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.datasets.identity import ADDED, Identity, split_names
from agent.datasets.readers.csv_table import read_csv
from agent.datasets.readers.files import Files
from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.table import Problems, Row, Table


def load_notes(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each file (as JSON lines or CSV, by its extension) and add the columns `unit` and `row_id`."""
    for name in files.names:
        problems = files.problems(name)
        read = (
            read_json_lines
            if name.lower().removesuffix(".gz").endswith((".json", ".jsonl"))
            else read_csv
        )
        with files.open_text(name) as file:
            yield _select_rows(read(file, problems), files.options, problems), problems


def _select_rows(table: Table, options: Mapping[str, str], problems: Problems) -> Table:
    selection = _Selection.read(options)
    table.require(selection.columns, problems)
    rows = _identify_rows(table.rows, selection, Identity.choose(table.columns, options), problems)
    return table.add_columns(ADDED, rows)


@dataclass(frozen=True, slots=True)
class _Selection:
    """Selects rows whose `required` cells are not empty and whose cell in `column`, if given, equals `value`."""

    required: tuple[str, ...]
    column: str
    value: str

    @classmethod
    def read(cls, options: Mapping[str, str]) -> "_Selection":
        column, _, value = options.get("only", "").partition("=")
        return cls(
            split_names(options.get("skip_without", "")), column.strip(), value.strip().casefold()
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.required, self.column) if self.column else self.required

    def accepts(self, row: Row) -> bool:
        if not all(row.cells.get(column, "").strip() for column in self.required):
            return False
        return not self.column or row.cells.get(self.column, "").strip().casefold() == self.value


def _identify_rows(
    rows: Iterable[Row], selection: _Selection, identity: Identity, problems: Problems
) -> Iterator[Row]:
    for row in rows:
        if not selection.accepts(row):
            continue
        identified = identity.add(row, problems)
        if identified is not None:
            yield identified
