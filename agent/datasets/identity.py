"""Find the patient and id of each row in files whose column names vary and which often have no patient column."""

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
    """Adds to every row the columns `unit` (the patient or, if unknown, the row) and `row_id`, for use in definitions.

    Attributes:
        patient: the column that identifies the patient; if None, each row is its own unit.
        pattern: matches the patient's identifier within that column's cells; if it has groups, the first group is the
            identifier.
        row: the column with the row's id; if None, its number in the file is used.
        prefix: a prefix for row numbers, because each file of a benchmark numbers its rows from 1.
    """

    patient: str | None
    pattern: re.Pattern[str]
    row: str | None
    prefix: str = ""

    @classmethod
    def choose(
        cls, columns: Collection[str], options: Mapping[str, str], group: str = ""
    ) -> "Identity":
        """Choose the first columns of the options `patient_columns` and `id_columns` that the file has.

        The option `patient_pattern` matches the patient's identifier within the cell (by default, the whole cell).
        `group` becomes a prefix of row numbers, so that rows from several files without ids have different ids.
        """
        return cls(
            patient=_find_first(options.get("patient_columns", _PATIENT_COLUMNS), columns),
            pattern=re.compile(options.get("patient_pattern", r"\S.*")),
            row=_find_first(options.get("id_columns", _ID_COLUMNS), columns),
            prefix=f"{group}/" if group else "",
        )

    def add(self, row: Row, problems: Problems) -> Row | None:
        """Return the row with the two columns, or record a problem and return None if the patient is missing."""
        unit = row_id = f"{self.prefix}{row.number}"
        if self.patient:
            match = self.pattern.search(row.cells.get(self.patient, ""))
            if match is None:
                problems.add(
                    row.where, f"the column {self.patient!r} does not contain a patient identifier"
                )
                return None
            unit = (match[1] if self.pattern.groups else match[0]).strip()
        if self.row:
            row_id = row.cells.get(self.row, "").strip()
        return row._replace(cells={**row.cells, UNIT: unit, ROW_ID: row_id})


def split_names(text: str) -> tuple[str, ...]:
    """Return the comma-separated column names of an option."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _find_first(text: str, columns: Collection[str]) -> str | None:
    return next((name for name in split_names(text) if name in columns), None)
