"""The patient and the id of a row, for files that name their columns freely and mostly name no patient."""

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
        prefix: put before the numbers of rows, because each file of a benchmark counts its rows from 1.
    """

    patient: str | None
    pattern: re.Pattern[str]
    row: str | None
    prefix: str = ""

    @classmethod
    def choose(
        cls, columns: Collection[str], options: Mapping[str, str], group: str = ""
    ) -> "Identity":
        """Choose the columns: the first that a file has of the options `patient_columns` and `id_columns`.

        The option `patient_pattern` says which part of the patient's cell is the patient (all of it unless given).
        `group` keeps apart the rows of several files without ids.
        """
        return cls(
            patient=_find_first(options.get("patient_columns", _PATIENT_COLUMNS), columns),
            pattern=re.compile(options.get("patient_pattern", r"\S.*")),
            row=_find_first(options.get("id_columns", _ID_COLUMNS), columns),
            prefix=f"{group}/" if group else "",
        )

    def add(self, row: Row, number: int, problems: Problems) -> Row | None:
        """Return the row with the two columns; None, and a problem, if its patient cannot be read."""
        unit = row_id = f"{self.prefix}{number}"
        if self.patient:
            match = self.pattern.search(row.cells.get(self.patient, ""))
            if match is None:
                problems.add(
                    row.where, f"the column {self.patient!r} does not name a patient as it should"
                )
                return None
            unit = (match[1] if self.pattern.groups else match[0]).strip()
        if self.row:
            row_id = row.cells.get(self.row, "").strip()
        return Row(row.where, {**row.cells, UNIT: unit, ROW_ID: row_id})


def split_names(text: str) -> tuple[str, ...]:
    """Return the column names of an option: commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _find_first(text: str, columns: Collection[str]) -> str | None:
    return next((name for name in split_names(text) if name in columns), None)
