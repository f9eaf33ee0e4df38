"""MedMCQA as its authors publish it: one JSON object a line, the right option's number counted from 1."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TextIO

from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.table import Problems, Row, Table


def read_med_mcqa(file: TextIO, problems: Problems) -> Table:
    """Read the lines, and refuse the other public copy, whose `cop` counts from 0.

    Read as the authors', it would call every answer wrong, or right by chance; a 0 gives it away.
    """
    table = read_json_lines(file, problems)
    return replace(table, rows=_check_rows(table.rows, problems))


def _check_rows(rows: Iterable[Row], problems: Problems) -> Iterator[Row]:
    for row in rows:
        if row.cells.get("cop", "").strip() == "0":
            raise problems.stop(
                row.where,
                "the column 'cop' holds a 0: this is the copy that counts options from 0 (Hugging Face); take the "
                "authors' dev.json, which counts from 1",
            )
        yield row
