"""Whose a row is, where files name their columns freely and most name no patient."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from agent.datasets.readers.table import Problems, Row

UNIT, ROW_ID = "unit", "row_id"
ADDED = (UNIT, ROW_ID)
_PATIENT_COLUMNS = "patient_id, patient, person_id, subject_id, pat_id, mrn"
_ID_COLUMNS = "row_id, id"  # not `note_id`: one note may be asked several questions


@dataclass(frozen=True, slots=True)
class Identity:
    """Adds two columns to rows that a definition can rely on: `unit` (the patient, else the row) and `row_id`.

    Attributes:
        patient: the column that names the patient; None: each row is its own.
        pattern: the part of its cell that is the patient, the first group of it if there is one.
        row: the column that names the row; None: its number does.
        place: put before the numbers of rows, which would else mean other rows in other files of one benchmark.
    """

    patient: str | None
    pattern: re.Pattern[str]
    row: str | None
    place: str = ""

    @classmethod
    def of(cls, columns: Collection[str], options: Mapping[str, str], place: str = "") -> "Identity":
        """Choose the columns: the first that a file has of the options `patient_columns` and `id_columns`.

        `patient_pattern` says which part of the patient's cell is the patient (all of it unless given).
        """
        return cls(
            _first(options.get("patient_columns", _PATIENT_COLUMNS), columns),
            re.compile(options.get("patient_pattern", r"\S.*")),
            _first(options.get("id_columns", _ID_COLUMNS), columns),
            f"{place}/" if place else "",
        )

    def add(self, row: Row, number: int, problems: Problems) -> Row | None:
        """Return the row with the two columns; None, and a problem, if its patient cannot be read."""
        unit = numbered = f"{self.place}{number}"
        if self.patient:
            match = self.pattern.search(row.cells.get(self.patient, ""))
            if match is None:
                problems.add(row.where, f"the column {self.patient!r} does not name a patient as it should")
                return None
            unit = (match[1] if self.pattern.groups else match[0]).strip()
        row_id = row.cells.get(self.row, "").strip() if self.row else numbered
        return Row(row.where, {**row.cells, UNIT: unit, ROW_ID: row_id})


def names(text: str) -> tuple[str, ...]:
    """Return the column names of an option: commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _first(text: str, columns: Collection[str]) -> str | None:
    return next((name for name in names(text) if name in columns), None)
