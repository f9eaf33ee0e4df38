"""MedicationQA's official workbook: consumers' questions about drugs, with answers found by experts."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.readers.xlsx import load_xlsx


def load_medication_qa(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the sheet, but skip rows whose Answer is empty or "n/a" (not a question about a drug): 689 of 690 remain.

    If the experts wrote "No answers", the question is kept without a reference. MedHELM instead scores answers
    against these words.
    """
    for table, problems in load_xlsx(files):
        if "Answer" not in table.columns:
            raise problems.stop("row 1", "'Answer' is missing")
        yield replace(table, rows=_select_rows(table.rows)), problems


def _select_rows(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        answer = row.cells["Answer"].strip()
        if answer.lower() == "no answers":
            yield row._replace(cells={**row.cells, "Answer": ""})
        elif answer.lower() not in ("", "n/a"):
            yield row
