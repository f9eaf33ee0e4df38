"""Notes with a question or a label, one a row: the shape of the hospitals' own sets, and of MIMIC-IV-BHC.

The files name their columns freely, and most name no patient. This loader adds two columns that a definition can
rely on: `unit` (the patient where the file has one, else the row) and `row_id`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from agent.datasets.csv_table import read_csv
from agent.datasets.files import Files
from agent.datasets.json_table import read_json_lines
from agent.datasets.table import Problems, Row, Table

UNIT, ROW_ID = "unit", "row_id"
_PATIENT_COLUMNS = "patient_id, patient, person_id, subject_id, pat_id, mrn"
_ID_COLUMNS = "row_id, id, note_id, message_id"


@dataclass(frozen=True, slots=True)
class _Settings:
    """The definition's `data.options`.

    Attributes:
        patient_columns: the first that a file has names the patient.
        patient_pattern: the part of that cell that is the patient: its first group; empty: the whole cell.
        id_columns: the first that a file has names the row; without one it is the row's number.
        skip_without: a row that lacks one of these is left out; lacking others is an error.
        only: rows that are left out unless this column holds this value.
    """

    patient_columns: tuple[str, ...]
    patient_pattern: str
    id_columns: tuple[str, ...]
    skip_without: tuple[str, ...]
    only: tuple[str, str] | None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "_Settings":
        column, sign, value = options.get("only", "").partition("=")
        return cls(
            patient_columns=_names(options.get("patient_columns", _PATIENT_COLUMNS)),
            patient_pattern=options.get("patient_pattern", ""),
            id_columns=_names(options.get("id_columns", _ID_COLUMNS)),
            skip_without=_names(options.get("skip_without", "")),
            only=(column.strip(), value.strip()) if sign else None,
        )


def load_notes(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read each file (JSON lines by its ending, else CSV). See `_Settings` for the options."""
    settings = _Settings.of(files.options)
    for name in files.names:
        problems = files.problems(name)
        read = read_json_lines if name.removesuffix(".gz").endswith((".json", ".jsonl")) else read_csv
        with files.text(name) as file:
            yield _selected(read(file, problems), settings, problems), problems


def _selected(table: Table, settings: _Settings, problems: Problems) -> Table:
    needed = (*settings.skip_without, *((settings.only[0],) if settings.only else ()))
    table.needs(dict.fromkeys(needed), problems)
    columns = tuple(dict.fromkeys((*table.columns, UNIT, ROW_ID)))
    return replace(table, columns=columns, rows=_rows(table.rows, table.columns, settings, problems))


def _rows(rows: Iterable[Row], columns: tuple[str, ...], settings: _Settings, problems: Problems) -> Iterator[Row]:
    patient = next((column for column in settings.patient_columns if column in columns), None)
    identity = next((column for column in settings.id_columns if column in columns), None)
    pattern = re.compile(settings.patient_pattern)
    for number, row in enumerate(rows, 1):
        cells = row.cells
        if settings.only and cells.get(settings.only[0], "").strip().casefold() != settings.only[1].casefold():
            continue
        if not all(cells.get(column, "").strip() for column in settings.skip_without):
            continue
        unit = str(number)
        if patient:
            match = pattern.search(cells.get(patient, "").strip())
            if match is None:
                problems.add(row.where, f"the column {patient!r} does not name a patient as it should")
                continue
            unit = match[1] if pattern.groups else cells.get(patient, "").strip()
        # A file that names patients names them in every row: an empty cell is found to be empty further on.
        yield Row(row.where, {**cells, UNIT: unit, ROW_ID: cells.get(identity, "") if identity else str(number)})


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
