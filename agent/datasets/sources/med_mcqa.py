"""MedMCQA as published by its authors: one JSON object per line, with the right option's number counted from 1."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TextIO

from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.table import Problems, Row, Table


def read_med_mcqa(file: TextIO, problems: Problems) -> Table:
    """Read the lines, and refuse the other public copy, in which `cop` counts from 0.

    In that copy, the number would name the wrong option in every row. It is recognised by a `cop` of 0.
    """
    table = read_json_lines(file, problems)
    return replace(table, rows=_check_rows(table.rows, problems))


def _check_rows(rows: Iterable[Row], problems: Problems) -> Iterator[Row]:
    for row in rows:
        if row.cells.get("cop", "").strip() == "0":
            raise problems.stop(
                row.where,
                "the column 'cop' is 0, so this is the copy from Hugging Face, which counts options from 0; use the "
                "authors' dev.json, which counts from 1",
            )
        yield row
