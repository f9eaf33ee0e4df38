"""MIMIC-IV discharge summaries with the ICD-10 codes that were billed: a Feather file with a list of codes a row."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.datasets.files import Files
from agent.datasets.parquet import load_feather
from agent.datasets.table import Problems, Row, Table


def load_billing_codes(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read `mimiciv_icd10.feather` and add `codes` (the list `target` with commas) and `unit` (the patient).

    Older files name no patient; there each note is its own unit.
    """
    for table, problems in load_feather(files):
        table.needs(("text", "target"), problems)
        columns = tuple(dict.fromkeys((*table.columns, "codes", "unit", "row_id")))
        yield replace(table, columns=columns, rows=_rows(table.rows, "subject_id" in table.columns, problems)), problems


def _rows(rows: Iterable[Row], has_patients: bool, problems: Problems) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        codes = _codes(row.cells["target"])
        if codes is None:
            problems.add(row.where, "the column 'target' is not a list of texts")
            continue
        unit = row.cells["subject_id"] if has_patients else str(number)
        yield Row(row.where, {**row.cells, "codes": ",".join(codes), "unit": unit, "row_id": str(number)})


def _codes(cell: str) -> list[str] | None:
    try:
        value = json.loads(cell)
    except json.JSONDecodeError:
        return [cell.strip()]  # a single code, not in a list
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return value
